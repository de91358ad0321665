"""Progress of long loops on known values: blocks of steps, and a line that counts them.

A block is a loop like the whole one, so that values keep every bit. Read next: ``scan.py``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from time import monotonic
from typing import Any

from tenferro.arrays import Array, as_array, evaluate_keys, is_traced
from tenferro.arrays.errors import at_user_line
from tenferro.arrays.handle.array import evaluable
from tenferro.arrays.handle.traces import tracing
from tenferro.primitives import Handle, concatenate
from tenferro.primitives.control import Scan
from tenferro.transforms.control.body import check_carry
from tenferro.transforms.errors import refused_body
from tenferro.transforms.recording import tree as _tree
from tenferro.transforms.recording.run_or_record import known_array

BLOCKS = 100
SECONDS_PER_BLOCK = 0.1

Run = Callable[[Scan, Sequence[Handle], Sequence[Handle], Sequence[Handle]], list[Handle]]


def checked_progress(progress: Any, name: str) -> bool:
    """Return the option; raise TypeError unless it is a bool."""
    if type(progress) is not bool:
        text = f"{name}: progress is True or False\n  got        {progress!r:.60}"
        raise at_user_line(TypeError(text))
    return progress


def check_known(arrays: Sequence[Array], name: str) -> None:
    """Raise BodyError unless a loop is on values that no transform follows."""
    followed = [x.key for x in arrays if is_traced(x.key) or not evaluable(x.key)]
    if not followed:
        return
    inside = next((f"`{name}`" for name in tracing(followed)), "a transform")
    raise refused_body(
        name,
        "progress=True shows a loop while it runs",
        f"a loop inside {inside}",
        "a loop at top level, on values that are known",
        hint="leave `progress=True` out inside of transforms",
    )


def in_blocks(
    name: str,
    loop: Scan,
    run: Run,
    consts: Sequence[Array],
    start: Sequence[Array],
    rows: Sequence[Array],
) -> list[Handle]:
    """Run a loop in blocks by ``run``, and show how far it is."""
    check_known([*consts, *start, *rows], name)
    evaluate_keys([x.key for x in (*consts, *start, *rows)])
    size = -(-loop.length // BLOCKS)
    firsts = list(range(0, loop.length, size))
    carry: list[Handle] = list(start)
    parts: list[list[Handle]] = []
    with counting(name, loop.length) as advance:
        for first in reversed(firsts) if loop.reverse else firsts:
            count = min(size, loop.length - first)
            block = [_rows(x, first, count) for x in rows]
            found = run(loop.replaced(length=count), consts, carry, block)
            evaluate_keys([y.key for y in found])
            carry = [known_array(y.key.operand, y.aval) for y in found[: loop.carried]]
            parts.append([known_array(y.key.operand, y.aval) for y in found[loop.carried :]])
            advance(count)
    if loop.reverse:
        parts.reverse()
    columns = [list(column) for column in zip(*parts, strict=True)]
    stacks = [column[0] if len(column) == 1 else concatenate(column, 0) for column in columns]
    return [*carry, *[Array(y.key) for y in stacks]]


def _rows(x: Array, first: int, count: int) -> Array:
    """Return some rows of an array as one of its own, so that all blocks are one program."""
    aval = x.aval.with_shape((count, *x.shape[1:]))
    return known_array(x.operand[first : first + count], aval)


def while_in_blocks(
    name: str,
    loop: Callable[..., Any],
    cond_fun: Any,
    body_fun: Any,
    init: Any,
    rename: Callable[[str], str],
    counter: int | None,
) -> Any:
    """Run a loop with a condition in blocks, which grow until one takes a tenth of a second."""
    check_known([as_array(x) for x in _tree.flatten(init)[0]], name)

    def goes_on(state: Any) -> Any:
        k, end, carry = state
        return (k < end) & cond_fun(carry)

    def step(state: Any) -> Any:
        k, end, carry = state
        found = body_fun(carry)
        check_carry(name, found, _tree.flatten(carry)[1])
        return k + 1, end, found

    def inner(path: str) -> str:
        return rename(path.replace("init[2]", "init", 1))

    size, carry = 1, init
    place = None if counter is None else counter + 2
    with counting(name, None) as advance:
        while True:
            began = monotonic()
            done, _, carry = loop(
                name, goes_on, step, (0, size, carry), rename=inner, counter=place
            )
            check_known([x for x in _tree.flatten(carry)[0] if isinstance(x, Array)], name)
            advance(int(done))
            if int(done) < size:
                return carry
            if monotonic() - began < SECONDS_PER_BLOCK:
                size *= 2


@contextmanager
def counting(name: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """Show a bar of rich where it is installed, else a line on standard error."""
    rich = rich_progress()
    if rich is None:
        line = _Line(name, total)
        try:
            yield line.advance
        finally:
            line.end()
        return
    console = import_module("rich.console").Console(stderr=True)
    columns = [*rich.Progress.get_default_columns(), rich.MofNCompleteColumn()]
    with rich.Progress(*columns, console=console) as bar:
        task = bar.add_task(name, total=total)
        yield lambda count: bar.advance(task, count)


def rich_progress() -> Any:
    """Return the module ``rich.progress``, or None where rich is not installed."""
    return None if find_spec("rich") is None else import_module("rich.progress")


class _Line:
    """A count of steps on one line; a file gets it once, at the end."""

    def __init__(self, name: str, total: int | None) -> None:
        self._name = name
        self._total = total
        self._done = 0
        self._is_terminal = sys.stderr.isatty()

    def advance(self, count: int) -> None:
        """Count steps that are done."""
        self._done += count
        if self._is_terminal:
            sys.stderr.write(f"\r{self}")
            sys.stderr.flush()

    def end(self) -> None:
        """Write the last count, and end the line."""
        sys.stderr.write("\n" if self._is_terminal else f"{self}\n")

    def __str__(self) -> str:
        of = "" if self._total is None else f" of {self._total}"
        return f"{self._name}: {self._done}{of} steps"
