"""The oracle for contractions, gather, scatter and dynamic slices, as index formulas."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenferro_conformance.oracle.numbers import (
    Index,
    Params,
    Reference,
    Tensor,
    all_indices,
)

__all__ = ["REFERENCES"]


def _dot_general(params: Params, a: Tensor, b: Tensor) -> Tensor:
    ca, cb, ba, bb = (
        tuple(params[name]) for name in ("lhs_contract", "rhs_contract", "lhs_batch", "rhs_batch")
    )
    fa = [d for d in range(len(a.shape)) if d not in ca + ba]
    fb = [d for d in range(len(b.shape)) if d not in cb + bb]
    summed = [a.shape[d] for d in ca]
    shape = [a.shape[d] for d in ba] + [a.shape[d] for d in fa] + [b.shape[d] for d in fb]

    def entry(index: Index) -> Any:
        batch, left, right = (
            index[: len(ba)],
            index[len(ba) : len(ba) + len(fa)],
            index[len(ba) + len(fa) :],
        )
        total = 0
        for k in all_indices(summed):
            at_a, at_b = [0] * len(a.shape), [0] * len(b.shape)
            for places, at in (
                (zip(ba, batch, strict=True), at_a),
                (zip(fa, left, strict=True), at_a),
                (zip(ca, k, strict=True), at_a),
                (zip(bb, batch, strict=True), at_b),
                (zip(fb, right, strict=True), at_b),
                (zip(cb, k, strict=True), at_b),
            ):
                for d, position in places:
                    at[d] = position
            total = total + a[at_a] * b[at_b]
        return total

    return Tensor.make(shape, entry)


def _gather(params: Params, x: Tensor, indices: Tensor) -> Tensor:
    offset, collapsed = params["offset_dims"], params["collapsed_slice_dims"]
    starts, sizes, mode = params["start_index_map"], params["slice_sizes"], params["mode"]
    batch_shape = indices.shape[:-1]
    window = [size for d, size in enumerate(sizes) if d not in collapsed]
    rank = len(batch_shape) + len(window)
    batch_dims = [d for d in range(rank) if d not in offset]
    shape = [0] * rank
    for d, extent in zip([*batch_dims, *offset], [*batch_shape, *window], strict=True):
        shape[d] = extent

    def entry(index: Index) -> Any:
        corner = _corner(indices, [index[d] for d in batch_dims], starts, len(x.shape))
        if mode == "clip":
            corner = [min(max(c, 0), n - s) for c, n, s in zip(corner, x.shape, sizes, strict=True)]
        elif any(c < 0 or c + s > n for c, n, s in zip(corner, x.shape, sizes, strict=True)):
            return x.flat[0] * 0
        offsets = iter([index[d] for d in offset])
        return x[[c + (0 if d in collapsed else next(offsets)) for d, c in enumerate(corner)]]

    return Tensor.make(shape, entry)


def _corner(indices: Tensor, batch: Sequence[int], mapped: Sequence[int], rank: int) -> list[int]:
    corner = [0] * rank
    for k, d in enumerate(mapped):
        corner[d] = int(indices[(*batch, k)])
    return corner


def _scatter(combine: Callable[[Any, Any], Any]) -> Callable[..., Tensor]:
    """Apply updates in the order of their positions, each combined with the value there."""

    def apply(params: Params, x: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
        window_dims, inserted = params["update_window_dims"], params["inserted_window_dims"]
        mapped, mode = params["scatter_dims_to_operand_dims"], params["mode"]
        rank = len(x.shape)
        kept = [d for d in range(rank) if d not in inserted]
        sizes = [1] * rank
        for d, axis in zip(kept, window_dims, strict=True):
            sizes[d] = updates.shape[axis]
        out = {index: x[index] for index in all_indices(x.shape)}
        batch_dims = [d for d in range(len(updates.shape)) if d not in window_dims]
        in_turn = sorted(all_indices(updates.shape), key=lambda at: [at[d] for d in batch_dims])
        for at in in_turn:
            corner = _corner(indices, [at[d] for d in batch_dims], mapped, rank)
            reach = list(zip(corner, x.shape, sizes, strict=True))
            if mode == "clip":
                corner = [min(max(c, 0), n - s) for c, n, s in reach]
            elif any(c < 0 or c + s > n for c, n, s in reach):
                continue
            place = list(corner)
            for d, axis in zip(kept, window_dims, strict=True):
                place[d] += at[axis]
            out[tuple(place)] = combine(out[tuple(place)], updates[at])
        return Tensor.make(x.shape, lambda index: out[index])

    return apply


def _clamped(starts: Sequence[Tensor], shape: Sequence[int], sizes: Sequence[int]) -> list[int]:
    return [
        min(max(int(s.flat[0]), 0), n - k) for s, n, k in zip(starts, shape, sizes, strict=True)
    ]


def _dynamic_slice(params: Params, x: Tensor, *starts: Tensor) -> Tensor:
    corner = _clamped(starts, x.shape, params["sizes"])
    return Tensor.make(
        params["sizes"], lambda i: x[[c + k for c, k in zip(corner, i, strict=True)]]
    )


def _dynamic_update_slice(params: Params, x: Tensor, update: Tensor, *starts: Tensor) -> Tensor:
    corner = _clamped(starts, x.shape, update.shape)

    def entry(index: Index) -> Any:
        inside = [k - c for k, c in zip(index, corner, strict=True)]
        if all(0 <= k < n for k, n in zip(inside, update.shape, strict=True)):
            return update[inside]
        return x[index]

    return Tensor.make(x.shape, entry)


REFERENCES: dict[str, Reference] = {
    "dot_general": _dot_general,
    "gather": _gather,
    "scatter": _scatter(lambda old, new: new),
    "scatter_add": _scatter(lambda old, new: old + new),
    "scatter_mul": _scatter(lambda old, new: old * new),
    "scatter_max": _scatter(max),
    "scatter_min": _scatter(min),
    "dynamic_slice": _dynamic_slice,
    "dynamic_update_slice": _dynamic_update_slice,
}
