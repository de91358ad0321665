"""The oracle for pivoted QR decompositions: columns by decreasing rests, then Gram and Schmidt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tenferro_conformance.oracle.numbers import Params, Reference, Tensor, mp
from tenferro_conformance.oracle.svd import (
    matrices,
    of_matrices,
    orthonormal_columns,
    qr_left,
    qr_rest,
)

__all__ = ["REFERENCES"]

Matrix = Any


def _order(a: Matrix) -> list[int]:
    """Return the columns in the order in which they have the longest rest."""
    rests = [[a[i, j] for i in range(a.rows)] for j in range(a.cols)]
    order = list(range(a.cols))
    for place in range(min(a.rows, a.cols)):
        longest = max(range(place, a.cols), key=lambda j: _length(rests[order[j]]))
        order[place], order[longest] = order[longest], order[place]
        taken = rests[order[place]]
        for j in order[place + 1 :]:
            pairs = zip(taken, rests[j], strict=True)
            share = mp.fsum(mp.conj(x) * y for x, y in pairs) / _length(taken)
            rests[j] = [y - share * x for x, y in zip(taken, rests[j], strict=True)]
    return order


def _length(x: list[Any]) -> Any:
    return mp.fsum(abs(entry) ** 2 for entry in x)


def _exchanged(a: Matrix) -> Matrix:
    order = _order(a)
    return mp.matrix([[a[i, j] for j in order] for i in range(a.rows)])


def _orders(params: Params, a: Tensor) -> Tensor:
    found = tuple(j for x in matrices(a) for j in _order(x))
    return Tensor((*a.shape[:-2], a.shape[-1]), found)


def _of_exchanged(function: Any, shape: str) -> Reference:
    return of_matrices(lambda params, a: function(params, _exchanged(a)), shape)


REFERENCES: Mapping[str, Reference] = {
    "pivoted_qr@order": _orders,
    "pivoted_qr@left": _of_exchanged(qr_left, "mm"),
    "pivoted_qr@rest": _of_exchanged(qr_rest, "mm"),
    "pivoted_qr@gram": _of_exchanged(lambda params, a: a.H * a, "nn"),
    "pivoted_qr@product": _of_exchanged(lambda params, a: a, "mn"),
    "pivoted_qr@columns": _of_exchanged(lambda params, a: orthonormal_columns(a)[0], "mk"),
    "pivoted_qr@triangle": _of_exchanged(lambda params, a: orthonormal_columns(a)[1], "kn"),
}
