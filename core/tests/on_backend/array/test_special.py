"""The functions of scipy.special on arrays: dispatch, derivatives, edges."""

import inspect

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tenferro as tn
from tenferro.arrays import UnsupportedFunctionError
from tenferro.backend import select_backend
from tenferro.primitives import InvalidParameterError
from tenferro.tidu import MissingRuleError

scipy_special = pytest.importorskip("scipy.special")
inf = np.inf
X, Y, Z = np.array([0.2, 0.7, 0.5]), np.array([0.3, 0.1, 0.9]), np.array([0.6, 0.4, 0.25])
ORDERED = {
    "iv": (2, X), "ive": (1, X), "jv": (1.5, X), "kv": (2, X), "kve": (1, X), "yv": (2, X),
    "jn": (2, X), "kn": (2, X), "yn": (2, X),
    "zeta": (X + 2, Y), "expn": (2, X),
}  # fmt: skip
PLAIN = ("logsumexp", "softmax", "log_softmax", "multigammaln", "polygamma", "sinc", "softplus")
DISPATCHED = sorted(set(tn.special.__all__) - set(PLAIN))
CONSTANT = ("gammasgn",)
COMPLEX = ("wofz",)  # also of a real number; its derivatives are in test_faddeeva.py
few = settings(max_examples=15, deadline=None)


def operands(name):
    if name in ORDERED:
        return ORDERED[name]
    return (X, Y, Z)[: getattr(scipy_special, name).nin]


#: Parameters as SciPy documents them; its ufuncs take them by position alone.
PARAMETERS = {
    "x": "cbrt cosm1 dawsn entr erf erfc erfcx exp10 exp2 expi expit expm1 exprel gammaln gammasgn "
    "i0 i0e i1 i1e j0 j1 k0 k0e k1 k1e log1p log_expit log_ndtr logit ndtr sinc softplus y0 y1",
    "y": "erfcinv erfinv",
    "m": "ellipe ellipk",
    "z": "digamma erfi exp1 gamma loggamma psi rgamma wofz",
    "p": "ellipkm1 ndtri",
    "a b": "beta betaln",
    "a x": "gammainc gammaincc",
    "a b x": "betainc betaincc gdtr gdtrc",
    "v x": "chdtr chdtrc",
    "k m": "pdtr pdtrc",
    "dfn dfd x": "fdtr fdtrc",
    "df t": "stdtr",
    "a d": "multigammaln",
    "delta r": "huber pseudo_huber",
    "n x": "expn kn polygamma yn",
    "v z": "iv ive jn jv kv kve yv",
    "x q": "zeta",
    "x lmbda": "boxcox boxcox1p",
    "y lmbda": "inv_boxcox inv_boxcox1p",
    "x y": "kl_div rel_entr xlog1py xlogy",
    "x sigma gamma": "voigt_profile",
    "x axis": "log_softmax softmax",
    "a axis b keepdims return_sign": "logsumexp",
}
NAMED = [(name, row) for row, names in PARAMETERS.items() for name in names.split()]


def test_each_function_has_its_row_of_parameters():
    assert sorted(name for name, _ in NAMED) == sorted(tn.special.__all__)


@pytest.mark.parametrize("name, row", NAMED)
def test_parameters_have_the_names_that_scipy_documents(name, row):
    """signature(f) = SciPy's documentation, and f(a=…, x=…) = f(…, …)"""
    function = getattr(tn.special, name)
    found = inspect.signature(function).parameters
    assert list(found) == row.split()
    needed = [key for key, parameter in found.items() if parameter.default is parameter.empty]
    values = ORDERED.get(name) or (2, X + 2) if needed[0] in "nv" else (X + 2, 2, Z)
    named = dict(zip(needed, values, strict=False))
    np.testing.assert_array_equal(function(**named), function(*named.values()))


def arrays(values):
    return [tn.asarray(v) if isinstance(v, np.ndarray) else v for v in values]


@pytest.mark.parametrize("name", DISPATCHED)
def test_scipys_function_of_arrays_is_that_of_their_numbers(name):
    """scipy.special.f(asarray(x)) = scipy.special.f(x), an Array"""
    function = getattr(scipy_special, name)
    got = function(*arrays(operands(name)))
    want = function(*operands(name))
    assert isinstance(got, tn.Array)
    assert np.asarray(got).dtype == want.dtype
    np.testing.assert_allclose(np.asarray(got), want, rtol=4e-14)


