"""Functions of edge values are NumPy's and SciPy's: zeros, infinities, NaN, huge and tiny numbers.

Numbers below the smallest normal one are left out, because XLA takes them for zeros; signs of
zeros are compared in `passes/test_edge_values.py`.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import special

import tenferro as tn
from tenferro.backend import select_backend

pytestmark = pytest.mark.filterwarnings("ignore:numpy.fix is deprecated:DeprecationWarning")
XLA = select_backend().name == "xla"
INF, NAN = np.inf, np.nan
UNARY = """
    abs angle arccos arccosh arcsin arcsinh arctan arctanh cbrt ceil conj cos cosh deg2rad exp
    exp2 expm1 fabs fix floor i0 imag isfinite isinf isnan isneginf isposinf log log1p log2
    log10 logical_not nan_to_num negative positive rad2deg real reciprocal rint sign signbit sin
    sinc sinh sqrt square tan tanh trunc
""".split()
REAL_ONLY = "cbrt ceil deg2rad fabs fix floor i0 isneginf isposinf rad2deg signbit trunc".split()
SPECIAL = """entr erf erfc erfcinv erfcx erfinv exp10 expit exprel gamma gammaln gammasgn i0 i0e i1
    i1e log_expit log_ndtr logit ndtr ndtri psi rgamma""".split()
BINARY = """add arctan2 copysign divide equal float_power floor_divide fmax fmin fmod greater
    heaviside hypot less logaddexp logaddexp2 maximum minimum multiply power remainder subtract
    """.split()
SPECIAL_BINARY = "gammainc gammaincc huber kl_div pseudo_huber rel_entr xlog1py xlogy zeta".split()
PROBABILITIES = "chdtr chdtrc pdtr pdtrc stdtr".split()
REDUCTIONS = """sum prod max min mean var std ptp argmax argmin any all cumsum cumprod median nansum
    nanprod nanmax nanmin nanmean nanvar nanstd sort diff gradient trapezoid""".split()
SPECIAL_REDUCTIONS = "logsumexp softmax log_softmax".split()
ROWS = [
    [-0.0, 0.0], [0.0], [1, 1, -1], [INF, 1], [INF, -INF], [-INF, -INF], [NAN, 1], [0, INF, 2],
    [1e38, 1e38], [-INF, 1, 2],
]  # fmt: skip


def different_gamma(a, x):
    wrong = (a > 1e300) & (x < a) | LOSES_NAN & np.isnan(a + x)
    return wrong | XLA & (np.maximum(a, x) > 1e37)


def different_poisson(k, m):
    """At k = nan SciPy has a probability of 0 or 1; single precision has no k + 1 from 2^24 on."""
    rounds = (k.dtype == "float32") & (k >= 2.0**24)
    return np.isnan(k) | rounds | different_gamma(k + 1, m)


LOSES_NAN = special.gammainc(INF, NAN) == 0  # SciPy 1.15, and P(nan, 0) is 0
#: where NumPy's and SciPy's own values lose all digits, overflow on the way, or are no limits
DIFFERENT = {
    "pseudo_huber": lambda d, r: ~np.isfinite(d) | ~np.isfinite(r) | (d > 1e150) | (abs(r) > 1e150),
    "kl_div": lambda x, y: (~np.isfinite(x) & (x == y)) | (np.isfinite(y) & (y > 1e30)),
    "log1p": lambda z: abs(z) < 1e-15,
    "arctan": lambda z: abs(z * z + 1) < 1e-15,
    "rgamma": lambda x: x == -INF,  # it oscillates there
    "erfcinv": lambda x: x == 1,
    "gammainc": different_gamma,
    "gammaincc": different_gamma,
    "chdtr": lambda v, x: different_gamma(v / 2, x / 2),
    "chdtrc": lambda v, x: different_gamma(v / 2, x / 2),
    "pdtr": lambda k, m: different_poisson(k, m),
    "pdtrc": lambda k, m: different_poisson(k, m),
    "stdtr": lambda df, t: (df < 1) & (abs(t) > 1e15),  # both are near to one half
    "rel_entr": lambda x, y: ~np.isfinite(x) & (x == y),
    "arctanh": lambda z: XLA & (abs(z * z - 1) < 1e-15),  # the distance to the pole underflows
    "zeta": lambda s, q: (s >= 1e15) & (q > 1),  # SciPy has nan, the limit is 0
}


def reals(dtype):
    big = float(np.finfo(dtype).max / 4)
    values = [0.0, 1, -1, 0.5, -0.5, 2, -2.5, 3, 1e-20, 1e8, 40, -80, 1e18, big, INF, -INF, NAN]
    return np.array(values, dtype)


def complexes(dtype):
    parts = [0.0, -0.0, 1, -2, 0.5, 1e-20]
    return np.array([complex(x, y) for x in parts for y in parts]).astype(dtype)


def near(got, want, name, operands):
    got, want = np.asarray(got), np.asarray(want)
    assert got.dtype == want.dtype, (name, got.dtype, want.dtype)
    single = want.dtype in ("float32", "complex64")
    bound, least = (1e-5, 1e-37) if single else (1e-12, 1e-300)
    with np.errstate(all="ignore"):
        same = np.isclose(got, want, rtol=bound, atol=least, equal_nan=True)
    if name in DIFFERENT:
        same |= DIFFERENT[name](*operands)
    assert same.all(), (name, [(*x, got[~same], want[~same]) for x in [operands]])


def compare(names, ours, theirs, operands):
    """All functions of these names in one program."""

    def every(*xs):
        return [getattr(ours, name)(*xs) for name in names]

    with np.errstate(all="ignore"):
        found = tn.jit(every)(*operands)
        for name, got in zip(names, found, strict=True):
            near(got, getattr(theirs, name)(*operands), name, operands)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(
    "names, module", [(UNARY, ""), (SPECIAL, "special")], ids=["np", "special"]
)
def test_functions_of_one_real_number(names, module, dtype):
    """f(x) in tenferro = f(x) in NumPy and SciPy"""
    ours, theirs = (tn.special, special) if module else (np, np)
    compare(names, ours, theirs, [reals(dtype)])


@pytest.mark.parametrize("dtype", ["complex128", "complex64"])
def test_functions_of_one_complex_number(dtype):
    """f(z) in tenferro = f(z) in NumPy, on both sides of branch cuts"""
    points = complexes(dtype)
    names = [name for name in UNARY if name not in REAL_ONLY]
    regular = points[points != 0]
    compare([name for name in names if name != "reciprocal"], np, np, [points])
    compare(["reciprocal"], np, np, [regular])


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(
    "names, module",
    [(BINARY, ""), (SPECIAL_BINARY, "special"), (PROBABILITIES, "special")],
    ids=["np", "special", "probabilities"],
)
def test_functions_of_two_real_numbers(names, module, dtype):
    """f(x, y) in tenferro = f(x, y) in NumPy and SciPy"""
    ours, theirs = (tn.special, special) if module else (np, np)
    pairs = np.meshgrid(reals(dtype), reals(dtype))
    compare(names, ours, theirs, [x.ravel() for x in pairs])


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_reductions_of_edge_values(dtype):
    """f(x) in tenferro = f(x) in NumPy and SciPy"""
    for row in ROWS:
        x = np.array(row, dtype)
        names = [name for name in REDUCTIONS if x.size > 1 or name not in ("gradient",)]
        compare(names, np, np, [x])
        compare(SPECIAL_REDUCTIONS, tn.special, special, [x])


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("sizes", [(5, 3), (3, 5), (4, 4), (1, 1), (6, 1), (2, 7)])
def test_a_convolution_multiplies_what_overlaps(sizes, mode):
    """convolve(x, y) is NumPy's, with NaN and infinities in either vector"""
    for bad in (NAN, INF):
        for place in (0, -1):
            pairs = [np.arange(1.0, size + 1) for size in sizes * 2]
            pairs[0][place] = pairs[3][place] = bad
            for x, y in (pairs[:2], pairs[2:]):
                for name in ("convolve", "correlate"):
                    function = getattr(np, name)
                    got = np.asarray(function(tn.asarray(x), tn.asarray(y), mode))
                    np.testing.assert_array_equal(got, function(x, y, mode))


