"""The normal distribution of several variables, as ``scipy.stats.multivariate_normal``.

The covariance is a matrix, a vector for its diagonal, or a number; beyond SciPy, stacks of means
and matrices broadcast. A singular covariance is refused: its factor of Cholesky does not exist.
Of a matrix the symmetric part is taken, so that gradients with respect to it are symmetric.
"""

from __future__ import annotations

from math import log as ln
from math import pi, prod
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays.errors import at_user_line
from tenferro.arrays.evaluation.results import publish_kinds as _publish_kinds
from tenferro.arrays.functions.elementwise import exp, log
from tenferro.arrays.functions.linalg.triangular import cholesky, solve_triangular
from tenferro.arrays.functions.reduction import sum as sum_of
from tenferro.arrays.functions.structural import matrix_transpose, reshape
from tenferro.arrays.functions.taking import diagonal
from tenferro.arrays.functions.triangles import diag, eye
from tenferro.arrays.handle.array import Array
from tenferro.primitives import InvalidParameterError, ShapeMismatchError
from tenferro.primitives._boundary import publish as _publish
from tenferro.stats._standard import operands

__all__ = ["entropy", "logpdf", "pdf"]


class _Given(NamedTuple):
    """Points [*s, n] less the mean, and the factor of the covariance [*t, n, n]."""

    away: Array
    factor: Array


def logpdf(x: Any, mean: Any = None, cov: Any = 1, allow_singular: bool = False) -> Array:
    """Compute the logarithm of the density.

    x: f[*s, n]   mean: f[*t, n]   cov: f[*u, n, n]   →   y: f[their common shape]

    Raises       ShapeMismatchError; InvalidParameterError: if ``allow_singular`` is set.

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
    factor = _given("multivariate_normal.entropy", None, mean, cov).factor
    return _log_volume(factor) + factor.shape[-1] * (ln(2 * pi) + 1) / 2


def _log_density(function: str, x: Any, mean: Any, cov: Any, allow_singular: bool) -> Array:
    if allow_singular:
        error = InvalidParameterError.of(
            function, "the covariance must have an inverse", got="allow_singular=True",
            need="allow_singular=False", parameter="allow_singular", value=allow_singular,
        )  # fmt: skip
        raise at_user_line(error)
    given = _given(function, x, mean, cov)
    constant = given.factor.shape[-1] * (-ln(2 * pi) / 2)
    return constant - _log_volume(given.factor) - _square(given) * 0.5


def _log_volume(factor: Array) -> Array:
    """Compute half the logarithm of the determinant of the covariance."""
    return sum_of(log(diagonal(factor, axis1=-2, axis2=-1)), axis=-1)


def _square(given: _Given) -> Array:
    """Compute awayᵀ cov⁻¹ away; with one matrix, all points are solved for at once."""
    away, factor = given.away, given.factor
    if factor.ndim > 2:
        white = solve_triangular(factor, reshape(away, (*away.shape, 1)), lower=True)
        return sum_of(white * white, axis=(-2, -1))
    points = reshape(away, (prod(away.shape[:-1]), away.shape[-1]))
    white = solve_triangular(factor, points.T, lower=True)
    return reshape(sum_of(white * white, axis=0), away.shape[:-1])


def _given(function: str, x: Any, mean: Any, cov: Any) -> _Given:
    """Return the operands in the forms of ``_Given``; without x, the factor alone counts.

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
    return _Given(point - center, cholesky(symmetric))


_publish_kinds(globals(), __all__)
_publish(globals(), __all__)
