"""Parts of complex numbers on NumPy: attributes, which are views.

Read next: `structural.py`.
"""

from __future__ import annotations

from tenferro.primitives import Aval
from tenferro.primitives.complex import Complex, Imag, Real
from tenferro_numpy.ir.expression import Expression, Function, Specialize, called

__all__ = ["EXPRESSIONS"]

_real = Expression("{0}.real", shares=True)
_imag = Expression("{0}.imag", shares=True)


def _complex(op: Complex, avals: tuple[Aval, ...], result: Aval, lowering: Function) -> Expression:
    return called(op, 2, lowering, shares=False)


EXPRESSIONS: dict[type, Specialize] = {
    Real: lambda op, avals, result, lowering: _real,
    Imag: lambda op, avals, result, lowering: _imag,
    Complex: _complex,
}
