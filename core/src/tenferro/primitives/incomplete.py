"""The incomplete gamma and beta functions, their densities, and derivatives in the shapes.

Derivatives of every order exist: with respect to x they are densities, whose exponents count down;
with respect to a shape they are a primitive of their own, whose order counts up, as ``polygamma``
does. Formulas of the NIST Digital Library of Mathematical Functions (DLMF), chapters 5 and 8.
Read next: ``gammas.py``.
"""

from __future__ import annotations

from collections.abc import Sequence

from tenferro.computegraph import Operation
from tenferro.primitives._aval import Aval
from tenferro.primitives._checks import accepted, integers, invalid
from tenferro.primitives._handle import H, Handle
from tenferro.primitives._moments import moment
from tenferro.primitives._primitive import Mixed, bind, pointwise
from tenferro.primitives.comparison import eq, logical_and, select
from tenferro.primitives.constants import full_like, zeros_like
from tenferro.primitives.elementwise import log, log1p
from tenferro.primitives.gammas import polygamma_difference
from tenferro.primitives.special import polygamma

__all__ = [
    "BetaDensity", "Betainc", "BetaincDerivative", "Betaincc", "GammaDensity", "Gammainc",
    "GammaincDerivative", "Gammaincc", "beta_density", "betainc", "betainc_derivative", "betaincc",
    "gamma_density", "gammainc", "gammainc_derivative", "gammaincc",
]  # fmt: skip


class _Real(Mixed):
    """A real function of several variables, element by element."""

    batch = pointwise
    linear = ()


class GammaDensity(_Real):
    """z = x^(a-1-power) e⁻ˣ / Γ(a),   dz = z (ln x - ψ(a)) da + ((a-1-power) z/x - z) dx"""

    key = "std::gamma_density"
    accepts = "float"
    power: int = 0

    def __post_init__(self) -> None:
        self._set(power=_order(self, "power", self.power))

    def abstract_eval(self, a: Aval, x: Aval) -> Aval:
        return accepted(self, a, x)

    def jvp_a(self, da: Handle, a: Handle, x: Handle, z: Handle) -> Handle:
        return _gamma_moment(self.power, (1,), a, x) * da

    def jvp_x(self, dx: Handle, a: Handle, x: Handle, z: Handle) -> Handle:
        exponent = a - (1 + self.power)
        there = _unless(eq(exponent, zeros_like(x)), x)  # 0 · x⁻¹ is 0 at x = 0
        return (exponent * gamma_density(a, there, self.power + 1) - z) * dx


class Gammainc(_Real):
    """z = P(a, x) = ∫₀ˣ t^(a-1) e⁻ᵗ dt / Γ(a),   dz = ∂P/∂a da + x^(a-1) e⁻ˣ / Γ(a) dx"""

    key = "std::gammainc"
    accepts = "float"

    def abstract_eval(self, a: Aval, x: Aval) -> Aval:
        return accepted(self, a, x)

    def jvp_a(self, da: Handle, a: Handle, x: Handle, z: Handle) -> Handle:
        return gammainc_derivative(1, a, x) * da

    def jvp_x(self, dx: Handle, a: Handle, x: Handle, z: Handle) -> Handle:
        return gamma_density(a, x) * dx


class Gammaincc(_Real):
    """z = Q(a, x) = 1 - P(a, x),   dz = -∂P/∂a da - x^(a-1) e⁻ˣ / Γ(a) dx"""

    key = "std::gammaincc"
    accepts = "float"

    def abstract_eval(self, a: Aval, x: Aval) -> Aval:
        return accepted(self, a, x)

    def jvp_a(self, da: Handle, a: Handle, x: Handle, z: Handle) -> Handle:
        return -gammainc_derivative(1, a, x) * da

    def jvp_x(self, dx: Handle, a: Handle, x: Handle, z: Handle) -> Handle:
        return -gamma_density(a, x) * dx


class GammaincDerivative(_Real):
    """z = ∂ⁿP(a, x)/∂aⁿ, n >= 1,   dz = ∂ⁿ⁺¹P/∂aⁿ⁺¹ da + ∂ⁿ/∂aⁿ (x^(a-1) e⁻ˣ / Γ(a)) dx"""

    key = "std::gammainc_derivative"
    accepts = "float"
    order: int = 1

    def __post_init__(self) -> None:
        self._set(order=_order(self, "order", self.order, 1))

    def abstract_eval(self, a: Aval, x: Aval) -> Aval:
        return accepted(self, a, x)

    def jvp_a(self, da: Handle, a: Handle, x: Handle, z: Handle) -> Handle:
        return gammainc_derivative(self.order + 1, a, x) * da

    def jvp_x(self, dx: Handle, a: Handle, x: Handle, z: Handle) -> Handle:
        return _gamma_moment(0, (self.order,), a, x) * dx


