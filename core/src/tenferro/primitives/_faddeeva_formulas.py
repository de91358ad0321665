"""Formulas of the Faddeeva function w in elementary functions, to decompose ``faddeeva.py``.

w(z) = exp(-z²) erfc(-iz) is i/π ∫ exp(-t²)/(z - t) dt above the real axis. The trapezoidal rule at
the nodes (k + ½) h, or k h where z is near one of those, converges exponentially; where z is near
the axis, the residue of the pole at t = z corrects it: Al Azah & Chandler-Wilde, SIAM Journal on
Numerical Analysis 59 (2021) 2346, equations 4 to 9. Below the axis w(z) = 2 exp(-z²) -
w(-z). All steps are in real and imaginary parts, so every backend runs them. Read next:
``faddeeva.py``.
"""

from __future__ import annotations

from math import exp as exp_of
from math import factorial, pi, sqrt

from tenferro._runtime.records import NamedTuple
from tenferro.primitives._dtype import DType
from tenferro.primitives._handle import Handle
from tenferro.primitives.arithmetic import abs as absolute
from tenferro.primitives.arithmetic import maximum, minimum
from tenferro.primitives.comparison import eq, gt, logical_and, logical_or, lt, select
from tenferro.primitives.complex import complex, imag, real
from tenferro.primitives.constants import full_like, zeros_like
from tenferro.primitives.elementwise import exp
from tenferro.primitives.rounding import floor
from tenferro.primitives.trigonometric import cos, sin

__all__ = [
    "Parts", "dawson", "dawson_of_real", "erf", "erfc", "parts", "slope_far", "whole", "wofz",
]  # fmt: skip

_INF = float("inf")
_TERMS_OF_SLOPE = 30


class Parts(NamedTuple):
    """The real and the imaginary part of a complex value."""

    re: Handle
    im: Handle


class Precision(NamedTuple):
    """Sizes that a dtype needs.

    nodes   of the trapezoidal rule, whose error is about exp(-π nodes)
    far     w is i/(√π z) to the last digit where a part of z is larger
    terms   of the power series of erf
    """

    nodes: int
    far: float
    terms: int


_DOUBLE = Precision(12, 1e9, 19)
_SINGLE = Precision(7, 3e4, 11)


def _precision(dtype: DType) -> Precision:
    return _DOUBLE if dtype.bits == 64 else _SINGLE


def parts(z: Handle) -> Parts:
    """Split a complex value."""
    return Parts(real(z), imag(z))


def whole(value: Parts) -> Handle:
    """Join the parts of a complex value."""
    return complex(value.re, value.im)


def wofz(z: Parts) -> Parts:
    """Return w(z) = exp(-z²) erfc(-iz)."""
    above = _above(Parts(z.re, absolute(z.im)))
    # w(z) = 2 exp(-z²) - w(-z), and w(-z) is the conjugate of w at the mirror image of z
    is_below = lt(z.im, zeros_like(z.im))
    gauss = _gauss(Parts(z.re, select(is_below, z.im, zeros_like(z.im))))
    below = Parts(2 * gauss.re - above.re, 2 * gauss.im + above.im)
    return _select(is_below, below, above)


def erf(z: Parts) -> Parts:
    """Return erf(z): a power series near 0, else ±(1 - exp(-z²) w(±iz))."""
    x, y = z
    zero = zeros_like(x)
    is_near = lt(x * x + y * y, full_like(x, 1))  # there the series serves
    near = _erf_series(Parts(select(is_near, x, zero), select(is_near, y, zero)))
    tail = _erfc_right(Parts(absolute(x), y))
    is_left = lt(x, zero)  # erf of a mirror image in the imaginary axis: minus the conjugate
    far = Parts(select(is_left, tail.re - 1, 1 - tail.re), -tail.im)
    return _odd(z, _select(is_near, near, far))


def erfc(z: Parts) -> Parts:
    """Return 1 - erf(z): exp(-z²) w(iz) to the right of the imaginary axis."""
    x, y = z
    tail = _erfc_right(Parts(absolute(x), y))
    is_left = lt(x, zeros_like(x))
    re = select(eq(x, zeros_like(x)), full_like(x, 1), select(is_left, 2 - tail.re, tail.re))
    return Parts(re, select(eq(y, zeros_like(y)), -y, tail.im))


