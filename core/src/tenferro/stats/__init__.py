"""Probability distributions that are differentiable here, by SciPy's names and signatures.

``scipy.stats`` converts what it is given, and refuses Arrays; ``tenferro.stats`` has the functions
of the same names: ``logpdf``, ``pdf``, ``cdf``, ``logcdf``, ``sf`` and ``logsf`` of continuous
distributions, ``logpmf`` and ``pmf`` for the densities of discrete ones. They are made of functions
that every backend has, and keep float32. Parameters without a meaning give nan. Read next:
``_standard.py``, then ``norm.py``.

>>> import tenferro as tn
>>> round(float(tn.grad(tn.stats.norm.logcdf)(-40.0)), 10)  # where Φ itself is 0 as a float32
40.0249688472
"""

from __future__ import annotations

from tenferro.stats import (
    bernoulli,
    beta,
    betabinom,
    binom,
    cauchy,
    chi2,
    dirichlet,
    expon,
    gamma,
    geom,
    gumbel_r,
    halfcauchy,
    halfnorm,
    invgamma,
    laplace,
    logistic,
    lognorm,
    multinomial,
    multivariate_normal,
    multivariate_t,
    nbinom,
    norm,
    pareto,
    poisson,
    t,
    truncnorm,
    uniform,
    vonmises,
    weibull_min,
)

__all__ = [
    "bernoulli",
    "beta",
    "betabinom",
    "binom",
    "cauchy",
    "chi2",
    "dirichlet",
    "expon",
    "gamma",
    "geom",
    "gumbel_r",
    "halfcauchy",
    "halfnorm",
    "invgamma",
    "laplace",
    "logistic",
    "lognorm",
    "multinomial",
    "multivariate_normal",
    "multivariate_t",
    "nbinom",
    "norm",
    "pareto",
    "poisson",
    "t",
    "truncnorm",
    "uniform",
    "vonmises",
    "weibull_min",
]