@pytest.mark.parametrize("name", sorted(set(DISPATCHED) - set(CONSTANT + COMPLEX)))
def test_derivatives_are_those_of_differences(name):
    """f′ against central differences of SciPy's own values, in the last argument"""
    function, (*first, x) = getattr(scipy_special, name), operands(name)
    got = tn.grad(lambda x: np.sum(function(*first, x)))(x)
    step = 1e-6
    want = (function(*first, x + step) - function(*first, x - step)) / (2 * step)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("name", sorted(set(DISPATCHED) - set(CONSTANT + COMPLEX)))
def test_derivatives_pass_the_check_and_wrong_ones_do_not(name):
    """f′ and f″ pass, 1.0001 f′ does not"""
    function, (*first, x) = getattr(scipy_special, name), operands(name)
    tn.check_grads(lambda x: function(*first, x), (x,), order=2)

    def wrong(x):
        y = function(*first, x)
        return y + 1e-4 * (y - tn.stop_gradient(y))

    with pytest.raises(tn.GradientCheckError, match="disagrees"):
        tn.check_grads(wrong, (x,))


@pytest.mark.parametrize("name", ["logsumexp", "softmax", "log_softmax"])
def test_a_plain_function_of_scipy_names_what_to_call(name):
    """scipy.special.f(asarray(x)) is refused with the name that works"""
    with pytest.raises(UnsupportedFunctionError) as caught:
        getattr(scipy_special, name)(tn.asarray(X))
    assert caught.value.nearest == f"tenferro.special.{name}"


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1), -1])
@pytest.mark.parametrize("name", ["logsumexp", "softmax", "log_softmax"])
def test_exponential_sums_along_axes(name, axis):
    """tn.special.f(x, axis) = scipy.special.f(x, axis)"""
    x = np.array([[0.5, 700.0, -3.0], [1.0, 710.0, -1000.0]])
    got = getattr(tn.special, name)(tn.asarray(x), axis=axis)
    want = getattr(scipy_special, name)(x, axis=axis)
    smallest = np.finfo(x.dtype).tiny  # XLA has no subnormal numbers
    np.testing.assert_allclose(np.asarray(got), want, rtol=1e-7, atol=smallest)


@pytest.mark.parametrize("keepdims", [False, True])
def test_weights_and_signs_of_logsumexp(keepdims):
    """ln |Σ b exp a| and its sign"""
    a, b = np.array([[1.0, 2.0, 800.0], [0.0, -inf, 3.0]]), np.array([1.0, -3.0, 0.0])
    more = {"axis": 1, "keepdims": keepdims, "return_sign": True}
    got = tn.special.logsumexp(tn.asarray(a), b=b, **more)
    for mine, theirs in zip(got, scipy_special.logsumexp(a, b=b, **more), strict=True):
        np.testing.assert_allclose(np.asarray(mine), theirs)


def test_a_weight_of_zero_has_a_derivative():
    """∂/∂b ln(Σ b exp a) = exp(a) / Σ b exp a, at b = 0 too"""
    a = np.array([0.5, 1.5])
    got = tn.grad(lambda b: tn.special.logsumexp(a, b=b))(np.array([1.0, 0.0]))
    np.testing.assert_allclose(got, np.exp(a - 0.5))


@pytest.mark.parametrize(
    "x, want", [([0.0, -inf], [1, 0]), ([-inf, -inf], [0.5, 0.5]), ([inf, 1.0], [1, 0])]
)
def test_infinite_entries_of_logsumexp(x, want):
    """each has its part in the limit; equal infinities share"""
    np.testing.assert_array_equal(tn.grad(tn.special.logsumexp)(np.array(x)), want)


def test_logaddexp_bends_at_a_tie():
    """∂²/∂x² ln(eˣ + eʸ) = ¼ at x = y"""
    assert tn.grad(tn.grad(lambda x: np.logaddexp(x, 1.0)))(1.0) == 0.25


def test_log_ndtr_far_in_the_tail():
    """d ln Φ / dx at -40 is the inverse of Mills' ratio, where Φ and φ are 0 in single precision"""
    with mpmath.workdps(40):
        want = float(mpmath.npdf(-40) / mpmath.ncdf(-40))
    assert tn.grad(tn.special.log_ndtr)(-40.0) == pytest.approx(want, rel=1e-14)