def test_an_einsum_over_nothing_is_zero_beside_nan():
    """Σ over no element = 0"""
    nothing, nan = tn.asarray(np.zeros((2, 0))), tn.asarray(np.array([[NAN]]))
    np.testing.assert_array_equal(np.einsum("...i,...i", nothing, nan), [0, 0])
    assert np.einsum("ij,k->", nothing, nan[0]) == 0
    slopes = tn.grad(lambda x, y: np.einsum("ij,k->", x, y), argnums=(0, 1))(nothing, nan[0])
    assert slopes[0].shape == (2, 0)
    assert slopes[1] == 0


@pytest.mark.parametrize("dtype", ["uint8", "bool", "int8", "float32"])
def test_unwrap_takes_differences_in_the_dtype(dtype):
    """unwrap(p) is NumPy's, whose differences of unsigned integers wrap around"""
    x = np.array([3, 0, 120, 1, 0, 5]).astype(dtype)
    np.testing.assert_allclose(np.unwrap(tn.asarray(x)), np.unwrap(x), rtol=1e-6)


@pytest.mark.parametrize("dtype", ["bool", "int8", "float32"])
@pytest.mark.parametrize("period", [5, 2.5, np.int16(5), np.float32(5), np.float64(5)])
def test_unwrap_has_the_dtype_of_angles_and_period(dtype, period):
    x = np.array([1, 0, 9, 2]).astype(dtype)
    found, want = np.unwrap(tn.asarray(x), period=period), np.unwrap(x, period=period)
    assert found.dtype == want.dtype
    np.testing.assert_allclose(found, want, rtol=1e-6)


