"""The normal distribution of several variables, as ``scipy.stats.multivariate_normal``.

The covariance is a matrix, a vector for its diagonal, or a number; beyond SciPy, stacks of means
and matrices broadcast. A singular covariance needs ``allow_singular``, as there.
Of a matrix the symmetric part is taken, so that gradients with respect to it are symmetric.
"""

from __future__ import annotations

from math import inf, pi, prod
from math import log as ln
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays.errors import at_user_line
from tenferro.arrays.evaluation.results import publish_kinds as _publish_kinds
from tenferro.arrays.functions.arithmetic import absolute, sqrt
from tenferro.arrays.functions.comparison import greater, greater_equal
from tenferro.arrays.functions.contraction import matmul
from tenferro.arrays.functions.data_types import finfo
from tenferro.arrays.functions.elementwise import exp, log
from tenferro.arrays.functions.linalg.eigenproblems import eigh
from tenferro.arrays.functions.linalg.triangular import cholesky, solve_triangular
from tenferro.arrays.functions.reduction import max as max_of
from tenferro.arrays.functions.reduction import sum as sum_of
from tenferro.arrays.functions.structural import matrix_transpose, reshape
from tenferro.arrays.functions.taking import diagonal
from tenferro.arrays.functions.triangles import diag, eye
from tenferro.arrays.handle.array import Array
from tenferro.primitives import ShapeMismatchError
from tenferro.primitives._boundary import publish as _publish
from tenferro.stats._standard import choose, operands
from tenferro.tidu import MissingRuleError
from tenferro.transforms import custom_jvp

__all__ = ["entropy", "logpdf", "pdf"]


class _Given(NamedTuple):
    """Points [*s, n] less the mean, and the covariance [*t, n, n]."""

    away: Array
    cov: Array


def logpdf(x: Any, mean: Any = None, cov: Any = 1, allow_singular: bool = False) -> Array:
    """Compute the logarithm of the density.

    x: f[*s, n]   mean: f[*t, n]   cov: f[*u, n, n]   →   y: f[their common shape]

    With ``allow_singular`` the density is that on the image of the covariance, 0 elsewhere, and a
    derivative with respect to the covariance is refused: a rank has none.

    Raises       ShapeMismatchError.

    >>> from tenferro.stats import multivariate_normal
    >>> float(multivariate_normal.logpdf([0.0, 0.0], [0.0, 0.0], [[1.0, 0.0], [0.0, 1.0]]))
    -1.8378770664093453
    """
    return _log_density("multivariate_normal.logpdf", x, mean, cov, allow_singular)


def pdf(x: Any, mean: Any = None, cov: Any = 1, allow_singular: bool = False) -> Array:
    """Compute the density; arguments as those of ``logpdf``."""
    return exp(_log_density("multivariate_normal.pdf", x, mean, cov, allow_singular))


def entropy(mean: Any = None, cov: Any = 1) -> Array:
    """Compute the differential entropy, in nats."""
    factor = cholesky(spread("multivariate_normal.entropy", None, mean, cov).cov)
    return half_log_determinant(factor) + factor.shape[-1] * (ln(2 * pi) + 1) / 2


def _log_density(function: str, x: Any, mean: Any, cov: Any, allow_singular: bool) -> Array:
    given = spread(function, x, mean, cov)
    if allow_singular:
        return _log_density_of_singular(given)
    factor = cholesky(given.cov)
    constant = factor.shape[-1] * (-ln(2 * pi) / 2)
    return constant - half_log_determinant(factor) - squared_distance(given.away, factor) * 0.5


def half_log_determinant(factor: Array) -> Array:
    """Compute half the logarithm of the determinant of the covariance."""
    return sum_of(log(diagonal(factor, axis1=-2, axis2=-1)), axis=-1)


def _log_density_of_singular(given: _Given) -> Array:
    """Compute the density on the image of the covariance; bounds are those of SciPy."""
    values, vectors = eigh(_singular(given.cov))
    limits = finfo(values.dtype)
    factor = (1e6 if limits.bits == 64 else 1e3) * limits.eps
    bound = factor * max_of(absolute(values), axis=-1, keepdims=True)
    kept = greater(values, bound)
    parts = matmul(given.away[..., None, :], vectors)[..., 0, :]
    outside = sum_of(choose(kept, 0.0, parts) ** 2, axis=-1)
    white = choose(kept, parts, 0.0) / choose(kept, sqrt(choose(kept, values, 1.0)), 1.0)
    terms = choose(kept, log(choose(kept, values, 1.0)) + ln(2 * pi), 0.0)
    found = sum_of(white * white, axis=-1) + sum_of(terms, axis=-1)
    return choose(greater_equal(outside, (1e3 * bound[..., 0]) ** 2), -inf, found * -0.5)


@custom_jvp
def _singular(cov: Array) -> Array:
    return cov


@_singular.defjvp
def _refuse_derivative(primals: Any, tangents: Any) -> Any:
    """Refuse a derivative by a covariance that may be singular."""
    raise MissingRuleError(
        "multivariate_normal: there is no derivative with respect to a covariance of any rank\n"
        "  hint       leave out allow_singular, if the covariance has an inverse",
        primitive="multivariate_normal",
        rule="jvp_cov",
        provider="tenferro.stats",
    )


def squared_distance(away: Array, factor: Array) -> Array:
    """Compute awayᵀ cov⁻¹ away; with one matrix, all points are solved for at once."""
    if factor.ndim > 2:
        white = solve_triangular(factor, reshape(away, (*away.shape, 1)), lower=True)
        return sum_of(white * white, axis=(-2, -1))
    points = reshape(away, (prod(away.shape[:-1]), away.shape[-1]))
    white = solve_triangular(factor, points.T, lower=True)
    return reshape(sum_of(white * white, axis=0), away.shape[:-1])


def spread(function: str, x: Any, mean: Any, cov: Any) -> _Given:
    """Return the operands in the forms of ``_Given``; without x, the covariance alone counts.

    Raises ShapeMismatchError: if they do not fit together.
    """
    center, matrix, point = operands(
        function, 0.0 if mean is None else mean, cov, 0.0 if x is None else x, broadcasts=False
    )
    shapes = point.shape, center.shape, matrix.shape
    n = center.shape[-1] if center.ndim else matrix.shape[-1] if matrix.ndim else 1
    if matrix.ndim < 2:
        matrix = diag(matrix) if matrix.ndim else eye(n, dtype=matrix.dtype) * matrix
    if n == 1 and point.ndim < 2 and point.shape != (1,):  # numbers, not vectors
        point = reshape(point, (*point.shape, 1))
    if matrix.shape[-2:] != (n, n) or (x is not None and point.shape[-1:] != (n,)):
        error = ShapeMismatchError.of(
            function, "point, mean and covariance do not fit together",
            got=", ".join(map(str, shapes)), need="x [..., n], mean [..., n], cov [..., n, n]",
            shapes=shapes,
        )  # fmt: skip
        raise at_user_line(error)
    symmetric = (matrix + matrix_transpose(matrix)) * 0.5  # Cholesky reads one triangle
    return _Given(point - center, symmetric)


_publish_kinds(globals(), __all__)
_publish(globals(), __all__)
