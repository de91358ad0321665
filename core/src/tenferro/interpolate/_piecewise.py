"""Piecewise polynomials: one polynomial of x - x[i] on each interval [x[i], x[i + 1]).

The interval of a place is a constant for derivatives: at a knot they are those of the polynomial to
the right. Read next: ``_hermite.py``.
"""

from __future__ import annotations

from itertools import pairwise
from math import perm
from typing import Any

from tenferro.arrays.errors import at_user_line, unknown_option
from tenferro.arrays.evaluation.results import in_kind
from tenferro.arrays.functions.arithmetic import clip
from tenferro.arrays.functions.comparison import isnan, logical_and, where
from tenferro.arrays.functions.creation import zeros_like
from tenferro.arrays.functions.cumulative import cumsum
from tenferro.arrays.functions.indexing import take
from tenferro.arrays.functions.rounding import floor
from tenferro.arrays.functions.structural import concatenate, moveaxis, stack
from tenferro.arrays.handle.array import Array, evaluable
from tenferro.arrays.handle.convert import as_array
from tenferro.arrays.promotion.broadcast import cast, common_dtype, double_if_exact, normalize_axis
from tenferro.primitives import (
    DTypeMismatchError,
    InvalidParameterError,
    ShapeMismatchError,
    searchsorted,
)
from tenferro.primitives.structural import stop_gradient


