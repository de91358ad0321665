"""tn.stats: values are mpmath's, in the tails too; derivatives are those of differences."""

import mpmath as mp
import numpy as np
import pytest
from distributions import ROWS
from scipy import stats as theirs

import tenferro as tn


def log_of(tail, rest):
    return mp.log1p(-rest) if rest < tail else mp.log(tail)


FORMS = {  # function: what it is, in mpmath
    "pdf": lambda row, *at: row.density(*at),
    "logpdf": lambda row, *at: mp.log(row.density(*at)),
    "cdf": lambda row, *at: row.lower(*at),
    "sf": lambda row, *at: row.upper(*at),
    "logcdf": lambda row, *at: log_of(row.lower(*at), row.upper(*at)),
    "logsf": lambda row, *at: log_of(row.upper(*at), row.lower(*at)),
}
INF, NAN = np.inf, np.nan
NAMES = sorted({row.name for row in ROWS})
LEGAL = {
    "norm": (), "t": (2.5,), "gamma": (2.5,), "chi2": (3.0,), "beta": (2.5, 1.5),
    "expon": (), "laplace": (), "logistic": (), "lognorm": (0.75,), "invgamma": (2.5,),
    "poisson": (3.25,), "nbinom": (2.5, 0.4), "binom": (7, 0.4), "bernoulli": (0.4,),
    "geom": (0.4,), "uniform": (), "cauchy": (), "halfcauchy": (), "halfnorm": (), "gumbel_r": (),
    "pareto": (2.5,), "weibull_min": (2.5,), "truncnorm": (-1.5, 2.0),
}  # fmt: skip
SUPPORT = {  # points inside of it for differences; elsewhere 0.25, 1 and 6
    "beta": [0.25, 0.5, 0.8], "uniform": [0.25, 0.5, 0.8], "truncnorm": [0.25, 0.5, 0.8],
    "pareto": [2.0, 3.0, 6.0],
}  # fmt: skip
COUNTS = {"bernoulli": [0], "geom": [1, 2, 6]}  # inside of the support; elsewhere 0, 2 and 6
DISCRETE = {
    "poisson": 0,
    "nbinom": 0,
    "binom": 1,
    "bernoulli": 0,
    "geom": 0,
}  # the first parameter with a derivative


def ours(name, form, of=tn.stats):
    """The function of a distribution; a discrete one has ``pmf`` for ``pdf``."""
    if name in DISCRETE:
        form = form.replace("pdf", "pmf")
    return getattr(getattr(of, name), form)


def expected(row, form, x, scale=1, loc=0):
    z = (mp.mpf(x) - loc) / scale
    with mp.workdps(120):
        return float(FORMS[form](row, z, *map(mp.mpf, row.parameters)))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_values_are_those_of_mpmath(row, form):
    """f(x) to 1e-12 of what mpmath computes; what is below every float is 0"""
    x = np.array(row.points)
    got = ours(row.name, form)(x, *row.parameters)
    want = np.array([expected(row, form, each) for each in row.points])
    np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-300)


def _gamma_tails(x, a):
    if x < a:
        return (tail := mp.gammainc(a, 0, x, regularized=True)), 1 - tail
    return 1 - (tail := mp.gammainc(a, x, mp.inf, regularized=True)), tail


def _beta_tails(x, a, b):
    return mp.betainc(a, b, 0, x, regularized=True), mp.betainc(b, a, 0, 1 - x, regularized=True)


def _t_tails(x, df):
    tail = mp.betainc(df / 2, 0.5, 0, df / (df + x * x), regularized=True) / 2
    return (tail, 1 - tail) if x < 0 else (1 - tail, tail)


LARGE = {  # points and parameters, the tails in mpmath
    "gamma": ([(9.95e5, 1e6), (9.63e5, 1e6), (1.005e6, 1e6), (1.038e6, 1e6), (5798.2, 4000.0)],
              _gamma_tails),
    "beta": ([(3.5196e-7, 3.0, 1e7), (2.1342e-6, 20.0, 1e7), (1e-20, 0.5, 0.5),
              (0.9999, 1e5, 0.05)], _beta_tails),
    "t": ([(1e200, 0.01), (-1e200, 0.01), (1e8, 1.0), (-9.0, 1e4), (3.0, 1e4), (-5.0, 7e7),
           (0.5, 1e9)], _t_tails),
}  # fmt: skip


