"""The functions of ``scipy.special``, element by element, by SciPy's names and signatures.

SciPy's ufuncs find them by name, so that a program that calls ``scipy.special`` is differentiable
as it stands. As there, integers of at most 16 bits become float32 and longer ones float64; half
floats stay half floats. Read next: ``bessel.py``, ``faddeeva.py``.
"""

from __future__ import annotations

from math import gamma as gamma_of
from math import log as ln
from math import pi
from typing import Any

from tenferro.arrays.functions._factories import filled, zeros
from tenferro.arrays.functions._special_operands import real_operands, whole_order
from tenferro.arrays.functions.faddeeva import complex_erfcx
from tenferro.arrays.handle.array import Array
from tenferro.arrays.registry import covers
from tenferro.primitives import arithmetic as ar
from tenferro.primitives import (
    elementwise,
    faddeeva,
    gammas,
    incomplete,
    logarithms,
    normal,
    trigonometric,
)
from tenferro.primitives import special as p
from tenferro.primitives.comparison import eq, ge, gt, le, logical_and, logical_or, lt, ne, select
from tenferro.primitives.rounding import floor
from tenferro.primitives.structural import stop_gradient


@covers("erfc", ufunc=True)
def erfc(x: Any) -> Array:
    """Compute 1 − erf(x) of a real or complex x, accurately where it is small."""
    (found,) = real_operands("erfc", x)
    return faddeeva.complex_erfc(found) if found.dtype.is_complex else p.erfc(found)


@covers("erfcx", ufunc=True)
def erfcx(x: Any) -> Array:
    """Compute the scaled function exp(x²) erfc(x) of a real or complex x."""
    (found,) = real_operands("erfcx", x)
    return complex_erfcx(found) if found.dtype.is_complex else normal.erfcx(found)


@covers("erfinv", ufunc=True)
def erfinv(y: Any) -> Array:
    """Compute the inverse of erf: the x with erf(x) = y."""
    return p.erfinv(*real_operands("erfinv", y))


@covers("erfcinv", ufunc=True)
def erfcinv(y: Any) -> Array:
    """Compute the inverse of erfc: the x with erfc(x) = y."""
    return normal.erfcinv(*real_operands("erfcinv", y))


@covers("gammaln", ufunc=True)
def gammaln(x: Any) -> Array:
    """Compute the logarithm of |Γ(x)|."""
    return p.lgamma(*real_operands("gammaln", x))


@covers("gamma", ufunc=True)
def gamma(z: Any) -> Array:
    """Compute the gamma function Γ(z) of a real z."""
    return gammas.gamma(*real_operands("gamma", z))


@covers("betaln", ufunc=True)
def betaln(a: Any, b: Any) -> Array:
    """Compute the logarithm of |B(a, b)|."""
    return gammas.betaln(*real_operands("betaln", a, b))


@covers("gammainc", ufunc=True)
def gammainc(a: Any, x: Any) -> Array:
    """Compute the regularized lower incomplete gamma function P(a, x)."""
    return incomplete.gammainc(*real_operands("gammainc", a, x))


@covers("gammaincc", ufunc=True)
def gammaincc(a: Any, x: Any) -> Array:
    """Compute the regularized upper incomplete gamma function Q(a, x) = 1 − P(a, x)."""
    return incomplete.gammaincc(*real_operands("gammaincc", a, x))


@covers("betainc", ufunc=True)
def betainc(a: Any, b: Any, x: Any) -> Array:
    """Compute the regularized incomplete beta function I_x(a, b)."""
    return incomplete.betainc(*real_operands("betainc", a, b, x))


@covers("betaincc", ufunc=True)
def betaincc(a: Any, b: Any, x: Any) -> Array:
    """Compute the complement 1 − I_x(a, b) of the incomplete beta function."""
    return incomplete.betaincc(*real_operands("betaincc", a, b, x))


