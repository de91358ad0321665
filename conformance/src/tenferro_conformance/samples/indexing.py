"""Samples of the indexing family: gather scatter scatter_add dynamic_slice dynamic_update_slice.

Modes are part of the primitive: `clip` moves a slice inside, `fill` reads zero,
`drop` writes nothing; derivatives carry the mode of the
primal. Read `rows.py` for what the fields of a row mean.
"""

from __future__ import annotations

from typing import Any

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

__all__ = ["TABLES", "into_points", "into_rows", "scatter_to"]

inf, nan = float("inf"), float("nan")
_I, _I32 = (None, "int64"), (None, "int32")
_C7 = "convention 7: the primal's out-of-bounds mode is carried into derived operations"


def _gather(offset: tuple[int, ...], collapsed: tuple[int, ...], start: tuple[int, ...],
    sizes: tuple[int, ...],
            mode: str) -> dict[str, Any]:  # fmt: skip
    return {
        "offset_dims": offset,
        "collapsed_slice_dims": collapsed,
        "start_index_map": start,
        "slice_sizes": sizes,
        "mode": mode,
    }


def _rows(mode: str) -> dict[str, Any]:
    """x[indices] along axis 0 of a (4, 3) array."""
    return _gather((1,), (0,), (0,), (1, 3), mode)


_X = grid(-2, 2, 4, 3)
_IN, _OUT = [[2], [0], [2]], [[-1], [3], [7]]
GATHER = table(
    "std::gather",
    Row(edge="wide", inputs=(_X, _IN), kinds=_I, params=_rows("promise_in_bounds"), wrt=(0,)),
    Row(edge="full_precision", inputs=(fine(_X), _IN), kinds=_I, params=_rows("clip"), dtypes=F64),
    Row(edge="int32_indices", inputs=(_X, _IN), kinds=_I32, params=_rows("clip"), wrt=(0,)),
    Row(edge="clip", inputs=(_X, _OUT), kinds=_I, params=_rows("clip"), wrt=(0,), note=_C7),
    Row(edge="fill", inputs=(_X, _OUT), kinds=_I, params=_rows("fill"), wrt=(0,), note=_C7),
    Row(edge="columns", inputs=(_X, [[1], [1]]), kinds=_I, params=_gather((0,), (1,), (1,), (4, 1),
        "fill"), dtypes=F64, wrt=(0,)),
    Row(edge="points", inputs=(_X, [[0, 1], [3, 2], [1, 1]]), kinds=_I, params=_gather((), (0, 1),
        (0, 1), (1, 1), "fill"), dtypes=F64,
        wrt=(0,)),
    Row(edge="swapped_map", inputs=(_X, [[1, 0], [2, 3]]), kinds=_I, params=_gather((), (0, 1), (1,
        0), (1, 1), "fill"), dtypes=F64,
        wrt=(0,), order=1),
    Row(edge="windows", inputs=(_X, [[0, 1], [2, 0]]), kinds=_I, params=_gather((1, 2), (), (0, 1),
        (2, 2), "clip"), dtypes=F64,
        wrt=(0,)),
    Row(edge="windows_clip", inputs=(_X, [[3, 2], [-2, 0]]), kinds=_I, params=_gather((1, 2), (),
        (0, 1), (2, 2), "clip"), dtypes=F64,
        wrt=(0,), note=_C7),
    Row(edge="windows_fill", inputs=(_X, [[3, 1], [1, 0]]), kinds=_I, params=_gather((1, 2), (), (0,
        1), (2, 2), "fill"), dtypes=F64,
        wrt=(0,), note=_C7),
    Row(edge="batch_rank2", inputs=(_X, [[[0], [1]], [[3], [3]]]), kinds=_I, params=_gather((2,),
        (0,), (0,), (1, 3), "clip"),
        dtypes=F64, wrt=(0,)),
    Row(edge="offset_first", inputs=(_X, _IN), kinds=_I, params=_gather((0,), (0,), (0,), (1, 3),
        "clip"), dtypes=F64, wrt=(0,)),
    Row(edge="scalar", inputs=(grid(-2, 2, 5), [3]), kinds=_I, params=_gather((), (0,), (0,), (1,),
        "clip"), wrt=(0,)),
    Row(edge="empty", inputs=(_X, grid(0, 1, 0, 1)), kinds=_I, params=_rows("clip"), dtypes=F64,
        wrt=(0,), order=1),
    Row(edge="size1_axis", inputs=(grid(-1, 1, 1, 3), [[0], [0]]), kinds=_I, params=_rows("clip"),
        dtypes=F64, wrt=(0,)),
    Row(edge="complex", inputs=(cgrid(2, 4, 3), _IN), kinds=_I, params=_rows("clip"),
        dtypes=COMPLEX, wrt=(0,)),
    Row(edge="integers", inputs=(igrid(-9, 9, 4, 3), _OUT), kinds=_I, params=_rows("fill"),
        dtypes=INTS),
    Row(edge="booleans", inputs=([True, False, True], [[0], [2], [9]]), kinds=_I, params=_gather((),
        (0,), (0,), (1,), "fill"),
        dtypes=("bool",), expected=[True, True, False]),
    Row(edge="non_contiguous", inputs=(_X, _IN), kinds=_I, params=_rows("clip"), dtypes=F64,
        layout="strided"),
    Row(edge="nan", inputs=([nan, inf, 1.0], [[0], [1], [5]]), kinds=_I, params=_gather((), (0,),
        (0,), (1,), "fill"), dtypes=FLOATS,
        expected=[nan, inf, 0.0], note="a slice out of bounds reads 0, whatever the array holds"),
    level=2,
)  # fmt: skip