@pytest.mark.parametrize("name", LARGE)
def test_tails_at_large_shapes_are_those_of_mpmath(name):
    """F, 1 - F and their logarithms to 1e-12, also where SciPy's P(a, x) has lost its digits"""
    points, tails = LARGE[name]
    at = np.array(points).T
    with mp.workdps(60):
        lower, upper = zip(*[tails(*map(mp.mpf, each)) for each in points], strict=True)
        want = {
            "cdf": lower,
            "sf": upper,
            "logcdf": [log_of(*each) for each in zip(lower, upper, strict=True)],
            "logsf": [log_of(*each) for each in zip(upper, lower, strict=True)],
        }
    for form, values in want.items():
        got = ours(name, form)(*at)
        np.testing.assert_allclose(got, np.array(values, float), rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("form", ["cdf", "sf", "logcdf", "logsf"])
@pytest.mark.parametrize("df", [1e19, 1e30, 1e200])
def test_a_distribution_function_of_very_many_degrees_is_the_normal_one(df, form):
    at = np.array([-30.0, -5.0, -0.5, 0.0, 0.5, 5.0])
    np.testing.assert_allclose(ours("t", form)(at, df), ours("norm", form)(at), rtol=1e-12)


@pytest.mark.parametrize("mode", [tn.jacrev, tn.jacfwd])
@pytest.mark.parametrize("df", [300.0, 2.1e3, 1e5, 1e8])
def test_slopes_of_a_distribution_function_are_the_density_at_many_degrees(df, mode):
    """dF/dx = f, -d(1 - F)/dx = f: what is not selected there overflows, and must not be seen"""
    at = np.array([-8.0, -1.0, 0.0, 0.5, 3.0])
    want = tn.stats.t.pdf(at, df)
    for form, sign in (("cdf", 1), ("sf", -1)):
        found = np.diagonal(mode(lambda x, form=form: ours("t", form)(x, df))(at))
        np.testing.assert_allclose(found, sign * want, rtol=1e-10)
        single = mode(lambda x, form=form: ours("t", form)(x, np.float32(df)))(np.float32(0.5))
        np.testing.assert_allclose(single, sign * want[3], rtol=4e-6 * np.sqrt(df))


def _log_density_of_t(x, df):
    half = df / 2
    growth = (half + 0.5) * mp.log1p(x * x / df)
    return mp.loggamma(half + 0.5) - mp.loggamma(half) - mp.log(df * mp.pi) / 2 - growth


@pytest.mark.parametrize("df", [0.5, 40.0, 99.0, 101.0, 1e4, 1e8, 1e12, 1e20])
@pytest.mark.parametrize("x", [0.0, 2.0, 30.0, 1e200])
def test_density_of_t_and_two_derivatives_by_its_degrees_of_freedom(x, df):
    """ln f and its derivatives by df to 1e-13, also where the distribution is nearly normal"""

    def f(df):
        return tn.stats.t.logpdf(x, df)

    with mp.workdps(80):
        step = df * mp.mpf(10) ** -20
        want = [
            mp.diff(lambda df: _log_density_of_t(mp.mpf(x), df), df, n, h=step) for n in range(3)
        ]
    got = [f(df), tn.grad(f)(df), tn.grad(tn.grad(f))(df)]
    np.testing.assert_allclose(np.array(got, float), np.array(want, float), rtol=1e-13)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", NAMES)
def test_location_and_scale_broadcast_as_in_scipy(name, form):
    """f(x, loc, scale) of a column, a row and a number"""
    x, loc = np.array([[0.5], [1.0], [2.0]]), np.array([0.0, 0.25, -1.0])
    scale = {} if name in DISCRETE else {"scale": np.array(1.5)}
    loc = np.floor(loc) if name in DISCRETE else loc
    got = ours(name, form)(x, *LEGAL[name], loc=loc, **scale)
    want = ours(name, form, theirs)(x, *LEGAL[name], loc=loc, **scale)
    assert got.shape == (3, 3)
    np.testing.assert_allclose(got, want, rtol=1e-12)


CONTINUOUS = [row for row in ROWS if row.name not in DISCRETE]


@pytest.mark.parametrize("form", ["logcdf", "logsf"])
@pytest.mark.parametrize("row", CONTINUOUS, ids=str)
def test_slopes_of_the_logarithms_of_tails(row, form):
    """d/dx ln F = f/F and d/dx ln(1 - F) = -f/(1 - F), also where F underflows"""
    f = ours(row.name, form)
    got = tn.grad(lambda x: np.sum(f(x, *row.parameters)))(np.array(row.points))
    tail, sign = ("cdf", 1) if form == "logcdf" else ("sf", -1)
    with mp.workdps(120):
        parts = [[mp.mpf(x), *map(mp.mpf, row.parameters)] for x in row.points]
        want = [sign * row.density(*at) / FORMS[tail](row, *at) for at in parts]
    np.testing.assert_allclose(got, np.array(want, float), rtol=2e-11)


def check_derivatives(name, form):
    """Compare derivatives by x, loc, scale and shapes with differences, twice."""
    f, shapes = ours(name, form), LEGAL[name]
    if name in DISCRETE:
        first, k = DISCRETE[name], np.array(COUNTS.get(name, [0, 2, 6]))
        varying = tuple(map(np.array, shapes[first:]))
        tn.check_grads(lambda *some: f(k, *shapes[:first], *some), varying, order=2)
        return
    x = np.array(SUPPORT.get(name, [0.25, 1.0, 6.0]))
    x = np.concatenate([x, -x, [0.0]]) if name in ("norm", "t", "logistic", "cauchy") else x

    def value(p):
        return f(x * p[0], *p[3:], loc=p[1], scale=p[2])

    tn.check_grads(value, (np.array([1.5, 0.25, 1.5, *shapes]),), order=2)


@pytest.mark.parametrize("form", ["logpdf", "pdf", "cdf", "sf"])
@pytest.mark.parametrize("name", NAMES)
def test_derivatives_are_those_of_differences(name, form):
    """by x, loc, scale and shapes, twice"""
    check_derivatives(name, form)


@pytest.mark.parametrize("form", ["logcdf", "logsf"])
@pytest.mark.parametrize("name", NAMES)
def test_derivatives_of_logarithms_are_those_of_differences(name, form):
    """by x, loc, scale and shapes, twice"""
    check_derivatives(name, form)


@pytest.mark.parametrize("name, form", [("t", "logcdf"), ("gamma", "logsf"), ("beta", "logcdf")])
def test_derivatives_by_shapes_far_out(name, form):
    """where the tail itself is 0"""
    x = {"t": -1e80, "gamma": 900.0, "beta": 1e-140}[name]
    f, shapes = ours(name, form), [np.array(shape) for shape in LEGAL[name]]
    shapes = [np.array(9.0)] if name == "t" else shapes
    assert f(x, *map(float, shapes)) < -700
    tn.check_grads(lambda *shapes: f(x, *shapes), tuple(shapes), order=2)


EDGES = np.array([-INF, -1.0, -0.0, 0.0, 0.5, 1.0, 2.0, INF, NAN])


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", NAMES)
def test_edges_are_those_of_scipy(name, form, dtype):
    """ends of the support, outside of it, inf and NaN; the dtype stays"""
    cases = [LEGAL[name], *[(1.0,) * len(LEGAL[name])] * (name in ("gamma", "beta"))]
    for shapes in cases:
        got = ours(name, form)(EDGES.astype(dtype), *shapes)
        with np.errstate(all="ignore"):
            want = ours(name, form, theirs)(EDGES, *shapes)
        if form in ("pdf", "logpdf"):  # SciPy has nan for some of them
            want[(EDGES == INF) | (EDGES <= 0) & np.isnan(want)] = -INF if form == "logpdf" else 0.0
        assert got.dtype == dtype
        np.testing.assert_allclose(got, want, rtol=1e-12 if dtype == "float64" else 2e-5)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", [name for name in NAMES if name != "truncnorm"])
def test_parameters_without_a_meaning_give_nan_and_so_do_derivatives(name, form):
    """each parameter at -1, inside of the support and outside"""
    f, x = ours(name, form), np.array([-0.5, 2.5 if name == "pareto" else 0.5])
    x = x + (name == "geom")
    last = () if name in DISCRETE else (1.5,)
    values = [*LEGAL[name], *last]

    def value(*given):
        scale = {} if name in DISCRETE else {"scale": given[-1]}
        return f(np.floor(x), *given[: len(LEGAL[name])], **scale)

    def one(*given):
        return value(*given)[1]

    for place in range(len(values)):
        given = [np.array(-1.0 if i == place else value) for i, value in enumerate(values)]

        assert np.isnan(value(*given)).all()
        slope = tn.grad(one, argnums=max(place, DISCRETE.get(name, 0)))
        assert np.isnan(slope(*given))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("bounds", [(1.0, 1.0), (2.0, -1.0), (NAN, 1.0)])
def test_bounds_without_a_mass_give_nan_and_so_do_derivatives(bounds, form):
    """of a normal distribution between a >= b, inside and outside"""
    f = ours("truncnorm", form)
    assert np.isnan(f(np.array([-3.0, 1.0, 3.0]), *bounds)).all()
    assert np.isnan(tn.grad(f, argnums=(0, 1, 2))(1.0, *bounds)).all()


@pytest.mark.parametrize("form", FORMS)
def test_infinite_bounds(form):
    """a normal distribution, and half of one; derivatives by the other bound are finite"""
    f, x = ours("truncnorm", form), np.array([0.5, 1.0])
    np.testing.assert_allclose(f(x, -INF, INF), ours("norm", form)(x), rtol=1e-13)
    np.testing.assert_allclose(f(x, 0.0, INF), ours("halfnorm", form)(x), rtol=1e-13)
    tn.check_grads(lambda x, a: f(x, a, INF), (x, np.array(-1.0)), order=2)
    tn.check_grads(lambda x, b: f(x, -INF, b), (x, np.array(2.0)), order=2)


@pytest.mark.parametrize("kappa", [0.0, 0.5, 40.0, 1e4])
def test_density_on_a_circle(kappa):
    """vonmises: exp(κ cos z) / 2π I₀(κ), and the derivative by κ, cos z - I₁(κ)/I₀(κ)"""
    f, points = tn.stats.vonmises, [-3.0, 0.0, 0.25, 7.0]
    with mp.workdps(50):
        scale = 2 * mp.pi * mp.besseli(0, kappa)
        want = [mp.mpf(kappa) * mp.cos(x) - mp.log(scale) for x in points]
        ratio = mp.besseli(1, kappa) / mp.besseli(0, kappa)
        slopes = [mp.cos(x) - ratio for x in points]
    x = np.array(points)
    np.testing.assert_allclose(f.logpdf(x, kappa), np.array(want, float), rtol=1e-12)
    np.testing.assert_allclose(f.pdf(x, kappa), np.exp(np.array(want, float)), rtol=1e-10)
    by_kappa = tn.jacobian(lambda kappa: f.logpdf(x, kappa))(kappa)
    np.testing.assert_allclose(by_kappa, np.array(slopes, float), rtol=1e-9, atol=1e-13)


def test_concentrations_without_a_meaning_give_nan():
    """vonmises: κ < 0, and with a location and a scale as in SciPy"""
    f = tn.stats.vonmises
    assert np.isnan(f.pdf(0.0, -1.0))
    np.testing.assert_allclose(f.pdf(1.0, 2.0, 0.5, 3.0), theirs.vonmises.pdf(1.0, 2.0, 0.5, 3.0))
    tn.check_grads(lambda *at: f.logpdf(*at), tuple(map(np.array, (1.0, 2.0, 0.5, 3.0))), order=2)


@pytest.mark.parametrize("name", NAMES)
def test_in_jit_and_vmap(name):
    """jit f = f = vmap of f over elements; so for derivatives"""
    f = ours(name, "logsf")
    x = np.array([0.25, 0.5, 0.75]) if name not in DISCRETE else np.arange(3)
    shapes = LEGAL[name]
    want = f(x, *shapes)
    np.testing.assert_allclose(tn.jit(f)(x, *shapes), want, rtol=1e-13)
    np.testing.assert_allclose(tn.vmap(lambda x: f(x, *shapes))(x), want, rtol=1e-13)
    if shapes:
        last = len(shapes) - 1
        slope = tn.grad(lambda *shapes: np.sum(f(x, *shapes)), argnums=last)
        np.testing.assert_allclose(tn.jit(slope)(*shapes), slope(*shapes), rtol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_integers_numbers_and_empty_arrays(name):
    """integers count as float64; 0-d stays 0-d, nothing stays nothing"""
    f, shapes = ours(name, "logpdf"), LEGAL[name]
    assert f(np.arange(2), *shapes).dtype == "float64"
    assert isinstance(f(1, *shapes), np.float64)
    assert f(np.zeros((0, 2), "float32"), *shapes).shape == (0, 2)
    assert isinstance(f(tn.asarray(0.5), *shapes), tn.Array)


@pytest.mark.parametrize("q", [1e-300, 0.25, 0.5, 1.0])
def test_quantiles_of_the_normal_distribution(q):
    """cdf(ppf(q)) = q = sf(isf(q))"""
    np.testing.assert_allclose(tn.stats.norm.ppf(q, 0.5, 2.0), theirs.norm.ppf(q, 0.5, 2.0))
    np.testing.assert_allclose(tn.stats.norm.isf(q, 0.5, 2.0), theirs.norm.isf(q, 0.5, 2.0))


def test_a_degree_of_inf_is_the_normal_distribution():
    """t(inf) = norm, beside finite degrees"""
    x = np.array([-50.0, -1.0, 0.0, 2.0])
    for form in FORMS:
        got = ours("t", form)(x, np.array([[INF], [3.0]]))
        np.testing.assert_allclose(got[0], ours("norm", form)(x), rtol=1e-14)


# ---- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", DISCRETE)
def test_a_derivative_by_a_count_is_refused(name, form):
    """never a silent 0; a number of trials is one, too"""
    f, parameters = ours(name, form), LEGAL[name]
    for place in range(DISCRETE[name] + 1):
        with pytest.raises(tn.MissingRuleError, match=f"{name}: .* count"):
            tn.grad(f, argnums=place)(3.0, *map(float, parameters))
    with pytest.raises(tn.MissingRuleError, match="count"):
        tn.jvp(lambda k: f(k, *parameters), (3.5,), (1.0,))


ENDS = [  # function, a parameter at its end, the derivative by it there
    (lambda p: tn.stats.binom.pmf(0, 3, p), 0.0, -3.0),
    (lambda p: tn.stats.binom.pmf(1, 3, p), 0.0, 3.0),
    (lambda p: tn.stats.binom.pmf(3, 3, p), 1.0, 3.0),
    (lambda p: tn.stats.binom.logpmf(3, 3, p), 1.0, 3.0),
    (lambda p: tn.stats.binom.cdf(2, 3, p), 1.0, -3.0),
    (lambda p: tn.stats.binom.sf(0, 3, p), 0.0, 3.0),
    (lambda p: tn.stats.nbinom.pmf(0, 3.0, p), 1.0, 3.0),
    (lambda p: tn.stats.nbinom.pmf(1, 3.0, p), 1.0, -3.0),
    (lambda p: tn.stats.nbinom.logpmf(0, 3.0, p), 1.0, 3.0),
    (lambda p: tn.stats.nbinom.sf(0, 3.0, p), 1.0, -3.0),
    (lambda p: tn.stats.bernoulli.logpmf(1, p), 1.0, 1.0),
    (lambda p: tn.stats.bernoulli.logpmf(0, p), 0.0, -1.0),
    (lambda p: tn.stats.bernoulli.pmf(0, p), 0.0, -1.0),
    (lambda p: tn.stats.geom.pmf(1, p), 1.0, 1.0),
    (lambda p: tn.stats.geom.pmf(2, p), 1.0, -1.0),
    (lambda p: tn.stats.geom.logpmf(1, p), 1.0, 1.0),
    (lambda p: tn.stats.geom.cdf(1, p), 1.0, 1.0),
    (lambda p: tn.stats.geom.sf(1, p), 1.0, -1.0),
]


@pytest.mark.parametrize("f, end, want", ENDS)
def test_derivatives_at_the_ends_of_a_probability(f, end, want):
    assert tn.grad(f)(end) == pytest.approx(want, rel=1e-13)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", DISCRETE)
def test_values_below_and_beyond_all_counts_are_constant(name, form):
    """At -1 and inf the derivative by the last parameter is 0, also where inf times 0 is nan"""
    f, (*others, last) = ours(name, form), LEGAL[name]
    slopes = tn.jacrev(lambda p: f(np.array([-1.0, INF]), *others, p))(last)
    np.testing.assert_array_equal(slopes, [0.0, 0.0])


@pytest.mark.parametrize("form", ["logpmf", "logcdf", "logsf"])
@pytest.mark.parametrize("k", [0, 3, 40])
def test_many_trials_and_a_small_dispersion_are_nearly_poissons(k, form):
    """binom(n, μ/n) and nbinom(n, n/(n + μ)) for n → ∞, with relative differences of (k + μ)²/n"""
    mu, n = 4.0, 2.0**30
    want = getattr(tn.stats.poisson, form)(k, mu)
    for got in (
        getattr(tn.stats.binom, form)(k, n, mu / n),
        getattr(tn.stats.nbinom, form)(k, n, n / (n + mu)),
    ):
        np.testing.assert_allclose(got, want, rtol=1e-5)


def test_tails_of_failures_before_the_first_success_are_powers():
    """ln(1 - F(k)) = (k + 1) ln(1 - p) for n = 1, also where k² is above every float"""
    k = np.array([50.0, 1e9, 1e100, 1e200, 1e300, 1e308])
    expected = (k + 1) * np.log1p(-0.3)
    np.testing.assert_allclose(tn.stats.nbinom.logsf(k, 1.0, 0.3), expected, rtol=1e-14)


@pytest.mark.parametrize("name", NAMES)
def test_complex_operands_and_shapes_that_do_not_fit_are_refused(name):
    f, shapes = ours(name, "cdf"), LEGAL[name]
    with pytest.raises(tn.DTypeMismatchError, match=f"{name}.cdf"):
        f(1j, *shapes)
    with pytest.raises(tn.ShapeMismatchError, match="broadcast"):
        f(np.ones(3), *shapes, loc=np.ones(2))


def test_scipys_own_function_names_ours():
    """a hint where the user's line calls scipy.stats"""

    def loss(x):
        return theirs.norm.logpdf(x)

    with pytest.raises(tn.TracedConversionError, match=r"tenferro\.stats\.norm\.logpdf") as found:
        tn.grad(loss)(1.0)
    assert found.value.function == "scipy.stats.norm.logpdf"
    with pytest.raises(tn.TracedConversionError, match=r"of another distribution"):
        tn.grad(lambda x: theirs.skewnorm.logpdf(x, 1.0))(1.0)
    with pytest.raises(tn.TracedConversionError, match=r"vonmises` has logpdf, pdf, and no `cdf`"):
        tn.grad(lambda x: theirs.vonmises.cdf(x, 1.0))(1.0)
    with pytest.raises(tn.TracedConversionError, match=r"tenferro\.random"):
        tn.grad(lambda x: theirs.poisson.rvs(x))(1.0)
