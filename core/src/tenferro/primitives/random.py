"""Random bits: a counter and a key go in, words come out; there is no state.

Every word is a function of the key and of its own position, so the same bits come out on every
backend, in any order and in parts. Keys are two words of 32 bits. The generator is threefry-2x32
with 20 rounds, of Salmon, Moraes, Dror & Shaw, "Parallel random numbers: as easy as 1, 2, 3"
(SC'11), whose ancestor is the cipher Threefish. The counters of bits, of new keys and of attempts
differ in their high word, so that none of them repeats another's. Integers carry no derivative.
Read next: ``random_gamma.py``.
"""

from __future__ import annotations

from math import prod
from typing import Final

from tenferro.primitives._aval import Aval, Shape
from tenferro.primitives._checks import integers, invalid, of_kind, same_aval
from tenferro.primitives._dtype import DType, float64, int32, int64, uint32, uint64
from tenferro.primitives._errors import DTypeMismatchError, ShapeMismatchError
from tenferro.primitives._handle import H, Handle
from tenferro.primitives._primitive import Mixed, bind, bind_all, over_leading_axes, pointwise
from tenferro.primitives.arithmetic import add, mul
from tenferro.primitives.bitwise import bitwise_or, bitwise_xor, shift_left, shift_right
from tenferro.primitives.constants import full_like, iota
from tenferro.primitives.structural import (
    bitcast,
    broadcast_in_dim,
    concatenate,
    convert,
    expand_dims,
    reshape,
    slice,
)

__all__ = ["RandomBits", "Threefry2x32", "random_bits", "threefry2x32"]

ROTATIONS: Final = ((13, 15, 26, 6), (17, 29, 16, 24))  # table 2, of even and odd groups of rounds
PARITY: Final = 0x1BD11BDA  # of the key schedule: the low word of Threefish's constant
GROUPS: Final = 5  # of four rounds
BITS: Final = 0  # high words of counters, one per use of a key
ATTEMPTS: Final = 0x20000000
FOLD: Final = 0x40000000
SPLIT: Final = 0x80000000
_MAX_BLOCKS: Final = 2**32  # blocks: their count is the low word


class Threefry2x32(Mixed):
    """(y0, y1) = threefry of the counter (x0, x1) under the key (key0, key1), 20 rounds"""

    key = "std::threefry2x32"
    batch = pointwise
    linear = ()
    output_count = 2

    def abstract_eval(self, key0: Aval, key1: Aval, x0: Aval, x1: Aval) -> tuple[Aval, Aval]:
        aval = _words(self, same_aval(self, key0, key1, x0, x1))
        return aval, aval

    def decompose(
        self, key0: Handle, key1: Handle, x0: Handle, x1: Handle
    ) -> tuple[Handle, Handle]:
        """Write the rounds as they are published."""
        parity = bitwise_xor(bitwise_xor(key0, key1), filled(key0, PARITY))
        schedule = key0, key1, parity
        x0, x1 = add(x0, key0), add(x1, key1)
        for group in range(GROUPS):
            for count in ROTATIONS[group % 2]:
                x0 = add(x0, x1)
                x1 = bitwise_xor(_rotated(x1, count), x0)
            x0 = add(x0, schedule[(group + 1) % 3])
            x1 = add(add(x1, schedule[(group + 2) % 3]), filled(x1, group + 1))
        return x0, x1


def _rotated(x: Handle, count: int) -> Handle:
    up = shift_left(x, filled(x, count))
    return bitwise_or(up, shift_right(x, filled(x, 32 - count)))


class RandomBits(Mixed):
    """Random words of a shape for each key.   key: u32[*B,2]  →  y: [*B,*shape]"""

    key = "std::random_bits"
    batch = over_leading_axes
    linear = ()
    shape: Shape
    dtype: DType

    def __post_init__(self) -> None:
        dtype = DType.of(self.dtype)
        if dtype not in (uint32, uint64):
            need = "uint32 or uint64; convert these"
            raise invalid(self, "dtype", "no words of this dtype", got=dtype, need=need)
        self._set(shape=integers(self, "shape", self.shape), dtype=dtype)
        if self.block_count > _MAX_BLOCKS:
            got, need = f"shape={self.shape}", f"{_MAX_BLOCKS} blocks of 64 bits or fewer per key"
            raise invalid(self, "shape", "too many elements for one key", got=got, need=need)

    @property
    def block_count(self) -> int:
        """Number of counters asked of a key; a block has 64 bits."""
        count = prod(self.shape)
        return count if self.dtype is uint64 else (count + 1) // 2

    def abstract_eval(self, key: Aval) -> Aval:
        return Aval((*check_key(self, key).shape[:-1], *self.shape), self.dtype)

    def decompose(self, key: Handle) -> Handle:
        """Encrypt counters along a last axis; of the two words of a block the low one comes
        first.
        """
        keys = key.shape[:-1]
        shape = (*keys, self.block_count)
        low, high = block(key, iota(shape, len(keys), uint32), BITS)
        if self.dtype is uint64:
            return reshape(joined(low, high), (*keys, *self.shape))
        pairs = concatenate([expand_dims(x, (len(shape),)) for x in (low, high)], len(shape))
        words = reshape(pairs, (*keys, 2 * self.block_count))
        count = prod(self.shape)
        if count % 2:
            words = slice(words, (0,) * len(shape), (*keys, count))
        return reshape(words, (*keys, *self.shape))


