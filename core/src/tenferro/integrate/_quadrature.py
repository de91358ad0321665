"""Integrals of functions by the names of scipy.integrate.

Read next: ``_subdivision.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import isinf
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays.errors import at_user_line, unknown_option
from tenferro.arrays.functions.comparison import where
from tenferro.arrays.functions.creation import array
from tenferro.arrays.functions.reduction import sum as _sum
from tenferro.arrays.functions.searching import searchsorted
from tenferro.arrays.functions.sorting import sort
from tenferro.arrays.functions.structural import concatenate
from tenferro.arrays.handle.array import Array, evaluable
from tenferro.arrays.promotion.broadcast import cast, common_dtype, double_if_exact
from tenferro.integrate._arguments import count_of, real_array, refused
from tenferro.integrate._gauss import RULES, legendre
from tenferro.integrate._subdivision import Setting, integral
from tenferro.primitives import ShapeMismatchError
from tenferro.transforms.control.around import program_around, record_function
from tenferro.transforms.control.body import Leaf

_NORMS = ("2", "max")


class QuadratureInfo(NamedTuple):
    """The outcome of the search for an adaptive integral."""

    success: Array
    """Whether the estimate of the error is within the tolerance, or within rounding."""
    neval: Array
    """The number of values of the integrand."""


def fixed_quad(
    func: Callable[..., Any], a: Any, b: Any, args: Sequence[Any] = (), n: int = 5
) -> tuple[Array, None]:
    """Integrate from a to b by the n nodes of Gauss and Legendre: exactly to degree 2 n - 1.

    a, b: []   func: [n], …  →  [*s, n]   →   ([*s], None), as SciPy returns it

    Raises       InvalidParameterError, ShapeMismatchError.
    Source       https://dlmf.nist.gov/3.5.v

    >>> from tenferro.integrate import fixed_quad
    >>> round(float(fixed_quad(lambda x: x**4, 0.0, 1.0, n=3)[0]), 12)
    0.2
    """
    count = count_of("fixed_quad", "n", n)
    low, high = _ends("fixed_quad", a, b)
    if any(map(_infinity, (low, high))):
        fact, need = "an infinite interval", "numbers; `quad_vec` takes infinite ends"
        raise at_user_line(refused("fixed_quad", fact, "a, b", (a, b), need))
    nodes, weights = [array(x, dtype=low.dtype) for x in legendre(count)]
    half = (high - low) / 2
    y = array(func((low + high) / 2 + half * nodes, *args))
    if not y.ndim or y.shape[-1] != count:
        raise at_user_line(ShapeMismatchError.of(
            "fixed_quad", "the function does not return a value for each node", got=y.aval,
            need=f"[…, {count}] for x of [{count}]", shapes=(y.shape,),
        ))  # fmt: skip
    return half * _sum(weights * y, -1), None


def quad(
    func: Callable[..., Any],
    a: Any,
    b: Any,
    args: Sequence[Any] = (),
    *,
    epsabs: Any = 1.49e-8,
    epsrel: Any = 1.49e-8,
    limit: int = 512,
    points: Any = None,
) -> tuple[Array, Array]:
    """Integrate a function of one number from a to b, which may be infinite.

    a, b: []   func: []  →  []   points: [k]   →   the integral and an estimate of its error

    The intervals with the largest errors are halved, until the error is estimated to be less than
    ``max(epsabs, epsrel * abs(integral))`` or there are ``limit`` intervals: then the error that
    is returned is larger. SciPy also extrapolates, and needs fewer intervals at a singularity.
    Derivatives are as those of ``quad_vec``.

    Raises       InvalidParameterError, ShapeMismatchError, DTypeMismatchError.

    >>> import numpy as np
    >>> import tenferro as tn
    >>> gauss = lambda k: tn.integrate.quad(lambda x: np.exp(-k * x * x), -np.inf, np.inf)[0]
    >>> float(round(gauss(2.0), 8)), float(round(tn.grad(gauss)(2.0), 8))  # √(π / k)
    (1.25331414, -0.31332853)
    """
    found = _integrated("quad", func, a, b, args, epsabs, epsrel, "max", limit, points, None, True)
    return found[0], found[1]


def quad_vec(
    f: Callable[..., Any],
    a: Any,
    b: Any,
    epsabs: Any = 1e-200,
    epsrel: Any = 1e-8,
    norm: str = "2",
    *,
    limit: int = 512,
    points: Any = None,
    quadrature: str | None = None,
    full_output: bool = False,
    args: Sequence[Any] = (),
) -> tuple[Any, ...]:
    """Integrate an array-valued function of one number from a to b, which may be infinite.

    a, b: []   f: []  →  [*s]   points: [k]   →   [*s] and an estimate of the error, []

    The intervals with the largest errors are halved, until the norm of the error, "2" or "max", is
    estimated to be less than ``max(epsabs, epsrel * norm(integral))``, or there are ``limit``
    intervals. ``quadrature`` is "gk21" (Gauss and Kronrod), or "gk15", which is the default if an
    end is infinite; then a and b must be known. ``points`` are places to divide at first; those
    outside of the interval are ignored. With ``full_output`` a ``QuadratureInfo`` follows.

    Derivatives, in both modes and of any order, flow to a, b and what f reads. They are integrals
    of derivatives over the same intervals, which move with a, b and the points: f must be smooth
    in what it is differentiated by, except at a, b and the points. A place where f jumps must be
    one of the points, also for derivatives by a and b.

    Raises       InvalidParameterError, ShapeMismatchError, DTypeMismatchError.
    Source       R. Piessens et al., QUADPACK (1983); P. Gonnet, ACM Comput. Surv. 44 (2012) 22

    >>> import numpy as np
    >>> import tenferro as tn
    >>> powers = np.array([1.0, 2.0])
    >>> tn.integrate.quad_vec(lambda x: x**powers, 0.0, 1.0)[0].round(9)
    array([0.5       , 0.33333333])
    """
    found = _integrated(
        "quad_vec", f, a, b, args, epsabs, epsrel, norm, limit, points, quadrature, False
    )
    if not full_output:
        return found[0], found[1]
    return found[0], found[1], QuadratureInfo(found[2], found[3])


def _integrated(
    function: str, f: Any, a: Any, b: Any, args: Any, epsabs: Any, epsrel: Any, norm: Any,
    limit: Any, points: Any, quadrature: Any, is_number: bool,
) -> Sequence[Array]:  # fmt: skip
    low, high = _ends(function, a, b)
    infinite = _infinity(low), _infinity(high)
    if norm not in _NORMS:
        raise at_user_line(unknown_option(function, "norm", norm, "'2' or 'max'"))
    if quadrature is not None and quadrature not in RULES:
        raise at_user_line(unknown_option(function, "quadrature", quadrature, "'gk21' or 'gk15'"))
    sign = 1
    if infinite[0] > infinite[1]:  # from the upper to the lower end
        low, high, infinite, sign = high, low, infinite[::-1], -1
    kind = _KINDS.get(infinite)
    if kind is None:  # both ends are the same infinity
        raise at_user_line(refused(function, "no interval", "a, b", (a, b), "two ends"))
    edges = _edges(function, low, high, points, kind)
    setting = Setting(
        quadrature or ("gk21" if kind == "finite" else "gk15"), norm,
        count_of(function, "limit", limit), kind,
    )  # fmt: skip
    numbers = [cast(real_array(function, n, x), low.dtype) for n, x in zip(
        ("epsabs", "epsrel"), (epsabs, epsrel), strict=True
    )]  # fmt: skip
    recorded = record_function(
        function, partial(_value, function, f, tuple(args), is_number), [Leaf("x", low.aval)]
    )
    given = [low, high, *numbers, edges]
    y, *rest = program_around(function, [recorded], partial(integral, setting), setting, given)
    return [sign * y, *rest]


_KINDS = {(0, 0): "finite", (0, 1): "up", (-1, 0): "down", (-1, 1): "both"}


def _value(function: str, f: Any, args: tuple[Any, ...], is_number: bool, x: Array) -> list[Array]:
    """Return the value of the integrand at x."""
    found = double_if_exact(array(f(x, *args)))
    if is_number and found.shape:
        raise at_user_line(ShapeMismatchError.of(
            function, "the integrand is not a number", got=found.aval,
            need="a number; `quad_vec` integrates arrays", shapes=(found.shape,),
        ))  # fmt: skip
    return [found]


def _ends(function: str, a: Any, b: Any) -> tuple[Array, Array]:
    """Return the ends of an interval, in one precision."""
    ends = [real_array(function, name, x) for name, x in (("a", a), ("b", b))]
    for x in ends:
        if x.shape:
            raise at_user_line(ShapeMismatchError.of(
                function, "an end of the interval is not a number", got=x.aval, need="f64[]",
                shapes=(x.shape,),
            ))  # fmt: skip
    dtype = common_dtype(ends)
    low, high = [cast(x, dtype) for x in ends]
    return low, high


def _infinity(x: Array) -> int:
    """Return 1 or -1 for an infinite number that is known, 0 for others."""
    if not evaluable(x.key):
        return 0
    value = float(x._concrete("an end of an interval"))
    return (1 if value > 0 else -1) if isinf(value) else 0


def _edges(function: str, low: Array, high: Array, points: Any, kind: str) -> Array:
    """Return the places that divide the unit interval at first, in rising order."""
    ends = array([0.0, 1.0], dtype=low.dtype)
    if points is None:
        return ends
    if kind != "finite":
        need = "finite ends, or one integral for each part"
        raise at_user_line(refused(function, "points and an infinite end", "points", points, need))
    places = cast(real_array(function, "points", points), low.dtype)
    if places.ndim != 1:
        raise at_user_line(ShapeMismatchError.of(
            function, "the points are not a vector", got=places.aval, need="f64[k]",
            shapes=(places.shape,),
        ))  # fmt: skip
    length = high - low
    edges = (places - low) / where(length == 0, 1.0, length)
    is_inside = (length != 0) & (edges > 0) & (edges < 1)
    edges = sort(where(is_inside, edges, where(edges >= 1, 1.0, 0.0)))
    edges = concatenate([ends[:1], edges, ends[1:]], 0)
    return edges[searchsorted(edges, edges)]  # equal ones move as one
