"""Cumulative maxima, minima and sums of exponentials on NumPy: `accumulate` of the ufunc.

`cumsum` and `cumprod` are those of `tenferro.backend.numpy_like.cumulative`, written as methods.
Read next: `contraction.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like.cumulative import from_either_end
from tenferro.primitives import Aval
from tenferro.primitives.cumulative import Cumlogsumexp, Cummax, Cummin, Cumprod, Cumsum
from tenferro_numpy.ir.expression import Expression, Function, Specialize

__all__ = ["EXPRESSIONS", "register"]


def register(lowerings: Lowerings) -> None:
    """Register what replaces the shared lowerings."""
    table = ((Cummax, np.maximum), (Cummin, np.minimum), (Cumlogsumexp, np.logaddexp))
    for primitive, ufunc in table:
        lowerings.register(primitive)(from_either_end(_accumulate(ufunc)))


def _accumulate(ufunc: np.ufunc) -> Callable[[Any, int], Any]:
    return lambda x, axis: ufunc.accumulate(x, axis)


def _method(name: str) -> Specialize:
    """Write a method of the array, which runs backwards on a reversed view."""

    def specialize(
        op: Any, avals: tuple[Aval, ...], result: Aval, lowering: Function
    ) -> Expression:
        bound = op.axis, np.dtype(result.dtype.name)
        if not op.reverse:
            return Expression(f"{{0}}.{name}({{p0}}, {{p1}})", bound)
        backwards = (*[slice(None)] * op.axis, slice(None, None, -1))
        text = f"{{0}}[{{p2}}].{name}({{p0}}, {{p1}})[{{p2}}]"
        return Expression(text, (*bound, backwards), shares=True)

    return specialize


EXPRESSIONS: dict[type, Specialize] = {Cumsum: _method("cumsum"), Cumprod: _method("cumprod")}
