"""Formulas of Bessel functions in elementary functions: the decompositions of ``bessel*.py``.

No step depends on the data, so every backend runs them: a recurrence of fixed length for small
arguments, the asymptotic series for large ones. The recurrence runs downwards (Miller's algorithm)
in Λ_ν = Γ(ν+1) (x/2)^(-ν) J_ν(x), which neither overflows nor underflows for small x:
Λ_{ν-1} = Λ_ν ∓ (x/2)²/(ν(ν+1)) Λ_{ν+1}, minus for J and plus for I (DLMF 10.6.1, 10.29.1).
Numbers in half precision are computed in float32. Read next: ``bessel.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil, cos, floor, gamma, pi, prod, sin

from tenferro._runtime.records import NamedTuple
from tenferro.primitives._dtype import DType, float32
from tenferro.primitives._handle import Handle
from tenferro.primitives.arithmetic import abs as absolute
from tenferro.primitives.arithmetic import integer_pow, maximum, minimum, pow, rsqrt
from tenferro.primitives.comparison import eq, gt, lt, select
from tenferro.primitives.constants import full_like, zeros_like
from tenferro.primitives.elementwise import exp, log
from tenferro.primitives.hyperbolic import asinh, cosh, sinh
from tenferro.primitives.structural import convert
from tenferro.primitives.trigonometric import cos as cosine
from tenferro.primitives.trigonometric import sin as sine

__all__ = [
    "HIGHEST_ORDER", "bessel_i_scaled", "bessel_j", "bessel_k_scaled", "bessel_y", "unscaled",
    "widened",
]  # fmt: skip

HIGHEST_ORDER = 128  # the recurrences have as many steps

EULER = 0.5772156649015329
_FACTORS = 8
_K_TERMS = 10  # x²ᵏ/4ᵏ(k!)² is below 2⁻⁵³ from then on, x <= 1
# coefficients of z², z⁴, … of 1/Γ(z): those of μ, μ³, … of 1/Γ(1+μ)
_RECIPROCAL_GAMMA = (
    0.5772156649015329,
    -0.04200263503409524,
    -0.04219773455554433,
    0.0072189432466631,
    -0.00021524167411495098,
    -2.013485478078824e-05,
    1.133027231981696e-06,
    6.116095104481416e-09,
    -1.18127457048702e-09,
    7.782263439905071e-12,
)
INF, NAN = float("inf"), float("nan")


class Precision(NamedTuple):
    """Sizes that a dtype needs: where the asymptotic series begins, and how long series are.

    min_x_asymptotic    the series of large arguments serves orders up to 2 from here on
    pairs               terms in x^(-2k), and as many in x^(-2k-1)
    tail                orders beyond the argument b at which the recurrence begins, in units of
                        b^(1/3): there J is below the rounding of 1
    depth               -ln of what an integral may leave out
    nodes               of the trapezoidal rule for K
    """

    min_x_asymptotic: float
    pairs: int
    tail: float
    depth: float
    nodes: int


_DOUBLE = Precision(20.0, 12, 12.0, 40.0, 20)
_SINGLE = Precision(10.0, 6, 7.0, 19.0, 10)


def _precision(dtype: DType) -> Precision:
    return _DOUBLE if dtype.bits == 64 else _SINGLE


def widened(formula: Callable[[Handle], Handle], x: Handle) -> Handle:
    """Apply a formula in float32, if the operand is in half precision."""
    if x.dtype.bits > 16:
        return formula(x)
    return convert(formula(convert(x, float32)), x.dtype)


def bessel_j(order: float, x: Handle) -> Handle:
    """Return J of an order >= 0; nan for x < 0 unless the order is an integer."""
    size = absolute(x)
    base, steps = order % 1, int(order // 1)
    border = max(_precision(x.dtype).min_x_asymptotic, order + 1)
    is_far = gt(size, full_like(x, border))
    far = select(is_far, size, full_like(x, border))
    value = _upwards(_hankel(base, far)[0], _hankel(base + 1, far)[0], base, steps, far)
    near = select(is_far, full_like(x, border), size)
    value = select(is_far, value, _miller(base, steps, near, border).value)
    value = select(eq(size, full_like(x, INF)), zeros_like(x), value)
    negative = full_like(x, NAN) if base else (-value if steps % 2 else value)
    return select(lt(x, zeros_like(x)), negative, value)


def bessel_y(order: int, x: Handle) -> Handle:
    """Return Y of an integer order >= 0: -inf at 0, nan for x < 0."""
    border = _precision(x.dtype).min_x_asymptotic
    is_far = gt(x, full_like(x, border))
    far, near = maximum(x, full_like(x, border)), minimum(x, full_like(x, border))
    found = _miller(0.0, 0, near, border)
    below = log(0.5 * near) + EULER
    y0 = (2 / pi) * (below * found.j0) - (4 / pi) * found.sum0
    y1 = (2 / pi) * ((below - 1) * found.j1 - found.j0 / near - found.sum1)
    y0 = select(is_far, _hankel(0.0, far)[1], y0)
    y1 = select(is_far, _hankel(1.0, far)[1], y1)
    value = _upwards(y0, y1, 0.0, order, x)
    value = select(eq(x, zeros_like(x)), full_like(x, -INF), value)
    return select(eq(x, full_like(x, INF)), zeros_like(x), value)


def _upwards(before: Handle, value: Handle, base: float, steps: int, x: Handle) -> Handle:
    """Return the solution of order base + steps from those of base and base + 1: DLMF 10.6.1.

    What overflows once stays infinite.
    """
    if not steps:
        return before
    for k in range(1, steps):
        grown = value * (2 * (base + k) / x)
        is_finite = lt(absolute(grown), full_like(x, INF))
        before, value = value, select(is_finite, grown - before, grown)
    return value


def _hankel(order: float, x: Handle) -> tuple[Handle, Handle]:
    """Return J and Y of a large argument: DLMF 10.17.3 and 10.17.4."""
    pairs = _precision(x.dtype).pairs
    even, odd, a = [1.0], list[float](), 1.0
    for k in range(1, 2 * pairs):
        a *= (4 * order * order - (2 * k - 1) ** 2) / (8 * k)
        (odd if k % 2 else even).append(a * (-1) ** (k // 2))
    inverse = 1 / x
    square = inverse * inverse
    p, q = _horner(even, square), _horner(odd, square) * inverse
    phase = (order / 2 + 0.25) * pi
    cos_x, sin_x = cosine(x), sine(x)
    c = cos(phase) * cos_x + sin(phase) * sin_x
    s = cos(phase) * sin_x - sin(phase) * cos_x
    factor = (2 / pi) ** 0.5 * rsqrt(x)
    return factor * (p * c - q * s), factor * (p * s + q * c)


def _horner(coefficients: Sequence[float], x: Handle) -> Handle:
    value = full_like(x, coefficients[-1])
    for c in reversed(coefficients[:-1]):
        value = value * x + c
    return value


class _Found(NamedTuple):
    """Values of one run of the recurrence; the sums are those of Neumann's series of Y₀ and Y₁."""

    value: Handle
    j0: Handle
    j1: Handle
    sum0: Handle
    sum1: Handle


