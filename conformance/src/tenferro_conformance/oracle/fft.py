"""The oracle's Fourier transforms: plain sums over one axis after the other.

The half spectra are taken from and filled into whole ones by the definition: y_j is the real part
of Σ_k w_k x_k exp(2πi jk/n) with w_k = 2 where the column k stands for two.
"""

from __future__ import annotations

from functools import cache
from math import prod
from typing import Any

from tenferro_conformance.oracle.numbers import Index, Params, Reference, Tensor, mp

__all__ = ["REFERENCES"]


@cache
def _roots(n: int) -> tuple[Any, ...]:
    """exp(2πi k/n) for k < n."""
    return tuple(mp.expjpi(mp.mpf(2 * k) / n) for k in range(n))


def _replaced(index: Index, axis: int, place: int) -> Index:
    return (*index[:axis], place, *index[axis + 1 :])


def _sums(x: Tensor, axis: int, length: int, sign: int, columns: int) -> Tensor:
    """y_k = Σ_j x_j exp(sign·2πi jk/length) along one axis, for so many k."""
    roots = _roots(length)
    shape = _replaced(x.shape, axis, columns)

    def at(index: Index) -> Any:
        k = index[axis]
        terms = (
            x[_replaced(index, axis, j)] * roots[sign * j * k % length]
            for j in range(x.shape[axis])
        )
        return sum(terms, mp.mpc(0))

    return Tensor.make(shape, at)


def _scaled(x: Tensor, norm: str, count: int) -> Tensor:
    factor = {"sum": mp.mpf(1), "ortho": 1 / mp.sqrt(count), "mean": 1 / mp.mpf(count)}[norm]
    return x.map(lambda entry: entry * factor)


def _weighted(x: Tensor, axis: int, length: int, twice: bool) -> Tensor:
    """Weight the columns of half a spectrum that stand for two, counted twice or not."""

    def at(index: Index) -> Any:
        k = index[axis]
        return x[index] * (2 if twice and 0 < 2 * k < length else 1)

    return Tensor.make(x.shape, at)


def _fft(params: Params, x: Tensor) -> Tensor:
    sign = 1 if params["inverse"] else -1
    for axis in params["axes"]:
        x = _sums(x, axis, x.shape[axis], sign, x.shape[axis])
    return _scaled(x, params["norm"], prod(x.shape[axis] for axis in params["axes"]))


def _rfft(params: Params, x: Tensor) -> Tensor:
    *others, last = params["axes"]
    length, count = x.shape[last], prod(x.shape[axis] for axis in params["axes"])
    for axis in others:
        x = _sums(x, axis, x.shape[axis], -1, x.shape[axis])
    x = _sums(x, last, length, -1, length // 2 + 1)
    return _scaled(_weighted(x, last, length, params["twice"]), params["norm"], count)


def _irfft(params: Params, x: Tensor) -> Tensor:
    *others, last = params["axes"]
    length = params["length"]
    x = _weighted(x, last, length, params["twice"])
    for axis in others:
        x = _sums(x, axis, x.shape[axis], 1, x.shape[axis])
    x = _sums(x, last, length, 1, length).map(lambda entry: entry.real)
    return _scaled(x, params["norm"], prod(x.shape[axis] for axis in params["axes"]))


REFERENCES: dict[str, Reference] = {
    "fft": _fft,
    "rfft": _rfft,
    "irfft": _irfft,
}
