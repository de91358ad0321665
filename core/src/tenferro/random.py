"""Random numbers from keys: the same numbers on every backend, and no state anywhere.

A key goes into every function and is used once; ``split`` makes new ones of it. The parameters of
a distribution, such as ``loc`` and ``scale``, broadcast against ``shape``; without it, the result
has their shape. Without ``dtype``, the result has the floating dtype of those parameters that are
arrays, or float64.

>>> from tenferro import random
>>> first, second = random.split(random.key(0))
>>> random.normal(first, (2, 3)).shape
(2, 3)
"""

from __future__ import annotations

from importlib import import_module

from tenferro.arrays.functions.random.continuous import (
    bits,
    cauchy,
    exponential,
    gumbel,
    laplace,
    logistic,
    lognormal,
    normal,
    truncated_normal,
    uniform,
)
from tenferro.arrays.functions.random.counts import binomial, poisson
from tenferro.arrays.functions.random.discrete import bernoulli, categorical, randint
from tenferro.arrays.functions.random.gamma import (
    beta,
    chisquare,
    dirichlet,
    gamma,
    loggamma,
    student_t,
)
from tenferro.arrays.functions.random.keys import NotAKeyError, fold_in, key, split
from tenferro.arrays.functions.random.ordering import choice, permutation
from tenferro.arrays.functions.random.several import multivariate_normal
from tenferro.primitives._boundary import publish as _publish

__all__ = [
    "NotAKeyError",
    "bernoulli",
    "beta",
    "binomial",
    "bits",
    "categorical",
    "cauchy",
    "chisquare",
    "choice",
    "dirichlet",
    "exponential",
    "fold_in",
    "gamma",
    "gumbel",
    "key",
    "laplace",
    "loggamma",
    "logistic",
    "lognormal",
    "multivariate_normal",
    "normal",
    "permutation",
    "poisson",
    "randint",
    "split",
    "student_t",
    "truncated_normal",
    "uniform",
]

_publish(globals(), __all__)


def __getattr__(name: str) -> None:
    """Raise the error for a name that is not here, with what to write instead."""
    import_module("tenferro.arrays.diagnosis.missing_names").refuse_name(f"random.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