def dawson(z: Parts) -> Parts:
    """Return exp(-z²) ∫₀ᶻ exp(t²) dt: by erf near 0, else √π/2 i (exp(-z²) - w(z)) above."""
    x, y = z
    zero = zeros_like(x)
    is_near = lt(x * x + y * y, full_like(x, 1))
    small = Parts(select(is_near, x, zero), select(is_near, y, zero))
    series = _erf_series(Parts(-small.im, small.re))  # erf(iz)
    near = _times(_gauss(small), Parts(series.im, -series.re))
    up = Parts(x, absolute(y))
    w, gauss = _above(up), _gauss(up)
    half = sqrt(pi) / 2
    # of an odd function with real coefficients: D of the conjugate is the conjugate
    far = Parts(half * (w.im - gauss.im), half * (gauss.re - w.re))
    far = Parts(far.re, select(lt(y, zero), -far.im, far.im))
    both = Parts(half * near.re, half * near.im)
    return _odd(z, _select(is_near, both, far))


def dawson_of_real(x: Handle) -> Handle:
    """Return Dawson's integral of a real number: √π/2 times the imaginary part of w.

    Where |x| < 1 it is exp(-x²) times the power series of the integral, of positive terms.
    """
    zero = zeros_like(x)
    is_near = lt(absolute(x), full_like(x, 1))
    small, large = select(is_near, x, zero), select(is_near, full_like(x, 1), x)
    square, total = small * small, zero
    for n in range(_precision(x.dtype).terms - 1, -1, -1):
        total = total * square + 1 / (factorial(n) * (2 * n + 1))
    far = sqrt(pi) / 2 * _above(Parts(large, zero)).im
    return select(is_near, small * exp(-square) * total, far)


def slope_far(z: Handle) -> Handle:
    """Return Σ (2n+1)!!/2ⁿ z^(-2n-2) for a large z, the asymptotic series of -(√π/i) w'(z).

    NIST Digital Library of Mathematical Functions (DLMF), 7.12.1, term by term.
    """
    inverse = 1 / z
    square = inverse * inverse
    total = full_like(z, 1)
    for n in range(_TERMS_OF_SLOPE, 0, -1):
        total = 1 + total * square * (n + 0.5)
    return total * square


def _above(z: Parts) -> Parts:
    """Return w on or above the real axis, from the quadrant where both parts are positive."""
    x, y = absolute(z.re), z.im
    size, limit = maximum(x, y), full_like(x, _precision(x.dtype).far)
    is_far = gt(size, limit)
    zero = zeros_like(x)
    near = _trapezoid(Parts(select(is_far, zero, x), select(is_far, full_like(x, 1), y)))
    far = _leading(Parts(select(is_far, x, full_like(x, 1)), select(is_far, y, zero)))
    value = _select(is_far, far, near)
    im = select(lt(z.re, zero), -value.im, value.im)
    return Parts(value.re, select(eq(x, zero), z.re, im))


def _leading(z: Parts) -> Parts:
    """Return i/(√π z) without overflow; 0 at infinity."""
    size = maximum(z.re, z.im)
    is_infinite = eq(size, full_like(size, _INF))
    one = full_like(size, 1)
    scale = select(is_infinite, one, size)
    x, y = z.re / scale, z.im / scale
    factor = 1 / (x * x + y * y) / scale * (1 / sqrt(pi))
    zero = zeros_like(size)
    return Parts(select(is_infinite, zero, y * factor), select(is_infinite, zero, x * factor))


def _trapezoid(z: Parts) -> Parts:
    x, y = z
    nodes = _precision(x.dtype).nodes
    h = sqrt(pi / nodes)
    border = full_like(x, pi / h)
    position = x * (1 / h)
    phase = position - floor(position)  # 0 at a node kh, ½ at a node (k + ½) h
    is_between = lt(absolute(phase - 0.5), full_like(x, 0.25))
    on_whole = logical_and(lt(y, x), is_between)
    p, q, size = (x - y) * (x + y), 2 * x * y, x * x + y * y
    square = q * q
    re, im = zeros_like(x), zeros_like(x)
    for k in range(nodes):
        at, between = (k * h) ** 2, ((k + 0.5) * h) ** 2
        weight = exp_of(-at) * (1 if k else 0.5)
        node = select(on_whole, full_like(x, at), full_like(x, between))
        weights = select(on_whole, full_like(x, weight), full_like(x, exp_of(-between)))
        difference = p - node
        part = weights / (difference * difference + square)
        re, im = re + part * (size + node), im + part * (size - node)
    total = Parts((2 * h / pi) * y * re, (2 * h / pi) * x * im)
    residue = _residue(Parts(x, minimum(y, border)), phase, on_whole, h)
    corrected = Parts(total.re + residue.re, total.im + residue.im)
    return _select(lt(y, border), corrected, total)


