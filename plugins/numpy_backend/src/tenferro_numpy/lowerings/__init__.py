"""What NumPy does with the standard set, one module per family.

Each module may `register` lowerings that replace those of `numpy_like`, and lists `EXPRESSIONS`:
how an instruction is written when its avals are known, so that it costs the call of the ufunc and
no wrapper. An expression is used only where the table gives the lowering registered here; somebody
else's lowering of higher priority is called as the contract says.
Read next: `arithmetic.py`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from tenferro.backend import numpy_like
from tenferro.backend.lowering import Lowering, Lowerings
from tenferro.primitives import Aval
from tenferro_numpy._expression import Expression, Function, Specialize, called
from tenferro_numpy._scalars import scalar_form
from tenferro_numpy.lowerings import (
    arithmetic,
    bitwise,
    comparison,
    complex,
    contraction,
    cumulative,
    elementwise,
    fft,
    hyperbolic,
    indexing,
    linalg,
    random,
    reduction,
    rounding,
    scattering,
    selection,
    sorting,
    special,
    structural,
    trigonometric,
)

__all__ = ["expression", "lowerings"]

_REPLACING = (
    arithmetic, special, rounding, bitwise, cumulative, linalg, fft, indexing, scattering, sorting,
    random,
)  # fmt: skip
_EXPRESSIONS: dict[type, Specialize] = {
    **arithmetic.EXPRESSIONS,
    **elementwise.EXPRESSIONS,
    **trigonometric.EXPRESSIONS,
    **hyperbolic.EXPRESSIONS,
    **special.EXPRESSIONS,
    **rounding.EXPRESSIONS,
    **bitwise.EXPRESSIONS,
    **comparison.EXPRESSIONS,
    **selection.EXPRESSIONS,
    **complex.EXPRESSIONS,
    **structural.EXPRESSIONS,
    **reduction.EXPRESSIONS,
    **contraction.EXPRESSIONS,
    **indexing.EXPRESSIONS,
    **scattering.EXPRESSIONS,
}


@cache
def lowerings() -> tuple[Lowering, ...]:
    """The lowerings of the standard set: `numpy_like`, with the replacements of this package."""
    own = Lowerings()
    for family in _REPLACING:
        family.register(own)
    replaced = {record.primitive for record in own}
    shared = numpy_like.lowerings(np)
    return (*(record for record in shared if record.primitive not in replaced), *own)


@cache
def _own_functions() -> dict[str, Any]:
    return {record.primitive: record.target for record in lowerings()}


def expression(op: Any, avals: tuple[Aval, ...], result: Aval, function: Function) -> Expression:
    """How an instruction is written, given the lowering that the table chose for it."""
    if function is not _own_functions().get(op.key):
        return called(op, len(avals), function, shares=True, foreign=True)
    specialize = _EXPRESSIONS.get(type(op))
    if specialize is None:
        return called(op, len(avals), function, shares=True, foreign=True)
    found = specialize(op, avals, result, function)
    scalar = None if result.shape else scalar_form(op, avals, result)
    return found if scalar is None else replace(found, scalar=scalar)
