"""Rows of structural functions, reductions, statistics, sorting, sets, polynomials, windows."""

from dataclasses import replace

import numpy as np
from numpy_rows import ALL, FLOATS, INEXACT, NUMERIC, ORDERED, REAL, SIGNED, X, fill, row, rows

import tenferro as tn

V, M, T = X(5), X(2, 3), X(2, 1, 3)
MASK = X(2, 3, dtype="bool", seed=3)
FEW = ("bool", "int32", "uint8", "float32", "float64", "complex128")
SOME = ("int32", "float64")


def refused(names, *args, **keywords):
    """Rows that NumPy refuses, and so must we."""
    whole = fill((args, keywords), lambda x: X(*x.shape, values=x.values, dtype=x.dtype or "int64"))
    return rows(names, *whole[0], dtypes=("int64",), after=list, **whole[1])


def fixed(result):
    """A result without its derivative: differences would cross what its shape depends on."""
    if isinstance(result, tuple):
        return tuple(map(tn.stop_gradient, result))
    return tn.stop_gradient(result)


COUNTING = {
    "any", "all", "count_nonzero", "argmax", "argmin", "nanargmax", "nanargmin", "argsort", "lexsort",
    "argpartition", "isin", "ix_", "unravel_index", "ravel_multi_index", "histogram", "bincount",
    "searchsorted", "digitize", "nonzero", "flatnonzero", "argwhere",
}  # fmt: skip


def smooth(table, grad=True):
    """The rows of a table, called differentiable where nothing speaks against it."""
    return [settled(one, grad) for one in table]


def settled(one, grad):
    if one.after is not None or one.name in COUNTING:
        return one
    operands = []
    fill((one.args, one.keywords), operands.append)
    narrow = one.keywords.get("dtype") in ("float32", "complex64")
    is_rough = narrow or any(x in ROUGH for x in operands)
    return (
        replace(one, after=fixed, grad=False) if is_rough else replace(one, grad=one.grad or grad)
    )


HOLED = X(values=[[1.5, np.nan, -2, 3, 0.25], [np.nan, np.nan, 4, 1, -1]])
TIED = X(values=[[3, 1, 2, 1], [0, 2, 2, 1]])
MANY = X(values=[3, 1, 2, 1, 3, 3])
LOOSE = X(values=[0, 0, 1, 0, 2, 0])
ROUGH = [
    HOLED, TIED, MANY, LOOSE, X(0), X(values=[0, 0]), X(values=[[0, 0, 0], [0, 1, 0]]),
    X(values=[np.nan, 1, np.nan]), X(values=[[1, np.nan], [2, 3]]),
    X(values=[[np.nan, 2], [np.nan, 1]]), X(values=[0, 1, 2, 1]), X(values=[[1, 2], [0, 1], [1, 2]]),
]  # fmt: skip

SHAPES = [
    row("reshape", M, (3, 2), grad=True),
    row("reshape", M, shape=(-1,), order="F", dtypes=FEW),
    row("reshape", T, (3, -1), "F", copy=True, dtypes=FEW, grad=True),
    row("reshape", M, 6, order="A", dtypes=FEW),
    *refused("reshape", M, 5),
    row("ravel", T, grad=True),
    row("ravel", M, order="F", dtypes=FEW, grad=True),
    row("ravel", M, order="K", dtypes=FEW),
    *rows("transpose permute_dims", T, grad=True),
    *rows("transpose permute_dims", T, axes=(2, 0, -2), dtypes=FEW, grad=True),
    row("matrix_transpose", T, grad=True),
    *refused("matrix_transpose", V),
    row("swapaxes", T, 0, -1, grad=True),
    row("moveaxis", T, 0, -1, grad=True),
    row("moveaxis", T, (0, 1), (-1, 0), dtypes=FEW),
    row("rollaxis", T, 2, grad=True),
    row("rollaxis", T, 0, start=3, dtypes=FEW),
    row("rollaxis", T, -1, 1, dtypes=FEW),
    row("expand_dims", M, 0, grad=True),
    row("expand_dims", M, axis=(0, -1), dtypes=FEW),
    row("squeeze", T, grad=True),
    row("squeeze", T, axis=1, dtypes=FEW, grad=True),
    *refused("squeeze", T, axis=0),
    *rows("atleast_1d atleast_2d atleast_3d", X(), grad=True),
    *rows("atleast_1d atleast_2d atleast_3d", V, M, T, dtypes=FEW, grad=True),
    row("broadcast_to", V, (2, 5), grad=True),
    row("broadcast_to", X(), 3, subok=True, dtypes=FEW),
    *refused("broadcast_to", V, (4,)),
    row("broadcast_arrays", X(3, 1), V, 2.0, grad=True),
    row("broadcast_arrays", X(), X(0), subok=True, dtypes=FEW),
]

