"""Samples of the fft family: fft rfft irfft.

Even, odd, prime and composite lengths, one axis or several in any order, all scales and both ways
to count the columns that stand for two. The error of a transform is normwise and grows with the
logarithm of its length. Read `rows.py` for what the fields of a row mean.
"""

from __future__ import annotations

from cmath import exp
from math import log2, pi, prod
from typing import Any

from tenferro_conformance.samples.table import (
    COMPLEX,
    F64,
    FLOATS,
    Grid,
    Row,
    Table,
    cgrid,
    fine,
    grid,
    table,
)

__all__ = ["TABLES"]

_C128 = ("complex128",)


def _levels(count: int) -> int:
    """Return the number of levels of a fast transform, rounded up."""
    return max(1, round(log2(count) + 0.5))


def _complex(edge: str, shape: tuple[int, ...], axes: tuple[int, ...], **more: Any) -> Row:
    """Make a row of `fft`, by default differentiated, in double precision."""
    params = {
        "axes": axes,
        "inverse": more.pop("inverse", False),
        "norm": more.pop("norm", "sum"),
    }
    size = _levels(prod(shape[axis] for axis in axes))
    known = {"dtypes": _C128, "wrt": (0,), "order": 1, "size": size, **more}
    return Row(edge=edge, inputs=(known.pop("x", cgrid(2, *shape)),), params=params, **known)


_AT, _WEIGHTS, _COUNT = (0, 1, 5000, 16383), (0.75, -1.5, 0.625, 1.25), 2**14
_SPIKES = Grid((_COUNT,), tuple(dict(zip(_AT, _WEIGHTS, strict=True)).get(j, 0.0)
                                for j in range(_COUNT)))  # fmt: skip


def _waves(columns: int) -> Grid:
    """Return the transform of the spikes, a sum of four waves."""
    roots = [exp(-2j * pi * k / _COUNT) for k in range(_COUNT)]
    pairs = list(zip(_AT, _WEIGHTS, strict=True))
    flat = (sum(w * roots[j * k % _COUNT] for j, w in pairs) for k in range(columns))
    return Grid((columns,), tuple(flat))


FFT = table(
    "std::fft",
    _complex("even", (8,), (0,), dtypes=COMPLEX, order=2),
    _complex("odd", (9,), (0,), dtypes=COMPLEX, order=2),
    _complex("prime", (13,), (0,)),
    _complex("two", (2,), (0,)),
    _complex("size1_axis", (3, 1), (1,), dtypes=COMPLEX),
    _complex("inverse", (6,), (0,), inverse=True, dtypes=COMPLEX, order=2),
    _complex("inverse_odd", (5,), (0,), inverse=True),
    _complex("ortho", (6,), (0,), norm="ortho", dtypes=COMPLEX),
    _complex("inverse_ortho", (6,), (0,), norm="ortho", inverse=True),
    _complex("mean", (6,), (0,), norm="mean", dtypes=COMPLEX),
    _complex("inverse_mean", (6,), (0,), norm="mean", inverse=True, dtypes=COMPLEX),
    _complex("full_precision", (6,), (0,), x=fine(cgrid(2, 6)), wrt=()),
    _complex("rows", (2, 5), (1,)),
    _complex("columns", (4, 3), (0,)),
    _complex("two_axes", (4, 3), (0, 1), dtypes=COMPLEX, order=2),
    _complex("axes_in_another_order", (3, 4, 2), (2, 0), norm="mean"),
    _complex("three_axes", (2, 3, 2), (0, 1, 2), inverse=True),
    _complex("four_axes", (2, 3, 1, 4), (0, 1, 2, 3)),
    _complex("inner_axis", (2, 4, 3), (1,)),
    _complex("empty", (0, 4), (1,)),
    _complex("empty_other_axis", (3, 0), (0,), inverse=True),
    _complex("non_contiguous", (3, 4), (1,), layout="strided"),
    _complex("transposed", (3, 4), (1,), layout="transposed", wrt=(), dtypes=COMPLEX),
    _complex("medium", (125,), (0,), wrt=(), dtypes=COMPLEX),
    _complex("large", (_COUNT,), (0,), x=_SPIKES, expected=_waves(_COUNT), wrt=(), dtypes=COMPLEX,
        note="four waves, stated in closed form"),
    level=3, tol="factorization",
)  # fmt: skip


def _of_parts(dtype: str) -> str:
    """Return the complex dtype with parts of a dtype."""
    return {"float32": "complex64", "float64": "complex128"}[dtype]


def _parts_of(dtype: str) -> str:
    """Return the dtype of the parts of a complex dtype."""
    return {"complex64": "float32", "complex128": "float64"}[dtype]


def _real(edge: str, shape: tuple[int, ...], axes: tuple[int, ...], **more: Any) -> Row:
    """Make a row of `rfft`."""
    params = {"axes": axes, "norm": more.pop("norm", "sum"), "twice": more.pop("twice", False)}
    size = _levels(prod(shape[axis] for axis in axes))
    known = {"dtypes": F64, "wrt": (0,), "order": 1, "size": size, "out": _of_parts, **more}
    return Row(edge=edge, inputs=(known.pop("x", grid(-2, 2, *shape)),), params=params, **known)


