"""Tails of a distribution that is symmetric about ``loc``: the upper one at z is the lower at -z.

Read next: ``laplace.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from tenferro._runtime.records import NamedTuple
from tenferro.arrays.handle.array import Array
from tenferro.stats._standard import standard

OfZ = Callable[[Array], Array]


class OfPlace(Protocol):
    """A function of places, and of the location and scale of a distribution."""

    def __call__(self, x: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """Compute the function at x."""
        ...


class Tails(NamedTuple):
    """The public functions of both tails, in alphabetical order."""

    cdf: OfPlace
    logcdf: OfPlace
    logsf: OfPlace
    sf: OfPlace


def symmetric_tails(distribution: str, lower: OfZ, log_lower: OfZ) -> Tails:
    """Make the functions of both tails from the lower tail at z = (x - loc) / scale and its
    logarithm.
    """

    def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """Compute the probability of at most x."""
        return lower(standard(f"{distribution}.cdf", x, loc, scale).z)

    def logcdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """Compute the logarithm of ``cdf``, also where that underflows."""
        return log_lower(standard(f"{distribution}.logcdf", x, loc, scale).z)

    def logsf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """Compute the logarithm of ``sf``, also where that underflows."""
        return log_lower(-standard(f"{distribution}.logsf", x, loc, scale).z)

    def sf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """Compute the probability of more than x, with all digits where it is small."""
        return lower(-standard(f"{distribution}.sf", x, loc, scale).z)

    return Tails(cdf, logcdf, logsf, sf)
