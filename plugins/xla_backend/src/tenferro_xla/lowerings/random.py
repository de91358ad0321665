"""Random words and gamma variates on XLA.

Rounds of few words, and proposals, are loops: unrolled, as in the decompositions, they take XLA's
CPU compiler many seconds. The loop of proposals ends when every element has an accepted one.
Read next: ``special.py``.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from jax import Array, lax

from tenferro.backend.lowering import Lowerings
from tenferro.primitives.random import (
    ATTEMPTS,
    BITS,
    GROUPS,
    PARITY,
    ROTATIONS,
    RandomBits,
    Threefry2x32,
)
from tenferro.primitives.random_gamma import TRIES, RandomLogGamma
from tenferro_xla.lowerings._numeric import like
from tenferro_xla.lowerings.special import refined_erfinv

lowerings = Lowerings()
_MIN_WORDS_TO_UNROLL = 1 << 15  # words: from here on a run gains more than a compilation loses


@lowerings.register(Threefry2x32)
def threefry2x32(op: Threefry2x32, key0: Array, key1: Array, x0: Array, x1: Array) -> Any:
    """Encrypt counters under keys."""
    return _encrypt(key0, key1, x0, x1)


@lowerings.register(RandomBits)
def random_bits(op: RandomBits, key: Array) -> Array:
    """Encrypt counters along a last axis; of the two words of a block the low one comes first."""
    keys = key.shape[:-1]
    low, high = _blocks(key, (*keys, op.block_count), BITS)
    if op.dtype.bits == 64:
        return lax.reshape(_joined(low, high), (*keys, *op.shape))
    pairs = lax.concatenate([lax.expand_dims(x, (x.ndim,)) for x in (low, high)], low.ndim)
    words = lax.reshape(pairs, (*keys, 2 * op.block_count))
    words = lax.slice_in_dim(words, 0, prod(op.shape), axis=len(keys))
    return lax.reshape(words, (*keys, *op.shape))


def _blocks(key: Array, shape: tuple[int, ...], use: int) -> tuple[Array, Array]:
    """Return both words of the blocks that the last axis of a shape counts, for each key."""
    counters = lax.broadcasted_iota(np.uint32, shape, len(shape) - 1)
    return _encrypt(*_spread(key, shape), counters, like(counters, use))


def _spread(key: Array, shape: tuple[int, ...]) -> tuple[Array, Array]:
    """Return the words of keys u32[*B,2], repeated to [*B,*s]."""
    axes = tuple(range(key.ndim - 1))
    first, second = (lax.index_in_dim(key, i, key.ndim - 1, keepdims=False) for i in (0, 1))
    return lax.broadcast_in_dim(first, shape, axes), lax.broadcast_in_dim(second, shape, axes)


def _joined(low: Array, high: Array) -> Array:
    wide = lax.convert_element_type(high, np.uint64)
    return lax.convert_element_type(low, np.uint64) | lax.shift_left(wide, like(wide, 32))


def _encrypt(key0: Array, key1: Array, x0: Array, x1: Array) -> tuple[Array, Array]:
    """Run twenty rounds in groups of four; rotations alternate, the key schedule cycles.

    Many words are worth a second of the compiler, which joins unrolled rounds to one loop.
    """
    parity = key0 ^ key1 ^ like(key0, PARITY)
    rotations = tuple(np.array(counts, np.uint32) for counts in ROTATIONS)
    state: Any = x0 + key0, x1 + key1, rotations, (key0, key1, parity)
    if x0.size < _MIN_WORDS_TO_UNROLL:
        return lax.fori_loop(0, GROUPS, _group, state)[:2]  # type: ignore[no-any-return]
    for turn in range(GROUPS):
        state = _group(np.int32(turn), state)
    return state[0], state[1]


def _group(turn: Any, state: Any) -> Any:
    """Run four rounds, and add one part of the key."""
    x0, x1, (now, after), (first, second, third) = state
    for i in range(4):
        x0 = x0 + x1
        x1 = _rotated(x1, now[i]) ^ x0
    count = lax.convert_element_type(turn + 1, np.uint32)
    x0, x1 = x0 + second, x1 + third + lax.broadcast(count, x1.shape)
    return x0, x1, (after, now), (second, third, first)


def _rotated(x: Array, count: Any) -> Array:
    up = lax.broadcast(count, x.shape)
    return lax.shift_left(x, up) | lax.shift_right_logical(x, like(x, 32) - up)


# --- gamma variates ------------------------------------------------------------------------------


@lowerings.register(RandomLogGamma, dtypes=("uint32", "float32", "float64"))
def random_log_gamma(op: RandomLogGamma, key: Array, a: Array) -> Array:
    """Try proposals until all elements have one; as in the decomposition, the twelfth is taken."""
    one = like(a, 1)
    small = lax.lt(a, one)
    d = lax.select(small, a + one, a) - like(a, 1 / 3)

    def is_open(state: Any) -> Array:
        attempt, _, done = state
        found: Array = (attempt < TRIES) & ~lax.reduce_and(done, tuple(range(a.ndim)))
        return found

    def propose(state: Any) -> Any:
        attempt, y, done = state
        log_v, accepted = _proposal(key, attempt, d)
        return attempt + 1, lax.select(done, y, log_v), done | accepted

    start = np.int32(0), like(a, 0), lax.full_like(a, False, np.bool_)
    y = lax.while_loop(is_open, propose, start)[1] + lax.log(d)
    uniform = lax.abs(_signed(key, np.int32(2 * TRIES), a))
    y = lax.select(small, y + lax.log(uniform) / lax.abs(a), y)
    return lax.select(lax.lt(a, like(a, 0)), like(a, np.nan), y)


def _proposal(key: Array, attempt: Array, d: Array) -> tuple[Array, Array]:
    """Return the logarithm of v, and whether d v is accepted."""
    z = like(d, 2**0.5) * refined_erfinv(_signed(key, 2 * attempt, d))
    log_u = lax.log(lax.abs(_signed(key, 2 * attempt + 1, d)))
    root = like(d, 1) + z / (like(d, 3) * lax.sqrt(d))
    log_v = like(d, 3) * lax.log(lax.abs(root))
    bound = like(d, 0.5) * (z * z) + d * (like(d, 1) - root * root * root + log_v)
    return log_v, lax.gt(root, like(root, 0)) & lax.lt(log_u, bound)


def _signed(key: Array, number: Any, a: Array) -> Array:
    """``primitives.random.of_bits`` of one attempt at every element."""
    keys = key.shape[:-1]
    counter = lax.broadcast(lax.convert_element_type(number, np.uint32), keys)
    words = _encrypt(*_spread(key, keys), counter, like(counter, ATTEMPTS))
    attempt = lax.concatenate([lax.expand_dims(x, (x.ndim,)) for x in words], len(keys))
    low, high = _blocks(attempt, (*keys, prod(a.shape[len(keys) :])), BITS)
    is_wide = a.dtype == np.float64
    high = _joined(low, high) if is_wide else high
    dropped, step = (10, 2.0**-53) if is_wide else (7, 2.0**-24)
    whole = lax.bitcast_convert_type(high, np.int64 if is_wide else np.int32)
    odd = lax.shift_right_arithmetic(whole, like(whole, dropped)) | like(whole, 1)
    found = lax.convert_element_type(odd, a.dtype) * lax.full_like(a, step, shape=odd.shape)
    return lax.reshape(found, a.shape)
