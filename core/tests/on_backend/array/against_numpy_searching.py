"""Rows of positions, sorting, searching, sets, polynomials, functions along axes, texts."""

import inspect

import numpy as np
from numpy_rows import FLOATS, INEXACT, NUMERIC, ORDERED, REAL, SIGNED, X, row, rows
from table_operands import FEW, HOLED, MANY, MASK, SOME, TIED, M, T, V, fixed, refused, smooth


def descending(names, *args, **keywords):
    """Rows in decreasing order, where NumPy knows that: from 2.5 on."""
    known = "descending" in inspect.signature(np.sort).parameters
    return rows(names, *args, descending=True, **keywords) if known else []


TAKEN = [
    row("take_along_axis", M, X(values=[[0, -1], [2, 0]], dtype="int64"), 1, grad=True),
    row("take_along_axis", M, X(values=[0, 5], dtype="int32"), axis=None, dtypes=FEW, grad=True),
    row("take_along_axis", M, X(values=[[1]], dtype="int64"), axis=0, dtypes=FEW),
    *refused("take_along_axis", M, X(values=[1], dtype="int64")),
    row("choose", X(values=[0, 1, 2, 1], dtype="int64"), [X(4), X(4, seed=1), 3], grad=True),
    row("choose", X(values=[-1, 5, 2], dtype="int64"), (X(3), X(3, seed=1)),
        mode="wrap", dtypes=FEW),
    row("choose", X(values=[-1, 5, 2], dtype="int64"), (X(2, 3), X(3, seed=1)), mode="clip",
        dtypes=FEW),
    *refused("choose", X(values=[-1, 5], dtype="int64"), (X(2), X(2))),
    row("compress", [True, False, True], M, axis=1, grad=True),
    row("compress", X(4, dtype="bool"), M, dtypes=FEW, grad=True),
    row("extract", MASK, M, grad=True),
    row("diagonal", X(3, 4), grad=True),
    row("diagonal", X(3, 4), offset=-1, dtypes=FEW),
    row("diagonal", X(2, 3, 4), 1, axis1=2, axis2=0, dtypes=FEW, grad=True),
    row("diagonal", X(3, 4), 7, dtypes=FEW),
    *refused("diagonal", V),
    row("ix_", X(3, dtype="int64"), X(4, dtype="bool"), dtypes=("int64",)),
    row("ix_", X(2, 2, dtype="int64"), dtypes=("int64",)),
    row("unravel_index", X(values=[0, 7, 23], dtype="int64"), (4, 6), dtypes=("int64",)),
    row("unravel_index", X(values=[0, 7], dtype="int32"), shape=(4, 6), order="F",
        dtypes=("int64",)),
    row("unravel_index", X(values=[24], dtype="int64"), (4, 6), dtypes=("int64",)),
    row("ravel_multi_index", (X(values=[0, 3], dtype="int64"), X(values=[1, 5], dtype="int64")),
        (4, 6), dtypes=("int64",)),
    row("ravel_multi_index", X(values=[[9, -3], [1, 8]], dtype="int64"), dims=(4, 6),
        mode=("wrap", "clip"), order="F", dtypes=("int64",)),
    row("ravel_multi_index", X(values=[[9], [1]], dtype="int64"), (4, 6), dtypes=("int64",)),
]  # fmt: skip

SORTS = [
    *rows("sort argsort", X(3, 4), grad=False, dtypes=SIGNED),
    row("sort", X(3, 4), grad=True),
    *rows("argsort", X(3, 4), dtypes=INEXACT),
    *rows("sort argsort", TIED, stable=True),
    *rows("sort argsort", TIED, axis=0, kind="stable", order=None, dtypes=FEW),
    *rows("sort argsort", TIED, axis=None, kind="mergesort", dtypes=FEW),
    *descending("sort argsort", TIED, axis=0, dtypes=FEW),
    *descending("sort argsort", X(3, 4), dtypes=("bool", "uint8", "int64", "complex128")),
    *descending("sort argsort", HOLED, dtypes=("float64", "complex128")),
    *refused("sort", X()),
    *rows("sort argsort", HOLED, dtypes=("float64", "complex128")),
    row("sort_complex", X(5), dtypes=NUMERIC, grad=True),
    row("partition", X(5), 2, after=lambda y: y[2], grad=True),
    row("partition", X(3, 4), kth=1, axis=0, kind="introselect", order=None,
        after=lambda y: y[1], dtypes=FEW, grad=True),
    row("argpartition", X(5), 2, after=lambda y: y[2], dtypes=INEXACT),
    row("argpartition", X(3, 4), kth=(1,), axis=0, kind="introselect", order=None,
        after=lambda y: y[1], dtypes=REAL),
    *refused("partition argpartition", V, 5),
    row("lexsort", (X(values=[2, 1, 3, 0]), X(values=[1, 1, 0, 1]))),
    row("lexsort", TIED, dtypes=FEW),
    row("lexsort", (TIED, TIED), axis=0, dtypes=FEW),
]  # fmt: skip

GRID = X(values=[-1.5, -0.5, 0, 1, 1, 2])