class BetaDensity(_Real):
    """z = x^(a-1-i) (1-x)^(b-1-j) / B(a, b),   dz = z (ln x - ψ(a) + ψ(a+b)) da + … db + … dx"""

    key = "std::beta_density"
    accepts = "float"
    powers: tuple[int, int] = (0, 0)

    def __post_init__(self) -> None:
        self._set(powers=_pair(self, "powers", self.powers))

    def abstract_eval(self, a: Aval, b: Aval, x: Aval) -> Aval:
        return accepted(self, a, b, x)

    def jvp_a(self, da: Handle, a: Handle, b: Handle, x: Handle, z: Handle) -> Handle:
        return _beta_moment(self.powers, (1, 0), a, b, x) * da

    def jvp_b(self, db: Handle, a: Handle, b: Handle, x: Handle, z: Handle) -> Handle:
        return _beta_moment(self.powers, (0, 1), a, b, x) * db

    def jvp_x(self, dx: Handle, a: Handle, b: Handle, x: Handle, z: Handle) -> Handle:
        i, j = self.powers
        low, high = a - (1 + i), b - (1 + j)
        zero = zeros_like(x)
        at_low, at_high = _unless(eq(low, zero), x, 0.5), _unless(eq(high, zero), x, 0.5)
        rising = low * beta_density(a, b, at_low, (i + 1, j))
        return (rising - high * beta_density(a, b, at_high, (i, j + 1))) * dx


class Betainc(_Real):
    """z = I_x(a, b),   dz = ∂I/∂a da + ∂I/∂b db + x^(a-1) (1-x)^(b-1) / B(a, b) dx"""

    key = "std::betainc"
    accepts = "float"

    def abstract_eval(self, a: Aval, b: Aval, x: Aval) -> Aval:
        return accepted(self, a, b, x)

    def jvp_a(self, da: Handle, a: Handle, b: Handle, x: Handle, z: Handle) -> Handle:
        return betainc_derivative((1, 0), a, b, x) * da

    def jvp_b(self, db: Handle, a: Handle, b: Handle, x: Handle, z: Handle) -> Handle:
        return betainc_derivative((0, 1), a, b, x) * db

    def jvp_x(self, dx: Handle, a: Handle, b: Handle, x: Handle, z: Handle) -> Handle:
        return beta_density(a, b, x) * dx


class Betaincc(_Real):
    """z = 1 - I_x(a, b), whose derivatives are those of I with the other sign"""

    key = "std::betaincc"
    accepts = "float"

    def abstract_eval(self, a: Aval, b: Aval, x: Aval) -> Aval:
        return accepted(self, a, b, x)

    def jvp_a(self, da: Handle, a: Handle, b: Handle, x: Handle, z: Handle) -> Handle:
        return -betainc_derivative((1, 0), a, b, x) * da

    def jvp_b(self, db: Handle, a: Handle, b: Handle, x: Handle, z: Handle) -> Handle:
        return -betainc_derivative((0, 1), a, b, x) * db

    def jvp_x(self, dx: Handle, a: Handle, b: Handle, x: Handle, z: Handle) -> Handle:
        return -beta_density(a, b, x) * dx


class BetaincDerivative(_Real):
    """z = ∂^(m+n) I_x(a, b) / ∂a^m ∂b^n, m + n >= 1;   a shape raises its order"""

    key = "std::betainc_derivative"
    accepts = "float"
    orders: tuple[int, int] = (1, 0)

    def __post_init__(self) -> None:
        self._set(orders=_pair(self, "orders", self.orders))
        if not any(self.orders):
            _order(self, "orders", 0, 1)

    def abstract_eval(self, a: Aval, b: Aval, x: Aval) -> Aval:
        return accepted(self, a, b, x)

    def jvp_a(self, da: Handle, a: Handle, b: Handle, x: Handle, z: Handle) -> Handle:
        m, n = self.orders
        return betainc_derivative((m + 1, n), a, b, x) * da

    def jvp_b(self, db: Handle, a: Handle, b: Handle, x: Handle, z: Handle) -> Handle:
        m, n = self.orders
        return betainc_derivative((m, n + 1), a, b, x) * db

    def jvp_x(self, dx: Handle, a: Handle, b: Handle, x: Handle, z: Handle) -> Handle:
        return _beta_moment((0, 0), self.orders, a, b, x) * dx


