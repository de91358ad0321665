"""Numbers of the rows: groups of dtypes, and grids that fill the mantissa of their numbers.

Read `rows.py` next.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tenferro_conformance.cases.tolerances import real_dtype

__all__ = [
    "ALL_DTYPES",
    "ALL_INTS",
    "BOOL",
    "COMPLEX",
    "F32",
    "F64",
    "FLOATS",
    "HALF",
    "INTS",
    "NUMBERS",
    "RARE_DTYPES",
    "SIGNED",
    "UNSIGNED",
    "Grid",
    "away",
    "cgrid",
    "coarse",
    "complex_dtype",
    "fine",
    "grid",
    "igrid",
    "inf",
    "nan",
    "real_dtype",
]


F32, F64 = ("float32",), ("float64",)
FLOATS = ("float32", "float64")
COMPLEX = ("complex64", "complex128")
HALF = ("float16", "bfloat16")
INTS = ("int32", "int64")
SIGNED = ("int8", "int16", *INTS)
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
ALL_INTS = SIGNED + UNSIGNED
BOOL = ("bool",)
NUMBERS = FLOATS + COMPLEX + INTS
#: What most rows leave out: the integers other than int32 and int64, and the half floats.
RARE_DTYPES = ("int8", "int16", *UNSIGNED, *HALF)
ALL_DTYPES = BOOL + ALL_INTS + HALF + FLOATS + COMPLEX
inf, nan = float("inf"), float("nan")


def complex_dtype(dtype: str) -> str:
    """Return the dtype of complex numbers with parts of a dtype."""
    return {"float32": "complex64", "float64": "complex128"}.get(dtype, dtype)


@dataclass(frozen=True)
class Grid:
    """Numbers with a shape; the form of nested lists."""

    shape: tuple[int, ...]
    flat: tuple[Any, ...]


def grid(low: float, high: float, *shape: int) -> Grid:
    """Spread numbers over an interval in scattered order, with all 24 bits that float32 holds.

    They fill the mantissa, so that sums and products must round; they are exact in float32, so
    that one stored result serves both precisions; none is the middle of the interval.
    """
    size = _size(shape)
    step = _coprime(size)
    places = ((i * step) % size for i in range(size))
    return Grid(shape, tuple(_spread(low, high, (k + 0.375) / size) for k in places))


def _spread(low: float, high: float, place: float) -> float:
    """Return the number at a place between 0 and 1, moved by 0.3 % away from short numbers."""
    return _single((low + (high - low) * place) * (1 - 1 / 307))


def _single(x: float) -> float:
    """Round to the nearest number of single precision."""
    rounded: float = struct.unpack("f", struct.pack("f", x))[0]
    return rounded


def cgrid(radius: float, *shape: int, offset: complex = 0) -> Grid:
    """Make complex numbers in a square around `offset`, away from the axes."""
    size = _size(shape)
    numbers = grid(-radius, radius, size).flat
    turned = numbers[size // 3 :] + numbers[: size // 3]
    shift = complex(offset) + (0.125 - 0.0625j)
    pairs = zip(numbers, turned, strict=True)
    return Grid(
        shape, tuple(complex(_single(x + shift.real), _single(y + shift.imag)) for x, y in pairs)
    )


def away(low: float, high: float) -> Callable[..., Grid]:
    """Make numbers of both signs with |x| in [low, high]: away from zero."""

    def make(*shape: int) -> Grid:
        numbers = grid(low, high, *shape).flat
        return Grid(shape, tuple(x if i % 2 else -x for i, x in enumerate(numbers)))

    return make


def igrid(low: int, high: int, *shape: int) -> Grid:
    """Make integers in scattered order, `low` ≤ k < `high`."""
    size = _size(shape)
    return Grid(
        shape, tuple(low + (i * _coprime(high - low) + i // 3) % (high - low) for i in range(size))
    )


def fine(numbers: Grid) -> Grid:
    """Perturb the numbers to use all 53 bits: none fits in single precision."""
    flat = tuple(x * (1 + (2 * i + 1) / 3 * 2.0**-20) for i, x in enumerate(numbers.flat))
    return Grid(numbers.shape, flat)


def coarse(numbers: Grid) -> Grid:
    """Round the numbers to the 8 bits of bfloat16, which float16 holds, too, in its range."""
    return Grid(numbers.shape, tuple(map(_leading, numbers.flat)))


def _leading(x: float) -> float:
    """Clear the lower half of a number's single precision."""
    (bits,) = struct.unpack("I", struct.pack("f", x))
    cut: float = struct.unpack("f", struct.pack("I", bits & 0xFFFF0000))[0]
    return cut


def _size(shape: Sequence[int]) -> int:
    size = 1
    for extent in shape:
        size *= extent
    return size


def _coprime(size: int) -> int:
    """Return a step that visits every place once, far from its neighbours."""
    candidates = (7, 5, 3, 11, 13)
    return next((step for step in candidates if size % step), 1)