JOINS = [
    row("concatenate", (M, X(1, 3, dtype="int16")), grad=True),
    row("concatenate", [M, V], axis=None, dtypes=FEW, grad=True),
    row("concatenate", [M, M], axis=-1, dtype="float32"),
    row("concatenate", [M, M], dtype="int8", casting="unsafe", dtypes=FEW),
    *refused("concatenate", [M, V]),
    row("concat", [V, 1.0 * np.ones(2)], axis=0, dtype="complex64", casting="same_kind"),
    row("concat", [V, [1, 2]], grad=True, dtypes=FEW),
    row("stack", [V, X(5, dtype="float32")], grad=True),
    row("stack", (M, M), axis=-1, dtypes=FEW, grad=True),
    row("stack", (M, M), axis=0, dtype="float32", casting="unsafe", dtypes=FEW),
    row("vstack", (V, X(2, 5)), grad=True),
    row("vstack", (V, V), dtype="float32", casting="unsafe", dtypes=FEW),
    row("hstack", (V, X(2)), grad=True),
    row("hstack", (M, X(2, 1)), dtypes=FEW, grad=True),
    row("hstack", (V, V), dtype="float32", casting="same_kind", dtypes=FEW),
    *rows("dstack column_stack", (M, M), dtypes=FEW, grad=True),
    *rows("dstack column_stack", [V, V], grad=True),
    row("append", M, V, grad=True),
    row("append", M, X(1, 3), axis=0, dtypes=FEW, grad=True),
    row("append", M, [7, 8], dtypes=FEW),
    row("block", [[M, X(2, 1)], [X(1, 3), X(1, 1)]], grad=True),
    row("block", [X(), V, 2], dtypes=FEW),
    row("block", M, dtypes=FEW),
    *refused("block", [[V, V], V]),
    row("split", X(6), 3, grad=True),
    row("split", X(4, 6), [1, 4], axis=1, dtypes=FEW, grad=True),
    *refused("split", V, 2),
    row("array_split", V, 3, grad=True),
    row("array_split", M, [1, 5, 2, -1], axis=-1, dtypes=FEW),
    *refused("array_split", V, 0),
    row("vsplit", X(4, 2), 2, grad=True),
    row("hsplit", X(2, 4), [1, 3], dtypes=FEW, grad=True),
    row("hsplit", X(4), 2, dtypes=FEW, grad=True),
    row("dsplit", X(1, 2, 4), 2, grad=True),
    *refused("vsplit dsplit", V, 1),
    row("unstack", M, grad=True),
    row("unstack", T, axis=2, dtypes=FEW),
]

