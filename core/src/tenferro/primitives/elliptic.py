"""Complete elliptic integrals of the first and second kind, in the complementary parameter.

With Δ² = cos²θ + p sin²θ, p = 1 - m, four integrals over a quarter turn are one primitive: K of
1/Δ, E of Δ, B of cos²θ/Δ and D of sin²θ/Δ. Derivatives of each are a combination of B and D, and
no digits cancel where p is small: dK/dp = -B/(2p), dE/dp = D/2. Those of B and D divide by m, and
have a power series where m is small. Formulas of the NIST Digital Library of Mathematical Functions
(DLMF), chapter 19, and Bulirsch (1965). Read next: ``faddeeva.py``.
"""

from __future__ import annotations

from math import gamma, pi

from tenferro.primitives._bessel_formulas import widened
from tenferro.primitives._checks import invalid
from tenferro.primitives._handle import H, Handle
from tenferro.primitives._primitive import Elementwise, bind
from tenferro.primitives.arithmetic import abs as absolute
from tenferro.primitives.arithmetic import sqrt
from tenferro.primitives.comparison import eq, gt, logical_or, lt, select
from tenferro.primitives.constants import full_like, zeros_like

__all__ = ["EllipticIntegral", "elliptic_integral"]

INF = float("inf")
_STEPS = 13  # of the mean, which doubles the digits: from √p = 1e-154 on
_MAX_M_OF_SERIES = 0.4
_TERMS = 48
_AT_ZERO = {"K": INF, "E": 1.0, "B": 1.0, "D": INF}
_AT_INFINITY = {"K": 0.0, "E": INF, "B": 0.0, "D": 0.0}


def _moments(kind: str) -> list[float]:
    """Return the coefficients of B or D in powers of m: DLMF 19.5, term by term of 1/Δ."""
    factor, found = 1.0, []
    for n in range(_TERMS):
        up, down = (n + 0.5, 1.5) if kind == "B" else (n + 1.5, 0.5)
        found.append(factor * gamma(up) * gamma(down) / (2 * gamma(n + 2)))
        factor *= (n + 0.5) / (n + 1)
    return found


class EllipticIntegral(Elementwise):
    """y = K, E, B or D of p,   dK = -B/(2p) dp,  dE = D/2 dp,  dB = (B - D)/(2m) dp,  …"""

    key = "std::elliptic_integral"
    accepts = "float"
    kind: str = "K"

    def __post_init__(self) -> None:
        if self.kind not in _AT_ZERO:
            raise invalid(
                self, "kind", "no such integral", got=repr(self.kind), need="K, E, B or D"
            )

    def derivative(self, p: Handle, y: Handle) -> Handle:
        if self.kind == "K":
            return elliptic_integral("B", p) / p * -0.5
        if self.kind == "E":
            return elliptic_integral("D", p) * 0.5
        m = 1 - p
        is_near = lt(absolute(m), full_like(p, _MAX_M_OF_SERIES))
        far, base = select(is_near, full_like(p, 0.5), p), select(is_near, full_like(p, 0.5), m)
        b, d = elliptic_integral("B", far), elliptic_integral("D", far)
        beyond = (b - d if self.kind == "B" else d - b / far) / base * 0.5
        return select(is_near, _near_slope(self.kind, select(is_near, m, zeros_like(p))), beyond)

    def decompose(self, p: Handle) -> Handle:
        return widened(lambda p: _mean(self.kind, p), p)


def _near_slope(kind: str, m: Handle) -> Handle:
    """Differentiate the power series by p = 1 - m."""
    terms = [-n * c for n, c in enumerate(_moments(kind))][1:]
    value = full_like(m, terms[-1])
    for coefficient in reversed(terms[:-1]):
        value = value * m + coefficient
    return value


def _mean(kind: str, p: Handle) -> Handle:
    """Compute ∫ (a cos²θ + b sin²θ)/Δ dθ by Bulirsch's form of the arithmetic-geometric mean."""
    one, zero = full_like(p, 1), zeros_like(p)
    at_end = logical_or(eq(p, zero), eq(p, full_like(p, INF)))
    inner = select(at_end, one, p)
    is_large = gt(inner, one)  # θ → π/2 - θ: K and E of 1/p, and B and D change places
    small = select(is_large, 1 / inner, inner)
    modulus = sqrt(small)
    a, b = {
        "K": (one, one),
        "E": (one, small),
        "B": (select(is_large, zero, one), select(is_large, one, zero)),
        "D": (select(is_large, one, zero), select(is_large, zero, one)),
    }[kind]
    factor = select(is_large, 1 / modulus if kind == "E" else modulus, one) * (pi / 2)
    product, mean, weight = modulus, one, one
    for _ in range(_STEPS):
        turned = product / weight
        a, b = a + b / weight, (b + a * turned) * 2
        weight = weight + turned
        mean, modulus = mean + modulus, sqrt(product) * 2
        product = modulus * mean
    value = (a * mean + b) / (mean * (mean + weight)) * factor
    ends = select(eq(p, zero), full_like(p, _AT_ZERO[kind]), full_like(p, _AT_INFINITY[kind]))
    return select(at_end, ends, value)


def elliptic_integral(kind: str, p: H) -> H:
    """Take a complete elliptic integral of the complementary parameter p = 1 - m.

    p: f[*s]   →   y: f[*s]

    Definition   y = ∫ f dθ over 0 <= θ <= π/2 with Δ² = cos²θ + p sin²θ, and f = 1/Δ (K),
                 Δ (E), cos²θ/Δ (B) or sin²θ/Δ (D);   nan for p < 0
    JVP          dK = -B/(2p)·dp, dE = D/2·dp, dB = (B - D)/(2m)·dp, dD = (D - B/p)/(2m)·dp
    Raises       DTypeMismatchError: if the operand is complex.
                 InvalidParameterError: if the kind is another one.
    Source       DLMF 19.2.8, 19.4.1 and 19.4.2; Bulirsch (1965), Numerische Mathematik 7

    >>> from tenferro.primitives import elliptic_integral, variable
    >>> elliptic_integral("K", variable("p", (2,), "f64")).aval
    f64[2]
    """
    return bind(EllipticIntegral(kind), p)
