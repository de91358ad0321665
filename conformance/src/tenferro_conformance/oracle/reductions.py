"""The oracle for reductions, cumulative operations, sorting and searching."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenferro_conformance.oracle.numbers import (
    Index,
    Params,
    Reference,
    Tensor,
    all_indices,
    mp,
)

__all__ = ["REFERENCES"]


def _reduced(x: Tensor, axes: Sequence[int], fold: Callable[[list[Any]], Any]) -> Tensor:
    kept = [d for d in range(len(x.shape)) if d not in axes]
    inner = [x.shape[d] for d in axes]

    def entry(index: Index) -> Any:
        place = [0] * len(x.shape)
        for d, k in zip(kept, index, strict=True):
            place[d] = k
        found = []
        for at in all_indices(inner):
            for d, k in zip(axes, at, strict=True):
                place[d] = k
            found.append(x[place])
        return fold(found)

    return Tensor.make([x.shape[d] for d in kept], entry)


def _reduction(fold: Callable[[list[Any]], Any]) -> Callable[..., Tensor]:
    return lambda params, x: _reduced(x, params["axes"], fold)


def _arg_reduction(pick: Callable[[list[Any]], Any]) -> Callable[..., Tensor]:
    return lambda params, x: _reduced(x, (params["axis"],), lambda found: found.index(pick(found)))


def _product(found: list[Any]) -> Any:
    total = 1
    for entry in found:
        total = total * entry
    return total


def _cumulative(fold: Callable[[list[Any]], Any]) -> Callable[..., Tensor]:
    def apply(params: Params, x: Tensor) -> Tensor:
        axis = params["axis"]

        def entry(index: Index) -> Any:
            at = index[axis]
            reach = range(at, x.shape[axis]) if params["reverse"] else range(at + 1)
            return fold([x[(*index[:axis], k, *index[axis + 1 :])] for k in reach])

        return Tensor.make(x.shape, entry)

    return apply


def _sort(params: Params, x: Tensor) -> Tensor:
    """Sort one operand without nan."""
    axis = params["dimension"]

    def entry(index: Index) -> Any:
        line = [x[(*index[:axis], k, *index[axis + 1 :])] for k in range(x.shape[axis])]
        return sorted(line, key=lambda e: (e.real, e.imag))[index[axis]]

    return Tensor.make(x.shape, entry)


def _searchsorted(params: Params, rows: Tensor, values: Tensor) -> Tensor:
    batch = len(rows.shape) - 1

    def entry(index: Index) -> int:
        row = [rows[(*index[:batch], k)] for k in range(rows.shape[-1])]
        value, is_left = values[index], params["side"] == "left"
        return sum(1 for a in row if a < value or (a == value and not is_left))

    return Tensor.make(values.shape, entry)


REFERENCES: dict[str, Reference] = {
    "reduce_sum": _reduction(sum),
    "reduce_prod": _reduction(_product),
    "reduce_max": _reduction(max),
    "reduce_min": _reduction(min),
    "reduce_and": _reduction(all),
    "reduce_or": _reduction(any),
    "cumsum": _cumulative(sum),
    "cumprod": _cumulative(_product),
    "cummax": _cumulative(max),
    "cummin": _cumulative(min),
    "cumlogsumexp": _cumulative(lambda found: mp.log(sum(map(mp.exp, found)))),
    "sort": _sort,
    "searchsorted": _searchsorted,
    "argmax": _arg_reduction(max),
    "argmin": _arg_reduction(min),
}