REARRANGEMENTS = [
    row("flip", T, grad=True),
    row("flip", T, axis=(0, -1), dtypes=FEW),
    *rows("flipud fliplr", M, grad=True),
    *refused("fliplr", V),
    *[row("rot90", M, k, dtypes=FEW, grad=True) for k in range(-1, 5)],
    row("rot90", T, k=1, axes=(2, 0), grad=True),
    *refused("rot90", T, k=1, axes=(2, -1)),
    row("roll", M, 1, grad=True),
    row("roll", M, -4, axis=1, dtypes=FEW, grad=True),
    row("roll", M, (1, 2), axis=(0, 1), dtypes=FEW),
    row("roll", M, 1, axis=(0, 0), dtypes=FEW),
    row("roll", M, (1, 5, 1), axis=0, dtypes=FEW),
    *refused("roll", M, (1, 2, 1), axis=(0, 1)),
    row("roll", X(0, 3), 2, axis=0, dtypes=SOME),
    row("tile", V, 2, grad=True),
    row("tile", M, (2, 1, 3), dtypes=FEW, grad=True),
    row("tile", T, reps=[0, 2], dtypes=FEW),
    row("repeat", M, 2, grad=True),
    row("repeat", M, 3, axis=1, dtypes=FEW, grad=True),
    row("repeat", M, [2, 0, 1], axis=-1, dtypes=FEW, grad=True),
    row("repeat", V, X(values=[0, 1, 2, 0, 1], dtype="int64"), dtypes=FEW, grad=True),
    row("repeat", V, X(values=[2], dtype="int64"), dtypes=FEW),
    *refused("repeat", V, [1, 2]),
    *refused("repeat", V, -1),
    row("delete", V, 1, grad=True),
    row("delete", M, [0, -1], axis=1, dtypes=FEW, grad=True),
    row("delete", M, slice(None, None, 2), dtypes=FEW),
    row("delete", V, X(5, dtype="bool"), dtypes=FEW),
    *refused("delete", V, 9),
    row("insert", V, 1, 7, dtypes=FEW, grad=True),
    row("insert", V, [1, 1, 3], X(3, seed=2), grad=True),
    row("insert", M, -1, X(2), axis=1, dtypes=FEW, grad=True),
    row("insert", M, [1], [[5, 6, 7]], axis=0, dtypes=FEW),
    row("insert", M, slice(0, 2), 3, axis=1, dtypes=FEW),
    row("resize", M, (4, 2), grad=True),
    row("resize", X(0), (2,), dtypes=FEW),
    row("resize", M, 4, dtypes=FEW),
    row("trim_zeros", X(4), grad=True),
    row("trim_zeros", LOOSE),
    row("trim_zeros", LOOSE, "b", dtypes=FEW),
    row("trim_zeros", X(values=[0, 0]), trim="f", dtypes=FEW),
    row("trim_zeros", X(values=[[0, 0, 0], [0, 1, 0]]), axis=1, dtypes=FEW),
    row("trim_zeros", X(values=[[0, 0, 0], [0, 1, 0]]), dtypes=FEW),
]

PADS = [
    row("pad", V, 2, grad=True),
    row("pad", M, ((1, 0), (0, 2)), "constant", constant_values=3, dtypes=FEW, grad=True),
    row("pad", M, (1, 2), constant_values=((1, 2), (3, 4)), dtypes=FEW),
    row("pad", M, {-1: (1, 2)}, mode="edge", dtypes=FEW),
    row("pad", M, [(1,), (2,)], mode="edge", grad=True),
    row("pad", M, 1, mode="linear_ramp", end_values=((5, -4), (0, 1)), dtypes=("int32", *REAL), grad=True),
    row("pad", V, 7, mode="linear_ramp", dtypes=("int64", *INEXACT)),
    *[row("pad", V, (3, 2), mode=m, dtypes=("int32", *REAL), grad=True)
      for m in ("maximum", "minimum", "mean", "median")],
    *[row("pad", M, 2, mode=m, stat_length=((1, 2), (2, 3)), dtypes=("int32", *REAL))
      for m in ("maximum", "minimum", "mean", "median")],
    *[row("pad", V, (3, 13), mode=m, reflect_type=t, dtypes=FEW, grad=True)
      for m in ("reflect", "symmetric") for t in ("even", "odd")],
    *[row("pad", M, ((3, 1), (9, 0)), mode=m, dtypes=FEW, grad=True)
      for m in ("reflect", "symmetric", "wrap")],
    row("pad", V, (11, 3), mode="wrap", grad=True),
    row("pad", V, (0, 2), mode="empty", after=lambda y: y[:5], grad=True),
    row("pad", X(1), 2, mode="reflect", dtypes=SOME),
    *refused("pad", X(0), 2, mode="edge"),
    row("pad", X(0), 2, mode="constant", dtypes=SOME),
    *refused("pad", V, 1, mode="edge", constant_values=1),
    *refused("pad", V, -1),
]  # fmt: skip

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

