"""Rows of np.fft: sizes that cut and pad, every norm, axes in any order and named twice.

NumPy rounds the scale of a transform of halves to half precision and computes in single; ours is
single, too, so halves are compared where the scale is a power of two.
"""

from numpy_rows import COMPLEX, INTEGERS, REAL, X, row, rows
from table_operands import refused

FEW = ("bool", "int32", "float32", "complex64", "complex128")
REAL_FEW = ("bool", "int32", "float32", "float64")
SOME_REAL = ("bool", *INTEGERS, *REAL)
SOME = (*SOME_REAL, *COMPLEX)
HALF = ("float16",)
V, W, M, T = X(5), X(6), X(3, 4), X(2, 3, 4)
NORMS = ("backward", "ortho", "forward")

LINES = [
    *rows("fft.fft fft.ifft fft.irfft fft.hfft", V, dtypes=SOME, grad=True),
    *rows("fft.rfft fft.ihfft", V, dtypes=(*SOME_REAL, "complex64"), grad="real"),
    *rows("fft.fft fft.ifft fft.rfft fft.ihfft", X(8), dtypes=HALF),
    *rows("fft.irfft fft.hfft", V, dtypes=HALF),
    *rows("fft.fft fft.ifft", M, 3, 0, "ortho", dtypes=FEW, grad=True),
    *rows("fft.fft fft.ifft", M, n=6, axis=-2, dtypes=FEW, grad=True),
    *rows("fft.irfft fft.hfft", M, 5, 0, "ortho", dtypes=FEW, grad=True),
    *rows("fft.irfft fft.hfft", M, n=9, axis=1, dtypes=FEW, grad=True),
    *rows("fft.irfft fft.hfft", T, n=4, dtypes=FEW, grad=True),
    *rows("fft.irfft fft.hfft", M, n=1, dtypes=FEW),
    *rows("fft.rfft fft.ihfft", M, 2, 0, "ortho", dtypes=REAL_FEW, grad="real"),
    *rows("fft.rfft fft.ihfft", M, n=7, axis=1, dtypes=REAL_FEW, grad="real"),
    *rows("fft.rfft fft.ihfft", W, n=1, dtypes=REAL_FEW),
    *[
        row(f"fft.{name}", W, norm=norm, dtypes=FEW)
        for name in "fft ifft rfft irfft hfft ihfft".split()
        for norm in (*NORMS, None)
    ],
    *rows("fft.fft fft.rfft fft.irfft", X(0, 3), dtypes=("float64",)),
    *rows("fft.fft fft.rfft", [1, 2.5, X()], dtypes=("float64",), by="tn"),
    *rows("fft.rfft fft.rfftn fft.ihfft", X(2, dtype="complex64"), after=list),
    *refused("fft.fft fft.ifft fft.rfft fft.irfft fft.hfft fft.ihfft", V, 0),
    *refused("fft.fft fft.rfft", V, n=-2),
    *refused("fft.fft fft.irfft", V, n=2.5),
    *refused("fft.fft fft.rfft fft.irfft", V, axis=1),
    *refused("fft.fft fft.rfft fft.irfft", X()),
    *refused("fft.fft fft.rfft", X(3, 0)),
    *refused("fft.irfft fft.hfft", X(1)),
    *refused("fft.fft fft.rfft fft.irfft fft.hfft fft.ihfft", V, norm="double"),
]  # fmt: skip