@pytest.mark.parametrize("x", [1e-150, 1e-12, 0.2, 0.45, 0.5, 0.8, 1 - 2.0**-40])
def test_three_derivatives_of_logit(x):
    """1/x + 1/(1 - x) and two more derivatives of it, where the pieces of the formula meet too"""
    with mpmath.workdps(40):
        want = [1 / mpmath.mpf(x) + 1 / (1 - mpmath.mpf(x))]
        want += [-1 / mpmath.mpf(x) ** 2 + 1 / (1 - mpmath.mpf(x)) ** 2]
        want += [2 / mpmath.mpf(x) ** 3 + 2 / (1 - mpmath.mpf(x)) ** 3]
    slopes = [tn.grad(tn.special.logit)]
    slopes += [tn.grad(slopes[-1])]
    slopes += [tn.grad(slopes[-1])]
    got = [float(slope(x)) for slope in slopes]
    np.testing.assert_allclose(got, np.array(want, float), rtol=1e-14)


@pytest.mark.parametrize("x", [-5.0, -100.0, -127.0, -129.0, -1e4, -1e8, -1e80])
def test_three_derivatives_of_log_ndtr(x):
    """h = φ/Φ, h' = -h (h + x), h'' = -h' (h + x) - h (h' + 1), far in the tail too

    There h = √(2/π) / (exp(x²/2) erfc(-x/√2)), by the asymptotic series of erfc: A&S 7.1.23.
    """
    with mpmath.workdps(600):
        t = mpmath.mpf(x)
        mills = mpmath.ncdf(t) / mpmath.npdf(t) if x > -1e3 else _far_mills_ratio(t)
        h = 1 / mills
        first = -h * (h + t)
        want = [h, first, -first * (h + t) - h * (first + 1)]
    slope = tn.grad(tn.special.log_ndtr)
    got = [float(slope(x)), float(tn.grad(slope)(x)), float(tn.grad(tn.grad(slope))(x))]
    np.testing.assert_allclose(got, np.array(want, float), rtol=1e-11)


def _far_mills_ratio(t):
    """Φ(t)/φ(t) = -1/t Σ_k (-1)^k (2k - 1)!! / t^2k"""
    return -sum((-1) ** k * mpmath.fac2(2 * k - 1) / t ** (2 * k + 1) for k in range(20))


@pytest.mark.skipif(select_backend().name == "xla", reason="XLA makes such numbers 0")
def test_entropies_bend_infinitely_at_numbers_below_the_normal_ones():
    """entr'' = -1/x and ∂²/∂x² x ln(x/y) = 1/x overflow there, and are not nan"""
    assert tn.grad(tn.grad(tn.special.entr))(1e-310) == -inf
    assert tn.grad(tn.grad(lambda x: tn.special.kl_div(x, 1e-310)))(1e-310) == inf


@pytest.mark.parametrize("away", [1e-9, -1e-5, 2.0**-20, 0.7, -0.45, 0.9, 30.0])
def test_the_divergence_of_nearly_equal_numbers_keeps_its_digits(away):
    """x ln(x/y) - x + y with its slopes ln(x/y) and 1 - x/y, y = x (1 + ε)"""
    x, y = 1.5, 1.5 * (1 + away)
    with mpmath.workdps(40):
        a, b = mpmath.mpf(x), mpmath.mpf(y)
        want = [a * mpmath.log(a / b) - a + b, mpmath.log(a / b), 1 - a / b, 1 / a, a / b**2]
    first, second = (tn.grad(tn.special.kl_div, i) for i in (0, 1))
    slopes = [first(x, y), second(x, y)]
    bends = [tn.grad(first, 0)(x, y), tn.grad(second, 1)(x, y)]
    got = [tn.special.kl_div(x, y), *slopes, *bends]
    np.testing.assert_allclose(np.array(got, float), np.array(want, float), rtol=1e-14)


def test_the_divergence_of_the_largest_numbers_does_not_overflow():
    assert tn.special.kl_div(1e308, 1e308) == 0