REDUCTIONS = [
    *rows("sum prod any all count_nonzero", T, grad=False),
    *[row(name, M, axis, keepdims=True, dtypes=FEW)
      for name in ("count_nonzero",) for axis in (None, (0, -1))],
    *[row(name, M, axis=axis, keepdims=keep, dtypes=FEW)
      for name in ("any", "all") for axis, keep in [(0, True), ((1, 0), False), ((), False)]],
    *rows("any all", M, where=MASK, dtypes=FEW),
    *[row(name, M, 1, dtype, keepdims=True, dtypes=ALL, grad=True)
      for name in ("sum", "prod") for dtype in (None,)],
    *rows("sum prod", M, axis=(0, 1), dtype="complex64", dtypes=FEW),
    *rows("sum prod", X(3, 0), axis=1, dtypes=FEW),
    *rows("sum prod", M, axis=0, initial=2, where=MASK, dtypes=NUMERIC, grad=True),
    *rows("max min amax amin", T, dtypes=ORDERED, grad="real"),
    *rows("max min amax amin", M, axis=1, keepdims=True, dtypes=ORDERED, grad="real"),
    *rows("max min amax amin", M, axis=(0, 1), initial=1, where=MASK, dtypes=ORDERED, grad="real"),
    *rows("max min amax amin", X(3, 0), axis=1, initial=-1, dtypes=REAL),
    *refused("max min", X(3, 0)),
    *refused("max min", M, where=MASK),
    *rows("max min", X(values=[[1, np.nan], [2, 3]]), axis=0, dtypes=FLOATS),
    row("ptp", M, dtypes=ORDERED, grad="real"),
    row("ptp", M, axis=1, keepdims=True, dtypes=REAL, grad="real"),
    *rows("argmax argmin", M, dtypes=ORDERED),
    *rows("argmax argmin", M, axis=-1, keepdims=True, dtypes=ORDERED),
    *refused("argmax argmin", X(0)),
]  # fmt: skip

MOMENTS = [
    *rows("mean var std", T, grad=True),
    *rows("mean var std", M, axis=(1,), keepdims=True, grad=True),
    *rows("mean var std", M, axis=0, dtype="float64", dtypes=FEW),
    *rows("mean var std", M, axis=1, where=X(2, 3, dtype="bool", seed=1), dtypes=FEW, grad=True),
    *rows("mean var std", X(0), dtypes=REAL),
    *rows("var std", M, axis=1, ddof=1, grad=True),
    *rows("var std", M, axis=1, correction=1.5, dtypes=FEW),
    *rows("var std", M, axis=1, ddof=3, dtypes=FEW, after=fixed),
    *rows("var std", M, axis=1, mean=X(2, 1, seed=2), dtypes=INEXACT, grad=True),
    *refused("var std", M, ddof=1, correction=1),
    row("average", M, grad=True),
    row("average", M, axis=1, weights=X(3, low=1, high=2, dtype="float64"), grad=True),
    row("average", M, weights=X(2, 3, low=1, high=2), returned=True, dtypes=NUMERIC, grad=True),
    row("average", T, axis=(2, 0), weights=X(3, 2, low=1, high=2), keepdims=True, dtypes=REAL,
        grad="real"),
    row("average", M, None, None, True, dtypes=FEW),
    *refused("average", M, weights=X(3)),
    *rows("cov corrcoef", X(3, 4), dtypes=NUMERIC, grad=True),
    *rows("cov corrcoef", X(3, 4), X(4, seed=1), dtypes=FEW),
    *rows("cov corrcoef", X(3, 4), y=X(3, 4, seed=1), rowvar=False, dtypes=REAL, grad="real"),
    *rows("cov corrcoef", X(3, 4), dtype="float32", dtypes=REAL),
    *rows("cov corrcoef", V, dtypes=REAL),
    *rows("cov", X(3, 4), bias=True, dtypes=REAL),
    row("cov", X(3, 4), ddof=2, fweights=X(values=[1, 2, 0, 3], dtype="int64"), dtypes=REAL),
    row("cov", X(3, 4), aweights=X(4, low=1, high=2), dtypes=REAL, grad="real"),
    row("cov", X(3, 4), fweights=[1, 2, 0, 3], aweights=X(4, low=1, high=2), dtypes=REAL),
]  # fmt: skip

