"""Random words for a NumPy-shaped namespace: threefry-2x32 in place, on whole arrays.

Arithmetic on arrays of uint32 wraps by itself. Gamma variates and their derivatives are decomposed.
Read next: `special.py`.
"""

from __future__ import annotations

from math import prod
from typing import Any

from tenferro.backend.lowering import Lowerings
from tenferro.primitives.random import (
    BITS,
    GROUPS,
    PARITY,
    ROTATIONS,
    RandomBits,
    Threefry2x32,
)

__all__ = ["encrypt", "register", "wide", "words"]


def register(lowerings: Lowerings, xp: Any) -> None:
    """Register the random family."""

    @lowerings.register(Threefry2x32)
    def threefry2x32(op: Threefry2x32, key0: Any, key1: Any, x0: Any, x1: Any) -> Any:
        counters = xp.array(xp.atleast_1d(x0)), xp.array(xp.atleast_1d(x1))
        encrypt(xp, xp.atleast_1d(key0), xp.atleast_1d(key1), *counters)
        return tuple(xp.reshape(x, x0.shape) for x in counters)

    @lowerings.register(RandomBits)
    def random_bits(op: RandomBits, key: Any) -> Any:
        keys = xp.reshape(key, (-1, 2))
        low = xp.empty((len(keys), op.block_count), "uint32")
        low[...] = xp.arange(op.block_count, dtype="uint32")
        high = xp.full_like(low, BITS)
        encrypt(xp, keys[:, :1], keys[:, 1:], low, high)
        found = (wide if op.dtype.bits == 64 else words)(xp, low, high)
        return xp.reshape(found[:, : prod(op.shape)], (*key.shape[:-1], *op.shape))


def words(xp: Any, low: Any, high: Any) -> Any:
    """Return blocks as words of 32 bits in turn, along the last axis."""
    found = xp.empty((*low.shape, 2), "uint32")
    found[..., 0] = low
    found[..., 1] = high
    return xp.reshape(found, (*low.shape[:-1], 2 * low.shape[-1]))


def wide(xp: Any, low: Any, high: Any) -> Any:
    """Return blocks as words of 64 bits."""
    found = high.astype("uint64")
    found <<= xp.uint64(32)
    found |= low
    return found


def encrypt(xp: Any, key0: Any, key1: Any, x0: Any, x1: Any) -> None:
    """Replace counters, arrays of rank 1 or more, by what threefry makes of them."""
    schedule = key0, key1, key0 ^ key1 ^ xp.asarray(PARITY, "uint32")
    rotated = xp.empty_like(x1)
    x0 += key0
    x1 += key1
    for group in range(GROUPS):
        for count in ROTATIONS[group % 2]:
            x0 += x1
            xp.left_shift(x1, xp.uint32(count), out=rotated)
            x1 >>= xp.uint32(32 - count)
            x1 |= rotated
            x1 ^= x0
        x0 += schedule[(group + 1) % 3]
        x1 += schedule[(group + 2) % 3]
        x1 += xp.uint32(group + 1)