@pytest.mark.parametrize("name", ["logsumexp", "softmax", "log_softmax"])
def test_sums_over_nothing_have_two_derivatives(name):
    """of no elements, as there is nothing to differentiate by"""

    def f(x):
        return np.sum(getattr(tn.special, name)(x, axis=1))

    assert tn.grad(f)(np.zeros((2, 0))).shape == (2, 0)
    assert tn.hessian(f)(np.zeros((2, 0))).shape == (2, 0, 2, 0)


@pytest.mark.parametrize("name", ["entr", "expit", "log_ndtr", "gammaln", "i0e", "erfcx", "ndtri"])
def test_in_jit_and_vmap(name):
    """jit f = f = vmap of f over elements"""
    function = getattr(tn.special, name)
    want = np.asarray(function(tn.asarray(X)))
    np.testing.assert_allclose(tn.jit(function)(X), want, rtol=1e-13)
    np.testing.assert_allclose(tn.vmap(function)(X), want, rtol=1e-13)


def test_an_order_is_one_integer():
    """polygamma of an order that is no integer is refused"""
    with pytest.raises(InvalidParameterError):
        tn.special.polygamma(0.5, tn.asarray(X))


@pytest.mark.parametrize("name", ["iv", "jv", "kve", "yv"])
@pytest.mark.parametrize("order", [inf, np.nan, "2"])
def test_a_bessel_function_has_a_finite_order(name, order):
    with pytest.raises(InvalidParameterError):
        getattr(tn.special, name)(order, X)


def test_no_derivative_of_zeta_in_its_exponent():
    """a missing rule is an error, never 0"""
    with pytest.raises(MissingRuleError):
        tn.grad(lambda s: tn.special.zeta(s, 2.0))(3.0)


@few
@given(st.floats(-2, 3), st.floats(-1.5, 1.5))
def test_shape_of_the_incomplete_gamma_function(log_a, away):
    """∂P(a, x)/∂a against mpmath to 1e-12"""
    a = 10.0**log_a
    x = a * np.exp(away / np.sqrt(max(a, 1)))
    with mpmath.workdps(60):
        step = mpmath.mpf(10) ** -20
        p = [mpmath.gammainc(a + s * step, 0, x, regularized=True) for s in (1, -1)]
        want = float((p[0] - p[1]) / (2 * step))
    assert tn.grad(lambda a: tn.special.gammainc(a, x))(a) == pytest.approx(want, rel=1e-12)


@few
@given(st.floats(-1, 2), st.floats(-1, 2), st.floats(0.05, 0.95))
def test_shapes_of_the_incomplete_beta_function(log_a, log_b, place):
    """∂I_x(a, b)/∂a against mpmath to 1e-12, within six widths of the mean"""
    a, b = 10.0**log_a, 10.0**log_b
    mean, width = a / (a + b), np.sqrt(a * b / (a + b + 1)) / (a + b)
    x = min(max(mean + 6 * width * (place - 0.5), mean / 20), 1 - (1 - mean) / 20)
    with mpmath.workdps(60):
        step = mpmath.mpf(10) ** -20
        p = [mpmath.betainc(a + s * step, b, 0, x, regularized=True) for s in (1, -1)]
        want = float((p[0] - p[1]) / (2 * step))
    assert tn.grad(lambda a: tn.special.betainc(a, b, x))(a) == pytest.approx(want, rel=1e-12)


#: what mpmath says of a distribution function, and points in both tails
TAILS = {
    "chdtr": (
        lambda v, x: mpmath.gammainc(v / 2, 0, x / 2, regularized=True),
        [(3.0, 0.5), (0.25, 2.0), (40.0, 9.0), (2.0, 60.0)],
    ),
    "gdtr": (
        lambda a, b, x: mpmath.gammainc(b, 0, a * x, regularized=True),
        [(0.5, 2.5, 3.0), (3.0, 0.25, 0.125), (2.0, 30.0, 4.0)],
    ),
    "fdtr": (
        lambda m, n, x: mpmath.betainc(m / 2, n / 2, 0, m * x / (n + m * x), regularized=True),
        [(3.0, 5.0, 0.75), (2.5, 8.0, 6.0), (20.0, 11.0, 0.0625), (6.0, 4.0, 90.0)],
    ),
    "stdtr": (
        lambda n, t: mpmath.betainc(
            n / 2, n / 2, 0, (1 + t / mpmath.sqrt(n + t * t)) / 2, regularized=True
        ),
        [(3.0, -0.5), (2.5, 0.0), (7.0, -12.0), (0.5, 2.0)],
    ),
}
TAIL_POINTS = [(name, at) for name, (_, points) in TAILS.items() for at in points]


