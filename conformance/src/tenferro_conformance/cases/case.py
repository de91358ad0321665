"""Cases: data with an expectation; nothing here runs anything.

A `Case` binds one primitive to stored inputs and, where an oracle exists, to stored outputs and
derivatives; an `ErrorCase` states a refusal. The tables that make cases are `samples/<family>.py`,
the stored numbers are in `golden/`, the laws that read them are in `suite/`. Imports the standard
library only; numpy is imported when an array is asked for.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import numpy as np

__all__ = [
    "Case",
    "Domain",
    "ErrorCase",
    "GradPlan",
    "Layout",
    "Stored",
    "TolClass",
    "draw",
    "seed_of",
]

TolClass = Literal[
    "exact",
    "rounded",
    "elementary",
    "special",
    "complex",
    "reduction",
    "reduction_serial",
    "contraction",
    "factorization",
]
Layout = Literal["contiguous", "strided", "transposed", "reversed"]


@dataclass(frozen=True, kw_only=True)
class Stored:
    """An array as data: shape, dtype name, flat Python numbers in row-major order.

    `low` continues `data` beyond double precision, so that errors below one ulp are visible.
    `layout` is how `array` lays the numbers out in memory; it never changes a value.
    """

    shape: tuple[int, ...]
    dtype: str
    data: tuple[Any, ...]
    low: tuple[Any, ...] | None = None
    layout: Layout = "contiguous"

    def array(self) -> np.ndarray[Any, Any]:
        """Return the numbers as a NumPy array of this dtype, in this layout."""
        return _laid_out(self._filled(self.data, self.dtype), self.layout)

    def high(self) -> np.ndarray[Any, Any]:
        """Return the numbers in the widest precision of their kind (not rounded to the dtype)."""
        return self._filled(self.data, _widest(self.dtype))

    def correction(self) -> np.ndarray[Any, Any]:
        """Return the difference from `high` to the exact numbers; zero if `high` is exact."""
        return self._filled(self.low or (0,) * len(self.data), _widest(self.dtype))

    def _filled(self, numbers: tuple[Any, ...], dtype: str) -> np.ndarray[Any, Any]:
        import numpy as np

        with np.errstate(all="ignore"):
            return (
                np.array(numbers, dtype=_widest(dtype)).astype(_native(dtype)).reshape(self.shape)
            )


def _native(dtype: str) -> Any:
    """Return NumPy's name of a dtype; it knows bfloat16 once ml_dtypes is imported."""
    if dtype == "bfloat16":
        import ml_dtypes

        return ml_dtypes.bfloat16
    return dtype


def _widest(dtype: str) -> str:
    """Return the dtype that holds stored numbers of this dtype exactly."""
    if dtype.startswith("complex"):
        return "complex128"
    if dtype.startswith(("float", "bfloat")):
        return "float64"
    return dtype


def _laid_out(array: np.ndarray[Any, Any], layout: Layout) -> np.ndarray[Any, Any]:
    """Return the same values in another memory layout."""
    import numpy as np

    if layout == "transposed":
        return np.ascontiguousarray(array.T).T
    if layout == "reversed":
        return np.flip(np.ascontiguousarray(np.flip(array)))
    if layout == "strided":
        wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), array.dtype)
        wide[..., ::2] = array
        return wide[..., ::2]
    return array


@dataclass(frozen=True, kw_only=True)
class Domain:
    """Domain of a function: an interval of the reals, with or without zero."""

    low: float = float("-inf")
    high: float = float("inf")
    nonzero: bool = False


@dataclass(frozen=True, kw_only=True)
class GradPlan:
    """Derivatives of a case that are tested.

    wrt          inputs to differentiate
    order        highest order at which the laws apply
    tangents     one stored direction per input of `wrt`
    derivatives  per order, per output: the stored derivative along the tangents; empty: differences
                 are taken instead
    scale        per output: Σ |∂f/∂xᵢ·vᵢ|, what rounding errors are relative to where terms cancel
    smooth       False at a kink: the value is a convention, and differences would not agree with it
    """

    wrt: tuple[int, ...]
    order: int = 1
    tangents: tuple[Stored, ...] = ()
    derivatives: tuple[tuple[Stored, ...], ...] = ()
    scale: tuple[Stored, ...] = ()
    smooth: bool = True