def scatter_to(
    window: tuple[int, ...], inserted: tuple[int, ...], dims: tuple[int, ...], mode: str
) -> dict[str, Any]:
    """Return the parameters of a scatter."""
    return {
        "update_window_dims": window,
        "inserted_window_dims": inserted,
        "scatter_dims_to_operand_dims": dims,
        "mode": mode,
    }


def into_rows(mode: str) -> dict[str, Any]:
    """Return the parameters of a scatter of whole rows."""
    return scatter_to((1,), (0,), (0,), mode)


def into_points(mode: str) -> dict[str, Any]:
    """Return the parameters of a scatter of the elements of a vector."""
    return scatter_to((), (0,), (0,), mode)


_U = grid(-1, 3, 3, 3)
_S, _S32 = (None, "int64", None), (None, "int32", None)
SCATTER_ADD = table(
    "std::scatter_add",
    Row(edge="wide", inputs=(_X, [[2], [0], [1]], _U), kinds=_S,
        params=into_rows("promise_in_bounds"), wrt=(0, 2), size=2),
    Row(edge="full_precision", inputs=(fine(_X), [[2], [0], [1]], fine(_U)), kinds=_S,
        params=into_rows("drop"), dtypes=F64, size=2),
    Row(edge="duplicates", inputs=(_X, _IN, _U), kinds=_S, params=into_rows("clip"), wrt=(0, 2),
        size=3,
        note="duplicate indices accumulate"),
    Row(edge="int32_indices", inputs=(_X, _IN, _U), kinds=_S32, params=into_rows("clip"),
        dtypes=F64, wrt=(0, 2), size=3),
    Row(edge="clip", inputs=(_X, _OUT, _U), kinds=_S, params=into_rows("clip"), wrt=(0, 2), size=3,
        note=_C7),
    Row(edge="drop", inputs=(_X, _OUT, _U), kinds=_S, params=into_rows("drop"), wrt=(0, 2), size=3,
        note=_C7),
    Row(edge="points", inputs=(_X, [[0, 1], [3, 2], [0, 1]], grid(-1, 2, 3)), kinds=_S,
        params=scatter_to((), (0, 1), (0, 1), "drop"),
        dtypes=F64, wrt=(0, 2), size=3),
    Row(edge="windows", inputs=(_X, [[0, 1], [1, 0]], grid(-1, 2, 2, 2, 2)), kinds=_S,
        params=scatter_to((1, 2), (), (0, 1), "drop"),
        dtypes=F64, wrt=(0, 2), size=3),
    Row(edge="windows_clip", inputs=(_X, [[3, 2], [-2, 0]], grid(-1, 2, 2, 2, 2)), kinds=_S,
        params=scatter_to((1, 2), (), (0, 1), "clip"), dtypes=F64, wrt=(0, 2), size=3, note=_C7),
    Row(edge="windows_drop", inputs=(_X, [[3, 1], [1, 0]], grid(-1, 2, 2, 2, 2)), kinds=_S,
        params=scatter_to((1, 2), (), (0, 1), "drop"), dtypes=F64, wrt=(0, 2), size=3, note=_C7),
    Row(edge="updates_only", inputs=(_X, _IN, _U), kinds=_S, params=into_rows("clip"), dtypes=F64,
        wrt=(2,), order=1, size=3),
    Row(edge="scalar", inputs=(grid(-2, 2, 5), [3], 1.5), kinds=_S,
        params=into_points("drop"), wrt=(0, 2), size=2),
    Row(edge="empty", inputs=(_X, grid(0, 1, 0, 1), grid(0, 1, 0, 3)), kinds=_S,
        params=into_rows("drop"), dtypes=F64, wrt=(0, 2),
        order=1, size=2),
    Row(edge="complex", inputs=(cgrid(2, 4, 3), _IN, cgrid(1, 3, 3)), kinds=_S,
        params=into_rows("drop"), dtypes=COMPLEX, wrt=(0, 2),
        size=3),
    Row(edge="integers", inputs=(igrid(-9, 9, 4, 3), _IN, igrid(-5, 5, 3, 3)), kinds=_S,
        params=into_rows("drop"), dtypes=INTS,
        tol="exact"),
    Row(edge="non_contiguous", inputs=(_X, _IN, _U), kinds=_S, params=into_rows("drop"),
        dtypes=F64, layout="strided", size=3),
    Row(edge="nan", inputs=([1.0, 2.0], [[0], [7]], [nan, nan]), kinds=_S,
        params=into_points("drop"), dtypes=FLOATS,
        expected=[nan, 2.0], note="a dropped window leaves nothing behind"),
    level=2, tol="reduction",
)  # fmt: skip