def _miller(base: float, steps: int, x: Handle, border: float) -> _Found:
    """Return J of order base + steps for 0 <= x <= border, normalized by DLMF 10.23.15.

    sum0 = Σ (-1)ᵏ J_{2k}/k and sum1 = Σ (-1)ᵏ (2k+1) J_{2k+1}/(k(k+1)), k >= 1: Abramowitz &
    Stegun (1964), 9.1.88. All sums are in Horner's form, so that their terms do not underflow.
    """
    start = 2 * ceil((border + _precision(x.dtype).tail * border ** (1 / 3)) / 2)
    half = 0.5 * x
    square = half * half
    above, value = zeros_like(x), full_like(x, 1)
    total, sum0, sum1 = full_like(x, 1), zeros_like(x), zeros_like(x)
    wanted, first = value, value
    for k in range(start, 0, -1):  # value is Λ of order base + k
        wanted = value if k == steps else wanted
        first = value if k == 1 else first
        j = k // 2
        if k % 2 and not base and j:
            weight = (-1) ** j * (2 * j + 1) / (j * (j + 1))
            sum1 = sum1 * (square * (1 / ((k + 1) * (k + 2)))) + weight * value
        elif not k % 2 and not base:
            sum0 = sum0 * (square * (1 / ((k + 1) * (k + 2)))) + ((-1) ** j / j) * value
        nu = base + k
        above, value = value, value - square * (1 / (nu * (nu + 1))) * above
        if k % 2:
            total = total * (square * _weight_ratio(base, j)) + value
    wanted = wanted if steps else value
    inverse = 1 / total
    leading = pow(half, full_like(x, base)) * (1 / gamma(base + 1)) if base else full_like(x, 1)
    return _Found(
        _power(half, base, steps, leading * wanted * inverse),
        value * inverse,
        half * first * inverse,
        square * 0.5 * sum0 * inverse,
        half * square * (1 / 6) * sum1 * inverse,
    )


def _power(half: Handle, base: float, steps: int, value: Handle) -> Handle:
    """Multiply by halfⁿ Γ(base+1)/Γ(base+n+1), eight factors at a time: neither part overflows."""
    for low in range(0, steps, _FACTORS):
        count = min(_FACTORS, steps - low)
        divisor = prod(base + low + k for k in range(1, count + 1))
        value = value * (integer_pow(half, count) * (1 / divisor))
    return value


