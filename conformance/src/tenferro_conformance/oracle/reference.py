"""Meaning of a standard primitive, and its derivative along a direction.

`reference` evaluates a primitive; `directional` differentiates it by central differences with a
step of 1e-20, whose error is below 1e-40. An elementwise primitive with a short definition has it
in its table of samples (`meaning`), which `golden.py` hands to `define`.
Read `numbers.py` for the tensors, `elementwise.py` for a table of definitions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from tenferro_conformance.oracle.numbers import (
    Params,
    Reference,
    Tensor,
    elementwise,
    mp,
)

__all__ = ["define", "directional", "reference", "scale_of", "term_scale"]


_STEP = mp.mpf(10) ** -20


#: Files of this folder that are no tables of definitions.
_WITHOUT_DEFINITIONS = frozenset({"golden", "numbers", "reference"})


#: Definitions that stand in tables of samples.
_defined: dict[str, Reference] = {}


def define(primitive: str, meaning: Callable[..., Any]) -> None:
    """Define an elementwise primitive by a function of mpmath and the entries of the operands."""
    _defined[primitive.removeprefix("std::")] = elementwise(partial(meaning, mp))


@cache
def _references() -> Mapping[str, Reference]:
    """Return every definition: those of all files of this folder."""
    found: dict[str, Reference] = {}
    for module in iter_modules([str(Path(__file__).parent)]):
        if module.name not in _WITHOUT_DEFINITIONS:
            found |= import_module(f"tenferro_conformance.oracle.{module.name}").REFERENCES
    return found


def reference(primitive: str, params: Params, inputs: Sequence[Tensor]) -> Tensor:
    """Compute the value of a standard primitive, or of an observation of one."""
    name = primitive.removeprefix("std::")
    found = _defined.get(name) or _references()[name]
    return found(params, *inputs)


def scale_of(primitive: str, params: Params, inputs: Sequence[Tensor]) -> Tensor:
    """Apply the primitive to absolute values: the scale of rounding errors, such as Σ|x|."""
    return reference(primitive, params, [x if _is_integral(x) else x.map(abs) for x in inputs])


def _is_integral(x: Tensor) -> bool:
    return all(isinstance(entry, int) for entry in x.flat)


def _moved(inputs: Sequence[Tensor], tangents: Mapping[int, Tensor], t: Any) -> list[Tensor]:
    moved = list(inputs)
    for place, tangent in tangents.items():
        pairs = zip(inputs[place].flat, tangent.flat, strict=True)
        moved[place] = Tensor(inputs[place].shape, tuple(x + t * v for x, v in pairs))
    return moved


#: order → (multiple of the step, weight): central differences of second order
_STENCILS = {
    1: ((1, "0.5"), (-1, "-0.5")),
    2: ((1, "1"), (0, "-2"), (-1, "1")),
    3: ((2, "0.5"), (1, "-1"), (-1, "1"), (-2, "-0.5")),
}


def directional(
    primitive: str,
    params: Params,
    inputs: Sequence[Tensor],
    tangents: Mapping[int, Tensor],
    order: int,
) -> Tensor:
    """d^n/dt^n f(x + t·v) at t = 0, at full precision."""
    terms = [
        (mp.mpf(weight), reference(primitive, params, _moved(inputs, tangents, k * _STEP)))
        for k, weight in _STENCILS[order]
    ]
    flat = tuple(
        sum(weight * value.flat[i] for weight, value in terms) / _STEP**order
        for i in range(len(terms[0][1].flat))
    )
    return Tensor(terms[0][1].shape, flat)


def term_scale(
    primitive: str, params: Params, inputs: Sequence[Tensor], tangents: Mapping[int, Tensor]
) -> Tensor:
    """Σᵢ |∂f/∂xᵢ·vᵢ| over every single entry: what the rounding errors of a derivative are relative
    to.
    """
    total: list[Any] | None = None
    shape: tuple[int, ...] = ()
    for place, tangent in tangents.items():
        for i, entry in enumerate(tangent.flat):
            only = Tensor(
                tangent.shape,
                tuple(entry if k == i else 0 * entry for k in range(len(tangent.flat))),
            )
            part = directional(primitive, params, inputs, {place: only}, 1)
            shape = part.shape
            terms = [abs(e) for e in part.flat]
            total = terms if total is None else [a + b for a, b in zip(total, terms, strict=True)]
    if total is None:
        return directional(primitive, params, inputs, tangents, 1)
    return Tensor(shape, tuple(total))
