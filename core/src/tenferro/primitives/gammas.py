"""The gamma function itself, the logarithm of the beta function, the Hurwitz zeta function.

Also differences of polygamma functions, which derivatives of ``betaln`` are made of: ψ(a+b) - ψ(b)
has no digits left where a is small compared with b. Formulas of the NIST Digital Library of
Mathematical Functions (DLMF), chapters 5 and 25. Read next: ``incomplete.py``.
"""

from __future__ import annotations

from tenferro.primitives._aval import Aval
from tenferro.primitives._checks import accepted, integer
from tenferro.primitives._handle import H, Handle
from tenferro.primitives._primitive import Elementwise, Mixed, bind, pointwise
from tenferro.primitives.special import HIGHEST_ORDER, digamma, polygamma

__all__ = [
    "Betaln", "Gamma", "PolygammaDifference", "Zeta", "betaln", "gamma", "polygamma_difference",
    "zeta",
]  # fmt: skip


class Gamma(Elementwise):
    """y = Γ(x),   dy = Γ(x) ψ(x) dx;   real only"""

    key = "std::gamma"
    accepts = "float"

    def derivative(self, x: Handle, y: Handle) -> Handle:
        return y * digamma(x)


class Betaln(Mixed):
    """z = ln |B(a, b)|,   dz = (ψ(a) - ψ(a+b)) da + (ψ(b) - ψ(a+b)) db;   real only"""

    key = "std::betaln"
    accepts = "float"
    batch = pointwise
    commutative = True
    linear = ()

    def abstract_eval(self, a: Aval, b: Aval) -> Aval:
        return accepted(self, a, b)

    def jvp_a(self, da: Handle, a: Handle, b: Handle, z: Handle) -> Handle:
        return -polygamma_difference(0, a, b) * da

    def jvp_b(self, db: Handle, a: Handle, b: Handle, z: Handle) -> Handle:
        return -polygamma_difference(0, b, a) * db


class PolygammaDifference(Mixed):
    """z = ψ⁽ⁿ⁾(x+d) - ψ⁽ⁿ⁾(x),   dz = (ψ⁽ⁿ⁺¹⁾(x+d) - ψ⁽ⁿ⁺¹⁾(x)) dx + ψ⁽ⁿ⁺¹⁾(x+d) dd"""

    key = "std::polygamma_difference"
    accepts = "float"
    batch = pointwise
    linear = ()
    order: int = 0

    def __post_init__(self) -> None:
        fact = "no such derivative"
        self._set(order=integer(self, "order", fact, minimum=0, maximum=HIGHEST_ORDER))

    def abstract_eval(self, x: Aval, d: Aval) -> Aval:
        return accepted(self, x, d)

    def jvp_x(self, dx: Handle, x: Handle, d: Handle, z: Handle) -> Handle:
        return polygamma_difference(self.order + 1, x, d) * dx

    def jvp_d(self, dd: Handle, x: Handle, d: Handle, z: Handle) -> Handle:
        return polygamma(self.order + 1, x + d) * dd


class Zeta(Mixed):
    """z = ζ(s, q) = Σ_k (k + q)^(-s),   dz = -s ζ(s+1, q) dq; there is no derivative in s"""

    key = "std::zeta"
    accepts = "float"
    batch = pointwise
    linear = ()

    def abstract_eval(self, s: Aval, q: Aval) -> Aval:
        return accepted(self, s, q)

    def jvp_q(self, dq: Handle, s: Handle, q: Handle, z: Handle) -> Handle:
        return -s * zeta(s + 1, q) * dq


def gamma(x: H) -> H:
    """Take the gamma function.

    x: f[*s]   →   y: f[*s]

    Definition   y = Γ(x) = ∫₀^∞ t^(x-1) e⁻ᵗ dt; nan at -1, -2, …
    JVP          dy = Γ(x) ψ(x)·dx
    Raises       DTypeMismatchError: if the operand is complex.
    Source       DLMF 5.2.1 and 5.2.2

    >>> from tenferro.primitives import gamma, variable
    >>> gamma(variable("x", (2,), "f64")).aval
    f64[2]
    """
    return bind(Gamma(), x)


def betaln(a: H, b: H) -> H:
    """Take the logarithm of the beta function, also where its gamma functions nearly cancel.

    a: f[*s]   b: f[*s]   →   z: f[*s]

    Definition   z = ln |Γ(a) Γ(b) / Γ(a+b)|
    JVP          dz = (ψ(a) - ψ(a+b))·da + (ψ(b) - ψ(a+b))·db
    Raises       DTypeMismatchError: if the operands are complex.
    Source       DLMF 5.12.1 and 5.2.2

    >>> from tenferro.primitives import betaln, variable
    >>> betaln(variable("a", (2,), "f64"), variable("b", (2,), "f64")).aval
    f64[2]
    """
    return bind(Betaln(), a, b)


def polygamma_difference(order: int, x: H, d: H) -> H:
    """Subtract two values of digamma, or of a polygamma function, with all digits for a small d.

    x: f[*s]   d: f[*s]   →   z: f[*s]

    Definition   z = ψ⁽ⁿ⁾(x + d) - ψ⁽ⁿ⁾(x)
    JVP          dz = (ψ⁽ⁿ⁺¹⁾(x + d) - ψ⁽ⁿ⁺¹⁾(x))·dx + ψ⁽ⁿ⁺¹⁾(x + d)·dd
    Raises       InvalidParameterError: if the order is negative.
    Source       DLMF 5.15.1

    >>> from tenferro.primitives import polygamma_difference, variable
    >>> polygamma_difference(0, variable("x", (2,), "f64"), variable("d", (2,), "f64")).aval
    f64[2]
    """
    return bind(PolygammaDifference(order), x, d)


def zeta(s: H, q: H) -> H:
    """Take the Hurwitz zeta function.

    s: f[*s]   q: f[*s]   →   z: f[*s]

    Definition   z = ζ(s, q) = Σ_{k≥0} (k + q)^(-s), s > 1
    JVP          dz = -s ζ(s + 1, q)·dq; a tangent of s is refused
    Raises       DTypeMismatchError: if the operands are complex.
                 MissingRuleError: if the derivative with respect to s is asked for.
    Source       DLMF 25.11.1 and 25.11.17

    >>> from tenferro.primitives import variable, zeta
    >>> zeta(variable("s", (2,), "f64"), variable("q", (2,), "f64")).aval
    f64[2]
    """
    return bind(Zeta(), s, q)
