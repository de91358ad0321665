"""Distributions as rows: what mpmath says of them, parameters, and points in body and tails."""

from typing import NamedTuple

import mpmath as mp


class Distribution(NamedTuple):
    name: str
    parameters: tuple
    points: tuple
    density: object  # (mp, x, *parameters) -> its density
    lower: object  # its distribution function
    upper: object  # 1 less that

    def __str__(self):
        return "-".join([self.name, *map(str, self.parameters)])


def _p(a, x):
    """P(a, x) by its series, which converges for every x (DLMF 8.7.1)."""
    return mp.exp(-x) * x**a / mp.gamma(a + 1) * mp.hyp1f1(1, a + 1, x)


def _q(a, x):
    return mp.gammainc(a, x, mp.inf) / mp.gamma(a)


def _i(a, b, x):
    """I_x(a, b) (DLMF 8.17.8)."""
    return x**a * (1 - x) ** b / (a * mp.beta(a, b)) * mp.hyp2f1(a + b, 1, a + 1, x)


def _t(x, df):
    if x == 0:
        return mp.mpf(1) / 2
    tail = _i(df / 2, mp.mpf(1) / 2, df / (df + x * x)) / 2
    return tail if x < 0 else 1 - tail


def _gamma(x, a):
    return x ** (a - 1) * mp.exp(-x) / mp.gamma(a)


def norm(*points):
    return Distribution("norm", (), points, mp.npdf, mp.ncdf, lambda x: mp.ncdf(-x))


def t(df, *points):
    def density(x, df):
        return (1 + x * x / df) ** (-(df + 1) / 2) / mp.sqrt(df) / mp.beta(df / 2, mp.mpf(1) / 2)

    return Distribution("t", (df,), points, density, _t, lambda x, df: _t(-x, df))


def gamma(a, *points):
    return Distribution("gamma", (a,), points, _gamma, lambda x, a: _p(a, x), lambda x, a: _q(a, x))


def chi2(df, *points):
    return Distribution(
        "chi2", (df,), points, lambda x, df: _gamma(x / 2, df / 2) / 2,
        lambda x, df: _p(df / 2, x / 2), lambda x, df: _q(df / 2, x / 2),
    )  # fmt: skip


def beta(a, b, *points):
    def density(x, a, b):
        return x ** (a - 1) * (1 - x) ** (b - 1) / mp.beta(a, b)

    return Distribution(
        "beta", (a, b), points, density, lambda x, a, b: _i(a, b, x),
        lambda x, a, b: _i(b, a, 1 - x),
    )  # fmt: skip


def poisson(mu, *points):
    return Distribution(
        "poisson", (mu,), points, lambda k, mu: mu**k * mp.exp(-mu) / mp.gamma(k + 1),
        lambda k, mu: _q(k + 1, mu), lambda k, mu: _p(k + 1, mu),
    )  # fmt: skip


def expon(*points):
    return Distribution(
        "expon", (), points, lambda x: mp.exp(-x), lambda x: -mp.expm1(-x), lambda x: mp.exp(-x)
    )


def _laplace(x):
    return mp.exp(x) / 2 if x < 0 else 1 - mp.exp(-x) / 2


def laplace(*points):
    return Distribution(
        "laplace", (), points, lambda x: mp.exp(-abs(x)) / 2, _laplace, lambda x: _laplace(-x)
    )


def _logistic(x):
    return 1 / (1 + mp.exp(-x))


def logistic(*points):
    return Distribution(
        "logistic", (), points, lambda x: _logistic(x) * _logistic(-x), _logistic,
        lambda x: _logistic(-x),
    )  # fmt: skip


def lognorm(s, *points):
    return Distribution(
        "lognorm", (s,), points, lambda x, s: mp.npdf(mp.log(x) / s) / (s * x),
        lambda x, s: mp.ncdf(mp.log(x) / s), lambda x, s: mp.ncdf(-mp.log(x) / s),
    )  # fmt: skip


def invgamma(a, *points):
    return Distribution(
        "invgamma", (a,), points, lambda x, a: _gamma(1 / x, a) / x**2,
        lambda x, a: _q(a, 1 / x), lambda x, a: _p(a, 1 / x),
    )  # fmt: skip


def nbinom(n, p, *points):
    def density(k, n, p):
        return mp.gamma(k + n) / (mp.gamma(n) * mp.gamma(k + 1)) * p**n * (1 - p) ** k

    return Distribution(
        "nbinom", (n, p), points, density, lambda k, n, p: _i(n, k + 1, p),
        lambda k, n, p: _i(k + 1, n, 1 - p),
    )  # fmt: skip


def binom(n, p, *points):
    return Distribution(
        "binom", (n, p), points, lambda k, n, p: mp.binomial(n, k) * p**k * (1 - p) ** (n - k),
        lambda k, n, p: _i(n - k, k + 1, 1 - p), lambda k, n, p: _i(k + 1, n - k, p),
    )  # fmt: skip


def bernoulli(p, *points):
    return Distribution(
        "bernoulli", (p,), points, lambda k, p: p if k else 1 - p,
        lambda k, p: mp.mpf(1) if k else 1 - p, lambda k, p: mp.mpf(0) if k else p,
    )  # fmt: skip


def geom(p, *points):
    return Distribution(
        "geom", (p,), points, lambda k, p: p * (1 - p) ** (k - 1), lambda k, p: 1 - (1 - p) ** k,
        lambda k, p: (1 - p) ** k,
    )  # fmt: skip


