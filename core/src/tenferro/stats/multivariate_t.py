"""Student's t distribution of several variables, as ``scipy.stats.multivariate_t``.

The shape is a matrix, a vector for its diagonal, or a number; beyond SciPy, stacks of places,
matrices and degrees of freedom broadcast. With df = inf it is the normal distribution. Of a matrix
the symmetric part is taken, so that gradients with respect to it are symmetric.
"""

from __future__ import annotations

from math import inf, lgamma, pi
from math import log as ln
from typing import Any

from tenferro.arrays.evaluation.results import publish_kinds as _publish_kinds
from tenferro.arrays.functions.comparison import equal
from tenferro.arrays.functions.elementwise import exp, log, log1p
from tenferro.arrays.functions.linalg.triangular import cholesky
from tenferro.arrays.functions.special import betaln
from tenferro.arrays.handle.array import Array
from tenferro.primitives._boundary import publish as _publish
from tenferro.stats._standard import choose, operands, positive
from tenferro.stats.multivariate_normal import half_log_determinant, spread, squared_distance

__all__ = ["logpdf", "pdf"]


def logpdf(x: Any, loc: Any = None, shape: Any = 1, df: Any = 1) -> Array:
    """Compute the logarithm of the density.

    x: f[*s, n]   loc: f[*t, n]   shape: f[*u, n, n]   df: f[*v]   →   y: f[their common shape]

    Raises       ShapeMismatchError.

    >>> from tenferro.stats import multivariate_t
    >>> float(multivariate_t.logpdf([0.0, 0.0], shape=[[1.0, 0.0], [0.0, 1.0]], df=2.0))
    -1.8378770664093453
    """
    return _log_density("multivariate_t.logpdf", x, loc, shape, df)


def pdf(x: Any, loc: Any = None, shape: Any = 1, df: Any = 1) -> Array:
    """Compute the density; arguments as those of ``logpdf``."""
    return exp(_log_density("multivariate_t.pdf", x, loc, shape, df))


def _log_density(function: str, x: Any, loc: Any, shape: Any, df: Any) -> Array:
    """Compute ln Γ((df + n)/2) - ln Γ(df/2) as ln Γ(n/2) - ln B(df/2, n/2): both may be large."""
    given = spread(function, x, loc, shape)
    degrees = positive(operands(function, df, given.cov, broadcasts=False)[0])
    factor = cholesky(given.cov)
    n = factor.shape[-1]
    distance = squared_distance(given.away, factor)
    is_normal = equal(degrees, inf)
    degrees = choose(is_normal, 1.0, degrees)
    half = n / 2
    ratio = lgamma(half) - betaln(degrees * 0.5, half) - half * log(degrees * 0.5)
    heavy = ratio - (degrees + n) * 0.5 * log1p(distance / degrees)
    density = choose(is_normal, distance * -0.5, heavy)
    return density - half * ln(2 * pi) - half_log_determinant(factor)


_publish_kinds(globals(), __all__)
_publish(globals(), __all__)