METHODS = (
    "inverted_cdf averaged_inverted_cdf closest_observation interpolated_inverted_cdf hazen weibull "
    "linear median_unbiased normal_unbiased lower higher midpoint nearest"
).split()
QUANTILES = [
    row("median", V, grad=True),
    row("median", X(4, 6), grad="real", dtypes=NUMERIC),
    row("median", X(4, 6), axis=1, keepdims=True, overwrite_input=True, dtypes=NUMERIC, grad="real"),
    row("median", X(2, 3, 4), axis=(0, 2), dtypes=REAL, grad="real"),
    row("median", HOLED, axis=1, dtypes=FLOATS),
    row("median", X(0), dtypes=REAL),
    row("quantile", M, 0.3, dtypes=ORDERED, grad="real"),
    row("percentile", M, 30, dtypes=ORDERED, grad="real"),
    row("quantile", X(4, 6), [0.1, 0.9, 1.0], axis=1, dtypes=REAL, grad="real"),
    row("quantile", X(4, 6), X(2, 2, low=0.1, high=0.9), axis=(0, 1), keepdims=True, dtypes=REAL,
        grad="real"),
    row("percentile", X(4, 6), (0, 50, 77.7), axis=0, overwrite_input=True, keepdims=True,
        dtypes=REAL, grad="real"),
    row("quantile", V, 0.25, axis=0, overwrite_input=True, dtypes=REAL),
    *[row("quantile", X(7), [0, 0.2, 0.25, 0.5, 1.0], method=m, dtypes=("int32", *REAL))
      for m in METHODS],
    *[row("percentile", X(8), [0, 12.5, 25, 62.5, 100], method=m, dtypes=("int32", *REAL))
      for m in METHODS],
    *rows("quantile percentile", X(6), 0.4, method="inverted_cdf",
          weights=X(6, low=0.5, high=2), dtypes=REAL),
    *rows("quantile percentile", X(4, 3), [0.0, 0.4, 1.0], method="inverted_cdf", axis=0,
          weights=X(values=[0, 1, 2, 1]), dtypes=REAL),
    *rows("quantile percentile", HOLED, [0.25, 0.5], axis=1, dtypes=FLOATS),
    *refused("quantile", V, 1.5),
    *refused("quantile", V, 0.5, method="none"),
]  # fmt: skip

CUMULATIVE = [
    *rows("cumsum cumprod", M, grad=True),
    *rows("cumsum cumprod", M, axis=1, dtype="complex64", dtypes=FEW),
    *rows("cumsum cumprod", X(), dtypes=FEW),
    *rows("cumulative_sum cumulative_prod", V, grad=True),
    *rows(
        "cumulative_sum cumulative_prod", M, axis=-1, include_initial=True, dtypes=FEW, grad=True
    ),
    *rows("cumulative_sum cumulative_prod", M, axis=0, dtype="float64", dtypes=FEW),
    *refused("cumulative_sum cumulative_prod", M),
]

