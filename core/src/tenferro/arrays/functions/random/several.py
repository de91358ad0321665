"""Vectors of normal numbers of a given mean and covariance."""

from __future__ import annotations

from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions.contraction import matmul
from tenferro.arrays.functions.random._draws import size_of
from tenferro.arrays.functions.random.continuous import normal
from tenferro.arrays.functions.structural import reshape
from tenferro.arrays.handle.array import Array
from tenferro.arrays.handle.convert import as_array
from tenferro.arrays.promotion.broadcast import cast, common_dtype, stretch
from tenferro.primitives import DType, ShapeMismatchError, cholesky, float64


def multivariate_normal(
    key: Any, mean: Any, cov: Any, shape: Any = None, dtype: Any = None
) -> Array:
    """Draw normal vectors with mean [*B, n] and covariance [*B, n, n], differentiable in both.

    They are mean + L z with the lower factor of Cholesky; only the lower triangle of cov is read.
    ``shape`` is that of the draws, without the last axis.

    >>> from tenferro import eye, random, zeros
    >>> random.multivariate_normal(random.key(0), zeros(2), eye(2), (5,)).shape
    (5, 2)
    """
    center, covariance = _checked(as_array(mean), as_array(cov))
    kind = common_dtype((center, covariance)) if dtype is None else DType.of(dtype)
    kind = kind if kind.is_float else float64
    parts = [center.shape[:-1], covariance.shape[:-2]]
    size = (*size_of("multivariate_normal", shape, parts), center.shape[-1])
    z = normal(key, size, kind)
    moved = matmul(cholesky(cast(covariance, kind)), reshape(z, (*size, 1)))
    return stretch(cast(center, kind), size) + reshape(moved, size)


def _checked(mean: Array, cov: Array) -> tuple[Array, Array]:
    if not mean.ndim or cov.shape[-2:] != mean.shape[-1:] * 2:
        error = ShapeMismatchError.of(
            "random.multivariate_normal", "the mean and the covariance do not fit together",
            got=f"{mean.aval}, {cov.aval}", need="mean [..., n], cov [..., n, n]",
            shapes=(mean.shape, cov.shape),
        )  # fmt: skip
        raise at_user_line(error)
    return mean, cov
