"""Parts of complex numbers on XLA: real imag conj complex."""

from __future__ import annotations

from jax import Array, lax

from tenferro.backend.lowering import Lowerings
from tenferro.primitives.complex import Complex, Conj, Imag, Real
from tenferro_xla.lowerings._direct import register_direct

lowerings = Lowerings()
register_direct(lowerings, {Imag: lax.imag, Complex: lax.complex})


@lowerings.register(Real)
def real(op: Real, z: Array) -> Array:
    """Take the real part; a real operand is its own."""
    return lax.real(z) if z.dtype.kind == "c" else z


@lowerings.register(Conj)
def conj(op: Conj, z: Array) -> Array:
    """Conjugate; a real operand is its own conjugate."""
    return lax.conj(z) if z.dtype.kind == "c" else z
