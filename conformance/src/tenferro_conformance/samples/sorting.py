"""Samples of the sorting family: sort top_k searchsorted.

Sorting is stable, NaN comes last, complex numbers are compared by their real parts first. Read
`rows.py` for what the fields of a row mean.
"""

from __future__ import annotations

from typing import Any

from tenferro_conformance.samples.table import (
    BOOL,
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
_STABLE = "equal keys keep their order on every backend"


def _sort(dimension: int, num_keys: int = 1, count: int = 1) -> dict[str, Any]:
    return {"dimension": dimension, "num_keys": num_keys, "count": count}


_X = grid(-2, 2, 3, 4)
_NAN_ORDER = "NumPy's order: numbers, then those with a NaN part, the imaginary part first"
SORT = table(
    "std::sort",
    Row(edge="wide", inputs=(_X,), params=_sort(1), wrt=(0,)),
    Row(edge="tall", inputs=(_X,), params=_sort(0), wrt=(0,)),
    Row(edge="full_precision", inputs=(fine(_X),), params=_sort(1), dtypes=F64),
    Row(edge="size1_axis", inputs=(grid(-2, 2, 3, 1),), params=_sort(1), dtypes=F64, wrt=(0,),
        order=1),
    Row(edge="rank3", inputs=(grid(-2, 2, 2, 3, 2),), params=_sort(1), dtypes=F64, wrt=(0,),
        order=2),
    Row(edge="empty", inputs=(grid(0, 1, 2, 0),), params=_sort(1), dtypes=F64, wrt=(0,), order=1),
    Row(edge="empty_other_axis", inputs=(grid(0, 1, 0, 3),), params=_sort(1), dtypes=F64, wrt=(0,),
        order=1),
    Row(edge="complex", inputs=(cgrid(2, 2, 3),), params=_sort(1), dtypes=COMPLEX, wrt=(0,),
        order=2),
    Row(edge="integers", inputs=(igrid(-9, 9, 2, 5),), params=_sort(1), dtypes=INTS),
    Row(edge="narrow", inputs=(igrid(0, 9, 2, 5),), params=_sort(1), dtypes=_NARROW_INTEGERS),
    Row(edge="large_unsigned", inputs=([2**63, 1, 2**64 - 1, 0],), params=_sort(0),
        dtypes=("uint64",)),
    Row(edge="booleans", inputs=([True, False, True, False],), params=_sort(0), dtypes=BOOL),
    Row(edge="half", inputs=([0.5, -2.0, 1.5, -0.25],), params=_sort(0), dtypes=("float16",)),
    Row(edge="non_contiguous", inputs=(_X,), params=_sort(1), dtypes=F64, wrt=(0,), order=1,
        layout="strided"),
    Row(edge="transposed", inputs=(_X,), params=_sort(1), dtypes=F64, layout="transposed"),
    Row(edge="nan", inputs=([nan, 2.0, nan, -1.0],), params=_sort(0),
        expected=[-1.0, 2.0, nan, nan], note="NaN comes last"),
    Row(edge="inf", inputs=([inf, nan, 0.0, -inf],), params=_sort(0),
        expected=[-inf, 0.0, inf, nan]),
    Row(edge="signed_zeros", inputs=([0.0, -0.0, -1.0, 0.0, -0.0],), params=_sort(0),
        expected=[-1.0, 0.0, -0.0, 0.0, -0.0], note=_STABLE),
    Row(edge="complex_nan",
        inputs=([complex(nan, 1), complex(1, nan), complex(2, 3), complex(nan, 0), 1 + 5j],),
        params=_sort(0), dtypes=COMPLEX, note=_NAN_ORDER,
        expected=[1 + 5j, complex(2, 3), complex(1, nan), complex(nan, 0), complex(nan, 1)]),
    Row(edge="complex_ties", inputs=([1 + 2j, 1 - 2j, 0 + 9j, 1 + 0j],), params=_sort(0),
        dtypes=COMPLEX, expected=[0 + 9j, 1 - 2j, 1 + 0j, 1 + 2j]),
    Row(edge="ties", inputs=([2.0, 1.0, 2.0, 1.0],), params=_sort(0), wrt=(0,), order=2,
        smooth=False, tangents=([1.0, 2.0, 4.0, 8.0],), expected=[1.0, 1.0, 2.0, 2.0],
        derivative=[2.0, 8.0, 1.0, 4.0], note=_STABLE),
    Row(edge="key_and_value", inputs=([2.0, 1.0, 2.0, 1.0], [10.0, 20.0, 30.0, 40.0]),
        params=_sort(0, 1, 2), out=(None, None), wrt=(0, 1), derivative=None, smooth=False,
        expected=([1.0, 1.0, 2.0, 2.0], [20.0, 40.0, 10.0, 30.0]), note=_STABLE),
    Row(edge="two_keys", inputs=([2.0, 1.0, 2.0, 1.0], [4.0, 3.0, 2.0, 1.0]),
        params=_sort(0, 2, 2), out=(None, None), dtypes=F64, wrt=(0, 1), derivative=None,
        smooth=False, expected=([1.0, 1.0, 2.0, 2.0], [1.0, 3.0, 2.0, 4.0])),
    Row(edge="permutation", inputs=([[3, 1, 2], [0, 0, -1]], [[0, 1, 2], [0, 1, 2]]),
        params=_sort(1, 1, 2), kinds=(None, "int64"), out=(None, "int64"), dtypes=INTS + FLOATS,
        expected=([[1, 2, 3], [-1, 0, 0]], [[1, 2, 0], [2, 0, 1]]), note=_STABLE),
    Row(edge="key_of_another_dtype", inputs=([True, False, True], [1.5, 2.5, 3.5]),
        params=_sort(0, 1, 2), kinds=("bool", None), out=("bool", None), wrt=(1,),
        derivative=None, expected=([False, True, True], [2.5, 1.5, 3.5])),
    Row(edge="complex_key", inputs=([1 + 1j, 1 - 1j, 0j], [1, 2, 3]), params=_sort(0, 1, 2),
        kinds=(None, "int32"), out=(None, "int32"), dtypes=COMPLEX,
        expected=([0j, 1 - 1j, 1 + 1j], [3, 2, 1])),
    Row(edge="large", inputs=(grid(-3, 5, 1531),), params=_sort(0)),
    level=2,
)  # fmt: skip


def _top(k: int, axis: int = 0, dtype: str = "int64") -> dict[str, Any]:
    return {"k": k, "axis": axis, "dtype": dtype}


_PAIR = (None, "int64")
TOP_K = table(
    "std::top_k",
    Row(edge="wide", inputs=([[3.0, 1.0, 4.0, 2.0], [-1.0, 5.0, 0.0, 2.5]],), params=_top(2, 1),
        out=_PAIR, wrt=(0,), order=2, derivative=None,
        expected=([[4.0, 3.0], [5.0, 2.5]], [[2, 0], [1, 3]])),
    Row(edge="tall", inputs=([[3.0, 1.0], [4.0, 2.0], [5.0, 0.0]],), params=_top(2, 0, "int32"),
        dtypes=F64, out=(None, "int32"), wrt=(0,), order=1, derivative=None,
        expected=([[5.0, 2.0], [4.0, 1.0]], [[2, 1], [1, 0]])),
    Row(edge="ties", inputs=([1.0, 3.0, 3.0, 1.0],), params=_top(3), out=_PAIR,
        expected=([3.0, 3.0, 1.0], [1, 2, 0]), note="of equal elements the first comes first"),
    Row(edge="nan", inputs=([1.0, nan, inf, nan],), params=_top(3), out=_PAIR,
        expected=([nan, nan, inf], [1, 3, 2]), note="NaN is the largest, the first comes first"),
    Row(edge="all", inputs=([2.0, 1.0],), params=_top(2), dtypes=F64, out=_PAIR, wrt=(0,), order=1,
        derivative=None, expected=([2.0, 1.0], [0, 1])),
    Row(edge="none", inputs=([2.0, 1.0],), params=_top(0), dtypes=F64, out=_PAIR, wrt=(0,), order=1,
        derivative=None, expected=([], [])),
    Row(edge="empty", inputs=(grid(0, 1, 0, 3),), params=_top(1, 1), dtypes=F64, out=_PAIR,
        expected=(grid(0, 1, 0, 1), grid(0, 1, 0, 1))),
    Row(edge="integers", inputs=([5, -7, 9],), params=_top(1), dtypes=INTS, out=_PAIR,
        expected=([9], [2])),
    Row(edge="smallest_integer", inputs=([-(2**31), 0, -1],), params=_top(3), dtypes=("int32",),
        out=_PAIR, expected=([0, -1, -(2**31)], [1, 2, 0])),
    Row(edge="booleans", inputs=([False, True, False],), params=_top(2), dtypes=BOOL, out=_PAIR,
        expected=([True, False], [1, 0])),
    Row(edge="non_contiguous", inputs=([3.0, 1.0, 4.0],), params=_top(1), dtypes=F64, out=_PAIR,
        layout="strided", expected=([4.0], [2])),
    level=2,
)  # fmt: skip


def _search(side: str, dtype: str = "int64") -> dict[str, Any]:
    return {"side": side, "dtype": dtype}


_ROW = [-1.0, 0.0, 0.0, 0.0, 2.5, 4.0]
_VALUES = [[0.0, -3.0, 2.0], [4.0, 9.0, 2.5]]
SEARCHSORTED = table(
    "std::searchsorted",
    Row(edge="left", inputs=(_ROW, _VALUES), params=_search("left"), out="int64"),
    Row(edge="right", inputs=(_ROW, _VALUES), params=_search("right"), out="int64"),
    Row(edge="int32", inputs=(_ROW, _VALUES), params=_search("left", "int32"), dtypes=F64,
        out="int32"),
    Row(edge="scalar", inputs=(_ROW, 0.0), params=_search("right"), dtypes=F64, out="int64"),
    Row(edge="rows", inputs=([[0.0, 1.0, 2.0], [5.0, 6.0, 7.0]], [[1.0, 1.5], [1.0, 8.0]]),
        params=_search("right"), out="int64"),
    Row(edge="rows_of_one", inputs=([[1.0], [5.0]], [1.0, 1.0]), params=_search("left"), dtypes=F64,
        out="int64"),
    Row(edge="empty_row", inputs=(grid(0, 1, 2, 0), [[1.0, 2.0], [3.0, 4.0]]),
        params=_search("left"), dtypes=F64, out="int64"),
    Row(edge="empty_values", inputs=(_ROW, grid(0, 1, 0, 2)), params=_search("left"), dtypes=F64,
        out="int64", expected=grid(0, 1, 0, 2)),
    Row(edge="integers", inputs=([-3, 0, 5, 5], [5, 4, -9]), params=_search("right"), dtypes=INTS,
        out="int64"),
    Row(edge="booleans", inputs=([False, True, True], [True, False]), params=_search("right"),
        dtypes=BOOL, out="int64"),
    Row(edge="nan_left", inputs=([0.0, inf, nan, nan], [nan, inf, 1.0]), params=_search("left"),
        out="int64", expected=[2, 1, 1], note="NaN is larger than all numbers, and equals NaN"),
    Row(edge="nan_right", inputs=([0.0, inf, nan, nan], [nan, inf, 1.0]), params=_search("right"),
        out="int64", expected=[4, 2, 1]),
    Row(edge="nan_rows", inputs=([[0.0, nan], [nan, nan]], [[nan], [0.0]]), params=_search("left"),
        dtypes=F64, out="int64", expected=[[1], [0]]),
    Row(edge="non_contiguous", inputs=(_ROW, [0.0, 3.0]), params=_search("left"), dtypes=F64,
        out="int64", layout="strided"),
    level=2,
)  # fmt: skip

TABLES: tuple[Table, ...] = (SORT, TOP_K, SEARCHSORTED)