@pytest.mark.parametrize("name, at", TAIL_POINTS)
def test_distribution_functions_have_a_derivative_in_every_argument(name, at):
    """F, 1 - F, and their gradients against mpmath; ∂F/∂θ by differences of 60 digits"""
    meaning = TAILS[name][0]
    with mpmath.workdps(60):
        points = [mpmath.mpf(x) for x in at]
        want = meaning(*points)
        rest, slopes = (
            1 - want,
            [mpmath.diff(meaning, points, _one_of(i, at)) for i in range(len(at))],
        )
    wrt = tuple(range(len(at)))
    sides = [(name, 1, want)] if name == "stdtr" else [(name, 1, want), (name + "c", -1, rest)]
    for each, sign, value in sides:
        function = getattr(tn.special, each)
        assert float(function(*at)) == pytest.approx(float(value), rel=1e-13)
        got = [float(slope) for slope in tn.grad(function, wrt)(*at)]
        assert got == pytest.approx([sign * float(slope) for slope in slopes], rel=1e-11)


def _one_of(place, operands):
    """Orders of a first partial derivative."""
    return tuple(int(i == place) for i in range(len(operands)))


@pytest.mark.parametrize("name", ["pdtr", "pdtrc"])
def test_counts_are_rounded_down(name):
    """pdtr(k, m) = Q(⌊k⌋ + 1, m), ∂/∂k = 0, ∂/∂m = -exp(-m) m^⌊k⌋/⌊k⌋!"""
    function, sign = getattr(tn.special, name), -1 if name == "pdtr" else 1
    slopes = tn.grad(function, (0, 1))(3.75, 2.0)
    assert float(slopes[0]) == 0
    assert float(slopes[1]) == pytest.approx(sign * np.exp(-2.0) * 8 / 6, rel=1e-14)


@pytest.mark.parametrize("name", ["fdtr", "fdtrc"])
@pytest.mark.parametrize(
    "at", [(inf, 3.0, 1.0), (3.0, inf, 1.0), (0.0, 2.0, 1.0), (2.0, 2.0, -1.0)]
)
def test_no_probability_of_degrees_without_a_distribution(name, at):
    assert np.isnan(float(getattr(tn.special, name)(*at)))


@pytest.mark.parametrize("x", [1e-160, -1e-8, 3.0, 1e-3])
def test_the_cosine_less_one_keeps_its_digits(x):
    with mpmath.workdps(400):
        want = [mpmath.cos(x) - 1, -mpmath.sin(x), -mpmath.cos(x)]
    slope = tn.grad(tn.special.cosm1)
    got = [float(tn.special.cosm1(x)), float(slope(x)), float(tn.grad(slope)(x))]
    np.testing.assert_allclose(got, np.array(want, float), rtol=2e-15, atol=1e-320)


@pytest.mark.parametrize("x", [-800.0, -40.0, 0.0, 40.0, 800.0])
def test_softplus_does_not_overflow(x):
    """ln(1 + eˣ), and its slope 1/(1 + e⁻ˣ)"""
    with mpmath.workdps(400):
        want = [mpmath.log1p(mpmath.exp(x)), 1 / (1 + mpmath.exp(-mpmath.mpf(x)))]
    got = [float(tn.special.softplus(x)), float(tn.grad(tn.special.softplus)(x))]
    np.testing.assert_allclose(got, np.array(want, float), rtol=1e-15)


def test_negative_binomial_likelihood():
    """The slope of a count model's likelihood, written with scipy.special as for plain NumPy"""
    counts = np.array([0.0, 3.0, 5.0, 1.0, 12.0])

    def loss(parameters):
        r, p = np.exp(parameters[0]), scipy_special.expit(parameters[1])
        terms = scipy_special.gammaln(counts + r) - scipy_special.gammaln(r)
        return -np.sum(terms + scipy_special.xlogy(counts, p) + r * np.log1p(-p))

    tn.check_grads(loss, (np.array([0.3, -0.2]),), order=2)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("order", [161, 200, 10**9, 2**70])