SORTS = [
    *rows("sort argsort", X(3, 4), grad=False, dtypes=SIGNED),
    row("sort", X(3, 4), grad=True),
    *rows("argsort", X(3, 4), dtypes=INEXACT),
    *rows("sort argsort", TIED, stable=True),
    *rows("sort argsort", TIED, axis=0, kind="stable", order=None, dtypes=FEW),
    *rows("sort argsort", TIED, axis=None, kind="mergesort", dtypes=FEW),
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
    row("unique", TIED, return_index=True, return_inverse=True, return_counts=True, sorted=True,
        dtypes=FEW),
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
    row("setdiff1d", X(values=[3, 1, 2]), X(values=[1, 5]), assume_unique=True, dtypes=FEW, after=fixed),
    row("setxor1d", MANY, X(values=[1, 5])),
    row("setxor1d", V, X(3, seed=1), grad=True),
    row("setxor1d", X(values=[3, 1, 2]), X(values=[1, 5]), assume_unique=True, dtypes=FEW, after=fixed),
    row("isin", TIED, X(values=[1, 3])),
    row("isin", TIED, [1, 3], assume_unique=False, invert=True, kind=None, dtypes=FEW),
]  # fmt: skip

NAN = X(values=[[1.5, np.nan, -2, 3, 0.25], [0, np.nan, 4, 1, -1]])
WITHOUT_NAN = [
    *rows("nansum nanprod nanmean nanvar nanstd", M),
    *rows("nansum nanprod nanmean nanvar nanstd", NAN, 1, keepdims=True, dtypes=INEXACT, grad=True),
    *rows("nansum nanprod nanmean nanvar nanstd", NAN, axis=(0, 1), dtype="float64", dtypes=REAL),
    *rows("nansum nanprod", NAN, axis=0, initial=2, dtypes=INEXACT, grad=True),
    *rows("nansum nanprod nanmean nanvar nanstd", HOLED, axis=0, dtypes=REAL),
    *rows("nansum nanprod nanmean nanvar nanstd", NAN, axis=1,
          where=X(2, 5, dtype="bool", seed=1), dtypes=INEXACT, grad=True),
    *rows("nanmax nanmin", M, dtypes=ORDERED, grad="real"),
    *rows("nanmax nanmin", HOLED, axis=0, keepdims=True, dtypes=FLOATS),
    *rows("nanmax nanmin", NAN, axis=1, initial=1.2, where=X(2, 5, dtype="bool", seed=1), dtypes=FLOATS,
          grad="real"),
    *rows("nanvar nanstd", HOLED, axis=0, ddof=1, dtypes=FLOATS),
    *rows("nanvar nanstd", NAN, axis=1, correction=1, dtypes=INEXACT, grad=True),
    *rows("nanvar nanstd", NAN, axis=1, mean=X(2, 1), dtypes=INEXACT, grad=True),
    *rows("nanargmax nanargmin", NAN, dtypes=FLOATS),
    *rows("nanargmax nanargmin", NAN, axis=1, keepdims=True, dtypes=FLOATS),
    *rows("nanargmax nanargmin", M, axis=0, dtypes=ORDERED),
    *rows("nanargmax nanargmin", HOLED, axis=0, dtypes=REAL, after=list),
    *rows("nancumsum nancumprod", NAN, dtypes=INEXACT, grad=True),
    *rows("nancumsum nancumprod", M, axis=1, dtype="complex64"),
    row("nanmedian", NAN, dtypes=FLOATS, grad="real"),
    row("nanmedian", HOLED, axis=1, overwrite_input=True, keepdims=True, dtypes=REAL),
    row("nanmedian", X(values=[[np.nan, 2], [np.nan, 1]]), axis=0, dtypes=REAL),
    row("nanmedian", M, axis=(0, 1), dtypes=SIGNED),
    row("nanquantile", NAN, 0.3, dtypes=FLOATS, grad="real"),
    *rows("nanquantile nanpercentile", NAN, X(values=[0.25, 0.9]), axis=1, overwrite_input=True,
          keepdims=True, dtypes=REAL, grad="real"),
    row("nanpercentile", HOLED, [25, 50], axis=0, dtypes=REAL),
    *[row("nanquantile", NAN, [0, 0.2, 0.25, 0.5, 1.0], axis=1, method=m, dtypes=REAL)
      for m in METHODS],
    *rows("nanquantile nanpercentile", NAN, 0.4, axis=1, method="inverted_cdf",
          weights=X(2, 5, low=0.5, high=2), dtypes=REAL),
]  # fmt: skip