def _weight_ratio(base: float, k: int) -> float:
    """Return w_{k+1}/w_k, w_k = (ν+2k) Γ(ν+k) / (k! Γ(ν+2k+1)) the weights of 10.23.15 in Λ."""
    if not base and not k:
        return 1.0
    n = base + 2 * k
    rising = (n + 2) * (base + k) / (n * (k + 1)) if n else 1.0
    return rising / ((n + 1) * (n + 2))


def bessel_i_scaled(order: int, x: Handle) -> Handle:
    """Return exp(-|x|) I of an integer order >= 0, normalized by DLMF 10.35.5: no exponential."""
    size = absolute(x)
    precision = _precision(x.dtype)
    border = max(precision.min_x_asymptotic, order * order / 2.0)
    is_far = gt(size, full_like(x, border))
    near = select(is_far, full_like(x, border), size)
    far = select(is_far, size, full_like(x, border))
    start = ceil((2 * precision.depth * border) ** 0.5) + 2  # exp(-n²/2x) is negligible there
    ratio, below = zeros_like(x), full_like(x, 1)
    for k in range(start, 0, -1):  # ratio is that of orders k and k - 1: DLMF 10.33.1
        ratio = near / (2 * k + near * ratio)
        below = below * ratio if k <= order else below
    below = below * _i0_scaled(size, precision)
    value = select(is_far, _asymptotic_i(order, far), below)
    signed = select(lt(x, zeros_like(x)), -value, value) if order % 2 else value
    return select(eq(size, full_like(x, INF)), zeros_like(x), signed)


def _i0_scaled(size: Handle, precision: Precision) -> Handle:
    """Return exp(-x) I₀: Miller's algorithm without an exponential, then the asymptotic series."""
    limit = full_like(size, precision.min_x_asymptotic)
    half = 0.5 * minimum(size, limit)
    square = half * half
    start = ceil((2 * precision.depth * precision.min_x_asymptotic) ** 0.5) + 2
    above, value, total = zeros_like(size), full_like(size, 1), zeros_like(size)
    for k in range(start, 0, -1):  # value is Λ of order k, total Σ_{j>=k} Λ_j (x/2)^(j-k) k!/j!
        total = total * half * (1 / (k + 1)) + value
        above, value = value, value + square * (1 / (k * (k + 1))) * above
    far = _asymptotic_i(0, maximum(size, limit))
    return select(gt(size, limit), far, value / (value + 2 * half * total))


def _asymptotic_i(order: int, x: Handle) -> Handle:
    """Return exp(-x) I of a large argument: DLMF 10.40.1."""
    a = (2 * pi) ** -0.5
    terms = [a]
    for k in range(1, 2 * _precision(x.dtype).pairs):
        a *= -(4 * order * order - (2 * k - 1) ** 2) / (8 * k)
        terms.append(a)
    return _horner(terms, 1 / x) * rsqrt(x)


def bessel_k_scaled(order: float, x: Handle) -> Handle:
    """Return exp(x) K of an order >= 0: inf at 0, nan for x < 0."""
    steps = floor(order + 0.5)
    base = order - steps  # from -1/2 to 1/2
    one = full_like(x, 1)
    is_near = lt(x, one)
    near0, near1 = _k_of_fraction(base, minimum(x, one)) if base else _k_near_zero(minimum(x, one))
    far0, far1 = _k_integrals(base, maximum(x, one))
    k0, k1 = select(is_near, near0, far0), select(is_near, near1, far1)
    for n in range(1, steps):
        k0, k1 = k1, k0 + k1 * (2 * (base + n) / x)
    value = select(eq(x, zeros_like(x)), full_like(x, INF), k1 if steps else k0)
    value = select(eq(x, full_like(x, INF)), zeros_like(x), value)
    return select(lt(x, zeros_like(x)), full_like(x, NAN), value)


def _k_near_zero(x: Handle) -> tuple[Handle, Handle]:
    """Return exp(x) K₀ and exp(x) K₁ by their power series for x <= 1: DLMF 10.31.1, 10.31.2."""
    square = 0.25 * x * x
    i0, rest0, i1, rest1 = [], [], [], []
    harmonic, size = 0.0, 1.0
    for k in range(_K_TERMS):
        i0.append(size)
        rest0.append(size * harmonic)
        i1.append(size / (k + 1))
        rest1.append(size / (k + 1) * (2 * harmonic + 1 / (k + 1)))
        harmonic += 1 / (k + 1)
        size /= (k + 1) ** 2
    below, scale = log(0.5 * x) + EULER, exp(x)
    k0 = _horner(rest0, square) - below * _horner(i0, square)
    inner = below * _horner(i1, square) - 0.5 * _horner(rest1, square)
    return scale * k0, scale * (1 / x + 0.5 * x * inner)


