"""The oracle for constants and for what moves entries, as index formulas, and for conversions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenferro_conformance.oracle.numbers import (
    Index,
    Params,
    Reference,
    Tensor,
    mp,
)

__all__ = ["REFERENCES"]


def _real(z: Any) -> Any:
    return z.real if isinstance(z, mp.mpc | complex) else z


def _kind(dtype: str) -> str:
    return dtype.rstrip("0123456789_")


def _reshape(params: Params, x: Tensor) -> Tensor:
    return Tensor(tuple(params["shape"]), x.flat)


def _transpose(params: Params, x: Tensor) -> Tensor:
    order = params["permutation"]
    shape = [x.shape[axis] for axis in order]

    def source(index: Index) -> Any:
        place = [0] * len(order)
        for position, axis in zip(index, order, strict=True):
            place[axis] = position
        return x[place]

    return Tensor.make(shape, source)


def _broadcast_in_dim(params: Params, x: Tensor) -> Tensor:
    dimensions = params["dimensions"]

    def source(index: Index) -> Any:
        return x[[0 if x.shape[i] == 1 else index[d] for i, d in enumerate(dimensions)]]

    return Tensor.make(params["shape"], source)


def _slice(params: Params, x: Tensor) -> Tensor:
    start, limit = params["start"], params["limit"]
    strides = params["strides"] or (1,) * len(start)
    shape = [
        -(-(high - low) // step) for low, high, step in zip(start, limit, strides, strict=True)
    ]
    return Tensor.make(
        shape, lambda i: x[[low + k * step for low, k, step in zip(start, i, strides, strict=True)]]
    )


def _pad(params: Params, x: Tensor, value: Tensor) -> Tensor:
    low, high, interior = params["low"], params["high"], params["interior"]
    shape = [
        lo + n + max(n - 1, 0) * gap + hi
        for n, lo, hi, gap in zip(x.shape, low, high, interior, strict=True)
    ]

    def source(index: Index) -> Any:
        place = []
        for i, lo, gap, extent in zip(index, low, interior, x.shape, strict=True):
            quotient, rest = divmod(i - lo, gap + 1)
            if rest or not 0 <= quotient < extent:
                return value.flat[0]
            place.append(quotient)
        return x[place]

    return Tensor.make(shape, source)


def _concatenate(params: Params, *xs: Tensor) -> Tensor:
    axis = params["dimension"]
    shape = list(xs[0].shape)
    shape[axis] = sum(x.shape[axis] for x in xs)

    def source(index: Index) -> Any:
        position = index[axis]
        for x in xs:
            if position < x.shape[axis]:
                return x[(*index[:axis], position, *index[axis + 1 :])]
            position -= x.shape[axis]
        raise IndexError(index)

    return Tensor.make(shape, source)


def _reverse(params: Params, x: Tensor) -> Tensor:
    flipped = params["dimensions"]
    return Tensor.make(
        x.shape, lambda i: x[[x.shape[d] - 1 - k if d in flipped else k for d, k in enumerate(i)]]
    )


def _convert(params: Params, x: Tensor) -> Tensor:
    return x.map(_CONVERSIONS[_kind(params["dtype"])])


_CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    "bool": lambda e: bool(e != 0),
    "int": lambda e: int(_real(e)),
    "float": lambda e: mp.mpf(_real(e)),
    "complex": lambda e: mp.mpc(e),
}


def _constant(params: Params) -> Tensor:
    value = params["value"]
    return Tensor.make(params["shape"], lambda _: _CONVERSIONS[_kind(params["dtype"])](value))


def _iota(params: Params) -> Tensor:
    return Tensor.make(
        params["shape"], lambda i: _CONVERSIONS[_kind(params["dtype"])](i[params["dimension"]])
    )


REFERENCES: dict[str, Reference] = {
    "constant": _constant,
    "iota": _iota,
    "reshape": _reshape,
    "transpose": _transpose,
    "broadcast_in_dim": _broadcast_in_dim,
    "slice": _slice,
    "pad": _pad,
    "concatenate": _concatenate,
    "reverse": _reverse,
    "convert": _convert,
}