RFFT = table(
    "std::rfft",
    _real("even", (8,), (0,), dtypes=FLOATS, order=2),
    _real("odd", (9,), (0,), dtypes=FLOATS, order=2),
    _real("even_twice", (8,), (0,), twice=True, dtypes=FLOATS, order=2),
    _real("odd_twice", (9,), (0,), twice=True, dtypes=FLOATS),
    _real("prime", (13,), (0,)),
    _real("two", (2,), (0,)),
    _real("two_twice", (2,), (0,), twice=True, note="both columns stand for themselves"),
    _real("three_twice", (3,), (0,), twice=True),
    _real("size1_axis", (3, 1), (1,), dtypes=FLOATS),
    _real("size1_axis_twice", (3, 1), (1,), twice=True),
    _real("ortho", (6,), (0,), norm="ortho", dtypes=FLOATS),
    _real("mean", (5,), (0,), norm="mean", dtypes=FLOATS),
    _real("mean_twice", (6,), (0,), norm="mean", twice=True),
    _real("full_precision", (6,), (0,), x=fine(grid(-2, 2, 6)), wrt=()),
    _real("rows", (2, 5), (1,)),
    _real("columns", (4, 3), (0,), twice=True),
    _real("two_axes", (4, 3), (0, 1), dtypes=FLOATS, order=2),
    _real("two_axes_even", (3, 4), (0, 1), twice=True, norm="ortho"),
    _real("axes_in_another_order", (4, 3, 2), (1, 0), twice=True),
    _real("three_axes", (2, 3, 4), (0, 1, 2)),
    _real("four_axes", (2, 3, 1, 4), (0, 2, 1, 3)),
    _real("empty", (0, 4), (1,)),
    _real("empty_other_axis", (3, 0), (0,), twice=True),
    _real("non_contiguous", (3, 4), (1,), layout="strided"),
    _real("transposed", (3, 4), (1,), layout="transposed", wrt=(), dtypes=FLOATS),
    _real("medium", (125,), (0,), wrt=(), dtypes=FLOATS),
    _real("large", (_COUNT,), (0,), x=_SPIKES, expected=_waves(_COUNT // 2 + 1), wrt=(),
        dtypes=FLOATS, note="four waves, stated in closed form"),
    level=3, tol="factorization",
)  # fmt: skip


def _half(edge: str, shape: tuple[int, ...], axes: tuple[int, ...], **more: Any) -> Row:
    """Make a row of `irfft`; the shape is that of the result."""
    last, length = axes[-1], shape[axes[-1]]
    given = tuple(length // 2 + 1 if axis == last else n for axis, n in enumerate(shape))
    params = {
        "axes": axes, "length": length,
        "norm": more.pop("norm", "mean"), "twice": more.pop("twice", True),
    }  # fmt: skip
    size = _levels(prod(shape[axis] for axis in axes))
    known = {"dtypes": _C128, "wrt": (0,), "order": 1, "size": size, "out": _parts_of, **more}
    return Row(edge=edge, inputs=(known.pop("x", cgrid(2, *given)),), params=params, **known)


_DROPPED = "the numbers are no spectrum of real ones; what does not fit is dropped"
IRFFT = table(
    "std::irfft",
    _half("even", (8,), (0,), dtypes=COMPLEX, order=2, note=_DROPPED),
    _half("odd", (9,), (0,), dtypes=COMPLEX, order=2, note=_DROPPED),
    _half("even_once", (8,), (0,), twice=False, dtypes=COMPLEX, order=2),
    _half("odd_once", (9,), (0,), twice=False, dtypes=COMPLEX),
    _half("prime", (13,), (0,)),
    _half("two", (2,), (0,)),
    _half("two_once", (2,), (0,), twice=False),
    _half("size1_axis", (3, 1), (1,), dtypes=COMPLEX),
    _half("size1_axis_once", (3, 1), (1,), twice=False),
    _half("sum", (6,), (0,), norm="sum", dtypes=COMPLEX),
    _half("ortho", (5,), (0,), norm="ortho", dtypes=COMPLEX),
    _half("ortho_once", (6,), (0,), norm="ortho", twice=False),
    _half("full_precision", (6,), (0,), x=fine(cgrid(2, 4)), wrt=()),
    _half("rows", (2, 5), (1,)),
    _half("columns", (4, 3), (0,), twice=False),
    _half("two_axes", (4, 3), (0, 1), dtypes=COMPLEX, order=2, note=_DROPPED),
    _half("two_axes_even", (3, 4), (0, 1), norm="sum", note=_DROPPED),
    _half("two_axes_once", (3, 4), (0, 1), twice=False),
    _half("axes_in_another_order", (4, 3, 2), (1, 0), norm="ortho"),
    _half("three_axes", (2, 3, 4), (0, 1, 2)),
    _half("four_axes", (2, 3, 1, 4), (0, 2, 1, 3)),
    _half("empty", (0, 4), (1,)),
    _half("empty_other_axis", (3, 0), (0,)),
    _half("non_contiguous", (3, 4), (1,), layout="strided"),
    _half("transposed", (3, 5), (1,), layout="transposed", wrt=(), dtypes=COMPLEX),
    _half("medium", (125,), (0,), wrt=(), dtypes=COMPLEX),
    _half("large", (_COUNT,), (0,), x=_waves(_COUNT // 2 + 1), expected=_SPIKES, wrt=(),
        dtypes=COMPLEX, note="four spikes, stated as they are"),
    level=3, tol="factorization",
)  # fmt: skip

TABLES: tuple[Table, ...] = (FFT, RFFT, IRFFT)