def _order(op: Operation, parameter: str, value: int, least: int = 0) -> int:
    return integers(op, parameter, (value,), least)[0]


def _pair(op: Operation, parameter: str, values: Sequence[int]) -> tuple[int, ...]:
    found = integers(op, parameter, values)
    if len(found) != 2:
        raise invalid(op, parameter, "not a pair", got=repr(found), need="two integers")
    return found


def _unless(where: Handle, x: Handle, other: float = 1) -> Handle:
    """x, and a harmless number where a mask holds."""
    return select(where, full_like(x, other), x)


def _gamma_moment(power: int, orders: Sequence[int], a: Handle, x: Handle) -> Handle:
    """Differentiate the density with respect to a; at x = 0 the derivative of 0 is 0."""
    z = gamma_density(a, x, power)
    zero = zeros_like(x)
    level = log(_unless(logical_and(eq(x, zero), eq(z, zero)), x)) - polygamma(0, a)

    def cumulant(order: Sequence[int]) -> Handle:
        return level if order[0] == 1 else -polygamma(order[0] - 1, a)

    factor: Handle = moment(orders, cumulant)
    return z * factor


def _beta_moment(
    powers: tuple[int, int], orders: Sequence[int], a: Handle, b: Handle, x: Handle
) -> Handle:
    """Differentiate the density with respect to a and b; at the ends the derivative of 0 is 0."""
    z = beta_density(a, b, x, powers)
    zero = zeros_like(x)
    inner = _unless(logical_and(eq(z, zero), eq(x * (1 - x), zero)), x, 0.5)
    low = log(inner) + polygamma_difference(0, a, b)
    high = log1p(-inner) + polygamma_difference(0, b, a)

    def cumulant(order: Sequence[int]) -> Handle:
        m, n = order
        if m + n == 1:
            return low if m else high
        if m and n:
            return polygamma(m + n - 1, a + b)
        return polygamma_difference(m + n - 1, *((a, b) if m else (b, a)))

    factor: Handle = moment(orders, cumulant)
    return z * factor


def gamma_density(a: H, x: H, power: int = 0) -> H:
    """Take the density of the gamma distribution of shape a, divided by a power of x.

    a: f[*s]   x: f[*s]   →   z: f[*s]

    Definition   z = x^(a-1-power) e⁻ˣ / Γ(a), a > 0
    JVP          dz = z·(ln x - ψ(a))·da + ((a-1-power) x^(a-2-power) e⁻ˣ / Γ(a) - z)·dx
    Raises       DTypeMismatchError: if the operands are complex.
    Source       DLMF 8.2.1 and 5.2.2

    >>> from tenferro.primitives import gamma_density, variable
    >>> gamma_density(variable("a", (2,), "f64"), variable("x", (2,), "f64")).aval
    f64[2]
    """
    return bind(GammaDensity(power), a, x)


def gammainc(a: H, x: H) -> H:
    """Take the regularized lower incomplete gamma function.

    a: f[*s]   x: f[*s]   →   z: f[*s]

    Definition   z = P(a, x) = ∫₀ˣ t^(a-1) e⁻ᵗ dt / Γ(a), a >= 0, x >= 0
    JVP          dz = ∂P/∂a·da + x^(a-1) e⁻ˣ / Γ(a)·dx
    Raises       DTypeMismatchError: if the operands are complex.
    Source       DLMF 8.2.4 and 8.8.13

    >>> from tenferro.primitives import gammainc, variable
    >>> gammainc(variable("a", (2,), "f64"), variable("x", (2,), "f64")).aval
    f64[2]
    """
    return bind(Gammainc(), a, x)


def gammaincc(a: H, x: H) -> H:
    """Take the regularized upper incomplete gamma function, with all digits where it is small.

    a: f[*s]   x: f[*s]   →   z: f[*s]

    Definition   z = Q(a, x) = ∫ₓ^∞ t^(a-1) e⁻ᵗ dt / Γ(a) = 1 - P(a, x)
    JVP          dz = -∂P/∂a·da - x^(a-1) e⁻ˣ / Γ(a)·dx
    Raises       DTypeMismatchError: if the operands are complex.
    Source       DLMF 8.2.4 and 8.8.14

    >>> from tenferro.primitives import gammaincc, variable
    >>> gammaincc(variable("a", (2,), "f64"), variable("x", (2,), "f64")).aval
    f64[2]
    """
    return bind(Gammaincc(), a, x)


