"""Gamma variates and what is made of them: beta, Dirichlet, Student's t, chi-squared.

A gamma variate follows its shape by the implicit derivative (see ``primitives/random_gamma.py``),
to every order. Everything is computed from the logarithm, since variates of small shapes are below
every float. Read next: ``several.py``.
"""

from __future__ import annotations

from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions.elementwise import stop_gradient
from tenferro.arrays.functions.random._draws import moved, prepared, signed, size_of, wide
from tenferro.arrays.functions.random.keys import as_known_key, split
from tenferro.arrays.functions.reduction import max as maximum_of
from tenferro.arrays.functions.reduction import sum as sum_of
from tenferro.arrays.handle.array import Array
from tenferro.arrays.promotion.broadcast import cast, stretch
from tenferro.primitives import DType, Shape, ShapeMismatchError, erfinv, exp, random_log_gamma
from tenferro.primitives import logistic as logistic_function


def loggamma(key: Any, a: Any, shape: Any = None, dtype: Any = None) -> Array:
    """Draw logarithms of gamma variates with shape ``a`` and scale 1; finite for every a > 0.

    >>> from tenferro import random
    >>> random.loggamma(random.key(0), 1e-4, (3,)).aval
    f64[3]
    """
    size, kind, (shapes,) = prepared("loggamma", shape, dtype, a)
    return _log_gamma(as_known_key(key, "loggamma"), shapes, size, kind)


def _log_gamma(key: Array, a: Array, shape: Shape, dtype: DType) -> Array:
    return cast(random_log_gamma(key, cast(stretch(a, shape), wide(dtype))), dtype)


def gamma(key: Any, a: Any, shape: Any = None, dtype: Any = None, scale: Any = 1.0) -> Array:
    """Draw gamma variates with shape ``a`` and mean ``a·scale``, differentiable in both.

    The derivative with respect to a is the implicit one, -(∂F/∂a)/f. Where the variate is too
    small for a float the result is 0; ``loggamma`` has its logarithm. nan for a < 0.

    >>> from tenferro import random
    >>> random.gamma(random.key(0), 2.5, (3,)).aval
    f64[3]
    """
    size, kind, (shapes, factor) = prepared("gamma", shape, dtype, a, scale)
    found = exp(_log_gamma(as_known_key(key, "gamma"), shapes, size, kind))
    return moved(found, kind, 0.0, scale, (factor, factor))


def chisquare(key: Any, df: Any, shape: Any = None, dtype: Any = None) -> Array:
    """Draw sums of squares of ``df`` normal numbers, differentiable in df.

    df is positive and need not be an integer.

    >>> from tenferro import random
    >>> random.chisquare(random.key(0), 2.5, (2, 3)).aval
    f64[2,3]
    """
    size, kind, (count,) = prepared("chisquare", shape, dtype, df)
    return 2 * exp(_log_gamma(as_known_key(key, "chisquare"), count / 2, size, kind))


def beta(key: Any, a: Any, b: Any, shape: Any = None, dtype: Any = None) -> Array:
    """Draw beta variates X/(X + Y) from two gamma variates, differentiable in ``a`` and ``b``.

    >>> from tenferro import random
    >>> random.beta(random.key(0), [1.0, 2.0], 0.5).aval
    f64[2]
    """
    size, kind, shapes = prepared("beta", shape, dtype, a, b)
    keys = split(as_known_key(key, "beta"))
    x, y = (_log_gamma(keys[i], shapes[i], size, kind) for i in (0, 1))
    return logistic_function(x - y)


def student_t(
    key: Any, df: Any, shape: Any = None, dtype: Any = None, loc: Any = 0.0, scale: Any = 1.0
) -> Array:
    """Draw ``loc + scale`` t from Student's t distribution with ``df`` degrees of freedom.

    The numbers are differentiable in df, loc and scale.

    >>> from tenferro import random
    >>> random.student_t(random.key(0), 4.0, (2, 3)).aval
    f64[2,3]
    """
    size, kind, (degrees, *arrays) = prepared("student_t", shape, dtype, df, loc, scale)
    keys = split(as_known_key(key, "student_t"))
    z = cast(2**0.5 * erfinv(signed(keys[0], size, kind, "student_t")), kind)
    half = stretch(degrees, size) / 2
    log_g = _log_gamma(keys[1], half, size, kind)
    return moved(z * half**0.5 * exp(-log_g / 2), kind, loc, scale, arrays)


def dirichlet(key: Any, alpha: Any, shape: Any = None, dtype: Any = None) -> Array:
    """Draw Dirichlet variates along the last axis of ``alpha``, differentiable in it.

    ``shape`` is that of the draws, without the last axis.

    >>> from tenferro import random
    >>> random.dirichlet(random.key(0), [1.0, 2.0, 3.0], (4,)).shape
    (4, 3)
    """
    _, kind, (shapes,) = prepared("dirichlet", None, dtype, alpha)
    if not shapes.ndim:
        error = ShapeMismatchError.of(
            "random.dirichlet", "alpha has no last axis", got=shapes.aval,
            need="one parameter per part", shapes=(shapes.shape,),
        )  # fmt: skip
        raise at_user_line(error)
    size = (*size_of("dirichlet", shape, [shapes.shape[:-1]]), shapes.shape[-1])
    logs = _log_gamma(as_known_key(key, "dirichlet"), shapes, size, kind)
    parts = exp(logs - stop_gradient(stretch(maximum_of(logs, -1, keepdims=True), size)))
    found: Array = parts / stretch(sum_of(parts, -1, keepdims=True), size)
    return found