def _residue(z: Parts, phase: Handle, on_whole: Handle, h: float) -> Parts:
    """Return 2 exp(-z²) E/(E ± 1), E = exp(2πiz/h): minus for nodes at kh."""
    x, y = z
    turn = 2 * pi * phase
    size = exp(y * (-2 * pi / h))
    e = Parts(size * cos(turn), size * sin(turn))
    one = full_like(x, 1)
    divisor = Parts(e.re + select(on_whole, -one, one), e.im)
    angle = turn - 2 * x * y
    scale = 2 * exp((y - x) * (y + x) - y * (2 * pi / h))
    scale = scale / (divisor.re * divisor.re + divisor.im * divisor.im)
    c, s = cos(angle), sin(angle)
    return Parts(
        scale * (c * divisor.re + s * divisor.im), scale * (s * divisor.re - c * divisor.im)
    )


def _erfc_right(z: Parts) -> Parts:
    """Return exp(-z²) w(iz), x >= 0."""
    x, y = z
    largest = full_like(y, y.dtype.largest / 64)  # its w is not subnormal: XLA makes these 0
    on_axis = eq(x, zeros_like(x))  # there the limit at ±i inf exists
    z = Parts(x, select(on_axis, maximum(minimum(y, largest), -largest), y))
    y = z.im
    w = _above(Parts(-y, x))
    angle = _product(x, y)
    c, s = cos(angle), sin(angle)
    value = Parts(c * w.re + s * w.im, c * w.im - s * w.re)
    return _grown(value, z)


def _gauss(z: Parts) -> Parts:
    """Return exp(-z²)."""
    angle = _product(z.re, z.im)
    return _grown(Parts(cos(angle), -sin(angle)), z)


def _product(x: Handle, y: Handle) -> Handle:
    """Return 2xy, and 0 where one of them is 0."""
    zero = zeros_like(x)
    is_zero = logical_or(eq(x, zero), eq(y, zero))
    return select(is_zero, zero, 2 * x * y)


def _grown(value: Parts, z: Parts) -> Parts:
    """Multiply by exp(y² - x²) in two factors; the product is 0 where one of them is."""
    half = exp(0.5 * _exponent(z))
    zero = zeros_like(z.re)

    def part(x: Handle) -> Handle:
        return select(is_nothing(x), zero, x * half * half)

    def is_nothing(x: Handle) -> Handle:
        return logical_or(eq(x, zero), eq(half, zero))  # the phase may be infinite

    return Parts(part(value.re), part(value.im))


def _exponent(z: Parts) -> Handle:
    """Return y² - x², and -inf rather than nan where x is infinite."""
    x, y = absolute(z.re), absolute(z.im)
    endless = full_like(x, _INF)
    difference = (y - x) * (y + x)
    return select(eq(x, endless), select(lt(y, endless), -endless, difference), difference)


def _erf_series(z: Parts) -> Parts:
    """Return 2/√π Σ (-1)ⁿ z^(2n+1)/(n! (2n+1)), |z| <= 1: DLMF 7.6.1."""
    terms, factor = list[float](), 2 / sqrt(pi)
    for n in range(_precision(z.re.dtype).terms):
        terms.append(factor / (2 * n + 1))
        factor /= -(n + 1)
    square = _times(z, z)
    total = Parts(full_like(z.re, terms[-1]), zeros_like(z.re))
    for term in reversed(terms[:-1]):
        total = _times(total, square)
        total = Parts(total.re + term, total.im)
    return _times(total, z)


def _times(a: Parts, b: Parts) -> Parts:
    return Parts(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re)


def _select(pred: Handle, a: Parts, b: Parts) -> Parts:
    return Parts(select(pred, a.re, b.re), select(pred, a.im, b.im))


def _odd(z: Parts, value: Parts) -> Parts:
    """Keep an odd function real on the real axis and imaginary on the imaginary one."""
    zero = zeros_like(z.re)
    return Parts(select(eq(z.re, zero), z.re, value.re), select(eq(z.im, zero), z.im, value.im))