def gammainc_derivative(order: int, a: H, x: H) -> H:
    """Differentiate the regularized incomplete gamma function with respect to its shape.

    a: f[*s]   x: f[*s]   →   z: f[*s]

    Definition   z = ∂ⁿP(a, x)/∂aⁿ; order 0 is P itself
    JVP          dz = ∂ⁿ⁺¹P/∂aⁿ⁺¹·da + ∂ⁿ(x^(a-1) e⁻ˣ / Γ(a))/∂aⁿ·dx
    Raises       InvalidParameterError: if the order is negative.
    Source       Moore (1982), Algorithm AS 187, Applied Statistics 31, 330; DLMF 8.2.1

    >>> from tenferro.primitives import gammainc_derivative, variable
    >>> gammainc_derivative(1, variable("a", (2,), "f64"), variable("x", (2,), "f64")).aval
    f64[2]
    """
    return bind(GammaincDerivative(order) if order else Gammainc(), a, x)


def beta_density(a: H, b: H, x: H, powers: tuple[int, int] = (0, 0)) -> H:
    """Take the density of the beta distribution, divided by powers (i, j) of x and 1 - x.

    a: f[*s]   b: f[*s]   x: f[*s]   →   z: f[*s]

    Definition   z = x^(a-1-i) (1-x)^(b-1-j) / B(a, b), a > 0, b > 0
    JVP          dz = z·(ln x - ψ(a) + ψ(a+b))·da + z·(ln(1-x) - ψ(b) + ψ(a+b))·db
                      + ((a-1-i)·z/x - (b-1-j)·z/(1-x))·dx
    Raises       DTypeMismatchError: if the operands are complex.
    Source       DLMF 8.17.1, 5.12.1 and 5.2.2

    >>> from tenferro.primitives import beta_density, variable
    >>> x = variable("x", (2,), "f64")
    >>> beta_density(x, x, x).aval
    f64[2]
    """
    return bind(BetaDensity(powers), a, b, x)


def betainc(a: H, b: H, x: H) -> H:
    """Take the regularized incomplete beta function.

    a: f[*s]   b: f[*s]   x: f[*s]   →   z: f[*s]

    Definition   z = I_x(a, b) = ∫₀ˣ t^(a-1) (1-t)^(b-1) dt / B(a, b), 0 <= x <= 1
    JVP          dz = ∂I/∂a·da + ∂I/∂b·db + x^(a-1) (1-x)^(b-1) / B(a, b)·dx
    Raises       DTypeMismatchError: if the operands are complex.
    Source       DLMF 8.17.2

    >>> from tenferro.primitives import betainc, variable
    >>> x = variable("x", (2,), "f64")
    >>> betainc(x, x, x).aval
    f64[2]
    """
    return bind(Betainc(), a, b, x)


def betaincc(a: H, b: H, x: H) -> H:
    """Take the complement of the incomplete beta function, with all digits where it is small.

    a: f[*s]   b: f[*s]   x: f[*s]   →   z: f[*s]

    Definition   z = 1 - I_x(a, b)
    JVP          dz = -∂I/∂a·da - ∂I/∂b·db - x^(a-1) (1-x)^(b-1) / B(a, b)·dx
    Raises       DTypeMismatchError: if the operands are complex.
    Source       DLMF 8.17.2 and 8.17.4

    >>> from tenferro.primitives import betaincc, variable
    >>> x = variable("x", (2,), "f64")
    >>> betaincc(x, x, x).aval
    f64[2]
    """
    return bind(Betaincc(), a, b, x)


def betainc_derivative(orders: tuple[int, int], a: H, b: H, x: H) -> H:
    """Differentiate the regularized incomplete beta function with respect to its shapes.

    a: f[*s]   b: f[*s]   x: f[*s]   →   z: f[*s]

    Definition   z = ∂^(m+n) I_x(a, b) / ∂a^m ∂b^n with (m, n) = orders, not both 0
    Raises       InvalidParameterError: if an order is negative, or both are 0.
    Source       Boik, Robison-Cox (1998), Journal of Statistical Software 3(1); DLMF 8.17.2

    >>> from tenferro.primitives import betainc_derivative, variable
    >>> x = variable("x", (2,), "f64")
    >>> betainc_derivative((1, 0), x, x, x).aval
    f64[2]
    """
    return bind(BetaincDerivative(orders), a, b, x)