def _k_of_fraction(base: float, x: Handle) -> tuple[Handle, Handle]:
    """Return exp(x) K of the orders μ = base and μ + 1 for x <= 1, |μ| <= 1/2: Temme (1975).

    K_μ = Σ c_k f_k and K_{μ+1} = (2/x) Σ c_k (p_k - k f_k), c_k = (x²/4)ᵏ/k!, where
    f_k = (k f_{k-1} + p_{k-1} + q_{k-1})/(k² - μ²), p_k = p_{k-1}/(k - μ), q_k = q_{k-1}/(k + μ).
    Each is a sum of f₀, p₀ and q₀ with numbers as coefficients.
    """
    start = [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)]
    same, next_order = zip(*[_temme_coefficients(base, *each) for each in start], strict=True)
    log_ratio = -log(0.5 * x)
    exponent = base * log_ratio
    gamma1, gamma2 = _temme_gammas(base)
    factor = pi * base / sin(pi * base)
    f = cosh(exponent) * (factor * gamma1) + sinh(exponent) * (factor * gamma2 / base)
    p, q = exp(exponent) * (0.5 * gamma(1 + base)), exp(-exponent) * (0.5 * gamma(1 - base))
    square = 0.25 * x * x
    low = f * _horner(same[0], square) + p * _horner(same[1], square) + q * _horner(same[2], square)
    high = f * _horner(next_order[0], square) + p * _horner(next_order[1], square)
    high = high + q * _horner(next_order[2], square)
    scale = exp(x)
    return scale * low, scale * high * (2 / x)


def _temme_coefficients(
    base: float, f: float, p: float, q: float
) -> tuple[list[float], list[float]]:
    """Return f_k/k! and (p_k - k f_k)/k! of Temme's recurrence from its first values."""
    same, next_order, size = [f], [p], 1.0
    for k in range(1, _K_TERMS):
        f = (k * f + p + q) / (k * k - base * base)
        p, q, size = p / (k - base), q / (k + base), size / k
        same.append(f * size)
        next_order.append((p - k * f) * size)
    return same, next_order


def _temme_gammas(base: float) -> tuple[float, float]:
    """Return (1/Γ(1-μ) - 1/Γ(1+μ)) / 2μ and (1/Γ(1-μ) + 1/Γ(1+μ)) / 2.

    The first is a power series in μ², so that no digits cancel: Abramowitz & Stegun (1964), 6.1.34.
    """
    first = 0.0
    for c in reversed(_RECIPROCAL_GAMMA):
        first = first * base * base - c
    return first, (1 / gamma(1 - base) + 1 / gamma(1 + base)) / 2


def _k_integrals(base: float, x: Handle) -> tuple[Handle, Handle]:
    """Return exp(x) K of the orders μ = base and μ + 1 for x >= 1, |μ| <= 1/2.

    K_ν = ∫₀^∞ exp(-x cosh t) cosh νt dt (10.32.9) by the trapezoidal rule, which converges
    exponentially here. Its end, where the exponent is -depth, and so its step depend on x. With
    S = sinh(t/2), cosh t = 1 + 2 S².
    """
    precision = _precision(x.dtype)
    end = 2 * asinh((precision.depth / 2) ** 0.5 * rsqrt(x))
    step = end * (1 / precision.nodes)
    s1, c1 = sinh(0.5 * step), cosh(0.5 * step)
    s, c = s1, c1
    total0, total1 = full_like(x, 0.5), full_like(x, 0.5)
    sinh1, cosh1 = (sinh(base * step), cosh(base * step)) if base else (s1, c1)
    sinh_base, cosh_base = sinh1, cosh1
    for _ in range(precision.nodes):
        square = 2 * s * s
        weight = exp(-(x * square))
        if base:  # cosh μt and cosh (μ+1)t
            raised = (1 + square) * cosh_base + 2 * s * c * sinh_base
            total0, total1 = total0 + weight * cosh_base, total1 + weight * raised
            grown = sinh_base * cosh1 + cosh_base * sinh1
            sinh_base, cosh_base = grown, cosh_base * cosh1 + sinh_base * sinh1
        else:
            total0, total1 = total0 + weight, total1 + weight * (1 + square)
        s, c = s * c1 + c * s1, c * c1 + s * s1
    return total0 * step, total1 * step


def unscaled(scaled: Handle, exponent: Handle) -> Handle:
    """Multiply by exp(exponent) in two factors: one may overflow where the product does not."""
    half = exp(0.5 * exponent)
    return scaled * half * half