@covers("ndtr", ufunc=True)
def ndtr(x: Any) -> Array:
    """Compute the cumulative distribution function of the standard normal distribution."""
    return normal.ndtr(*real_operands("ndtr", x))


@covers("log_ndtr", ufunc=True)
def log_ndtr(x: Any) -> Array:
    """Compute ln Φ(x), also where Φ(x) underflows."""
    return normal.log_ndtr(*real_operands("log_ndtr", x))


@covers("ndtri", ufunc=True)
def ndtri(p: Any) -> Array:
    """Compute the inverse of ndtr: the x with Φ(x) = p."""
    return normal.ndtri(*real_operands("ndtri", p))


@covers("xlogy", ufunc=True)
def xlogy(x: Any, y: Any) -> Array:
    """Compute x ln y, and 0 where x = 0."""
    return logarithms.xlogy(*real_operands("xlogy", x, y))


@covers("xlog1py", ufunc=True)
def xlog1py(x: Any, y: Any) -> Array:
    """Compute x ln(1 + y), and 0 where x = 0."""
    return logarithms.xlog1py(*real_operands("xlog1py", x, y))


@covers("logit", ufunc=True)
def logit(x: Any) -> Array:
    """Compute ln(x / (1 − x))."""
    return logarithms.logit(*real_operands("logit", x))


@covers("exprel", ufunc=True)
def exprel(x: Any) -> Array:
    """Compute (exp(x) − 1) / x, and 1 at 0."""
    (found,) = real_operands("exprel", x)
    return logarithms.exprel(found)


@covers("psi", "digamma", ufunc=True)
def digamma(z: Any) -> Array:
    """Compute the digamma function ψ(z), the logarithmic derivative of Γ, of a real z."""
    return p.digamma(*real_operands("digamma", z))


@covers("log_expit", ufunc=True)
def log_expit(x: Any) -> Array:
    """Compute ln(1 / (1 + exp(−x))), without overflow."""
    (found,) = real_operands("log_expit", x)
    return -elementwise.logaddexp(zeros(found), -found)


@covers("softplus")
def softplus(x: Any) -> Array:
    """Compute ln(1 + exp(x)), without overflow. Its derivative is expit(x)."""
    (found,) = real_operands("softplus", x)
    return elementwise.logaddexp(zeros(found), found)


@covers("cosm1", ufunc=True)
def cosm1(x: Any) -> Array:
    """Compute cos(x) − 1 = −2 sin²(x/2), with all digits where x is small."""
    (found,) = real_operands("cosm1", x)
    wave = trigonometric.sin(found * 0.5)
    return wave * wave * -2


@covers("exp10", ufunc=True)
def exp10(x: Any) -> Array:
    """Compute 10 to the power x."""
    (found,) = real_operands("exp10", x)
    return ar.pow(filled(found, 10), found)


@covers("loggamma", ufunc=True)
def loggamma(z: Any) -> Array:
    """Compute ln Γ(z) of a real z; NaN where Γ is negative or the logarithm would be complex."""
    (found,) = real_operands("loggamma", z)
    outside = lt(found, zeros(found))
    inner = select(outside, filled(found, 1), found)
    return select(outside, filled(found, float("nan")), p.lgamma(inner))


@covers("gammasgn", ufunc=True)
def gammasgn(x: Any) -> Array:
    """Return the sign of Γ(x). Its derivative is 0."""
    (found,) = real_operands("gammasgn", x)
    whole = floor(found)
    sign = 1 - 2 * (whole - 2 * floor(whole * 0.5))
    sign = select(eq(whole, found), filled(found, float("nan")), sign)
    zero = zeros(found)
    sign = select(eq(found, zero), 1 / ar.sign(1 / found), sign)
    return select(gt(found, zero), filled(found, 1), sign)


