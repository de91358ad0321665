"""Rules of Gauss for the interval from -1 to 1: nodes and weights, as numbers of Python.

Source  R. Piessens, E. de Doncker-Kapenga, C. W. Überhuber, D. K. Kahaner, QUADPACK (1983), for the
        numbers of Gauss and Kronrod; for Legendre's, Newton's iteration on the recurrence
        n Pₙ = (2 n - 1) x Pₙ₋₁ - (n - 1) Pₙ₋₂
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import cos, pi

from tenferro._runtime.records import NamedTuple


class Kronrod(NamedTuple):
    """A rule and, on every other of its nodes, a rule of Gauss."""

    nodes: tuple[float, ...]
    weights: tuple[float, ...]
    gauss: tuple[float, ...]
    """Weights of the rule of Gauss, 0 at the nodes that it does not have."""


def _mirrored(half: Sequence[float], sign: int = 1) -> tuple[float, ...]:
    """Return numbers for all nodes from those for nodes of 0 and more; the last node is 0."""
    return (*half, *[sign * x for x in reversed(half[:-1])])


def _kronrod(nodes: Sequence[float], weights: Sequence[float], gauss: Sequence[float]) -> Kronrod:
    """Return the rule of its nodes of 0 and more, and the weights of Gauss there."""
    return Kronrod(_mirrored(nodes, -1), _mirrored(weights), _mirrored(gauss))


RULES = {
    "gk21": _kronrod(
        (
            0.9956571630258081, 0.9739065285171717, 0.9301574913557082, 0.8650633666889845,
            0.7808177265864169, 0.6794095682990244, 0.5627571346686047, 0.4333953941292472,
            0.2943928627014602, 0.14887433898163122, 0.0,
        ),
        (
            0.011694638867371874, 0.032558162307964725, 0.054755896574351995, 0.07503967481091996,
            0.0931254545836976, 0.10938715880229764, 0.12349197626206584, 0.13470921731147334,
            0.14277593857706009, 0.1477391049013385, 0.1494455540029169,
        ),
        (
            0.0, 0.06667134430868814, 0.0, 0.1494513491505806, 0.0, 0.21908636251598204, 0.0,
            0.26926671930999635, 0.0, 0.29552422471475287, 0.0,
        ),
    ),
    "gk15": _kronrod(
        (
            0.9914553711208126, 0.9491079123427585, 0.8648644233597691, 0.7415311855993945,
            0.5860872354676911, 0.4058451513773972, 0.20778495500789848, 0.0,
        ),
        (
            0.022935322010529224, 0.06309209262997856, 0.10479001032225019, 0.14065325971552592,
            0.1690047266392679, 0.19035057806478542, 0.20443294007529889, 0.20948214108472782,
        ),
        (
            0.0, 0.1294849661688697, 0.0, 0.27970539148927664, 0.0, 0.3818300505051189, 0.0,
            0.4179591836734694,
        ),
    ),
}  # fmt: skip


@lru_cache(maxsize=64)
def legendre(n: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the n nodes of Gauss and Legendre, in rising order, and their weights."""
    nodes, weights = [], []
    for k in range(n):
        x = -cos(pi * (k + 0.75) / (n + 0.5))
        for _ in range(10):
            value, slope = _polynomial(n, x)
            x -= value / slope
        _, slope = _polynomial(n, x)
        nodes.append(x)
        weights.append(2 / ((1 - x * x) * slope * slope))
    return tuple(nodes), tuple(weights)


def _polynomial(n: int, x: float) -> tuple[float, float]:
    """Return Legendre's polynomial of degree n and its slope."""
    before, value = 1.0, x
    for k in range(2, n + 1):
        before, value = value, ((2 * k - 1) * x * value - (k - 1) * before) / k
    return value, n * (before - x * value) / (1 - x * x)
