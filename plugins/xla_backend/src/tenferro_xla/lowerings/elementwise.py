"""Analytic functions on XLA: exp log expm1 log1p sin cos tan tanh logistic erf.

XLA's own functions, but for the logarithms: ``lax.log1p`` loses seven bits of a float64 around
-0.3, and the complex logarithm is made from it. Read next: ``_numeric.py``.
"""

from __future__ import annotations

from jax import Array, lax

from tenferro.backend.lowering import Lowerings
from tenferro.primitives.elementwise import Exp, Expm1, Log, Log1p, Logistic
from tenferro.primitives.hyperbolic import Tanh
from tenferro.primitives.special import Erf
from tenferro.primitives.trigonometric import Cos, Sin, Tan
from tenferro_xla.lowerings._direct import register_direct
from tenferro_xla.lowerings._numeric import like, log1p_real, log_modulus

lowerings = Lowerings()
register_direct(
    lowerings,
    {
        Exp: lax.exp,
        Expm1: lax.expm1,
        Sin: lax.sin,
        Cos: lax.cos,
        Tan: lax.tan,
        Tanh: lax.tanh,
        Logistic: lax.logistic,
        Erf: lax.erf,
    },
)


@lowerings.register(Log)
def log(op: Log, x: Array) -> Array:
    """Take the natural logarithm, principal branch."""
    if x.dtype.kind != "c":
        return lax.log(x)
    re, im = lax.real(x), lax.imag(x)
    return lax.complex(log_modulus(re, im), lax.atan2(im, re))


@lowerings.register(Log1p)
def log1p(op: Log1p, x: Array) -> Array:
    """Compute ln(1 + x); a complex x near 0 without forming 1 + x."""
    if x.dtype.kind != "c":
        return log1p_real(x)
    re, im = lax.real(x), lax.imag(x)
    shifted = lax.add(re, like(re, 1))
    excess = lax.add(lax.mul(re, lax.add(re, like(re, 2))), lax.mul(im, im))
    small = lax.lt(lax.max(lax.abs(re), lax.abs(im)), like(re, 0.5))
    inside = lax.mul(like(re, 0.5), log1p_real(lax.select(small, excess, like(re, 0))))
    return lax.complex(lax.select(small, inside, log_modulus(shifted, im)), lax.atan2(im, shifted))
