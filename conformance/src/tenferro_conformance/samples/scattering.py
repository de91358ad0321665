"""Samples of the scattering family: scatter_mul scatter_max scatter_min.

Parameters and modes are those of scatter_add; what falls on one place is multiplied or compared,
together with what was there. Read `rows.py` for what the fields of a row mean.
"""

from __future__ import annotations

from tenferro_conformance.samples.indexing import into_points, into_rows, scatter_to
from tenferro_conformance.samples.table import (
    COMPLEX,
    F64,
    FLOATS,
    INTS,
    Row,
    Table,
    cgrid,
    fine,
    grid,
    igrid,
    table,
)  # fmt: skip

__all__ = ["TABLES"]

inf, nan = float("inf"), float("nan")
_NARROW_INTEGERS = ("int8", "int16", "uint8", "uint16", "uint32", "uint64")
_C7 = "convention 7: the primal's out-of-bounds mode is carried into derived operations"
_C3 = "convention 3: ties share equally among active sides"
_C9 = "convention 9: the derivative of a product is right with zeros present"
_S, _S32 = (None, "int64", None), (None, "int32", None)
_X, _U = grid(-2, 2, 4, 3), grid(-1, 3, 3, 3)
_APART, _IN, _OUT = [[2], [0], [1]], [[2], [0], [2]], [[-1], [3], [7]]


def _edges() -> tuple[Row, ...]:
    """Return the edges that every scatter has."""
    both = (0, 2)
    corners, windows = scatter_to((), (0, 1), (0, 1), "drop"), grid(-1, 2, 2, 2, 2)
    return (
        Row(edge="wide", inputs=(_X, _APART, _U), kinds=_S, params=into_rows("promise_in_bounds"),
            wrt=both, order=2, size=2),
        Row(edge="full_precision", inputs=(fine(_X), _APART, fine(_U)), kinds=_S,
            params=into_rows("drop"), dtypes=F64, size=2),
        Row(edge="duplicates", inputs=(_X, _IN, _U), kinds=_S, params=into_rows("clip"), wrt=both,
            order=2, size=3),
        Row(edge="int32_indices", inputs=(_X, _IN, _U), kinds=_S32, params=into_rows("clip"),
            dtypes=F64, wrt=both, order=1, size=3),
        Row(edge="clip", inputs=(_X, _OUT, _U), kinds=_S, params=into_rows("clip"), wrt=both,
            order=2, size=3, note=_C7),
        Row(edge="drop", inputs=(_X, _OUT, _U), kinds=_S, params=into_rows("drop"), wrt=both,
            order=2, size=3, note=_C7),
        Row(edge="points", inputs=(_X, [[0, 1], [3, 2], [0, 1]], grid(-1, 2, 3)), kinds=_S,
            params=corners, dtypes=F64, wrt=both, order=2, size=3),
        Row(edge="windows", inputs=(_X, [[0, 1], [1, 0]], windows), kinds=_S,
            params=scatter_to((1, 2), (), (0, 1), "drop"), dtypes=F64, wrt=both, order=2, size=3),
        Row(edge="windows_clip", inputs=(_X, [[3, 2], [-2, 0]], windows), kinds=_S,
            params=scatter_to((1, 2), (), (0, 1), "clip"), dtypes=F64, wrt=both, order=2, size=3,
            note=_C7),
        Row(edge="windows_drop", inputs=(_X, [[3, 1], [1, 0]], windows), kinds=_S,
            params=scatter_to((1, 2), (), (0, 1), "drop"), dtypes=F64, wrt=both, order=2, size=3,
            note=_C7),
        Row(edge="updates_only", inputs=(_X, _IN, _U), kinds=_S, params=into_rows("clip"),
            dtypes=F64, wrt=(2,), order=1, size=3),
        Row(edge="scalar", inputs=(grid(-2, 2, 5), [3], 1.5), kinds=_S, params=into_points("drop"),
            wrt=both, order=2, size=2),
        Row(edge="empty", inputs=(_X, grid(0, 1, 0, 1), grid(0, 1, 0, 3)), kinds=_S,
            params=into_rows("drop"), dtypes=F64, wrt=both, order=1, size=2),
        Row(edge="integers", inputs=(igrid(-9, 9, 4, 3), _IN, igrid(-5, 5, 3, 3)), kinds=_S,
            params=into_rows("drop"), dtypes=INTS, tol="exact"),
        Row(edge="narrow", inputs=(igrid(0, 9, 4, 3), _IN, igrid(0, 5, 3, 3)), kinds=_S,
            params=into_rows("drop"), dtypes=_NARROW_INTEGERS, tol="exact"),
        Row(edge="non_contiguous", inputs=(_X, _IN, _U), kinds=_S, params=into_rows("drop"),
            dtypes=F64, layout="strided", size=3),
        Row(edge="half", inputs=([0.5, 2.0, 1.0], [[0], [2], [0]], [1.5, -2.0, 4.0]), kinds=_S,
            params=into_points("drop"), dtypes=("float16",), size=3),
    )  # fmt: skip


