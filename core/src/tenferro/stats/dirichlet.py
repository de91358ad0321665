"""The Dirichlet distribution, as ``scipy.stats.dirichlet``.

As there, the components of a point are along the first axis, and the last one may be left out.
Outside of the simplex the density is 0, where SciPy raises: values are not known while a program is
traced.
"""

from __future__ import annotations

from math import inf
from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.evaluation.results import publish_kinds as _publish_kinds
from tenferro.arrays.functions.arithmetic import absolute
from tenferro.arrays.functions.comparison import greater, greater_equal
from tenferro.arrays.functions.data_types import finfo
from tenferro.arrays.functions.elementwise import exp
from tenferro.arrays.functions.reduction import all as all_of
from tenferro.arrays.functions.reduction import sum as sum_of
from tenferro.arrays.functions.special import xlogy
from tenferro.arrays.functions.structural import concatenate, reshape
from tenferro.arrays.handle.array import Array
from tenferro.primitives import ShapeMismatchError
from tenferro.primitives import special as p
from tenferro.primitives._boundary import publish as _publish
from tenferro.stats._standard import choose, operands, positive

__all__ = ["logpdf", "pdf"]

_DISTANCE = 1e-9  # from the simplex, as in SciPy; more if a sum of the dtype has a larger error


def logpdf(x: Any, alpha: Any) -> Array:
    """Compute the logarithm of the density.

    x: f[k, *s] or f[k-1, *s]   alpha: f[k]   →   y: f[*s]

    >>> from tenferro.stats import dirichlet
    >>> round(float(dirichlet.logpdf([0.25, 0.25, 0.5], [1.0, 1.0, 1.0])), 12)  # ln 2
    0.69314718056
    """
    return _log_density("dirichlet.logpdf", x, alpha)


def pdf(x: Any, alpha: Any) -> Array:
    """Compute the density.

    x: f[k, *s] or f[k-1, *s]   alpha: f[k]   →   y: f[*s]
    """
    return exp(_log_density("dirichlet.pdf", x, alpha))


def _log_density(function: str, x: Any, alpha: Any) -> Array:
    point, shapes = _operands(function, x, alpha)
    exponents = reshape(shapes - 1, shapes.shape + (1,) * (point.ndim - 1))
    distance = absolute(sum_of(point, axis=0) - 1)
    tolerance = max(_DISTANCE, 4 * shapes.size * finfo(point.dtype).eps)
    inside = all_of(greater_equal(point, 0), axis=0) & ~greater(distance, tolerance)
    terms = xlogy(exponents, choose(inside, point, 1.0))
    constant = p.lgamma(sum_of(shapes)) - sum_of(p.lgamma(shapes))
    found = sum_of(terms, axis=0) + constant
    return choose(inside, found, constant * 0 - inf)


def _operands(function: str, x: Any, alpha: Any) -> tuple[Array, Array]:
    """Return the whole points and the shapes, in one dtype.

    Raises ShapeMismatchError: if they have other numbers of components.
    """
    point, shapes = operands(function, x, alpha, broadcasts=False)
    if point.ndim and shapes.ndim == 1 and point.shape[0] + 1 == shapes.shape[0]:
        point = concatenate([point, 1 - sum_of(point, axis=0, keepdims=True)])
    if not point.ndim or shapes.ndim != 1 or point.shape[0] != shapes.shape[0]:
        error = ShapeMismatchError.of(
            function, "points and shapes do not fit together",
            got=f"{point.aval}, {shapes.aval}", need="x [k, ...] or [k-1, ...], alpha [k]",
            shapes=(point.shape, shapes.shape),
        )  # fmt: skip
        raise at_user_line(error)
    return point, positive(shapes)


_publish_kinds(globals(), __all__)
_publish(globals(), __all__)
