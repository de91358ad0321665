"""Reads at computed positions: operations with arrays, as rows of a table."""

import numpy as np

from tenferro import primitives as tp
from tenferro_cupy.kernels.kernel import Fold, Kernel, Line
from tenferro_cupy.kernels.reads.table import read_of


def x(*shape, dtype="float64", seed=0):
    """Small numbers, so that sums of narrow types are exact."""
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(dtype)


def at(*vectors, dtype="int64"):
    """Index vectors; some of them lie outside of any array."""
    return np.array(vectors, dtype)


def transposed(a):
    """The same numbers with the axes' strides the other way round."""
    return a.copy("F")


def backwards(a):
    """The same numbers, stored from the last to the first."""
    turned = tuple([slice(None, None, -1)] * a.ndim)
    return a[turned].copy("C")[turned]


ROWS_OF = at([0], [4], [-2], [9], [1])
PAIRS = at([0, 1], [3, 2], [-1, 0], [5, 9])
HUGE = np.array([[0], [2**64 - 1], [3]], "uint64")


def gather(mode, offset=(1,), collapsed=(0,), mapped=(0,), sizes=(1, 4)):
    return tp.Gather(offset, collapsed, mapped, sizes, mode)


def scatter(kind, mode, window=(1,), inserted=(0,), mapped=(0,)):
    return kind(window, inserted, mapped, mode)


SCATTERS = (tp.Scatter, tp.ScatterAdd, tp.ScatterMul, tp.ScatterMax, tp.ScatterMin)

ROWS = {
    "join two": (tp.Concatenate(0), x(3, 4), x(2, 4)),
    "join three along the last axis": (tp.Concatenate(1), x(3, 1), x(3, 4), x(3, 2)),
    "join with an empty one": (tp.Concatenate(0), x(0, 2), x(3, 2), x(0, 2)),
    "join one": (tp.Concatenate(0), x(3)),
    "join nothing": (tp.Concatenate(1), x(0, 2), x(0, 3)),
    "pad": (tp.Pad((1, 2), (2, 0), (0, 0)), x(3, 4), x()),
    "pad between": (tp.Pad((1, -1), (-2, 3), (2, 1)), x(3, 4), x()),
    "pad nothing": (tp.Pad((2,), (1,), (3,)), x(0), x()),
    "crop": (tp.Pad((-1,), (-1,), (0,)), x(5), x()),
    "pad a number": (tp.Pad((), (), ()), x(), x()),
    "a block": (tp.DynamicSlice((2, 3)), x(4, 5), at(9)[0], at(1)[0]),
    "a block before the first": (tp.DynamicSlice((2,)), x(4), np.int8(-3)),
    "a block of a number": (tp.DynamicSlice(()), x()),
    "replace a block": (tp.DynamicUpdateSlice(), x(4, 5), x(2, 3, seed=1), at(1)[0], at(7)[0]),
    "rows by clip": (gather("clip"), x(5, 4), ROWS_OF),
    "rows by fill": (gather("fill"), x(5, 4), ROWS_OF),
    "rows that are inside": (gather("promise_in_bounds"), x(5, 4), at([0], [4])),
    "rows at large numbers": (gather("clip"), x(5, 4), HUGE),
    "rows at small numbers": (gather("fill"), x(5, 4), ROWS_OF.astype("int8")),
    "no rows": (gather("clip"), x(5, 4), at(dtype="int64").reshape(0, 1)),
    "columns": (gather("clip", (0,), (1,), (1,), (5, 1)), x(5, 4), ROWS_OF),
    "columns of a table": (
        gather("clip", (0,), (1,), (1,), (5, 1)), x(5, 4), ROWS_OF[:4].reshape(2, 2, 1),
    ),
    "elements": (gather("fill", (), (0, 1), (0, 1), (1, 1)), x(5, 4), PAIRS),
    "elements, axes exchanged": (gather("clip", (), (0, 1), (1, 0), (1, 1)), x(5, 4), PAIRS),
    "windows": (gather("fill", (1, 2), (), (0, 1), (2, 3)), x(5, 4), PAIRS),
    "windows with axes in front": (gather("clip", (0, 2), (), (1, 0), (2, 3)), x(5, 4), PAIRS),
    "a part of the other axis": (gather("clip", (1,), (0,), (0,), (1, 2)), x(5, 4), ROWS_OF),
    **{
        f"{kind.__name__} rows by {mode}": (
            scatter(kind, mode), x(5, 4), ROWS_OF[[0, 1, 0, 2, 3]], x(5, 4, seed=2),
        )
        for kind in SCATTERS
        for mode in ("clip", "drop")
    },
    "add rows that are inside": (
        scatter(tp.ScatterAdd, "promise_in_bounds"), x(5, 4), at([4], [0], [4]), x(3, 4, seed=2),
    ),
    "add rows at large numbers": (scatter(tp.ScatterAdd, "drop"), x(5, 4), HUGE, x(3, 4, seed=2)),
    "add columns of a table": (
        scatter(tp.ScatterAdd, "clip", (0,), (1,), (1,)),
        x(5, 4), ROWS_OF[:4].reshape(2, 2, 1), x(5, 2, 2, seed=2),
    ),
    "add elements": (
        scatter(tp.ScatterAdd, "drop", (), (0, 1), (0, 1)), x(5, 4), PAIRS, x(4, seed=2),
    ),
    "add small windows": (
        scatter(tp.ScatterAdd, "drop", (1, 2), (), (0, 1)), x(5, 4), PAIRS, x(4, 2, 3, seed=2),
    ),
    "replace small windows": (
        scatter(tp.Scatter, "clip", (1, 2), (), (1, 0)), x(5, 4), PAIRS, x(4, 2, 3, seed=2),
    ),
    "add to nothing": (scatter(tp.ScatterAdd, "clip"), x(5, 0), ROWS_OF, x(5, 0)),
    "add nothing": (scatter(tp.ScatterAdd, "clip"), x(5, 4), at().reshape(0, 1), x(0, 4)),
}  # fmt: skip

#: rows that are run with every dtype
TYPICAL = ("join two", "pad between", "a block", "replace a block", "rows by fill",
           "Scatter rows by drop", "ScatterAdd rows by clip")  # fmt: skip


def result_of(op, arrays):
    """The aval of the result."""
    return op.abstract_eval(*[tp.Aval(a.shape, a.dtype.name) for a in arrays])


def kernel_of(op, arrays, reduced=False):
    """A kernel of one read: 2 y, where the dtype has sums, and its sums if there are axes."""
    result = result_of(op, arrays)
    sized = read_of(op, [tp.Aval(a.shape, a.dtype.name) for a in arrays], result)
    dtype = result.dtype.name
    lines = () if dtype == "bool" else (Line("add({0}, {1})", (0, 0), dtype),)
    folds = (Fold("sum", len(lines)),) if reduced and lines else ()
    return Kernel((), (), lines, (len(lines),), folds, (sized.read,)), sized
