"""Complex numbers on NumPy: parts are attributes, which are views; real numbers are converted.

Read next: `structural.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from tenferro.primitives import Aval
from tenferro.primitives.complex import Complex, Imag, Real
from tenferro_numpy.ir.expression import Expression, Function, Specialize, called

__all__ = ["EXPRESSIONS", "without_imaginary_part"]

_real = Expression("{0}.real", shares=True)
_imag = Expression("{0}.imag", shares=True)


def _complex(op: Complex, avals: tuple[Aval, ...], result: Aval, lowering: Function) -> Expression:
    return called(op, 2, lowering, shares=False)


def without_imaginary_part(
    op: Complex,
    chosen: Expression,
    operands: tuple[int, ...],
    literals: Mapping[int, Any],
    avals: Sequence[Aval],
) -> tuple[Expression, tuple[int, ...]]:
    """Return the line for a complex array and its operands: a conversion where im is a literal 0.

    The transpose of taking the real part makes such arrays.
    """
    re, im = operands
    is_zero = import_module("tenferro_numpy.ir.literals").is_zero  # a kept program needs none
    if chosen.foreign or not avals[re].shape or not is_zero(literals.get(im)):
        return chosen, operands
    native = np.dtype(avals[re].dtype.complex_dtype.name)
    into = '{p1}({out}, {0}, "unsafe")'
    return Expression("{0}.astype({p0})", (native, np.copyto), into=into), (re,)


EXPRESSIONS: dict[type, Specialize] = {
    Real: lambda op, avals, result, lowering: _real,
    Imag: lambda op, avals, result, lowering: _imag,
    Complex: _complex,
}