def uniform(*points):
    return Distribution("uniform", (), points, lambda x: mp.mpf(1), lambda x: x, lambda x: 1 - x)


def cauchy(*points):
    return Distribution(
        "cauchy", (), points, lambda x: 1 / (mp.pi * (1 + x * x)),
        lambda x: mp.atan2(1, -x) / mp.pi, lambda x: mp.atan2(1, x) / mp.pi,
    )  # fmt: skip


def halfcauchy(*points):
    return Distribution(
        "halfcauchy", (), points, lambda x: 2 / (mp.pi * (1 + x * x)),
        lambda x: 2 * mp.atan(x) / mp.pi, lambda x: 2 * mp.atan2(1, x) / mp.pi,
    )  # fmt: skip


def halfnorm(*points):
    return Distribution(
        "halfnorm", (), points, lambda x: 2 * mp.npdf(x), lambda x: mp.erf(x / mp.sqrt(2)),
        lambda x: mp.erfc(x / mp.sqrt(2)),
    )  # fmt: skip


def gumbel_r(*points):
    return Distribution(
        "gumbel_r", (), points, lambda x: mp.exp(-x - mp.exp(-x)), lambda x: mp.exp(-mp.exp(-x)),
        lambda x: -mp.expm1(-mp.exp(-x)),
    )  # fmt: skip


def pareto(b, *points):
    return Distribution(
        "pareto", (b,), points, lambda x, b: b * x ** -(b + 1), lambda x, b: 1 - x**-b,
        lambda x, b: x**-b,
    )  # fmt: skip


def weibull_min(c, *points):
    return Distribution(
        "weibull_min", (c,), points, lambda x, c: c * x ** (c - 1) * mp.exp(-(x**c)),
        lambda x, c: -mp.expm1(-(x**c)), lambda x, c: mp.exp(-(x**c)),
    )  # fmt: skip


def truncnorm(a, b, *points):
    def mass(a, b):
        return mp.ncdf(-a) - mp.ncdf(-b) if a > 0 else mp.ncdf(b) - mp.ncdf(a)

    return Distribution(
        "truncnorm", (a, b), points, lambda x, a, b: mp.npdf(x) / mass(a, b),
        lambda x, a, b: mass(a, x) / mass(a, b), lambda x, a, b: mass(x, b) / mass(a, b),
    )  # fmt: skip


ROWS = [
    norm(-60.0, -8.5, -1.0, 0.0, 0.75, 7.5, 45.0),
    t(1.0, -1e12, -30.0, -0.5, 0.0, 0.5, 1e5),
    t(3.5, -1e9, -8.0, -1.25, 0.0, 2.0, 60.0),
    t(400.0, -900.0, -25.0, -0.25, 0.0, 1.5, 80.0),
    gamma(0.25, 1e-300, 1e-3, 0.5, 4.0, 30.0, 2000.0),
    gamma(1.0, 1e-9, 0.5, 3.0, 900.0),
    gamma(40.0, 1e-12, 2.0, 30.0, 45.0, 120.0, 1500.0),
    chi2(1.0, 1e-8, 0.5, 4.0, 60.0, 3000.0),
    chi2(9.0, 1e-50, 0.5, 9.0, 40.0, 2500.0),
    beta(0.5, 0.5, 1e-12, 0.125, 0.5, 0.875),
    beta(3.0, 1.5, 1e-70, 0.0625, 0.5, 0.9375),
    beta(300.0, 200.0, 0.03125, 0.5, 0.625, 0.9375),
    expon(1e-300, 0.5, 0.75, 800.0),
    laplace(-800.0, -0.5, 0.0, 0.5, 40.0),
    logistic(-800.0, -0.5, 0.0, 0.5, 40.0),
    lognorm(0.25, 1e-5, 0.5, 1.0, 2.0, 1e6),
    invgamma(2.5, 1e-3, 0.25, 1.0, 8.0, 1e9),
    poisson(0.25, 0, 1, 4, 30, 300),
    poisson(30.0, 0, 3, 30, 60, 800),
    poisson(1500.0, 0, 700, 1500, 1600),
    nbinom(0.25, 0.0625, 0, 1, 10, 400),
    nbinom(40.0, 0.75, 0, 3, 13, 90, 700),
    binom(9, 0.25, 0, 2, 8),
    binom(1000, 0.4375, 0, 300, 440, 700, 999),
    bernoulli(0.25, 0, 1),
    geom(0.75, 1, 2, 9, 500),
    geom(2.0**-40, 1, 9, 10**13),
    uniform(1e-300, 0.25, 0.875),
    cauchy(-1e12, -0.5, 0.0, 0.5, 1e100),
    halfcauchy(1e-200, 0.5, 2.0, 1e12),
    halfnorm(1e-200, 1e-5, 0.5, 8.0, 45.0),
    gumbel_r(-6.0, -0.5, 0.0, 3.0, 800.0),
    pareto(2.5, 1.03125, 2.0, 1e30),
    weibull_min(0.75, 1e-200, 0.5, 2.0, 1e4),
    weibull_min(3.0, 1e-120, 0.5, 1.0, 8.0),
    truncnorm(-1.5, 2.0, -1.25, 0.0, 1.75),
    truncnorm(5.0, 40.0, 5.5, 8.0, 38.0),
    truncnorm(-40.0, -5.0, -38.0, -8.0, -5.5),
]  # fmt: skip