_LAST = "of several updates of one place the last remains, in value and derivative"
SCATTER = table(
    "std::scatter",
    Row(edge="wide", inputs=(_X, [[2], [0], [1]], _U), kinds=_S,
        params=into_rows("promise_in_bounds"), wrt=(0, 2)),
    Row(edge="full_precision", inputs=(fine(_X), [[2], [0], [1]], fine(_U)), kinds=_S,
        params=into_rows("drop"), dtypes=F64),
    Row(edge="duplicates", inputs=(_X, _IN, _U), kinds=_S, params=into_rows("clip"), wrt=(0, 2),
        note=_LAST),
    Row(edge="many_duplicates", inputs=(grid(-2, 2, 3), [[1], [1], [0], [1], [0]],
        grid(-1, 2, 5)), kinds=_S, params=into_points("drop"), wrt=(0, 2), note=_LAST),
    Row(edge="int32_indices", inputs=(_X, _IN, _U), kinds=_S32, params=into_rows("clip"),
        dtypes=F64, wrt=(0, 2)),
    Row(edge="clip", inputs=(_X, _OUT, _U), kinds=_S, params=into_rows("clip"), wrt=(0, 2),
        note=_C7),
    Row(edge="drop", inputs=(_X, _OUT, _U), kinds=_S, params=into_rows("drop"), wrt=(0, 2),
        note=_C7),
    Row(edge="points", inputs=(_X, [[0, 1], [3, 2], [0, 1]], grid(-1, 2, 3)), kinds=_S,
        params=scatter_to((), (0, 1), (0, 1), "drop"), dtypes=F64, wrt=(0, 2), note=_LAST),
    Row(edge="columns", inputs=(_X, [[1], [2], [1]], grid(-1, 2, 4, 3)), kinds=_S,
        params=scatter_to((0,), (1,), (1,), "drop"), dtypes=F64, wrt=(0, 2), note=_LAST),
    Row(edge="windows", inputs=(_X, [[0, 1], [1, 0]], grid(-1, 2, 2, 2, 2)), kinds=_S,
        params=scatter_to((1, 2), (), (0, 1), "drop"), dtypes=F64, wrt=(0, 2), note=_LAST),
    Row(edge="windows_clip", inputs=(_X, [[3, 2], [-2, 0]], grid(-1, 2, 2, 2, 2)), kinds=_S,
        params=scatter_to((1, 2), (), (0, 1), "clip"), dtypes=F64, wrt=(0, 2), note=_C7),
    Row(edge="windows_drop", inputs=(_X, [[3, 1], [1, 0]], grid(-1, 2, 2, 2, 2)), kinds=_S,
        params=scatter_to((1, 2), (), (0, 1), "drop"), dtypes=F64, wrt=(0, 2), note=_C7),
    Row(edge="updates_only", inputs=(_X, _IN, _U), kinds=_S, params=into_rows("clip"), dtypes=F64,
        wrt=(2,), order=1),
    Row(edge="operand_only", inputs=(_X, _IN, _U), kinds=_S, params=into_rows("clip"), dtypes=F64,
        wrt=(0,), order=1),
    Row(edge="scalar", inputs=(grid(-2, 2, 5), [3], 1.5), kinds=_S,
        params=into_points("drop"), wrt=(0, 2)),
    Row(edge="scalar_dropped", inputs=(grid(-2, 2, 5), [9], 1.5), kinds=_S,
        params=into_points("drop"), dtypes=F64, wrt=(0, 2)),
    Row(edge="empty", inputs=(_X, grid(0, 1, 0, 1), grid(0, 1, 0, 3)), kinds=_S,
        params=into_rows("drop"), dtypes=F64, wrt=(0, 2), order=1),
    Row(edge="complex", inputs=(cgrid(2, 4, 3), _IN, cgrid(1, 3, 3)), kinds=_S,
        params=into_rows("drop"), dtypes=COMPLEX, wrt=(0, 2)),
    Row(edge="integers", inputs=(igrid(-9, 9, 4, 3), _IN, igrid(-5, 5, 3, 3)), kinds=_S,
        params=into_rows("drop"), dtypes=INTS),
    Row(edge="narrow", inputs=(igrid(0, 9, 4, 3), _IN, igrid(0, 5, 3, 3)), kinds=_S,
        params=into_rows("drop"),
        dtypes=("int8", "int16", "uint8", "uint16", "uint32", "uint64", "float16")),
    Row(edge="booleans", inputs=([True, False, False], [[0], [1], [0]], [False, True, True]),
        kinds=_S, params=into_points("drop"), dtypes=("bool",), note=_LAST),
    Row(edge="non_contiguous", inputs=(_X, _IN, _U), kinds=_S, params=into_rows("drop"),
        dtypes=F64, layout="strided"),
    Row(edge="special_values", inputs=([1.0, 2.0, 3.0], [[0], [1], [0], [7]], [nan, inf, -0.0,
        nan]), kinds=_S, params=into_points("drop"), dtypes=FLOATS,
        expected=[-0.0, inf, 3.0], note="what is replaced or dropped leaves nothing behind"),
    level=2,
)  # fmt: skip

