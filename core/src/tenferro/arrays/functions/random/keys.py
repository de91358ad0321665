"""Keys: the source of random numbers, without any state.

A key is an array u32[2]. The same key gives the same numbers, so each is used once: for one draw,
or to make other keys of it. Read next: ``_draws.py``.
"""

from __future__ import annotations

from operator import index
from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions._factories import filled
from tenferro.arrays.functions.creation import shape_of
from tenferro.arrays.handle.array import Array
from tenferro.arrays.handle.convert import as_array, is_operand, scalar
from tenferro.primitives import (
    Aval,
    InvalidParameterError,
    RefusalError,
    bitcast,
    concatenate,
    convert,
    int64,
    iota,
    lt,
    reshape,
    select,
    shift_right,
    sub,
    uint32,
    uint64,
)
from tenferro.primitives.random import FOLD, SPLIT, as_key, block

_WORD = 2**64
_KEY = Aval((2,), uint32)


class NotAKeyError(RefusalError, TypeError):
    """Report something else instead of a key. Fields: ``operation``, ``got``, ``need``."""


def key(seed: Any) -> Array:
    """Make a key from a seed: any Python integer, or an array that holds one integer.

    Seeds from 0 to 2⁶⁴ - 1 are the two words of the key, the low one first. The higher words of a
    larger seed are folded in, one after the other; ``key(-n)`` is ``fold_in(key(n), -1)``.

    Raises NotAKeyError: if the seed is not an integer.

    >>> import tenferro as tn
    >>> tn.random.key(7).aval
    u32[2]
    """
    if isinstance(seed, Array) or is_operand(seed):
        return _key_of_array(as_array(seed))
    try:
        number = index(seed)
    except TypeError:
        raise _no_integer("key", "seed", seed) from None
    size, found = abs(number), _pair(abs(number) % _WORD)
    while size >= _WORD:
        size //= _WORD
        found = fold_in(found, _signed(size % _WORD))
    return fold_in(found, -1) if number < 0 else found


def _signed(word: int) -> int:
    """Return a 64-bit word as an integer in the range of ``fold_in``."""
    return word if word < _WORD // 2 else word - _WORD


def _pair(number: int) -> Array:
    """Return the two words of an integer below 2⁶⁴ as inputs, so that seeds share one program."""
    low, high = (scalar(word, uint32) for word in (number % 2**32, number >> 32))
    return as_key(low, high)


def _key_of_array(seed: Array) -> Array:
    """Make a key from an array, as from Python integers, without a branch on the sign."""
    word = _word_of(seed, "key", "seed")
    if seed.dtype.category == "uint":
        return as_key(*_halves(word))
    number = convert(seed, int64)
    negative = lt(number, filled(number, 0))
    plain = as_key(*_halves(select(negative, sub(filled(word, 0), word), word)))
    sign = reshape(negative, (1,))
    return select(concatenate([sign, sign], 0), fold_in(plain, -1), plain)


def _word_of(x: Array, function: str, parameter: str) -> Array:
    """Return an integer of rank 0 modulo 2⁶⁴."""
    if x.ndim or not x.dtype.is_integer:
        raise _no_integer(function, parameter, x.aval)
    if x.dtype.category == "uint":
        return convert(x, uint64)
    return bitcast(convert(x, int64), uint64)


def _halves(word: Array) -> tuple[Array, Array]:
    return convert(word, uint32), convert(shift_right(word, filled(word, 32)), uint32)


def _no_integer(function: str, parameter: str, got: Any) -> NotAKeyError:
    error = NotAKeyError.of(
        f"random.{function}", f"the {parameter} is not an integer",
        got=got if isinstance(got, Aval) else f"{type(got).__name__} {str(got)[:40]!r}",
        need="a Python integer, or an array of rank 0 of an integer dtype",
    )  # fmt: skip
    return at_user_line(error)


def split(key: Any, num: Any = 2) -> Array:
    """Split a key into new keys, u32[num, 2]; do not use the key again. ``num`` may be a shape.

    The first ones do not depend on how many are asked for.

    >>> from tenferro import random
    >>> first, second = random.split(random.key(0))
    >>> random.split(first, 5).shape
    (5, 2)
    """
    known = as_known_key(key, "split")
    shape = shape_of(num)
    count = 1
    for n in shape:
        count *= n
    low, high = block(known, _counted(count), SPLIT)
    return reshape(as_key(low, high), (*shape, 2))


def _counted(count: int) -> Array:
    return Array(iota((count,), 0, uint32).key)


def fold_in(key: Any, data: Any) -> Array:
    """Make a new key from a key and an integer, for instance the number of a step.

    Integers are taken modulo 2⁶⁴; ``data`` may be traced.

    >>> from tenferro import random
    >>> random.fold_in(random.key(0), 12).aval
    u32[2]
    """
    found = as_known_key(key, "fold_in")
    if isinstance(data, Array) or is_operand(data):
        low, high = _halves(_word_of(as_array(data), "fold_in", "data"))
    else:
        low, high = _words_of(data)
    for use, word in ((FOLD, low), (FOLD + 1, high)):
        found = as_key(*block(found, word, use))
    return found


def _words_of(data: Any) -> tuple[Array, Array]:
    try:
        number = index(data)
    except TypeError:
        raise _no_integer("fold_in", "data", data) from None
    if not -_WORD // 2 <= number < _WORD:
        error = InvalidParameterError.of(
            "random.fold_in", "the integer has more than 64 bits", got=number,
            need="-2**63 <= data < 2**64; fold in one part after the other",
            parameter="data", value=number,
        )  # fmt: skip
        raise at_user_line(error)
    number %= _WORD
    return scalar(number % 2**32, uint32), scalar(number >> 32, uint32)


def as_known_key(key: Any, function: str) -> Array:
    """Return the key as an Array.

    Raises NotAKeyError: if it is none.
    """
    if isinstance(key, Array) or is_operand(key):
        found = as_array(key)
        if found.aval is _KEY:
            return found
        raise _not_a_key(function, found.aval)
    raise _not_a_key(function, key)


def _not_a_key(function: str, got: Any) -> NotAKeyError:
    if isinstance(got, Aval):
        is_batch = got.dtype is uint32 and got.ndim > 1 and got.shape[-1] == 2
        hint = (
            "these are several keys: take one, `keys[i]`, or map over them with `tenferro.vmap`"
            if is_batch
            else "make a key of a seed with `tenferro.random.key(seed)`"
        )
    else:
        is_seed = isinstance(got, int) and not isinstance(got, bool)
        seed = got if is_seed and abs(got) < 10**12 else "seed"
        hint = f"make a key of a seed with `tenferro.random.key({seed})`"
        got = f"{type(got).__name__} {str(got)[:40]!r}"
    error = NotAKeyError.of(
        f"random.{function}", "the first argument is not a key", got=got, need="a key u32[2]",
        hint=hint,
    )  # fmt: skip
    return at_user_line(error)
