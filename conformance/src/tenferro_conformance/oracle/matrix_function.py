"""The oracle for functions of matrices: mpmath's, of the block triangular matrix that holds the
Fréchet derivatives (Higham & Relton 2014, theorem 3.5).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tenferro_conformance.oracle.numbers import Params, Reference, Tensor, mp
from tenferro_conformance.oracle.svd import matrices

__all__ = ["REFERENCES"]

Matrix = Any


def _matrix_function(params: Params, a: Tensor, *directions: Tensor) -> Tensor:
    if not a.flat:
        return a
    function: Callable[[Matrix], Matrix] = _FUNCTIONS[params["function"]]
    is_complex = any(isinstance(x, mp.mpc) for t in (a, *directions) for x in t.flat)
    found: list[Any] = []
    for x, *along in zip(*map(matrices, (a, *directions)), strict=True):
        whole = function(_nested(x, along))
        last = whole.cols - x.cols
        found += [whole[i, last + j] for i in range(x.rows) for j in range(x.cols)]
    return Tensor(a.shape, tuple(entry if is_complex else mp.re(entry) for entry in found))


def _nested(x: Matrix, directions: list[Matrix]) -> Matrix:
    for level, e in enumerate(directions):
        for _ in range(level):
            e = _blocks(e, mp.matrix(e.rows, e.cols))
        x = _blocks(x, e)
    return x


def _blocks(x: Matrix, e: Matrix) -> Matrix:
    """[[x, e], [0, x]]"""
    n = x.rows
    found = mp.matrix(2 * n, 2 * n)
    for i in range(n):
        for j in range(n):
            found[i, j] = found[n + i, n + j] = x[i, j]
            found[i, n + j] = e[i, j]
    return found


_FUNCTIONS: Mapping[str, Callable[[Matrix], Matrix]] = {
    "expm": mp.expm,
    "sqrtm": mp.sqrtm,
    "logm": mp.logm,
}
REFERENCES: Mapping[str, Reference] = {"matrix_function": _matrix_function}