SCATTER_MUL = table(
    "std::scatter_mul",
    *_edges(),
    Row(edge="complex", inputs=(cgrid(2, 4, 3), _IN, cgrid(1, 3, 3)), kinds=_S,
        params=into_rows("drop"), dtypes=COMPLEX, wrt=(0, 2), order=2, size=3),
    Row(edge="zeros", inputs=([2.0, 5.0], [[0], [0], [0], [1]], [3.0, 0.0, 4.0, 0.0]), kinds=_S,
        params=into_points("drop"), wrt=(0, 2), order=2,
        tangents=([1.0, 1.0], [1.0, 1.0, 1.0, 1.0]),
        expected=[0.0, 0.0], derivative=[24.0, 5.0], size=4, note=_C9),
    Row(edge="two_zeros", inputs=([2.0], [[0], [0]], [0.0, 0.0]),
        kinds=_S, params=into_points("clip"),
        wrt=(2,), order=2, tangents=([1.0, 1.0],), expected=[0.0], derivative=[0.0], size=3,
        note=_C9),
    Row(edge="nan", inputs=([1.0, 2.0], [[0], [7]], [nan, nan]),
        kinds=_S, params=into_points("drop"),
        dtypes=FLOATS, expected=[nan, 2.0], note="a dropped window leaves nothing behind"),
    level=2, tol="reduction_serial",
)  # fmt: skip


def _extremum(name: str, infs: list[float], tied: list[float]) -> Table:
    return table(
        f"std::{name}",
        *_edges(),
        Row(edge="booleans", inputs=([True, False, True], [[0], [1], [1]], [False, True, False]),
            kinds=_S, params=into_points("drop"), dtypes=("bool",)),
        Row(edge="nan", inputs=([1.0, 2.0, nan], [[0], [7], [2]], [nan, nan, 1.0]), kinds=_S,
            params=into_points("drop"), dtypes=FLOATS, expected=[nan, 2.0, nan], note="NaN wins"),
        Row(edge="inf", inputs=([1.0, inf, -inf], [[0], [1], [2]], [inf, -inf, 1.0]), kinds=_S,
            params=into_points("drop"), dtypes=FLOATS, expected=infs),
        Row(edge="tie", inputs=([3.0, 1.0, 3.0], [[0], [0], [1], [1]], [3.0, 3.0, 1.0, 1.0]),
            kinds=_S, params=into_points("drop"), dtypes=F64, wrt=(0, 2), order=1, smooth=False,
            tangents=([1.0, 2.0, 4.0], [2.0, 6.0, 6.0, 1.0]), expected=[3.0, 1.0, 3.0],
            derivative=tied, note=_C3),
        level=2,
    )  # fmt: skip


SCATTER_MAX = _extremum("scatter_max", [inf, inf, 1.0], [3.0, 3.0, 4.0])
SCATTER_MIN = _extremum("scatter_min", [1.0, -inf, -inf], [3.0, 3.0, 4.0])

TABLES: tuple[Table, ...] = (SCATTER_MUL, SCATTER_MAX, SCATTER_MIN)
