"""Threefry-2x32 in Python's integers, and the numbers that are made of its words.

Written from Salmon, Moraes, Dror & Shaw (SC'11), section 3.2 and table 2.
"""

import numpy as np

_ROTATIONS = (13, 15, 26, 6, 17, 29, 16, 24)
_MASK = 2**32 - 1
SPLIT, FOLD, ATTEMPTS = 0x80000000, 0x40000000, 0x20000000


def threefry(key, counter):
    """Both words of a block, 20 rounds."""
    schedule = (*key, key[0] ^ key[1] ^ 0x1BD11BDA)
    x, y = ((c + k) & _MASK for c, k in zip(counter, key, strict=True))
    for turn in range(20):
        count = _ROTATIONS[turn % 8]
        x = (x + y) & _MASK
        y = ((y << count | y >> (32 - count)) & _MASK) ^ x
        if turn % 4 == 3:
            group = turn // 4 + 1
            x = (x + schedule[group % 3]) & _MASK
            y = (y + schedule[(group + 1) % 3] + group) & _MASK
    return x, y


def words32(key, count):
    """The first words of 32 bits of a key."""
    blocks = [threefry(key, (i, 0)) for i in range((count + 1) // 2)]
    return [word for pair in blocks for word in pair][:count]


def words64(key, count):
    """The first words of 64 bits of a key."""
    return [low + (high << 32) for low, high in (threefry(key, (i, 0)) for i in range(count))]


def split(key, number):
    """One of the keys that a key is split into."""
    return threefry(key, (number, SPLIT))


def fold_in(key, data):
    """A key with an integer folded in."""
    low, high = (data % 2**64) & _MASK, (data % 2**64) >> 32
    return threefry(threefry(key, (low, FOLD)), (high, FOLD + 1))


def unit(key, count):
    """Numbers in [0, 1) of 53 bits."""
    return [(word >> 11) * 2.0**-53 for word in words64(key, count)]


def signed(key, count):
    """Odd multiples of 2⁻⁵³ in (-1, 1)."""
    whole = (word - 2**64 if word >> 63 else word for word in words64(key, count))
    return [float((number >> 10) | 1) * 2.0**-53 for number in whole]


def attempt(key, number, count):
    """Numbers in (-½, ½) and in (0, 1) of one attempt at ``count`` elements."""
    drawn = signed(threefry(key, (number, ATTEMPTS)), 2 * count)
    return np.array(drawn[:count]) / 2, np.abs(drawn[count:])