@covers("rgamma", ufunc=True)
def rgamma(z: Any) -> Array:
    """Compute 1 / Γ(z) of a real z, which is 0 at 0, -1, -2, … and has derivatives there."""
    (found,) = real_operands("rgamma", z)
    half, zero, one = filled(found, 0.5), zeros(found), filled(found, 1)
    is_low = logical_and(lt(found, half), gt(found, filled(found, -float("inf"))))
    low = select(is_low, found, zero)
    whole = floor(low + 0.5)
    turns = select(eq(floor(whole * 0.5) * 2, whole), one, -one)
    mirrored, rest, overflows = _gamma_factors(1 - low)
    is_straight = logical_and(eq(low, whole), overflows)  # the bend 0 times inf would be nan
    straight, curved = select(is_straight, low, whole), select(is_straight, whole, low)
    sine = trigonometric.sin((curved - whole) * pi) * (1 / pi)
    waves = turns * select(is_straight, straight - whole, sine)  # sin(πx) / π
    is_far = gt(found, filled(found, 30))  # Γ may overflow, and then has no derivative
    near, far = select(is_low | is_far, one, found), select(is_far, found, one)
    high = select(is_far, elementwise.exp(-p.lgamma(far)), 1 / gammas.gamma(near))
    return select(is_low, waves * mirrored * rest, high)