_D2 = (None, "int64", "int64")
DYNAMIC_SLICE = table(
    "std::dynamic_slice",
    Row(edge="wide", inputs=(_X, 1, 0), kinds=_D2, params={"sizes": (2, 2)}, wrt=(0,)),
    Row(edge="full_precision", inputs=(fine(_X), 1, 0), kinds=_D2, params={"sizes": (2, 2)},
        dtypes=F64),
    Row(edge="clamped", inputs=(_X, 3, -5), kinds=_D2, params={"sizes": (2, 2)}, wrt=(0,),
        note="starts are clamped: " + _C7),
    Row(edge="int32_starts", inputs=(_X, 2, 1), kinds=(None, "int32", "int32"), params={"sizes": (1,
        2)}, dtypes=F64, wrt=(0,)),
    Row(edge="whole", inputs=(_X, 2, 1), kinds=_D2, params={"sizes": (4, 3)}, dtypes=F64, wrt=(0,),
        order=1),
    Row(edge="scalar", inputs=(1.5,), params={"sizes": ()}, dtypes=F64, wrt=(0,), order=1),
    Row(edge="size1_axis", inputs=(grid(-1, 1, 5), 2), kinds=_I, params={"sizes": (1,)}, dtypes=F64,
        wrt=(0,)),
    Row(edge="empty", inputs=(grid(-1, 1, 5), 2), kinds=_I, params={"sizes": (0,)}, dtypes=F64,
        wrt=(0,), order=1),
    Row(edge="complex", inputs=(cgrid(2, 4, 3), 1, 1), kinds=_D2, params={"sizes": (2, 2)},
        dtypes=COMPLEX, wrt=(0,)),
    Row(edge="integers", inputs=(igrid(-9, 9, 4, 3), 1, 1), kinds=_D2, params={"sizes": (2, 2)},
        dtypes=INTS),
    Row(edge="booleans", inputs=([True, False, True], 1), kinds=_I, params={"sizes": (2,)},
        dtypes=("bool",)),
    Row(edge="non_contiguous", inputs=(_X, 1, 0), kinds=_D2, params={"sizes": (2, 2)}, dtypes=F64),
    Row(edge="special_values", inputs=([nan, inf, -0.0], 0), kinds=_I, params={"sizes": (3,)},
        expected=[nan, inf, -0.0]),
    level=2,
)  # fmt: skip
_D3 = (None, None, "int64", "int64")
DYNAMIC_UPDATE_SLICE = table(
    "std::dynamic_update_slice",
    Row(edge="wide", inputs=(_X, grid(5, 9, 2, 2), 1, 0), kinds=_D3, wrt=(0, 1)),
    Row(edge="full_precision", inputs=(fine(_X), fine(grid(5, 9, 2, 2)), 1, 0), kinds=_D3,
        dtypes=F64),
    Row(edge="clamped", inputs=(_X, grid(5, 9, 2, 2), 3, -5), kinds=_D3, wrt=(0, 1),
        note="starts are clamped: " + _C7),
    Row(edge="int32_starts", inputs=(_X, grid(5, 9, 1, 2), 2, 1), kinds=(None, None, "int32",
        "int32"), dtypes=F64, wrt=(0, 1)),
    Row(edge="update_only", inputs=(_X, grid(5, 9, 2, 2), 1, 0), kinds=_D3, dtypes=F64, wrt=(1,),
        order=1),
    Row(edge="operand_only", inputs=(_X, grid(5, 9, 2, 2), 1, 0), kinds=_D3, dtypes=F64, wrt=(0,),
        order=1),
    Row(edge="whole", inputs=(_X, grid(5, 9, 4, 3), 1, 0), kinds=_D3, dtypes=F64, wrt=(0, 1),
        order=1),
    Row(edge="scalar", inputs=(1.5, 2.5), dtypes=F64, wrt=(0, 1), order=1),
    Row(edge="empty", inputs=(grid(-1, 1, 5), grid(0, 1, 0), 2), kinds=(None, None, "int64"),
        dtypes=F64, wrt=(0, 1), order=1),
    Row(edge="complex", inputs=(cgrid(2, 4, 3), cgrid(1, 2, 2), 1, 1), kinds=_D3, dtypes=COMPLEX,
        wrt=(0, 1)),
    Row(edge="integers", inputs=(igrid(-9, 9, 4, 3), igrid(20, 29, 2, 2), 1, 1), kinds=_D3,
        dtypes=INTS),
    Row(edge="non_contiguous", inputs=(_X, grid(5, 9, 2, 2), 1, 0), kinds=_D3, dtypes=F64,
        layout="strided"),
    Row(edge="special_values", inputs=([1.0, 2.0, 3.0], [nan, -0.0], 1), kinds=(None, None,
        "int64"), expected=[1.0, nan, -0.0]),
    level=2,
)  # fmt: skip

TABLES: tuple[Table, ...] = (
    GATHER, SCATTER_ADD, SCATTER, DYNAMIC_SLICE, DYNAMIC_UPDATE_SLICE,
)  # fmt: skip
