"""Rows of ``tn.fft``: every transform with each keyword, frequencies and shifts."""

import jax.numpy as jnp
from jax_rows import COMPLEX, REAL, Operand, Row

import tenferro as tn


def row(name, *operands, dtypes=COMPLEX, constant="", **keywords):
    """A row; keywords go to the function."""
    return Row(
        f"fft.{name}",
        operands,
        lambda *xs: getattr(tn.fft, name)(*xs, **keywords),
        lambda *xs: getattr(jnp.fft, name)(*xs, **keywords),
        keywords,
        dtypes,
        constant,
    )


LINE, PLANE = Operand("*b 5"), Operand("*b m 4")
OF_ANY = "fft ifft"
TO_REAL = "irfft hfft"  # of half a spectrum
OF_REAL = "rfft ihfft"

ROWS = [
    *[row(name, LINE) for name in f"{OF_ANY} {TO_REAL}".split()],
    *[row(name, LINE, dtypes=REAL) for name in OF_REAL.split()],
    *[row(name, PLANE, n=3, axis=-2, norm="ortho") for name in f"{OF_ANY} {TO_REAL}".split()],
    *[row(name, PLANE, n=6, norm="forward", dtypes=REAL) for name in OF_REAL.split()],
    *[row(name, PLANE) for name in "fft2 ifft2 fftn ifftn irfft2 irfftn".split()],
    *[row(name, PLANE, dtypes=REAL) for name in "rfft2 rfftn".split()],
    *[row(name, PLANE, s=(3, 5), axes=(-1, -2), norm="ortho") for name in "fftn irfftn".split()],
    *[row(name, PLANE, axes=(-1,)) for name in "fftshift ifftshift".split()],
    *[row(name, n=5, d=0.5, constant="it has no operand") for name in "fftfreq rfftfreq".split()],
]
