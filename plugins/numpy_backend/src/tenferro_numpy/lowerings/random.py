"""Random words and gamma variates on NumPy.

Words are made in parts that stay in the cache, which is twice as fast. Gamma variates are drawn by
the proposals of their decomposition, but after the first only where none was accepted yet; words
depend on positions alone, so both find the same numbers. Read next: `special.py`.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like.random import encrypt, wide, words
from tenferro.primitives.random import ATTEMPTS, BITS, RandomBits
from tenferro.primitives.random_gamma import (
    BEND,
    FIRST,
    LAST,
    NODES,
    TRIES,
    GammaMoment,
    RandomLogGamma,
)

__all__ = ["register"]

_BLOCKS_PER_PART = 1 << 15  # blocks: three arrays of them fit into the cache of a core
_ELEMENTS = 1 << 8  # whose integrands are looked at together


def register(lowerings: Lowerings) -> None:
    """Register what replaces the shared lowerings and decompositions."""
    lowerings.register(RandomBits)(_random_bits)
    lowerings.register(RandomLogGamma, dtypes=("uint32", "float32", "float64"))(_log_gamma)
    lowerings.register(GammaMoment, dtypes=("float32", "float64"))(_moment)


def _random_bits(op: RandomBits, key: Any) -> Any:
    """Draw words for each key, some keys or some counters at a time."""
    keys = np.reshape(key, (-1, 2))
    count, blocks = prod(op.shape), op.block_count
    arrange = wide if op.dtype.bits == 64 else words
    found = np.empty((len(keys), count), op.dtype.name)
    per_block = 1 if op.dtype.bits == 64 else 2
    rows = max(_BLOCKS_PER_PART // max(blocks, 1), 1)
    for row in range(0, len(keys), rows):
        some = keys[row : row + rows]
        for start in range(0, blocks, _BLOCKS_PER_PART):
            counters = np.arange(start, min(start + _BLOCKS_PER_PART, blocks), dtype=np.uint32)
            made = arrange(np, *_blocks(some, counters, BITS))
            place = start * per_block
            part = found[row : row + rows, place : place + made.shape[1]]
            part[...] = made[:, : part.shape[1]]
    return np.reshape(found, (*key.shape[:-1], *op.shape))


def _blocks(keys: Any, counters: Any, use: int) -> tuple[Any, Any]:
    """Return both words of the blocks of counters u32[n] for each key u32[k,2]."""
    low = np.empty((len(keys), counters.shape[-1]), np.uint32)
    low[...] = counters
    high = np.full_like(low, use)
    encrypt(np, keys[:, :1], keys[:, 1:], low, high)
    return low, high


# --- gamma variates ------------------------------------------------------------------------------


def _log_gamma(op: RandomLogGamma, key: Any, a: Any) -> Any:
    keys, shapes = np.reshape(key, (-1, 2)), np.ravel(a)
    if not a.size:
        return np.empty_like(a)
    with np.errstate(all="ignore"):
        return np.reshape(_variates(keys, shapes, a.size // len(keys)), a.shape)


def _variates(keys: Any, a: Any, per_key: int) -> Any:
    """Draw the variates of all keys in turn."""
    small = a < 1
    d = np.where(small, a + 1, a) - a.dtype.type(1 / 3)
    y = np.empty_like(a)
    open_ = np.arange(a.size)  # where no proposal was accepted yet
    for attempt in range(TRIES):
        z = 2**0.5 * _erfinv(_signed(keys, 2 * attempt, open_, per_key, a.dtype))
        log_u = np.log(np.abs(_signed(keys, 2 * attempt + 1, open_, per_key, a.dtype)))
        part = d[open_]
        root = 1 + z / (3 * np.sqrt(part))
        log_v = 3 * np.log(np.abs(root))
        y[open_] = log_v
        bound = 0.5 * (z * z) + part * (1 - root * root * root + log_v)
        open_ = open_[~((root > 0) & (log_u < bound))]
        if not open_.size:
            break
    y += np.log(d)
    where = np.flatnonzero(small)
    uniform = np.abs(_signed(keys, 2 * TRIES, where, per_key, a.dtype))
    y[where] += np.log(uniform) / np.abs(a[where])
    y[a < 0] = np.nan
    return y


def _erfinv(x: Any) -> Any:
    from scipy.special import erfinv  # noqa: PLC0415 - slow to import, see `special.py`

    return erfinv(x)


def _signed(keys: Any, number: int, where: Any, per_key: int, dtype: Any) -> Any:
    """`primitives.random.of_bits` of one attempt, at some positions."""
    key0, key1 = (word[:, 0] for word in _blocks(keys, np.array([number], np.uint32), ATTEMPTS))
    if len(keys) > 1:
        key0, key1 = key0[where // per_key], key1[where // per_key]
    low = (where % per_key).astype(np.uint32)
    high = np.full_like(low, BITS)
    encrypt(np, key0, key1, low, high)
    if dtype == np.float64:
        return ((wide(np, low, high).view(np.int64) >> 10) | 1) * 2.0**-53
    return ((high.view(np.int32) >> 7) | 1).astype(np.float32) * np.float32(2.0**-24)


# --- their derivative ----------------------------------------------------------------------------


def _moment(op: GammaMoment, a: Any, y: Any) -> Any:
    """Sum the decomposition for some elements at a time, each on its own side."""
    shapes, logs = np.ravel(a), np.ravel(y)
    found = np.empty_like(shapes)
    above = logs > np.log(np.maximum(shapes, 1))
    with np.errstate(all="ignore"):
        for side, integrate in ((True, _upper), (False, _lower)):
            where = np.flatnonzero(above == side)
            for start in range(0, len(where), _ELEMENTS):
                some = where[start : start + _ELEMENTS]
                found[some] = integrate(op.order, shapes[some, None], np.exp(logs[some, None]))
    return np.reshape(found, a.shape)


def _lower(order: int, a: Any, x: Any) -> Any:
    v, weight = _nodes(1 / (np.maximum(a - x, 0) + np.minimum(a, np.sqrt(a))))
    return np.sum(v**order * np.exp(-a * v - x * np.expm1(-v)) * weight, 1)


def _upper(order: int, a: Any, x: Any) -> Any:
    u, weight = _nodes(1 / (np.maximum(x - a, 0) + np.sqrt(x)))
    v = np.log1p(u)
    return np.sum(v**order * np.exp((a - 1) * v - x * u) * weight, 1)


def _nodes(scale: Any) -> tuple[Any, Any]:
    step = (LAST - FIRST) / (NODES - 1)
    tau = np.arange(NODES) * step + FIRST
    bent = np.exp(-BEND * tau)
    v = (np.exp(tau - bent)).astype(scale.dtype) * scale
    return v, v * ((1 + BEND * bent) * step).astype(scale.dtype)
