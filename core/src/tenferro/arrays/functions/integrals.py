"""Exponential integrals and complete elliptic integrals, by SciPy's names and signatures.

Operands are real. The order of ``expn`` is one integer that is known when the program is written.
Read next: ``special.py``.
"""

from __future__ import annotations

from typing import Any

from tenferro.arrays.functions._special_operands import real_operands, whole_order
from tenferro.arrays.handle.array import Array
from tenferro.arrays.registry import covers
from tenferro.primitives import elliptic, exponential_integrals

__all__ = ["ellipe", "ellipk", "ellipkm1", "exp1", "expi", "expn"]


@covers("expi", ufunc=True)
def expi(x: Any) -> Array:
    """Compute the exponential integral Ei(x), the principal value of ∫ exp(t)/t dt from −∞ to x.

    x: real, of any shape. Source: NIST Digital Library of Mathematical Functions (DLMF), 6.2.5.

    >>> import tenferro as tn
    >>> float(tn.special.expi(0.0))
    -inf
    """
    return exponential_integrals.expi(*real_operands("expi", x))


@covers("exp1", ufunc=True)
def exp1(z: Any) -> Array:
    """Compute the exponential integral E₁(z) of a real z: −Ei(−z), and nan for z < 0.

    z: real, of any shape. Source: DLMF 6.2.1.

    >>> import tenferro as tn
    >>> float(tn.special.exp1(0.0))
    inf
    """
    return exponential_integrals.expn(1, *real_operands("exp1", z))


@covers("expn", ufunc=True)
def expn(n: Any, x: Any) -> Array:
    """Compute the exponential integral E_n(x) = ∫₁^∞ exp(−xt)/tⁿ dt, for one integer n >= 0.

    n: a number; x: real, of any shape, nan for x < 0. Source: DLMF 8.19.3.
    Raises InvalidParameterError: if n is not an integer, or negative.

    >>> import tenferro as tn
    >>> float(tn.special.expn(3, 0.0))
    0.5
    """
    return exponential_integrals.expn(whole_order("expn", n), *real_operands("expn", x))


@covers("ellipk", ufunc=True)
def ellipk(m: Any) -> Array:
    """Compute the complete elliptic integral K(m) = ∫ (1 − m sin²θ)^(−1/2) dθ, 0 <= θ <= π/2.

    m: real, of any shape; inf at m = 1, nan beyond. Source: DLMF 19.2.8 with k² = m.

    >>> import tenferro as tn
    >>> float(tn.special.ellipk(1.0))
    inf
    """
    (found,) = real_operands("ellipk", m)
    return elliptic.elliptic_integral("K", 1 - found)


@covers("ellipkm1", ufunc=True)
def ellipkm1(p: Any) -> Array:
    """Compute the complete elliptic integral K(1 − p), with all digits where p is small.

    p: real, of any shape; inf at p = 0, nan below. Source: DLMF 19.2.8 with k² = 1 − p.

    >>> import tenferro as tn
    >>> float(tn.special.ellipkm1(0.0))
    inf
    """
    return elliptic.elliptic_integral("K", *real_operands("ellipkm1", p))


@covers("ellipe", ufunc=True)
def ellipe(m: Any) -> Array:
    """Compute the complete elliptic integral E(m) = ∫ (1 − m sin²θ)^(1/2) dθ, 0 <= θ <= π/2.

    m: real, of any shape; 1 at m = 1, nan beyond. Source: DLMF 19.2.8 with k² = m.

    >>> import tenferro as tn
    >>> float(tn.special.ellipe(1.0))
    1.0
    """
    (found,) = real_operands("ellipe", m)
    return elliptic.elliptic_integral("E", 1 - found)