def test_unwrap_has_a_derivative_by_the_period():
    """x = 2.5 k with period 3 becomes 2.5 k - 3 k: each step loses one period."""
    k = np.arange(4.0)
    found = tn.jacobian(lambda p: np.unwrap(tn.asarray(2.5 * k), period=p))(3.0)
    np.testing.assert_array_equal(found, -k)


@pytest.mark.parametrize("function", [np.remainder, np.floor_divide, np.divmod])
@pytest.mark.parametrize(
    "x, n",
    [
        (np.arange(-7, 8), 3),
        (np.arange(-7, 8, dtype="int8"), 5),
        (np.arange(8, dtype="uint8"), 3),
        (reals("float64"), 0.75),
        (reals("float64"), INF),
        (reals("float32"), 2),
    ],
    ids=lambda value: str(getattr(value, "dtype", value)),
)
def test_a_division_does_not_ask_for_the_sign_of_a_positive_number(function, x, n):
    """r = fmod(x, n), and r + n where r < 0: the sign of n is known."""
    name = function.__name__
    with np.errstate(all="ignore"):
        want = function(x, n)
    found = function(tn.asarray(x), n)
    if name != "divmod":
        found, want = [found], [want]
    for got, each in zip(found, want, strict=True):
        near(got, each, name, (x, n))
    assert "logical_and" not in str(tn.trace(lambda x: function(x, n), x))
    if x.dtype.kind != "u":
        assert "logical_and" in str(tn.trace(lambda x: function(x, -n), x))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_log1p_keeps_the_digits_of_both_parts_where_the_modulus_is_near_one(dtype):
    """Re log(1 + x + iy) = log1p(2x + x² + y²)/2, the sum in exact fractions"""
    angles = np.linspace(-3.1, 3.1, 101)
    away = np.linspace(-1e-5, 1e-5, 101)
    z = ((1 + away) * np.exp(1j * angles) - 1).astype(dtype)
    found = np.asarray(tn.log1p(tn.asarray(z)))
    assert found.dtype == dtype
    parts = [(Fraction(float(w.real)), Fraction(float(w.imag))) for w in z]
    expected = [math.log1p(float(2 * x + x * x + y * y)) / 2 for x, y in parts]
    small = 4 * np.finfo(z.real.dtype).eps
    np.testing.assert_allclose(found.real, expected, rtol=small)
    np.testing.assert_allclose(found.imag, np.arctan2(z.imag, 1 + z.real), rtol=small)