POINTS = X(9, low=-1, high=3)
COUNTS = [
    *[row("bincount", X(values=[1, 3, 1, 0], dtype=d), dtypes=(d,)) for d in ("int8", "uint8")],
    row("bincount", X(values=[1, 3, 1, 0], dtype="int64"), weights=X(4), minlength=6, dtypes=REAL,
        grad="real"),
    *refused("bincount", X(values=[1, -3])),
    row("histogram", POINTS, dtypes=("int64", *REAL), after=lambda y: y[0]),
    row("histogram", POINTS, dtypes=("int64", *REAL), after=lambda y: y[1], grad="real"),
    row("histogram", POINTS, bins=[-1, 0, 1, 3], dtypes=REAL, after=lambda y: y[0]),
    row("histogram", POINTS, 4, (-1, 2), density=True, dtypes=REAL, after=lambda y: y[1]),
    row("histogram", POINTS, 4, (-1, 2), density=True, dtypes=REAL, after=lambda y: y[0]),
    row("histogram", X(values=[-1, 0, 2, 3, 3], dtype="int64"), bins=4, range=(-1, 3), weights=X(5, dtype="float64"),
        dtypes=REAL, after=lambda y: y[0], grad="real"),
    row("histogram", POINTS, bins="sturges", dtypes=REAL),
    row("histogram", X(values=[2, 2]), dtypes=REAL, after=lambda y: y[0]),
    *refused("histogram", POINTS, bins=[1, 0]),
    *refused("histogram", POINTS, range=(1, 0)),
    row("histogram_bin_edges", POINTS, dtypes=("int64", *REAL), grad="real"),
    row("histogram_bin_edges", POINTS, bins="fd", range=(0, 2), weights=None, dtypes=REAL),
    row("histogram_bin_edges", X(0), bins=2, dtypes=REAL),
    row("histogram2d", POINTS, X(9, seed=2), dtypes=REAL, after=lambda y: y[0]),
    row("histogram2d", POINTS, X(9, seed=2), bins=(3, [0, 1, 2]), range=[(0, 2), None],
        density=True, weights=X(9, low=1, high=2), dtypes=REAL, after=lambda y: y[0], grad="real"),
    row("histogram2d", POINTS, X(9, seed=2), bins=[0, 1, 2, 3], dtypes=REAL, after=lambda y: y[2]),
    row("histogramdd", X(9, 3), bins=3, dtypes=REAL, after=lambda y: y[0]),
    row("histogramdd", X(9, 3), bins=3, dtypes=("int64", *REAL), after=lambda y: y[1], grad="real"),
    row("histogramdd", X(9, 2), range=[(0, 1.5), None], dtypes=REAL, after=lambda y: y[1][:1]),
    row("histogramdd", (POINTS, POINTS), bins=(2, 3), range=[(0, 2), (0, 1)], density=True,
        weights=X(9, low=1, high=2), dtypes=REAL, after=lambda y: y[0], grad="real"),
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


SMOOTH = [*SHAPES, *JOINS, *REARRANGEMENTS, *TAKEN, *CUMULATIVE, *POLYNOMIALS, *SORTS, *SETS]
REAL_SMOOTH = [*PADS, *REDUCTIONS, *MOMENTS, *QUANTILES, *WITHOUT_NAN, *COUNTS]
ROWS = [*smooth(SMOOTH), *smooth(REAL_SMOOTH, "real"), *SEARCHES, *APPLIED]