SEARCHES = [
    row("searchsorted", GRID, M, dtypes=ORDERED),
    row("searchsorted", GRID, X(4, dtype="float32"), side="right", dtypes=ORDERED),
    row("searchsorted", X(values=[3, 1, 2]), X(values=[0, 1, 2.5]), "right",
        sorter=X(values=[1, 2, 0], dtype="int64"), dtypes=REAL),
    row("searchsorted", GRID, 1, dtypes=FEW[:-1]),
    row("digitize", M, GRID, dtypes=REAL),
    row("digitize", M, bins=[2, 1, 0, -1], right=True, dtypes=("int64", *REAL)),
    *refused("digitize", M, [0, 2, 1]),
    row("nonzero", X(values=[[0, 1, 2], [3, 0, 0]])),
    *refused("nonzero", X()),
    row("flatnonzero", X(values=[[0, 1, 2], [3, 0, 0]])),
    row("argwhere", X(values=[[0, 1, 2], [3, 0, 0]])),
    row("argwhere", X(values=2), dtypes=FEW),
]  # fmt: skip

SETS = [
    row("unique", V, grad=True),
    row("unique", MANY),
    row("unique", TIED, return_index=True, return_inverse=True, return_counts=True, dtypes=FEW),
    row("unique", TIED, return_counts=True, sorted=True, dtypes=FEW),
    row("unique", X(values=[[1, 2], [0, 1], [1, 2]]), axis=0, return_inverse=True,
        dtypes=FEW[:-1]),
    row("unique", X(values=[np.nan, 1, np.nan]), equal_nan=False, dtypes=FLOATS),
    row("unique", X(values=[np.nan, 1, np.nan]), equal_nan=True, dtypes=FLOATS),
    *rows("unique_all unique_counts unique_inverse", MANY),
    *rows("unique_all unique_counts unique_inverse", V, grad=True),
    row("unique_values", V, after=np.sort, grad=True),  # NumPy leaves the order open
    row("intersect1d", MANY, X(values=[1, 2, 5])),
    row("intersect1d", X(values=[3, 1, 2]), X(values=[1, 2, 5]), assume_unique=True,
        return_indices=True, dtypes=FEW[1:], after=fixed),
    row("union1d", MANY, TIED),
    row("union1d", V, X(3, seed=1), grad=True),
    row("setdiff1d", MANY, X(values=[1, 5])),
    row("setdiff1d", V, X(values=[1, 5], dtype="int64"), grad=True),
    row("setdiff1d", X(values=[3, 1, 2]), X(values=[1, 5]), assume_unique=True, dtypes=FEW,
        after=fixed),
    row("setxor1d", MANY, X(values=[1, 5])),
    row("setxor1d", V, X(3, seed=1), grad=True),
    row("setxor1d", X(values=[np.nan, 1, 2]), X(values=[2, np.nan]), dtypes=REAL, after=fixed),
    row("setxor1d", X(values=[3, 1, 2]), X(values=[1, 5]), assume_unique=True, dtypes=FEW,
        after=fixed),
    row("isin", TIED, X(values=[1, 3])),
    row("isin", TIED, [1, 3], assume_unique=False, invert=True, kind=None, dtypes=FEW),
]  # fmt: skip

POLYNOMIALS = [
    row("polyval", X(3), M, grad=True, dtypes=NUMERIC),
    *rows("polyadd polysub", X(3), X(5, seed=1), grad=True, dtypes=NUMERIC),
    row("polymul", X(3), X(5, seed=1), grad=True, dtypes=NUMERIC),
    row("polyder", X(5), grad=True, dtypes=NUMERIC),
    row("polyder", X(5), m=2, dtypes=FEW, grad=True),
    row("polyint", X(5), grad=True, dtypes=NUMERIC),
    row("polyint", X(3), m=2, k=[1.5, 2], dtypes=REAL, grad=True),
    row("polydiv", X(5, low=1), X(3, low=1, seed=1), grad=True, dtypes=REAL),
    row("polydiv", X(values=[1, 5, 6]), X(values=[1, 2]), dtypes=FEW),
    row("polydiv", X(values=[1, 5]), X(values=[1, 2, 3]), dtypes=REAL),
]  # fmt: skip

APPLIED = [
    row("apply_along_axis", np.sum, 0, M, grad=True, dtypes=FEW),
    row("apply_along_axis", np.cumsum, 1, T, grad=True, dtypes=FEW),
    row("apply_along_axis", np.outer, 1, M, 2.0, dtypes=FEW, grad=True),
    row("apply_over_axes", np.sum, X(2, 3, 4), [0, 2], grad=True, dtypes=FEW),
    row("apply_over_axes", np.max, M, 1, dtypes=REAL, grad="real"),
    row("array_repr", M, max_line_width=20, precision=3, suppress_small=True, dtypes=REAL),
    row("array_str", M, max_line_width=20, precision=3, suppress_small=True, dtypes=REAL),
    row("array2string", M, max_line_width=30, precision=3, suppress_small=True, separator=", ",
        prefix=">", formatter=None, threshold=100, edgeitems=2, sign="+", floatmode="fixed",
        suffix="<", legacy=False, dtypes=REAL),
    *rows("may_share_memory shares_memory", M, V, max_work=None, dtypes=SOME),
]  # fmt: skip

ROWS = [*smooth([*TAKEN, *SORTS, *SETS, *POLYNOMIALS]), *SEARCHES, *APPLIED]