def test_a_polygamma_function_of_an_order_that_no_float_reaches_is_refused(order, dtype):
    with pytest.raises(tn.InvalidParameterError, match="an integer from 1 to 160"):
        tn.special.polygamma(order, np.ones(2, dtype))


def test_the_highest_polygamma_function_is_computed():
    x = np.array([0.9, 2.0, 5.0, 200.0])
    assert np.isfinite(np.asarray(tn.special.polygamma(160, x))).all()


@pytest.mark.parametrize("order", [5, 20, 30])
def test_modified_bessel_functions_of_high_orders_at_every_size(order):
    """exp(-x) Iₙ(x) of mpmath, on both sides of n²/2; of x < 0 the sign is (-1)ⁿ"""
    x = np.array([0.5, 12.0, 90.0, 199.0, 201.0, 300.0, 440.0, 700.0, 3000.0])
    want = np.array([float(mpmath.exp(-t) * mpmath.besseli(order, t)) for t in x])
    found = tn.special.ive(order, np.concatenate([x, -x]))
    np.testing.assert_allclose(found, np.concatenate([want, (-1) ** order * want]), rtol=1e-12)
    large = x[x <= 700]
    want = [float(mpmath.besseli(order, t)) for t in large]
    np.testing.assert_allclose(tn.special.iv(order, large), want, rtol=1e-12)
    assert tn.special.ive(order, np.zeros(2)).tolist() == [0, 0]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_gamma_of_large_numbers(dtype):
    """Γ → ∞, and ±0 between the poles far to the left"""
    x = np.array([1e3, 1e10, 1e30, np.inf, -1000.5, -1001.5], dtype)
    found = tn.special.gamma(x)
    np.testing.assert_array_equal(found, [np.inf] * 4 + [0, 0])
    np.testing.assert_array_equal(np.signbit(found[4:]), [True, False])
    np.testing.assert_array_equal(tn.special.rgamma(x[:4]), 0)


def test_reciprocals_of_gamma_far_to_the_left():
    """finite next to a zero though Γ(1 - x) overflows; slopes and bends at zeros overflow alike"""
    at = np.array([-170.7, -171 + 1e-6, -172 + 1e-9, -175 + 1e-12])
    want = [float(mpmath.rgamma(x)) for x in at]
    np.testing.assert_allclose(tn.special.rgamma(at), want, rtol=1e-12)
    single = at[:3].astype("f") + np.float32([137.2, 136, 135])  # -33.5, -35, -37
    want = [float(mpmath.rgamma(float(x))) for x in single]
    np.testing.assert_allclose(tn.special.rgamma(single), want, rtol=1e-5)
    slope = tn.grad(tn.special.rgamma)
    for place, sign in ((-171.0, -1), (-172.0, 1), (-1001.0, -1), (-1e18, 1)):
        assert float(slope(place)) == sign * inf
        assert float(tn.grad(slope)(place)) == -sign * inf
    np.testing.assert_allclose(tn.grad(slope)(-170.0), -7.458789637487292e307, rtol=1e-12)


@pytest.mark.parametrize(
    "law, shapes, factor",
    [("gamma", (2.0,), 1.0), ("chi2", (4.0,), 0.25), ("beta", (2.0, 2.0), 6.0)],
)
def test_a_density_where_x_to_the_shape_underflows(law, shapes, factor):
    """p(x) → factor · x, with the derivative factor"""
    density = lambda x: getattr(tn.stats, law).pdf(x, *shapes)  # noqa: E731
    for x in (1e-100, 1e-160, 1e-300):
        np.testing.assert_allclose(density(x), factor * x, rtol=1e-12)
        np.testing.assert_allclose(tn.grad(density)(x), factor, rtol=1e-12)


def test_the_beta_function_where_poles_cancel_or_an_argument_is_infinite():
    """B(a, b) is rational in a for an integer b; B(a, b) ~ Γ(a) b^-a"""
    a, b = np.array([-2.0, 3.0, -5.0, 0.0, inf, -0.5]), np.array([1.0, -4.0, 3.0, 0.0, inf, inf])
    want = [-1 / 2, -1 / 12, -1 / 30, inf, 0, -inf]
    np.testing.assert_allclose(tn.special.beta(a, b), want, rtol=1e-13)