@dataclass(frozen=True, kw_only=True)
class Case:
    """One primitive on stored inputs, with what must come out.

    expected     stored outputs; None: a law decides
    scale        per output: what a sum's rounding errors are relative to (Σ|x|, or |A|·|B|)
    size         number of terms in a sum
    level        the least level of a backend that runs it; `docs/conformance.md` lists them
    features     what a backend must have; an unguarded case would break every third party
    observe      the name of what is looked at instead of the outputs, where these are not unique
    condition    what multiplies rounding errors: a condition number, or one over a gap
    provisional  run and reported, but not counted for one minor version of the suite
    operation    the operation itself, where the registry need not have it; then `params` are unused
    """

    id: str
    primitive: str
    version: int = 1
    params: Mapping[str, object] = field(default_factory=dict)
    inputs: tuple[Stored, ...]
    expected: tuple[Stored, ...] | None
    level: int
    features: frozenset[str] = frozenset()
    tol: TolClass
    scale: tuple[Stored, ...] | None = None
    size: int = 1
    grad: GradPlan | None = None
    domain: Domain | None = None
    note: str = ""
    observe: str | None = None
    condition: float = 1.0
    provisional: bool = False
    operation: Any = None

    @property
    def dtype(self) -> str:
        """The last part of the id: the dtype that the case is about."""
        return self.id.rsplit("/", 1)[1]

    @property
    def edge(self) -> str:
        """The middle part of the id: the named edge."""
        return self.id.split("/", 1)[1].rsplit("/", 1)[0]


@dataclass(frozen=True, kw_only=True)
class ErrorCase:
    """One refusal: this primitive with these parameters and avals raises this error with these
    fields.

    `avals` are (shape, dtype name) pairs. With `inputs` the refusal depends on data and happens at
    run time; such a case needs the feature `checks`. A field whose value is `...` must exist,
    whatever it holds.
    """

    id: str
    primitive: str
    params: Mapping[str, object] = field(default_factory=dict)
    avals: tuple[tuple[tuple[int, ...], str], ...] = ()
    error: type[Exception]
    fields: Mapping[str, object] = field(default_factory=dict)
    inputs: tuple[Stored, ...] | None = None
    level: int
    features: frozenset[str] = frozenset()
    note: str = ""


def seed_of(text: str) -> int:
    """Return the seed of a law's random input: the first eight bytes of sha256."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def draw(text: str, shape: tuple[int, ...], dtype: str) -> Stored:
    """Draw reproducible numbers in ±[1/8, 2], multiples of 1/16: exact in every floating dtype.

    >>> draw("std::sin/scalar/float64", (2,), "float64") == draw(
    ...     "std::sin/scalar/float64", (2,), "float64"
    ... )
    True
    """
    stream = _splitmix(seed_of(text))
    size = 1
    for extent in shape:
        size *= extent
    if dtype.startswith("complex"):
        data = tuple(complex(_sixteenth(stream), _sixteenth(stream)) for _ in range(size))
    else:
        data = tuple(_sixteenth(stream) for _ in range(size))
    return Stored(shape=shape, dtype=dtype, data=data)


def _sixteenth(stream: Iterator[int]) -> float:
    """Draw a multiple of 1/16 in ±[1/8, 2]."""
    bits = next(stream)
    return (1 if bits & 1 else -1) * (2 + (bits >> 8) % 31) / 16


def _splitmix(state: int) -> Iterator[int]:
    """Yield 64-bit numbers by Steele, Lea, Flood (2014), independent of library versions."""
    mask = (1 << 64) - 1
    while True:
        state = (state + 0x9E3779B97F4A7C15) & mask
        mixed = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & mask
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & mask
        yield mixed ^ (mixed >> 31)