def _gamma_factors(y: Array) -> tuple[Array, Array, Array]:
    """Return a and b with Γ(y) = a b, where a is finite also if Γ(y) overflows, and where it does.

    A sine times Γ(y) is then finite where it should be. Beyond the y where even the smallest sine
    of the dtype times Γ(y) overflows, a and b are those of that y.
    """
    limit = next(n for n in range(171, 0, -1) if gamma_of(n) <= y.dtype.largest)
    steps = min(8, limit // 2)  # Γ(limit + steps) times the distance of neighbours overflows
    top = filled(y, limit + steps - 1)
    y = select(gt(y, top), top + (y - stop_gradient(y)), y)
    is_large = gt(y, filled(y, limit - 1))
    rest = y - 1
    for step in range(2, steps + 1):
        rest = rest * (y - step)
    first = gammas.gamma(select(is_large, y - steps, y))
    return first, select(is_large, rest, filled(y, 1)), gt(y, filled(y, limit))


@covers("beta", ufunc=True)
def beta(a: Any, b: Any) -> Array:
    """Compute the beta function B(a, b) = Γ(a) Γ(b) / Γ(a + b).

    Where poles cancel, it is (-1)^b B(1 - a - b, b) for the positive one of the two, as in SciPy.
    """
    x, y = real_operands("beta", a, b)
    size = elementwise.exp(gammas.betaln(x, y))
    signs = gammasgn(x) * gammasgn(y) * gammasgn(x + y)
    high = ar.maximum(x, y)
    is_odd = eq(high - 2 * floor(high * 0.5), filled(x, 1))
    cancels = logical_and(ne(signs, signs), lt(size, filled(x, float("inf"))))
    negative = logical_or(eq(signs, filled(x, -1)), logical_and(cancels, is_odd))
    return select(negative, -size, size)


@covers("entr", ufunc=True)
def entr(x: Any) -> Array:
    """Compute −x ln x: 0 at 0, where the derivative is inf, and −inf for negative x."""
    (found,) = real_operands("entr", x)
    outside = lt(found, zeros(found))
    inner = select(outside, filled(found, 1), found)
    return select(
        outside, filled(found, -float("inf")), -logarithms.rel_entr(inner, filled(found, 1))
    )


@covers("rel_entr", ufunc=True)
def rel_entr(x: Any, y: Any) -> Array:
    """Compute x ln(x / y): 0 at x = 0 ≤ y, inf outside."""
    a, b = real_operands("rel_entr", x, y)
    one, endless = filled(a, 1), filled(a, float("inf"))
    outside = _outside(a, b)
    left, right = select(outside, one, a), select(outside, one, b)
    return select(outside, endless, logarithms.rel_entr(left, right))


@covers("kl_div", ufunc=True)
def kl_div(x: Any, y: Any) -> Array:
    """Compute x ln(x / y) − x + y: y at x = 0 ≤ y, inf outside."""
    a, b = real_operands("kl_div", x, y)
    one, endless = filled(a, 1), filled(a, float("inf"))
    outside = _outside(a, b)
    left, right = select(outside, one, a), select(outside, one, b)
    return select(outside, endless, logarithms.kl_div(left, right))


def _outside(a: Array, b: Array) -> Array:
    """Return True where a relative entropy is infinite: x < 0, y < 0, or y = 0 < x; not at a
    NaN.
    """
    zero = zeros(a)
    found = _either(lt(a, zero), lt(b, zero), logical_and(gt(a, zero), eq(b, zero)))
    return logical_and(found, logical_and(eq(a, a), eq(b, b)))


@covers("huber", ufunc=True)
def huber(delta: Any, r: Any) -> Array:
    """Compute the Huber loss: r²/2 up to |r| = δ, δ (|r| − δ/2) beyond; inf for negative δ."""
    bound, x = real_operands("huber", delta, r)
    zero, size = zeros(x), ar.abs(x)
    outside, is_near = lt(bound, zero), le(size, bound)
    near, far = select(is_near, x, zero), select(is_near, zero, size)
    limit = select(_either(outside, is_near), zero, bound)
    value = select(is_near, near * near * 0.5, limit * (far - limit * 0.5))
    return select(outside, filled(x, float("inf")), value)


@covers("pseudo_huber", ufunc=True)
def pseudo_huber(delta: Any, r: Any) -> Array:
    """Compute δ² (√(1 + (r/δ)²) − 1) without cancellation near 0; inf for negative δ."""
    bound, x = real_operands("pseudo_huber", delta, r)
    zero, one = zeros(x), filled(x, 1)
    outside, idle = lt(bound, zero), eq(bound, zero)
    is_near = le(ar.abs(x), bound)
    aside = _either(is_near, outside, idle)
    small, limit = select(is_near, x, zero), select(is_near, bound, one)
    ratio = small / select(eq(limit, zero), one, limit)
    near = small * small / (1 + ar.sqrt(1 + ratio * ratio))
    large, limit = select(aside, one, x), select(aside, one, bound)
    far = limit * (trigonometric.hypot(limit, large) - limit)
    value = select(is_near, near, far)
    return select(outside, filled(x, float("inf")), select(idle, zero, value))


def _either(*masks: Array) -> Array:
    found = masks[0]
    for mask in masks[1:]:
        found = found | mask
    return found


# ---- of an order ---------------------------------------------------------------------------------


@covers("polygamma")
def polygamma(n: Any, x: Any) -> Array:
    """Compute the n-th derivative of the digamma function ψ, for one integer n.

    >>> import tenferro as tn
    >>> tn.special.polygamma(0, 1.0).shape
    ()
    """
    return p.polygamma(whole_order("polygamma", n), *real_operands("polygamma", x))


@covers("multigammaln")
def multigammaln(a: Any, d: Any) -> Array:
    """Compute the logarithm of the multivariate gamma function of dimension d."""
    order = whole_order("multigammaln", d, 1)
    (found,) = real_operands("multigammaln", a)
    total = filled(found, order * (order - 1) / 4 * ln(pi))
    for j in range(order):
        total = total + p.lgamma(found - j / 2)
    legal = ge(found, filled(found, (order - 1) / 2))
    return select(legal, total, filled(found, float("nan")))


@covers("_zeta", "_riemann_zeta", ufunc=True)
def zeta(x: Any, q: Any = None) -> Array:
    """Compute the Hurwitz zeta function for x > 1; without q, the Riemann zeta function."""
    return gammas.zeta(*real_operands("zeta", x, 1.0 if q is None else q))


covers("zeta")(zeta)