GRIDS = [
    *rows("fft.fft2 fft.ifft2 fft.irfft2 fft.fftn fft.ifftn fft.irfftn", T, dtypes=SOME, grad=True),
    *rows("fft.rfft2 fft.rfftn", T, dtypes=SOME_REAL, grad="real"),
    *rows(
        "fft.fft2 fft.ifft2 fft.irfft2 fft.fftn fft.ifftn fft.irfftn",
        *(T, (3, 5), (2, 0), "ortho"), dtypes=FEW, grad=True,
    ),
    *rows("fft.rfft2 fft.rfftn", T, (3, 5), (2, 0), "ortho", dtypes=REAL_FEW, grad="real"),
    *rows("fft.fft2 fft.fftn fft.ifft2 fft.irfftn", T, s=(1, 6), axes=[0, 1], norm="forward",
        dtypes=FEW, grad=True),
    *rows("fft.rfftn fft.rfft2", T, s=(1, 6), axes=[0, 1], norm="forward", dtypes=REAL_FEW,
        grad="real"),
    *rows("fft.irfft2 fft.ifftn", T, s=(4, 3), axes=(-1, 1), norm="backward", dtypes=FEW,
        grad=True),
    *rows("fft.fftn fft.ifftn fft.irfftn", T, s=(-1, 5), axes=(1, 2), dtypes=FEW),
    *rows("fft.fftn fft.irfftn", T, s=(5, -1), axes=(1, 2), dtypes=FEW),
    *rows("fft.fftn fft.ifftn fft.irfftn", T, s=(None, 5), axes=(1, 2), dtypes=FEW),
    *rows("fft.fftn fft.irfftn", T, s=(2, None), axes=(0, 1), dtypes=FEW),
    *rows("fft.fftn fft.ifftn fft.irfftn", T, s=(4, 5), dtypes=FEW),
    row("fft.rfftn", T, s=(4, 5), dtypes=REAL_FEW, grad="real"),
    *rows("fft.fftn fft.ifftn fft.irfftn", T, axes=(1,), dtypes=FEW),
    *rows("fft.fftn fft.ifftn fft.irfftn", M, axes=(0, 0), dtypes=FEW, grad=True),
    *rows("fft.fftn fft.irfftn", M, s=(5, 2), axes=(0, 0), dtypes=FEW),
    *rows("fft.fftn fft.irfftn", T, axes=(2, 1, 2), norm="ortho", dtypes=FEW),
    *rows("fft.rfftn", M, axes=(1, 1, 0), norm="forward", dtypes=REAL_FEW, grad="real"),
    *rows("fft.fftn fft.ifftn", M, axes=(), dtypes=FEW),
    *rows("fft.fftn", X(), dtypes=FEW),
    *rows("fft.fftn fft.rfftn", X(2, 3, 1, 2), dtypes=("float32",)),
    *rows("fft.fftn fft.ifftn fft.rfftn fft.irfftn", X(2, 1, 4), dtypes=HALF),
    *rows("fft.irfftn", V, dtypes=HALF),
    *rows("fft.fftn fft.rfftn", X(0, 3), axes=(1,), dtypes=("float64",)),
    *refused("fft.fftn fft.rfftn fft.irfftn", T, s=(2, 3), axes=(0,)),
    *refused("fft.fftn fft.rfftn fft.irfftn", T, s=(2, 0), axes=(0, 1)),
    *refused("fft.fft2 fft.rfft2 fft.irfft2 fft.ifft2", V),
    *refused("fft.rfftn fft.irfftn", T, axes=()),
    *refused("fft.fftn fft.rfftn", T, norm="double"),
]  # fmt: skip

ORDER = [
    *rows("fft.fftshift fft.ifftshift", V, grad=True),
    *rows("fft.fftshift fft.ifftshift", T, dtypes=FEW, grad=True),
    *rows("fft.fftshift fft.ifftshift", T, axes=(0, -1), dtypes=FEW),
    *rows("fft.fftshift fft.ifftshift", T, 1, dtypes=FEW),
    *rows("fft.fftshift fft.ifftshift", X(0, 3), dtypes=("float64",)),
    *refused("fft.fftshift fft.ifftshift", V, 2),
    *[
        row(f"fft.{name}", n, *more, dtypes=("float64",), by="tn")
        for name in ("fftfreq", "rfftfreq")
        for n, *more in ([7], [8, 0.25], [1], [2, 3])
    ],
    *rows("fft.fftfreq fft.rfftfreq", 5, d=X(low=0.5, high=3), device="cpu", dtypes=("float64",),
        by="tn", grad=True),
]  # fmt: skip

ROWS = [*LINES, *GRIDS, *ORDER]