class PPoly:
    """A piecewise polynomial of degree k: Σ_j c[k - j, i] (t - x[i])^j where x[i] ≤ t < x[i + 1].

    c: [k + 1, n - 1, *s]   x: [n], not decreasing   →   called with places [*p]: [*p, *s], with the
    axes p at ``axis``

    ``extrapolate`` says what lies outside: True, the outermost polynomials; False, nan; "periodic",
    the values of other periods. Attributes ``c``, ``x``, ``axis`` and ``extrapolate`` are SciPy's.

    Raises ShapeMismatchError: if there is not one polynomial for each interval; DTypeMismatchError:
    if knots are complex; InvalidParameterError: if knots that are known decrease.

    >>> from tenferro.interpolate import PPoly
    >>> PPoly([[1.0, 0.0], [0.0, 1.0]], [0.0, 1.0, 2.0])([0.5, 1.5])
    array([0.5, 1. ])
    """

    def __init__(self, c: Any, x: Any, extrapolate: Any = True, axis: int = 0) -> None:
        coefficients, knots = double_if_exact(c), real_places("PPoly", x)
        intervals = coefficients.shape[1] if coefficients.ndim > 1 else 0
        if not intervals or knots.shape != (intervals + 1,):
            error = ShapeMismatchError.of(
                "PPoly", "not one polynomial for each interval",
                got=f"c {coefficients.aval}, x {knots.aval}",
                need="c [k + 1, n - 1, ...], x [n >= 2]",
                shapes=(coefficients.shape, knots.shape),
            )  # fmt: skip
            raise at_user_line(error)
        require_increasing("PPoly", knots, strictly=False)
        self.axis = normalize_axis(axis, coefficients.ndim - 1, "PPoly")
        self.extrapolate = _checked_extrapolation(extrapolate)
        self._given = (c, x)  # whether they are of NumPy decides the kind of results
        self._c, self._x = coefficients, knots

    @property
    def c(self) -> Any:
        """Coefficients [k + 1, n - 1, *s], the highest power first."""
        return in_kind(self._c, self._given, {})

    @property
    def x(self) -> Any:
        """Knots [n]."""
        return in_kind(self._x, self._given, {})

    def __call__(self, x: Any, nu: int = 0, extrapolate: Any = None) -> Any:
        """Evaluate at places, or the derivative of order ``nu`` there."""
        if nu:
            return self.derivative(nu)(x, extrapolate=extrapolate)
        beyond = _checked_extrapolation(self._choice(extrapolate))
        found = self._at(real_places("PPoly", x), beyond)
        return in_kind(found, (*self._given, x), {})

    def _at(self, places: Array, extrapolate: Any) -> Array:
        dtype = common_dtype([places, self._x])
        knots, places = cast(self._x, dtype), cast(places, dtype)
        first, last = knots[0], knots[-1]
        if extrapolate == "periodic":
            places = places - self._periods(places) * (last - first)
        after = searchsorted(stop_gradient(knots), stop_gradient(places), side="right")
        i = clip(after - 1, 0, knots.size - 2)
        rest = self._c.ndim - 2
        t = (places - take(knots, i)).reshape((*places.shape, *[1] * rest))
        parts = [take(self._c[j], i, axis=0) for j in range(self._c.shape[0])]
        found = parts[0] + where(isnan(t), t, 0)  # a constant is nan where the place is
        for part in parts[1:]:
            found = found * t + part
        if extrapolate is False:
            inside = logical_and(places >= first, places <= last).reshape(t.shape)
            found = where(inside, found, float("nan"))
        there = range(self.axis, self.axis + places.ndim)
        return moveaxis(found, tuple(range(places.ndim)), tuple(there))

    def derivative(self, nu: int = 1) -> PPoly:
        """Return the derivative of order ``nu``, and for a negative one an antiderivative."""
        if nu < 0:
            return self.antiderivative(-nu)
        top = self._c.shape[0] - 1
        kept = [self._c[j] * perm(top - j, nu) for j in range(max(top + 1 - nu, 0))]
        return self._like(stack(kept) if kept else zeros_like(self._c[:1]))

    def antiderivative(self, nu: int = 1) -> PPoly:
        """Return the continuous antiderivative of order ``nu`` that is 0 at the first knot."""
        found = self
        for _ in range(nu):
            found = found._integral()
        return found

    def _integral(self) -> PPoly:
        top = self._c.shape[0]
        scaled = [self._c[j] / (top - j) for j in range(top)]
        widths = (self._x[1:] - self._x[:-1]).reshape((-1, *[1] * (self._c.ndim - 2)))
        rise = scaled[0] * widths
        for part in scaled[1:]:
            rise = (rise + part) * widths
        total = cumsum(rise, 0)
        start = concatenate([zeros_like(total[:1]), total[:-1]], 0)
        beyond = False if self.extrapolate == "periodic" else self.extrapolate
        return self._like(stack([*scaled, start]), beyond)

    def integrate(self, a: Any, b: Any, extrapolate: Any = None) -> Any:
        """Integrate from a to b; in a periodic function, over as many periods as lie between."""
        beyond = _checked_extrapolation(self._choice(extrapolate))
        whole = self._integral()
        low, high = real_places("PPoly", a), real_places("PPoly", b)
        if beyond != "periodic":
            found = whole._at(high, beyond) - whole._at(low, beyond)
        else:
            found = whole._of_periods(high) - whole._of_periods(low)
        return in_kind(found, (*self._given, a, b), {})

    def _choice(self, extrapolate: Any) -> Any:
        return self.extrapolate if extrapolate is None else extrapolate

    def _of_periods(self, place: Array) -> Array:
        """Evaluate the antiderivative of a periodic function."""
        first, last = self._x[0], self._x[-1]
        count = self._periods(place)
        within = self._at(place - count * (last - first), True)
        return within + count * self._at(last, True)

    def _periods(self, place: Array) -> Array:
        """Return the number of whole periods before a place, a constant for derivatives."""
        first, last = self._x[0], self._x[-1]
        return stop_gradient(floor((place - first) / (last - first)))

    def _like(self, c: Array, extrapolate: Any = None) -> PPoly:
        made = PPoly.__new__(PPoly)  # the knots have been checked
        made.axis, made.extrapolate = self.axis, self._choice(extrapolate)
        made._given, made._c, made._x = self._given, c, self._x
        return made


def _checked_extrapolation(value: Any) -> Any:
    """Return what lies outside: True, False or "periodic". Raises InvalidParameterError."""
    if value == "periodic" or value is True or value is False:
        return value
    raise at_user_line(unknown_option("PPoly", "extrapolate", value, "True, False or 'periodic'"))


def require_increasing(function: str, x: Array, *, strictly: bool) -> None:
    """Check knots whose values are known. Raises InvalidParameterError."""
    if not evaluable(x.key):
        return
    for i, (left, right) in enumerate(pairwise(x._concrete("the order of knots").tolist())):
        if not (left < right or (left == right and not strictly)):
            error = InvalidParameterError.of(
                function, "knots do not increase", got=f"x[{i}] = {left}, x[{i + 1}] = {right}",
                need=f"{'strictly ' * strictly}increasing x", parameter="x", value=x,
            )  # fmt: skip
            raise at_user_line(error)


def real_places(function: str, x: Any) -> Array:
    """Return places as floats. Raises DTypeMismatchError: if they are complex."""
    found = as_array(x)
    if found.dtype.is_complex:
        error = DTypeMismatchError.of(
            function, "places are real", got=found.aval, need="real numbers", dtypes=(found.dtype,)
        )
        raise at_user_line(error)
    return double_if_exact(found)
