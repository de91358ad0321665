"""Bessel functions, element by element, by SciPy's names and signatures.

The order is one number that is known when the program is written: real for J and K, an integer for
I and Y. Read next: ``special.py``.
"""

from __future__ import annotations

from typing import Any

from tenferro.arrays.functions._special_operands import (
    even_order,
    real_operands,
    real_order,
    whole_order,
)
from tenferro.arrays.handle.array import Array
from tenferro.arrays.handle.convert import as_array
from tenferro.arrays.promotion.broadcast import cast
from tenferro.arrays.registry import covers
from tenferro.primitives import bessel, cylinder, float64


@covers("j0", ufunc=True)
def j0(x: Any) -> Array:
    """Compute the Bessel function J₀(x)."""
    return cylinder.bessel_j(0, *real_operands("j0", x))


@covers("j1", ufunc=True)
def j1(x: Any) -> Array:
    """Compute the Bessel function J₁(x)."""
    return cylinder.bessel_j(1, *real_operands("j1", x))


@covers("jv", "jn", ufunc=True)
def jv(v: Any, z: Any) -> Array:
    """Compute the Bessel function of the first kind, for one order: v >= 0, or an integer."""
    order = real_order("jv", v)
    (found,) = real_operands("jv", z)
    value = cylinder.bessel_j(abs(order), found)
    return -value if order < 0 and order % 2 else value  # DLMF 10.4.1


@covers("y0", ufunc=True)
def y0(x: Any) -> Array:
    """Compute the Bessel function Y₀(x)."""
    return cylinder.bessel_y(0, *real_operands("y0", x))


@covers("y1", ufunc=True)
def y1(x: Any) -> Array:
    """Compute the Bessel function Y₁(x)."""
    return cylinder.bessel_y(1, *real_operands("y1", x))


@covers("yv", ufunc=True)
def yv(v: Any, z: Any) -> Array:
    """Compute the Bessel function of the second kind, for one integer order v >= 0."""
    return cylinder.bessel_y(whole_order("yv", v), *real_operands("yv", z))


@covers("yn", ufunc=True)
def yn(n: Any, x: Any) -> Array:
    """Compute the Bessel function of the second kind: ``yv`` by SciPy's other name."""
    return yv(n, x)


@covers("i0", ufunc=True)
def i0(x: Any) -> Array:
    """Compute the modified Bessel function I₀ elementwise, in the dtypes of ``np.i0``.

    >>> import tenferro as tn
    >>> float(tn.i0(0.0))
    1.0
    """
    found = as_array(x)
    return bessel.bessel_i(0, found if found.dtype.is_inexact else cast(found, float64))


@covers("i1", ufunc=True)
def i1(x: Any) -> Array:
    """Compute the modified Bessel function I₁(x)."""
    return bessel.bessel_i(1, *real_operands("i1", x))


@covers("iv", ufunc=True)
def iv(v: Any, z: Any) -> Array:
    """Compute the modified Bessel function of the first kind, for one integer order."""
    return bessel.bessel_i(whole_order("iv", v), *real_operands("iv", z))


@covers("i0e", ufunc=True)
def i0e(x: Any) -> Array:
    """Compute exp(−|x|) I₀(x)."""
    return bessel.bessel_ie(0, *real_operands("i0e", x))


@covers("i1e", ufunc=True)
def i1e(x: Any) -> Array:
    """Compute exp(−|x|) I₁(x)."""
    return bessel.bessel_ie(1, *real_operands("i1e", x))


@covers("ive", ufunc=True)
def ive(v: Any, z: Any) -> Array:
    """Compute exp(−|z|) times ``iv``."""
    return bessel.bessel_ie(whole_order("ive", v), *real_operands("ive", z))


@covers("k0", ufunc=True)
def k0(x: Any) -> Array:
    """Compute the modified Bessel function K₀(x)."""
    return bessel.bessel_k(0, *real_operands("k0", x))


@covers("k1", ufunc=True)
def k1(x: Any) -> Array:
    """Compute the modified Bessel function K₁(x)."""
    return bessel.bessel_k(1, *real_operands("k1", x))


@covers("kv", ufunc=True)
def kv(v: Any, z: Any) -> Array:
    """Compute the modified Bessel function of the second kind, for one order."""
    return bessel.bessel_k(even_order("kv", v), *real_operands("kv", z))


@covers("kn", ufunc=True)
def kn(n: Any, x: Any) -> Array:
    """Compute the modified Bessel function of the second kind, for one integer order n >= 0."""
    return bessel.bessel_k(whole_order("kn", n), *real_operands("kn", x))


@covers("k0e", ufunc=True)
def k0e(x: Any) -> Array:
    """Compute exp(x) K₀(x)."""
    return bessel.bessel_ke(0, *real_operands("k0e", x))


@covers("k1e", ufunc=True)
def k1e(x: Any) -> Array:
    """Compute exp(x) K₁(x)."""
    return bessel.bessel_ke(1, *real_operands("k1e", x))


@covers("kve", ufunc=True)
def kve(v: Any, z: Any) -> Array:
    """Compute exp(z) times ``kv``."""
    return bessel.bessel_ke(even_order("kve", v), *real_operands("kve", z))
