"""Operands of the tables, and which of their rows are called differentiable.

A row is, unless its function counts, its result has been changed first (``after``), or differences
would cross a place where the function is not smooth: ties, NaN, zeros that are trimmed.
"""

from dataclasses import replace

import numpy as np
from numpy_rows import X, fill, rows

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


COUNTING = set(
    "any all count_nonzero argmax argmin nanargmax nanargmin argsort lexsort argpartition isin ix_ "
    "unravel_index ravel_multi_index histogram bincount searchsorted digitize nonzero flatnonzero "
    "argwhere".split()
)


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
    if is_rough:
        return replace(one, after=fixed, grad=False)
    return replace(one, grad=one.grad or grad)


HOLED = X(values=[[1.5, np.nan, -2, 3, 0.25], [np.nan, np.nan, 4, 1, -1]])
TIED = X(values=[[3, 1, 2, 1], [0, 2, 2, 1]])
MANY = X(values=[3, 1, 2, 1, 3, 3])
LOOSE = X(values=[0, 0, 1, 0, 2, 0])
ROUGH = [
    HOLED, TIED, MANY, LOOSE, X(0), X(values=[0, 0]), X(values=[[0, 0, 0], [0, 1, 0]]),
    X(values=[np.nan, 1, np.nan]), X(values=[[1, np.nan], [2, 3]]),
    X(values=[[np.nan, 2], [np.nan, 1]]), X(values=[0, 1, 2, 1]),
    X(values=[[1, 2], [0, 1], [1, 2]]),
]  # fmt: skip
