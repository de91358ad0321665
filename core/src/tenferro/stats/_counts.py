"""The counts of a discrete distribution, and values where a number is not a count.

A derivative by a count is refused: a probability is 0 between two counts.
Read next: ``poisson.py``.
"""

from __future__ import annotations

from functools import lru_cache
from math import inf
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays.functions.comparison import equal, greater, greater_equal, less, less_equal
from tenferro.arrays.functions.elementwise import stop_gradient
from tenferro.arrays.functions.rounding import floor
from tenferro.arrays.handle.array import Array
from tenferro.stats._standard import Standard, choose
from tenferro.tidu import MissingRuleError
from tenferro.transforms import custom_jvp


class Counts(NamedTuple):
    """The count (0 where k is below 0 or infinite), and where k is not a count."""

    k: Array
    is_below: Array
    is_between: Array
    is_endless: Array

    @property
    def is_no_count(self) -> Array:
        return self.is_below | self.is_between | self.is_endless

    def with_ends(self, given: Standard, low: float, value: Any, high: float) -> Array:
        """Return constants below 0 and at inf, and the value elsewhere."""
        return given.outside(self.is_below, low, given.outside(self.is_endless, high, value))


def counts(distribution: str, x: Array, name: str = "k") -> Counts:
    """Return the largest counts that are at most x; a derivative by x is refused."""
    count = integer(distribution, name)(x)
    whole, is_below, is_endless = floor(count), less(count, 0), equal(count, inf)
    excess = choose(is_endless, 0.0, stop_gradient(count - whole))  # floor alone has the slope 0
    inner = choose(is_below | is_endless, 0.0, count - excess)
    return Counts(inner, is_below, greater(count, whole), is_endless)


def is_share(p: Array) -> Array:
    """Return True where p is a probability, 0 and 1 included."""
    found: Array = greater_equal(p, 0) & less_equal(p, 1)
    return found


def is_count(n: Array) -> Array:
    """Return True where n is a number of trials."""
    found: Array = greater_equal(n, 0) & equal(n, floor(n))
    return found


@lru_cache(maxsize=64)
def integer(distribution: str, name: str) -> custom_jvp:
    """Return the identity whose derivative is refused; without it one would be 0, silently."""

    def count(x: Array) -> Array:
        return x

    def refuse(primals: Any, tangents: Any) -> Any:
        raise MissingRuleError(
            f"{distribution}: there is no derivative with respect to the count {name}\n"
            f"  hint       differentiate with respect to another parameter, or give {name} as "
            "integers",
            primitive=distribution,
            rule=f"jvp_{name}",
            provider="tenferro.stats",
        )

    count.__module__ = f"tenferro.stats.{distribution}"  # `save_graph` names it in its error
    made = custom_jvp(count)
    made.defjvp(refuse)
    return made
