"""The functions of ``scipy.special``, element by element, by SciPy's names and signatures.

SciPy's ufuncs find them by name, so that a program that calls ``scipy.special`` is differentiable
as it stands. As there, integers of at most 16 bits become float32 and longer ones float64; half
floats stay half floats. Read next: ``faddeeva.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from math import floor as floor_of
from math import isfinite, pi
from math import log as ln
from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions._factories import filled, zeros
from tenferro.arrays.functions._known import parameter
from tenferro.arrays.functions.faddeeva import complex_erfcx
from tenferro.arrays.handle.array import Array
from tenferro.arrays.handle.convert import as_array
from tenferro.arrays.promotion.broadcast import cast, together
from tenferro.arrays.registry import covers
from tenferro.primitives import (
    DType,
    InvalidParameterError,
    bessel,
    cylinder,
    elementwise,
    faddeeva,
    float32,
    float64,
    gammas,
    incomplete,
    logarithms,
    normal,
    trigonometric,
)
from tenferro.primitives import arithmetic as ar
from tenferro.primitives import special as p
from tenferro.primitives.comparison import eq, ge, gt, le, logical_and, logical_or, lt, ne, select
from tenferro.primitives.rounding import floor


def _real(function: str, *xs: Any) -> list[Array]:
    """Return the operands in one shape and one floating dtype, the one that SciPy uses."""
    found = together(function, *xs)
    dtype = found[0].dtype
    if not dtype.is_inexact:
        kinds = [as_array(x).dtype for x in xs if not isinstance(x, (bool, int, float))]
        dtype = _loop(kinds or [dtype])
    return [cast(x, dtype) for x in found]


def _loop(kinds: list[DType]) -> DType:
    small = all(kind.is_bool or kind.bits <= 16 for kind in kinds)
    return float32 if small else float64


def _ufunc(name: str, primitive: Callable[..., Array], doc: str, count: int = 1) -> Any:
    """Make a public elementwise function of one to three arrays."""

    def one(x: Any) -> Array:
        return primitive(*_real(name, x))

    def two(x: Any, y: Any) -> Array:
        return primitive(*_real(name, x, y))

    def three(x: Any, y: Any, z: Any) -> Array:
        return primitive(*_real(name, x, y, z))

    function: Any = (one, two, three)[count - 1]
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return covers(name, ufunc=True)(function)


@covers("erfc", ufunc=True)
def erfc(x: Any) -> Array:
    """Compute 1 − erf(x) of a real or complex x, accurately where it is small."""
    (found,) = _real("erfc", x)
    return faddeeva.complex_erfc(found) if found.dtype.is_complex else p.erfc(found)


@covers("erfcx", ufunc=True)
def erfcx(x: Any) -> Array:
    """Compute the scaled function exp(x²) erfc(x) of a real or complex x."""
    (found,) = _real("erfcx", x)
    return complex_erfcx(found) if found.dtype.is_complex else normal.erfcx(found)


erfinv = _ufunc("erfinv", p.erfinv, "Compute the inverse of erf.")
erfcinv = _ufunc("erfcinv", normal.erfcinv, "Compute the inverse of erfc.")
gammaln = _ufunc("gammaln", p.lgamma, "Compute the logarithm of |Γ(x)|.")
gamma = _ufunc("gamma", gammas.gamma, "Compute the gamma function.")
betaln = _ufunc("betaln", gammas.betaln, "Compute the logarithm of |B(a, b)|.", 2)
gammainc = _ufunc(
    "gammainc",
    incomplete.gammainc,
    "Compute the regularized lower incomplete gamma function P(a, x).",
    2,
)
gammaincc = _ufunc(
    "gammaincc",
    incomplete.gammaincc,
    "Compute the regularized upper incomplete gamma function Q(a, x) = 1 − P(a, x).",
    2,
)
betainc = _ufunc(
    "betainc", incomplete.betainc, "Compute the regularized incomplete beta function I_x(a, b).", 3
)
betaincc = _ufunc(
    "betaincc",
    incomplete.betaincc,
    "Compute the complement 1 − I_x(a, b) of the incomplete beta function.",
    3,
)
ndtr = _ufunc(
    "ndtr",
    normal.ndtr,
    "Compute the cumulative distribution function of the standard normal distribution.",
)
log_ndtr = _ufunc("log_ndtr", normal.log_ndtr, "Compute ln Φ(x), also where Φ(x) underflows.")
ndtri = _ufunc("ndtri", normal.ndtri, "Compute the inverse of ndtr.")
xlogy = _ufunc("xlogy", logarithms.xlogy, "Compute x ln y, and 0 where x = 0.", 2)
xlog1py = _ufunc("xlog1py", logarithms.xlog1py, "Compute x ln(1 + y), and 0 where x = 0.", 2)
logit = _ufunc("logit", logarithms.logit, "Compute ln(x / (1 − x)).")
exprel = _ufunc("exprel", logarithms.exprel, "Compute (exp(x) − 1) / x, and 1 at 0.")
i0e = _ufunc("i0e", lambda x: bessel.bessel_ie(0, x), "Compute exp(−|x|) I₀(x).")
i1e = _ufunc("i1e", lambda x: bessel.bessel_ie(1, x), "Compute exp(−|x|) I₁(x).")
j0 = _ufunc("j0", lambda x: cylinder.bessel_j(0, x), "Compute the Bessel function J₀(x).")
j1 = _ufunc("j1", lambda x: cylinder.bessel_j(1, x), "Compute the Bessel function J₁(x).")
y0 = _ufunc("y0", lambda x: cylinder.bessel_y(0, x), "Compute the Bessel function Y₀(x).")
y1 = _ufunc("y1", lambda x: cylinder.bessel_y(1, x), "Compute the Bessel function Y₁(x).")
k0 = _ufunc("k0", lambda x: bessel.bessel_k(0, x), "Compute the modified Bessel function K₀(x).")
k1 = _ufunc("k1", lambda x: bessel.bessel_k(1, x), "Compute the modified Bessel function K₁(x).")
k0e = _ufunc("k0e", lambda x: bessel.bessel_ke(0, x), "Compute exp(x) K₀(x).")
k1e = _ufunc("k1e", lambda x: bessel.bessel_ke(1, x), "Compute exp(x) K₁(x).")
i1 = _ufunc("i1", lambda x: bessel.bessel_i(1, x), "Compute the modified Bessel function I₁(x).")


@covers("i0", ufunc=True)
def i0(x: Any) -> Array:
    """Compute the modified Bessel function I₀ elementwise, in the dtypes of ``np.i0``.

    >>> float(i0(0.0))
    1.0
    """
    found = as_array(x)
    return bessel.bessel_i(0, found if found.dtype.is_inexact else cast(found, float64))


@covers("psi", "digamma", ufunc=True)
def digamma(x: Any) -> Array:
    """Compute the digamma function ψ(x), the logarithmic derivative of Γ."""
    return p.digamma(*_real("digamma", x))


@covers("log_expit", ufunc=True)
def log_expit(x: Any) -> Array:
    """Compute ln(1 / (1 + exp(−x))), without overflow."""
    (found,) = _real("log_expit", x)
    return -elementwise.logaddexp(zeros(found), -found)


@covers("exp10", ufunc=True)
def exp10(x: Any) -> Array:
    """Compute 10 to the power x."""
    (found,) = _real("exp10", x)
    return ar.pow(filled(found, 10), found)


@covers("loggamma", ufunc=True)
def loggamma(x: Any) -> Array:
    """Compute ln Γ(x) of a real x; NaN where Γ is negative or the logarithm would be complex."""
    (found,) = _real("loggamma", x)
    outside = lt(found, zeros(found))
    inner = select(outside, filled(found, 1), found)
    return select(outside, filled(found, float("nan")), p.lgamma(inner))


@covers("gammasgn", ufunc=True)
def gammasgn(x: Any) -> Array:
    """Return the sign of Γ(x). Its derivative is 0."""
    (found,) = _real("gammasgn", x)
    whole = floor(found)
    sign = 1 - 2 * (whole - 2 * floor(whole * 0.5))
    sign = select(eq(whole, found), filled(found, float("nan")), sign)
    zero = zeros(found)
    sign = select(eq(found, zero), 1 / ar.sign(1 / found), sign)
    return select(gt(found, zero), filled(found, 1), sign)


@covers("rgamma", ufunc=True)
def rgamma(x: Any) -> Array:
    """Compute 1 / Γ(x), which is 0 at 0, -1, -2, … and has derivatives there."""
    (found,) = _real("rgamma", x)
    half, zero, one = filled(found, 0.5), zeros(found), filled(found, 1)
    is_low = logical_and(lt(found, half), gt(found, filled(found, -float("inf"))))
    low = select(is_low, found, zero)
    whole = floor(low + 0.5)
    turns = select(eq(floor(whole * 0.5) * 2, whole), one, -one)
    waves = turns * trigonometric.sin((low - whole) * pi) * (1 / pi)  # sin(πx) / π
    mirrored = gammas.gamma(1 - low)
    largest = filled(found, found.dtype.largest)
    is_overflow = logical_and(eq(low, whole), gt(mirrored, largest))
    mirrored = select(is_overflow, largest, mirrored)  # 0 times it is 0
    is_far = gt(found, filled(found, 30))  # Γ may overflow, and then has no derivative
    near, far = select(is_low | is_far, one, found), select(is_far, found, one)
    high = select(is_far, elementwise.exp(-p.lgamma(far)), 1 / gammas.gamma(near))
    return select(is_low, mirrored * waves, high)


@covers("beta", ufunc=True)
def beta(a: Any, b: Any) -> Array:
    """Compute the beta function B(a, b) = Γ(a) Γ(b) / Γ(a + b).

    Where poles cancel, it is (-1)^b B(1 - a - b, b) for the positive one of the two, as in SciPy.
    """
    x, y = _real("beta", a, b)
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
    (found,) = _real("entr", x)
    outside = lt(found, zeros(found))
    inner = select(outside, filled(found, 1), found)
    return select(outside, filled(found, -float("inf")), -logarithms.xlogy(inner, inner))


@covers("rel_entr", ufunc=True)
def rel_entr(x: Any, y: Any) -> Array:
    """Compute x ln(x / y): 0 at x = 0 ≤ y, inf outside."""
    a, b = _real("rel_entr", x, y)
    one = filled(a, 1)
    outside = _outside(a, b)
    endless = eq(a, filled(a, float("inf")))
    aside = logical_or(outside, endless)
    above, below = select(aside, one, a), select(aside, one, b)
    is_near = logical_and(lt(above, 2 * below), lt(below, 2 * above))
    base, other = select(is_near, below, one), select(is_near, above, one)
    near = logarithms.xlog1py(other, (other - base) / base)
    is_large = gt(above, one)  # the difference of two products of it may overflow
    low, high = select(is_large, one, above), select(is_large, above, one)
    small = logarithms.xlogy(low, low) - logarithms.xlogy(low, below)
    large = high * (elementwise.log(high) - elementwise.log(below))
    far = select(is_large, large, small)
    finite = select(is_near, near, far)
    top, under = select(endless, a, one), select(endless, b, one)
    found = select(endless, top * top / under, finite)
    return select(outside, filled(a, float("inf")), found)


@covers("kl_div", ufunc=True)
def kl_div(x: Any, y: Any) -> Array:
    """Compute x ln(x / y) − x + y: y at x = 0 ≤ y, inf outside."""
    a, b = _real("kl_div", x, y)
    one, endless = filled(a, 1), filled(a, float("inf"))
    outside = _outside(a, b)
    left, right = select(outside, one, a), select(outside, one, b)
    return select(outside, endless, rel_entr(left, right) - left + right)


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
    bound, x = _real("huber", delta, r)
    zero, size = zeros(x), ar.abs(x)
    outside, is_near = lt(bound, zero), le(size, bound)
    near, far = select(is_near, x, zero), select(is_near, zero, size)
    limit = select(_either(outside, is_near), zero, bound)
    value = select(is_near, near * near * 0.5, limit * (far - limit * 0.5))
    return select(outside, filled(x, float("inf")), value)


@covers("pseudo_huber", ufunc=True)
def pseudo_huber(delta: Any, r: Any) -> Array:
    """Compute δ² (√(1 + (r/δ)²) − 1) without cancellation near 0; inf for negative δ."""
    bound, x = _real("pseudo_huber", delta, r)
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


def _order(function: str, n: Any, least: int = 0) -> int:
    """Return an order as an integer that is known while tracing.

    Raises InvalidParameterError: if it is not an integer, or too small.
    """
    number = parameter(n, function)
    try:
        order = int(number)
    except (TypeError, ValueError, OverflowError):  # inf overflows
        order = -1
    if order < least or order != number:
        raise _order_error(function, n, f"one integer >= {least}")
    return order


def _order_error(function: str, order: Any, need: str) -> Exception:
    error = InvalidParameterError.of(
        function,
        "the order is a parameter without a derivative",
        got=order,
        need=need,
        parameter="order",
        value=order,
    )
    return at_user_line(error)


@covers("polygamma")
def polygamma(n: Any, x: Any) -> Array:
    """Compute the n-th derivative of the digamma function ψ, for one integer n.

    >>> polygamma(0, 1.0).shape
    ()
    """
    return p.polygamma(_order("polygamma", n), *_real("polygamma", x))


@covers("iv", ufunc=True)
def iv(v: Any, z: Any) -> Array:
    """Compute the modified Bessel function of the first kind, for one integer order."""
    return bessel.bessel_i(_order("iv", v), *_real("iv", z))


@covers("ive", ufunc=True)
def ive(v: Any, z: Any) -> Array:
    """Compute exp(−|z|) times ``iv``."""
    return bessel.bessel_ie(_order("ive", v), *_real("ive", z))


@covers("jv", "jn", ufunc=True)
def jv(v: Any, z: Any) -> Array:
    """Compute the Bessel function of the first kind, for one order: v >= 0, or an integer."""
    order = _real_order("jv", v)
    (found,) = _real("jv", z)
    value = cylinder.bessel_j(abs(order), found)
    return -value if order < 0 and order % 2 else value  # DLMF 10.4.1


@covers("yv", "yn", ufunc=True)
def yv(v: Any, z: Any) -> Array:
    """Compute the Bessel function of the second kind, for one integer order v >= 0."""
    return cylinder.bessel_y(_order("yv", v), *_real("yv", z))


@covers("kv", "kn", ufunc=True)
def kv(v: Any, z: Any) -> Array:
    """Compute the modified Bessel function of the second kind, for one integer order v >= 0."""
    return bessel.bessel_k(_order("kv", v), *_real("kv", z))


@covers("kve", ufunc=True)
def kve(v: Any, z: Any) -> Array:
    """Compute exp(z) times ``kv``."""
    return bessel.bessel_ke(_order("kve", v), *_real("kve", z))


def _real_order(function: str, v: Any) -> float:
    """Return an order that is known while tracing: a number >= 0, or a negative integer.

    Raises InvalidParameterError: for anything else.
    """
    number = parameter(v, function)
    try:
        order = float("nan") if isinstance(number, str) else float(number)
    except (TypeError, ValueError):
        order = float("nan")
    if not isfinite(order) or (order < 0 and order != floor_of(order)):
        raise _order_error(function, v, "one number >= 0, or an integer")
    return order


@covers("multigammaln")
def multigammaln(a: Any, d: Any) -> Array:
    """Compute the logarithm of the multivariate gamma function of dimension d."""
    order = _order("multigammaln", d, 1)
    (found,) = _real("multigammaln", a)
    total = filled(found, order * (order - 1) / 4 * ln(pi))
    for j in range(order):
        total = total + p.lgamma(found - j / 2)
    legal = ge(found, filled(found, (order - 1) / 2))
    return select(legal, total, filled(found, float("nan")))


@covers("_zeta", "_riemann_zeta", ufunc=True)
def zeta(x: Any, q: Any = None) -> Array:
    """Compute the Hurwitz zeta function for x > 1; without q, the Riemann zeta function."""
    return gammas.zeta(*_real("zeta", x, 1.0 if q is None else q))


covers("zeta")(zeta)
