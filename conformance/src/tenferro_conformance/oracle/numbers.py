"""The numbers of the oracle: mpmath with 150 digits, and tensors of them.

Read next: the definitions, in `__init__.py` and, by family, in the other files.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import mpmath

__all__ = ["DIGITS", "Index", "Params", "Reference", "Tensor", "all_indices", "elementwise", "mp"]

DIGITS = 150
mp = mpmath.mp.clone()
mp.dps = DIGITS

Index = tuple[int, ...]
Params = Mapping[str, Any]
#: the definition of a primitive: parameters and inputs → value
Reference = Callable[..., "Tensor"]


def all_indices(shape: Sequence[int]) -> Iterator[Index]:
    """Return every index of a shape, in row-major order."""
    return itertools.product(*(range(extent) for extent in shape))


@dataclass(frozen=True)
class Tensor:
    """Numbers by index; row-major. Floats are mpf, complex numbers mpc, the rest int and bool."""

    shape: tuple[int, ...]
    flat: tuple[Any, ...]

    def __getitem__(self, index: Sequence[int]) -> Any:
        place = 0
        for position, extent in zip(index, self.shape, strict=True):
            place = place * extent + position
        return self.flat[place]

    @classmethod
    def make(cls, shape: Sequence[int], at: Callable[[Index], Any]) -> Tensor:
        """Make the tensor whose entry at each index is `at(index)`."""
        return cls(tuple(shape), tuple(at(index) for index in all_indices(shape)))

    def map(self, function: Callable[[Any], Any]) -> Tensor:
        """Apply the function to every entry."""
        return Tensor(self.shape, tuple(map(function, self.flat)))


def elementwise(function: Callable[..., Any]) -> Reference:
    """Define a primitive that treats each element by itself."""

    def apply(params: Params, *xs: Tensor) -> Tensor:
        return Tensor(
            xs[0].shape,
            tuple(function(*entries) for entries in zip(*(x.flat for x in xs), strict=True)),
        )

    return apply