def filled(x: H, value: float) -> H:
    """Return a constant of the shape and dtype of ``x``."""
    return full_like(x, value)  # type: ignore[return-value]  # the result has the class of x


def block(key: H, counter: H, use: int) -> tuple[H, H]:
    """Encrypt counters of one use: both words.   key: u32[*B,2]   counter: u32[*B,*s]"""
    key0, key1 = (_spread(word, counter.shape) for word in key_words(key))
    return threefry2x32(key0, key1, counter, filled(counter, use))


def key_words(key: H) -> tuple[H, H]:
    """Return the two words of keys, each u32[*B]."""
    start, limit = [0] * key.ndim, list(key.shape)
    found = []
    for i in (0, 1):
        start[-1], limit[-1] = i, i + 1
        found.append(reshape(slice(key, start, limit), key.shape[:-1]))
    return found[0], found[1]


def _spread(word: H, shape: Shape) -> H:
    return broadcast_in_dim(word, shape, range(word.ndim))


def as_key(low: H, high: H) -> H:
    """Make keys from their two words.   low: u32[*B]   high: u32[*B]   →   u32[*B,2]"""
    return concatenate([expand_dims(x, (x.ndim,)) for x in (low, high)], low.ndim)


def joined(low: H, high: H) -> H:
    """Join two 32-bit words into one of 64 bits."""
    wide = convert(high, uint64)
    return bitwise_or(convert(low, uint64), shift_left(wide, filled(wide, 32)))


def check_key(operation: Mixed, key: Aval) -> Aval:
    """Return the aval of keys; raise if it is not u32[*B,2]."""
    if not key.shape or key.shape[-1] != 2:
        raise ShapeMismatchError.of(
            operation.name, "no key", got=key, need="keys u32[...,2]", shapes=(key.shape,)
        )
    return _words(operation, key)


def _words(operation: Mixed, aval: Aval) -> Aval:
    of_kind(operation, "integer", aval)
    if aval.dtype is not uint32:
        raise DTypeMismatchError.of(
            operation.name, "words have 32 bits", got=aval, need="uint32", dtypes=(aval.dtype,)
        )
    return aval


def symmetric(bits: H, dtype: DType) -> H:
    """Make uniform numbers in (-1, 1), odd multiples of 2⁻⁵³ or 2⁻²⁴: never 0 or ±1, all exact.

    bits: u64[*s] for float64, u32[*s] for float32   →   y: f[*s]
    """
    signed, dropped, step = (int64, 10, 2.0**-53) if dtype is float64 else (int32, 7, 2.0**-24)
    whole = bitcast(bits, signed)
    odd = bitwise_or(shift_right(whole, filled(whole, dropped)), filled(whole, 1))
    found = convert(odd, dtype)
    return mul(found, filled(found, step))


def high_word(bits: H) -> H:
    """Return the upper half of 64-bit words."""
    return convert(shift_right(bits, filled(bits, 32)), uint32)


def bits_for(dtype: DType) -> DType:
    """Return the words that make a float of a dtype: 64 bits for float64, otherwise 32."""
    return uint64 if dtype is float64 else uint32


def of_bits(bits: H, dtype: DType) -> H:
    """``symmetric`` of words of 64 bits, for float32 of their upper half."""
    return symmetric(bits if dtype is float64 else high_word(bits), dtype)


def threefry2x32(key0: H, key1: H, x0: H, x1: H) -> tuple[H, H]:
    """Encrypt counters of 64 bits under keys of 64 bits.

    key0: u32[*s]   key1: u32[*s]   x0: u32[*s]   x1: u32[*s]   →   y0: u32[*s]   y1: u32[*s]

    Definition   threefry-2x32 with 20 rounds; arithmetic is modulo 2³²
    Raises       DTypeMismatchError: if the operands are not uint32.
    Source       Salmon, Moraes, Dror & Shaw (2011), section 3.2 and table 2

    >>> from tenferro.primitives import threefry2x32, variable
    >>> words = [variable(name, (3,), "u32") for name in "abcd"]
    >>> threefry2x32(*words)[1].aval
    u32[3]
    """
    first, second = bind_all(Threefry2x32(), key0, key1, x0, x1)
    return first, second


def random_bits(key: H, shape: Shape, dtype: object) -> H:
    """Draw words from keys.

    key: u32[*B,2]   →   y: [*B,*shape], uint32 or uint64

    Definition   block b of a key is threefry2x32 of the counter (b, 0); words of 32 bits are those
                 of the blocks in turn, words of 64 bits are w₂ₙ + 2³² w₂ₙ₊₁; row-major
    Raises       InvalidParameterError: for another dtype, or more than 2³² blocks.
    Source       Salmon, Moraes, Dror & Shaw (2011)

    >>> from tenferro.primitives import random_bits, variable
    >>> random_bits(variable("key", (2,), "u32"), (3, 4), "u64").aval
    u64[3,4]
    """
    return bind(RandomBits(tuple(shape), DType.of(dtype)), key)
