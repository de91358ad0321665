"""Distances between points, by the names of scipy.spatial.distance.

SciPy converts what it is given, and refuses Arrays. Where points coincide a distance has a corner;
there the derivative is 0, a subgradient, of every order and for all metrics, and never nan.

>>> import numpy as np
>>> import tenferro as tn
>>> points = np.array([[0.0, 0.0], [3.0, 4.0]])
>>> tn.spatial.distance.pdist(points)
array([5.])
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, isqrt
from typing import Any

from tenferro.arrays.errors import at_user_line, unknown_option
from tenferro.arrays.evaluation.results import publish_kinds as _publish_kinds
from tenferro.arrays.functions.arithmetic import absolute as _abs
from tenferro.arrays.functions.comparison import equal, where
from tenferro.arrays.functions.creation import zeros
from tenferro.arrays.functions.indexing import take
from tenferro.arrays.functions.linalg.solving import inv
from tenferro.arrays.functions.moments import cov, mean, var
from tenferro.arrays.functions.reduction import max as _max
from tenferro.arrays.functions.reduction import sum as _sum
from tenferro.arrays.functions.structural import concatenate
from tenferro.arrays.handle.array import Array, evaluable
from tenferro.arrays.handle.convert import as_array
from tenferro.arrays.promotion.broadcast import cast, common_dtype
from tenferro.primitives import (
    DTypeMismatchError,
    ShapeMismatchError,
    float64,
)
from tenferro.primitives._boundary import publish as _publish
from tenferro.transforms import vmap

__all__ = ["cdist", "pdist", "squareform"]

Metric = Callable[..., Any]


def cdist(XA: Any, XB: Any, metric: Any = "euclidean", **options: Any) -> Array:
    """Compute the distance between each point of one set and each of another.

    XA: [m, k]   XB: [n, k]   →   [m, n]

    ``metric`` is a name: braycurtis, canberra, chebyshev, cityblock, correlation, cosine,
    euclidean, mahalanobis (``VI=``), minkowski (``p=``, ``w=``), seuclidean (``V=``), sqeuclidean;
    or a function of two points that is recorded once. Most take weights ``w=`` of coordinates.

    Raises       ShapeMismatchError, DTypeMismatchError; InvalidParameterError: of a metric or an
                 option that is not known.

    >>> from tenferro.spatial.distance import cdist
    >>> cdist([[0.0, 0.0]], [[3.0, 4.0], [1.0, 0.0]], "cityblock")
    array([[7., 1.]])
    """
    a, b = _points("cdist", XA, XB)
    if a.shape[1] != b.shape[1]:
        raise at_user_line(_unfit("cdist", "points differ in their number of coordinates", a, b))
    function = _metric("cdist", metric, options, lambda: concatenate([a, b]))
    if callable(metric):
        return vmap(lambda u: vmap(lambda v: function(u, v))(b))(a)  # type: ignore[no-any-return]
    found: Array = function(a[:, None, :], b[None, :, :])
    return found


def pdist(X: Any, metric: Any = "euclidean", **options: Any) -> Array:
    """Compute the distances between all pairs of points: those of (0, 1), (0, 2), …, (1, 2), ….

    X: [m, k]   →   [m (m - 1) / 2];   metrics and errors are those of ``cdist``

    >>> from tenferro.spatial.distance import pdist
    >>> pdist([[0.0], [1.0], [5.0]], "sqeuclidean")
    array([ 1., 25., 16.])
    """
    (x,) = _points("pdist", X)
    function = _metric("pdist", metric, options, lambda: x)
    first, second = _pairs(x.shape[0])
    if not first:
        return zeros((0,), dtype=x.dtype)
    a, b = take(x, first, axis=0), take(x, second, axis=0)
    if callable(metric):
        return vmap(function)(a, b)  # type: ignore[no-any-return]
    found: Array = function(a, b)
    return found


def squareform(X: Any) -> Array:
    """Convert distances of pairs to a symmetric matrix with zeros on its diagonal, or back.

    Of a matrix the elements above the diagonal are taken; whether it is symmetric is not checked.

    >>> from tenferro.spatial.distance import squareform
    >>> squareform([1.0, 2.0, 3.0])
    array([[0., 1., 2.],
           [1., 0., 3.],
           [2., 3., 0.]])
    """
    x = as_array(X)
    if x.ndim == 2 and x.shape[0] == x.shape[1]:
        first, second = _pairs(x.shape[0])
        if not first:
            return zeros((0,), dtype=x.dtype)
        return take(x.reshape(-1), [i * x.shape[0] + j for i, j in zip(first, second, strict=True)])
    n = (1 + isqrt(1 + 8 * x.size)) // 2
    if x.ndim != 1 or n * (n - 1) // 2 != x.size:
        error = ShapeMismatchError.of(
            "squareform", "these are not distances of pairs", got=x.aval,
            need="a square matrix, or a vector of m (m - 1) / 2", shapes=(x.shape,),
        )  # fmt: skip
        raise at_user_line(error)
    padded = concatenate([x, zeros((1,), dtype=x.dtype)])
    places = [[x.size] * n for _ in range(n)]
    for k, (i, j) in enumerate(zip(*_pairs(n), strict=True)):
        places[i][j] = places[j][i] = k
    return take(padded, places)


def _pairs(n: int) -> tuple[list[int], list[int]]:
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    return [i for i, _ in pairs], [j for _, j in pairs]


# ---- operands ------------------------------------------------------------------------------------


def _points(function: str, *sets: Any) -> list[Array]:
    """Return sets of points in one real floating dtype."""
    given = [as_array(x) for x in sets]
    for x in given:
        if x.ndim != 2:
            raise at_user_line(_unfit(function, "points are the rows of a matrix", x))
    dtype = common_dtype(given)
    if dtype.is_complex:
        error = DTypeMismatchError.of(
            function, "points with real coordinates", got=dtype, need="real points",
            dtypes=tuple([x.dtype for x in given]),
        )  # fmt: skip
        raise at_user_line(error)
    return [cast(x, dtype if dtype.is_inexact else float64) for x in given]


def _unfit(function: str, fact: str, *xs: Array) -> ShapeMismatchError:
    got = ", ".join(str(x.aval) for x in xs)
    return ShapeMismatchError.of(
        function, fact, got=got, need="[points, coordinates]", shapes=tuple([x.shape for x in xs])
    )


def _metric(
    function: str, metric: Any, options: dict[str, Any], points: Callable[[], Array]
) -> Metric:
    """Return the distance along the last axis, with its options.

    Raises InvalidParameterError: if the metric or an option is not known.
    """
    if callable(metric):
        return lambda u, v: metric(u, v, **options)
    if metric not in _METRICS:
        raise at_user_line(unknown_option(function, "metric", metric, ", ".join(_METRICS)))
    found, names = _METRICS[metric]
    given = _given(function, metric, options, names)
    if metric == "seuclidean" and "V" not in given:
        given["V"] = var(points(), axis=0, ddof=1)
    if metric == "mahalanobis" and "VI" not in given:
        coordinates = points().T
        n = coordinates.shape[0]
        given["VI"] = inv(cov(coordinates).reshape((n, n)))  # of one coordinate `cov` is a number
    if "w" in given:
        _require_weights(function, given["w"], points().shape[1])
    return lambda u, v: found(u, v, **given)


def _given(
    function: str, metric: str, options: dict[str, Any], names: tuple[str, ...]
) -> dict[str, Any]:
    """Return the options that are not None. Raises InvalidParameterError."""
    for name in options:
        if name not in names:
            known = ", ".join(names) or "no option"
            raise at_user_line(unknown_option(function, f"option of {metric}", name, known))
    given = {name: value for name, value in options.items() if value is not None}
    if "p" in given:
        _require_order(function, given["p"])
    return given


def _require_order(function: str, p: Any) -> None:
    """Check that an order is one number, and that it is positive if its value is known."""
    order = as_array(p)
    is_number = not order.ndim and not order.dtype.is_complex
    if is_number and evaluable(order.key):
        is_number = float(order._concrete("the order")) > 0
    if not is_number:
        raise at_user_line(unknown_option(function, "order p", p, "a positive number"))


def _require_weights(function: str, w: Any, coordinates: int) -> None:
    """Check the number of weights, and the sign of those that are numbers already."""
    if as_array(w).shape != (coordinates,):
        raise at_user_line(
            unknown_option(function, "number of weights", w, f"{coordinates} weights")
        )
    known = [] if isinstance(w, Array) else w.tolist() if hasattr(w, "tolist") else w
    if any(isinstance(x, (int, float)) and not x >= 0 for x in known):
        raise at_user_line(unknown_option(function, "weight", w, "weights >= 0"))


# ---- metrics: functions of two arrays of points, along the last axis -----------------------------


def _weighted(x: Array, w: Any) -> Array:
    return x if w is None else x * w


def _root(x: Array, exponent: Any = 0.5) -> Array:
    """Return a power of a sum that is not negative; where it is 0, all derivatives are 0."""
    nothing = equal(x, 0)
    found: Array = where(nothing, 0, where(nothing, 1, x) ** exponent)
    return found


def _share(x: Array, y: Array) -> Array:
    """Return x / y, and 0 where both are 0."""
    nothing = equal(y, 0)
    found: Array = where(nothing, 0, x / where(nothing, 1, y))
    return found


def _squared(u: Array, v: Array, w: Any = None) -> Array:
    difference = u - v
    return _sum(_weighted(difference * difference, w), -1)


def _euclidean(u: Array, v: Array, w: Any = None) -> Array:
    return _root(_squared(u, v, w))


def _cityblock(u: Array, v: Array, w: Any = None) -> Array:
    return _sum(_weighted(_abs(u - v), w), -1)


def _chebyshev(u: Array, v: Array, w: Any = None) -> Array:
    far = _abs(u - v)
    if w is not None:
        far = where(as_array(w) > 0, far, 0)
    return _max(far, -1, initial=0)


def _minkowski(u: Array, v: Array, p: Any = 2, w: Any = None) -> Array:
    if isinstance(p, Array):  # a derivative by the order needs its powers, whatever its value is
        order, is_chebyshev = cast(p, u.dtype), equal(p, inf)
        finite = _of_order(u, v, where(is_chebyshev, 1, order), w)
        found: Array = where(is_chebyshev, _chebyshev(u, v, w), finite)
        return found
    if p == inf:
        return _chebyshev(u, v, w)
    if p == 1:
        return _cityblock(u, v, w)
    return _euclidean(u, v, w) if p == 2 else _of_order(u, v, p, w)


def _of_order(u: Array, v: Array, p: Any, w: Any) -> Array:
    """Return (Σ w |u - v|^p)^(1/p)."""
    return _root(_sum(_weighted(_root(_abs(u - v), p), w), -1), 1 / p)


def _cosine(u: Array, v: Array, w: Any = None) -> Array:
    product, first, second = [_sum(_weighted(x, w), -1) for x in (u * v, u * u, v * v)]
    return 1 - product / (first**0.5 * second**0.5)


def _correlation(u: Array, v: Array, w: Any = None) -> Array:
    return _cosine(u - _center(u, w), v - _center(v, w), w)


def _center(x: Array, w: Any) -> Array:
    if w is None:
        return mean(x, -1, keepdims=True)
    return _sum(x * w, -1, keepdims=True) / _sum(as_array(w))


def _canberra(u: Array, v: Array, w: Any = None) -> Array:
    return _sum(_weighted(_share(_abs(u - v), _abs(u) + _abs(v)), w), -1)


def _braycurtis(u: Array, v: Array, w: Any = None) -> Array:
    above, below = [_sum(_weighted(_abs(x), w), -1) for x in (u - v, u + v)]
    return above / below


def _seuclidean(u: Array, v: Array, V: Any) -> Array:
    difference = u - v
    return _root(_sum(difference * difference / V, -1))


def _mahalanobis(u: Array, v: Array, VI: Any) -> Array:
    difference = u - v
    return _root(_sum((difference @ as_array(VI)) * difference, -1))


_METRICS: dict[str, tuple[Metric, tuple[str, ...]]] = {
    "braycurtis": (_braycurtis, ("w",)),
    "canberra": (_canberra, ("w",)),
    "chebyshev": (_chebyshev, ("w",)),
    "cityblock": (_cityblock, ("w",)),
    "correlation": (_correlation, ("w",)),
    "cosine": (_cosine, ("w",)),
    "euclidean": (_euclidean, ("w",)),
    "mahalanobis": (_mahalanobis, ("VI",)),
    "minkowski": (_minkowski, ("p", "w")),
    "seuclidean": (_seuclidean, ("V",)),
    "sqeuclidean": (_squared, ("w",)),
}

_publish_kinds(globals(), __all__)
_publish(globals(), __all__)
