"""Loops and branches as plain Python, which ``debug.unrolled`` runs in their place.

Values are computed at the end of each step, so that an error is raised in the step that made it.
Read next: ``scan.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tenferro.arrays import Array, as_array, evaluate_keys
from tenferro.arrays.functions.structural import stack
from tenferro.arrays.handle.array import evaluable
from tenferro.arrays.handle.weak import is_weak
from tenferro.primitives import StepLimitError, convert
from tenferro.transforms.control.body import Leaf, fitting, is_number, retyped
from tenferro.transforms.recording.unrolled import as_number, is_unrolling

__all__ = ["is_unrolling", "known_value", "steps_of_scan", "steps_of_while"]


def known_value(x: Array) -> Any:
    """Return the value of a condition, or None where it is not known."""
    return x._concrete("a condition")[()] if evaluable(x.key) else None


def steps_of_scan(
    name: str,
    call: Callable[[Sequence[Array]], tuple[Sequence[Array], Sequence[Array]]],
    start: Sequence[Array],
    leaves: Sequence[Leaf],
    rows: Sequence[Array],
    steps: int,
    reverse: bool,
) -> tuple[list[Array], list[Array]]:
    """Return the last carry and the stacked rows of ``call(carry and row)`` at each step."""
    carry, found = list(start), []
    for k in reversed(range(steps)) if reverse else range(steps):
        with _naming(name, k, steps):
            after, ys = call([*_given(carry, leaves), *[x[k] for x in rows]])
            carry, leaves = _next_carry(name, after, leaves)
            _evaluate([*carry, *ys])
        found.append(ys)
    if reverse:
        found.reverse()
    return carry, [_stacked(list(column)) for column in zip(*found, strict=True)]


def steps_of_while(
    name: str,
    goes_on: Callable[[Sequence[Array]], Array],
    call: Callable[[Sequence[Array]], Sequence[Array]],
    start: Sequence[Array],
    leaves: Sequence[Leaf],
    max_steps: int | None,
) -> list[Array] | None:
    """Return the last carry, or None where the first condition is not known.

    Raises StepLimitError: if the condition still holds after ``max_steps``.
    """
    carry = list(start)
    step = 0
    while True:
        with _naming(name, step, None):
            condition = goes_on(_given(carry, leaves))
            if not step and known_value(condition) is None:
                return None
            if not condition:
                return carry
            if step == max_steps:
                raise StepLimitError.of(step)
            carry, leaves = _next_carry(name, call(_given(carry, leaves)), leaves)
            _evaluate(carry)
        step += 1


@contextmanager
def _naming(name: str, step: int, steps: int | None) -> Iterator[None]:
    """Name the loop and the step in an error."""
    try:
        yield
    except Exception as error:
        total = "" if steps is None else f" of {steps}"
        error.add_note(f"  step       {name}, step {step}{total}")
        raise


def _given(carry: Sequence[Array], leaves: Sequence[Leaf]) -> list[Array]:
    """Return a carry for the body, in which the dtype of a number yields to others."""
    return [
        as_number(x, leaf.label, leaf.is_counter) if leaf.weak else Array(x.key, x.flow)
        for x, leaf in zip(carry, leaves, strict=True)
    ]


def _next_carry(
    name: str, after: Sequence[Array], leaves: Sequence[Leaf]
) -> tuple[list[Array], Sequence[Leaf]]:
    pairs = [*zip(after, retyped(leaves, after), strict=True)]
    carry = [fitting(name, y, leaf) for y, leaf in pairs]
    return carry, [leaf._replace(weak=leaf.weak and is_number(y)) for y, leaf in pairs]


def _evaluate(values: Sequence[Array]) -> None:
    """Compute what can be computed, so that an error belongs to this step."""
    evaluate_keys([x.key for x in values if evaluable(x.key)])


def _stacked(column: list[Array]) -> Array:
    """Stack rows; the first may hold the number that the first carry was."""
    dtype = next((y.dtype for y in column if not is_weak(y)), column[-1].dtype)
    return as_array(stack([convert(y, dtype) for y in column]))
