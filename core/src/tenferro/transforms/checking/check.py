"""Check derivatives against differences: ``check_grads``.

Directional derivatives ⟨w, J v⟩ are compared with the derivative of t ↦ ⟨w, f(x + t v)⟩ at 0, which
is extrapolated from differences; pullbacks by the adjoint identity ⟨w, J v⟩ = ⟨Jᵀ w, v⟩. First both
sides are compared, so that a kink is found whose sides cancel in central differences. Where
differences are too coarse and f takes complex numbers, Im ⟨w, f(x + iεv)⟩/ε replaces them (Squire
and Trapp, SIAM Rev. 40 (1998) 110). Higher orders repeat both on derivatives.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays import Array, as_array, asarray, imag, real, sin, vdot
from tenferro.arrays.errors import at_user_line
from tenferro.primitives import complex as make_complex
from tenferro.primitives import convert, float64, iota
from tenferro.primitives._aval import Aval
from tenferro.transforms.checking.differences import (
    Break,
    Estimate,
    broken,
    central,
    kinked,
    two_sided,
)
from tenferro.transforms.checking.gauge import warn_of_gauge
from tenferro.transforms.derivatives.directions import as_tuple
from tenferro.transforms.derivatives.jvp import jvp
from tenferro.transforms.derivatives.linear_map import vjp
from tenferro.transforms.errors import GradientCheckError, check_function
from tenferro.transforms.recording import tree as _tree

MODES = ("fwd", "rev")
_STEPS = (1.0, 0.02, 4e-4, 8e-6)  # of the first step, if a kink or an edge is near
_MARGIN = 4.0  # how many estimated errors of the difference are allowed
_COMPLEX_STEP = 1e-30
_LEAST_KINK = 1e-5  # of the derivative: how much both sides differ at what is called a kink


class _Limits(NamedTuple):
    """Resolution of finite differences in a dtype."""

    step: float  # the first one
    tolerance: float
    unsure: float  # relative error of a difference that shows nothing
    rounding: float  # relative error of a value
    absolute: float = 0.0


_LIMITS = {
    "float64": _Limits(5e-2, 1e-7, 1e-5, 2.0**-53),
    "float32": _Limits(0.2, 5e-3, 1e-3, 2.0**-24),
    "float16": _Limits(0.5, 0.1, 0.02, 2.0**-11),
    "bfloat16": _Limits(0.5, 0.3, 0.1, 2.0**-8),
}


def check_grads(
    function: Callable[..., Any],
    args: Sequence[Any],
    order: int = 1,
    modes: Sequence[str] = MODES,
    *,
    atol: float | None = None,
    rtol: float | None = None,
    eps: float | None = None,
) -> None:
    """Check the derivatives of a function at a point against finite differences.

    Parameters
    ----------
    function : callable
        Real or complex function of pytrees of arrays and numbers.
    args : sequence
        Arguments: floats, arrays or pytrees of them.
    order : int, default 1
        Highest order of derivative to check.
    modes : sequence of {"fwd", "rev"}, default ("fwd", "rev")
        Modes of differentiation to check.
    atol, rtol : float, optional
        Tolerances. By default they are what differences can resolve in the dtype: in float64, a
        relative error of 1e-4 is always found.
    eps : float, optional
        First and largest step of the differences, which are extrapolated to step zero.

    Raises
    ------
    GradientCheckError
        If a derivative is wrong. The error names the mode, the order and both numbers. If the
        function has a kink or a jump at the point, the error says so.

    Warns
    -----
    GaugeWarning
        If the function depends on the gauge of svd, eigh, eig or qr, that is, on phases of
        vectors or on the choice of vectors of equal values. It has no derivative there, even if
        differences agree. The warning names the factorization and the line that called it.

    Examples
    --------
    >>> import tenferro as tn
    >>> tn.check_grads(lambda x: x * x, (2.0,), order=2)
    """
    check_function(function, "check_grads")
    args = as_tuple(args, "args")
    given: object = order
    if not isinstance(given, int) or given < 1:
        text = f"check_grads: order is a whole number from 1 up, not {order!r}"
        raise at_user_line(ValueError(text))
    is_told = False
    for level in range(1, order + 1):
        is_told = is_told or warn_of_gauge(function, args, _directions(args, 2), level)
        for mode in modes:
            if mode not in MODES:
                raise at_user_line(ValueError(f"check_grads: modes are {MODES}, not {mode!r}"))
            _check(function, args, mode, level, atol, rtol, eps)
        inner = function
        function = lambda *xs, _f=inner: _along(_f, xs)  # noqa: E731


def _along(function: Callable[..., Any], args: Sequence[Any]) -> Any:
    """Compute the derivative in a fixed direction, which the next order checks."""
    return jvp(function, tuple(args), _directions(args, 1))[1]


def _check(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    mode: str,
    order: int,
    atol: float | None,
    rtol: float | None,
    eps: float | None,
) -> None:
    v = _scaled_directions(args)
    line = _Line(function, args, v)
    if mode == "fwd":
        got = _inner(line.weights, jvp(function, args, v)[1])
    else:
        value, pull = vjp(function, *args)
        got = _inner(pull(_as_complex_as(value, line.weights)), v)
    allowed = _allowed(args, atol, rtol, eps)
    kink = line.kink(allowed)
    if kink is not None:
        raise _disagreement(got, _compare(line, got, allowed, 1.0), kink, mode, order)
    _confirm(line, got, allowed, mode, order)


def _confirm(line: _Line, got: float, allowed: _Limits, mode: str, order: int) -> None:
    """Raise GradientCheckError unless differences show the derivative."""
    tried: list[_Comparison] = []
    for shrinking, estimate in product(_STEPS, (central, two_sided)):
        found = _compare(line, got, allowed, shrinking, estimate)
        if found.is_confirmed and not found.is_unsure:
            return
        tried.append(found)
    best = min(tried, key=lambda found: (found.is_unsure, found.error))
    if best.is_unsure:
        exact = line.complex_step()
        if exact is not None and abs(exact - best.need.value) <= _MARGIN * best.error:
            near = allowed.absolute + allowed.tolerance * max(best.scale, abs(exact))
            if abs(got - exact) <= near:
                return
            raise _disagreement(got, best.replaced(exact, near), None, mode, order)
        if any([found.is_confirmed for found in tried]):
            return
    again = best.estimate(line, 0.7 * allowed.step, 0.1 * allowed.tolerance).value
    if not abs(again - best.need.value) <= 2 * best.bound:  # its error was small by chance
        best = best._replace(is_unsure=True, error=abs(again - best.need.value))
    kink = broken(line, best.need, allowed.step, allowed.tolerance)
    raise _disagreement(got, best, kink, mode, order)


class _Comparison(NamedTuple):
    """A derivative against what differences show."""

    need: Estimate
    error: float  # of the difference, rounding errors included
    scale: float
    bound: float
    is_confirmed: bool
    is_unsure: bool
    estimate: Callable[..., Estimate] = central

    def replaced(self, exact: float, bound: float) -> _Comparison:
        """Return the comparison with a value by a complex step instead of a difference."""
        need = Estimate(exact, 0.0, _COMPLEX_STEP)
        return self._replace(need=need, bound=bound, is_unsure=False)


def _compare(
    line: _Line,
    got: float,
    allowed: _Limits,
    shrinking: float,
    estimate: Callable[..., Estimate] = central,
) -> _Comparison:
    need = estimate(line, allowed.step * shrinking, 0.1 * allowed.tolerance)
    if not need.is_known:
        return _Comparison(need, math.inf, 0.0, 0.0, is_confirmed=False, is_unsure=True)
    scale = max(abs(need.value), 1e-2 * line.size(need.step))
    noise = 4 * allowed.rounding * line.height(need.step) / need.step  # of the values
    shift = allowed.rounding * line.extent * scale / need.step  # of the arguments
    error = max(need.error, noise, shift)
    bound = (
        allowed.absolute + allowed.tolerance * scale + _MARGIN * min(error, allowed.unsure * scale)
    )
    is_zero = shrinking == 1 and max(abs(got), abs(need.value)) <= _MARGIN * noise
    is_confirmed = is_zero or abs(got - need.value) <= bound
    is_unsure = not (is_zero or error <= allowed.unsure * scale)
    return _Comparison(need, error, scale, bound, is_confirmed, is_unsure, estimate)


def _disagreement(
    got: float, best: _Comparison, kink: Break | None, mode: str, order: int
) -> GradientCheckError:
    """Make the error about a derivative that differences do not confirm: wrong, a kink, or
    unsure.
    """
    need = best.need
    wanted = f"{need.value!r} ± {best.bound:.2g} (extrapolated differences, step {need.step:.2g})"
    what = f"the derivative of order {order} disagrees with differences in mode {mode!r}"
    if kink is not None:
        subject = "the function" if order == 1 else f"the derivative of order {order - 1}"
        verb, values = ("jumps", "steps") if kink.is_jump else ("has a kink", "derivatives")
        what = f"{subject} {verb} at this point: there is no derivative of order {order}"
        wanted = (
            f"{values} to the left {kink.left:.6g}, to the right {kink.right:.6g}\n"
            "  hint       check it at a point near this one"
        )
    elif best.is_unsure:
        what = f"differences do not show the derivative of order {order} in mode {mode!r}"
        wanted = (
            f"{need.value!r} ± {best.error:.2g}, the best of extrapolated differences\n"
            "  hint       values are noisy or not smooth near this point: scale the function,\n"
            "             choose another point or a first step (`eps=`), or allow the error\n"
            "             (`rtol=`)"
        )
    return GradientCheckError(
        f"{what}\n  got        {got!r}\n  need       {wanted}",
        mode=mode,
        order=order,
        got=got,
        need=need.value,
        kink=None if kink is None or kink.is_jump else (kink.left, kink.right),
    )


class _Line:
    """The function t ↦ ⟨w, f(x + t v) − f(x)⟩ of a real number, with fixed irregular weights w."""

    def __init__(
        self, function: Callable[..., Any], args: tuple[Any, ...], v: tuple[Any, ...]
    ) -> None:
        self._function = function
        self._args = args
        self._directions = v
        tree = function(*args)
        self._start = [array_of_floats(x) for x in _leaves(tree)]
        self.weights = _directions((_like(tree, self._start),), 3)[0]
        self.extent = max([_norm(x) for x in _leaves(args) if x.dtype.is_inexact], default=0.0)
        self._known: dict[float, float] = {}

    def __call__(self, t: float) -> float:
        if t not in self._known:
            self._known[t] = self._value(t) if t else 0.0
        return self._known[t]

    def _value(self, t: float) -> float:
        """Return the value at t ≠ 0; NaN if the shape of the result differs."""
        moved = self._moved(t)
        same = len(moved) == len(self._start) and all(
            [x.shape == y.shape for x, y in zip(moved, self._start, strict=True)]
        )
        return _inner(self.weights, moved) if same else math.nan

    def size(self, step: float) -> float:
        """‖w‖ ‖f(x + hv) − f(x − hv)‖ / 2h, the scale of ⟨w, J v⟩ without cancellation."""
        pairs = zip(self._moved(step), self._moved(-step), strict=True)
        return _norm(self.weights) * _norm([a - b for a, b in pairs]) / (2 * step)

    def height(self, step: float) -> float:
        """‖w‖ ‖f‖ near the point, the scale of rounding errors."""
        moved = self._moved(step)
        return _norm(self.weights) * max(_norm(self._start), _norm(moved))

    def kink(self, allowed: _Limits) -> Break | None:
        """Return the derivatives on both sides if they differ."""
        height = _norm(self.weights) * _norm(self._start)
        least = max(_LEAST_KINK, allowed.tolerance)
        rounding, shift = 4 * allowed.rounding * height, allowed.rounding * self.extent
        return kinked(self, allowed.step, least, rounding, shift)

    def complex_step(self) -> float | None:
        """Im ⟨w, f(x + iεv)⟩ / ε; None where f does not take complex numbers."""
        real_leaves = (*_leaves(self._args), *self._start)
        if any(x.dtype.is_complex or not x.dtype.is_inexact for x in real_leaves):
            return None
        try:
            found = _leaves(
                self._function(*_shift(self._args, self._directions, _COMPLEX_STEP * 1j))
            )
        except Exception:  # a function of the user's, which may refuse in any way
            return None
        pairs = zip(_leaves(self.weights), found, strict=True)
        value = sum(float(vdot(w, imag(x))) for w, x in pairs) / _COMPLEX_STEP
        return value if math.isfinite(value) else None

    def _moved(self, t: float) -> list[Array]:
        """f(x + t v) − f(x), by leaves; f(x + t v) where its shape differs."""
        there = _leaves(self._function(*_shift(self._args, self._directions, t)))
        pairs = zip(map(array_of_floats, there), self._start, strict=False)
        return [x - y if x.shape == y.shape else x for x, y in pairs]


def array_of_floats(x: Array) -> Array:
    """Return the array itself; an array of integers or bools is converted to floats."""
    return x if x.dtype.is_inexact else convert(x, float64)


def _as_complex_as(value: Any, weights: Any) -> Any:
    """Make the weights complex where the value is complex."""
    pairs = zip(_leaves(weights), _leaves(value), strict=True)
    return _like(value, [convert(w, y.dtype) if y.dtype.is_complex else w for w, y in pairs])


def _like(tree: Any, leaves: list[Array]) -> Any:
    return _tree.unflatten(_tree.flatten(tree)[1], leaves)


def _shift(args: tuple[Any, ...], v: tuple[Any, ...], h: complex) -> tuple[Any, ...]:
    leaves, spec = _tree.flatten(args)
    moved = [as_array(x) + (d * h) for x, d in zip(leaves, _leaves(v), strict=True)]
    return tuple(_tree.unflatten(spec, moved))


def _leaves(tree: Any) -> list[Array]:
    return [as_array(leaf) for leaf in _tree.flatten(tree)[0]]


def _directions(tree: Sequence[Any], seed: int) -> tuple[Any, ...]:
    """Return fixed, irregular directions in the structure of the arguments."""
    leaves, spec = _tree.flatten(tuple(tree))
    found = [_direction(asarray(x).aval, seed + 7 * i) for i, x in enumerate(leaves)]
    return tuple(_tree.unflatten(spec, found))


def _scaled_directions(args: Sequence[Any]) -> tuple[Any, ...]:
    """Return directions whose leaves are as large as those of the arguments, if these exceed 1."""
    leaves, spec = _tree.flatten(_directions(args, 2))
    pairs = zip(leaves, _leaves(args), strict=True)
    found = [v * scale if (scale := _magnitude(x)) > 1 else v for v, x in pairs]
    return tuple(_tree.unflatten(spec, found))


def _magnitude(x: Array) -> float:
    """Return the power of 2 below the root mean square of an array of floats; 1 for others."""
    if not x.dtype.is_inexact or not x.size:
        return 1.0
    mean = _norm(x) / math.sqrt(x.size)
    return 2.0 ** math.floor(math.log2(mean)) if 1 < mean < math.inf else 1.0


def _direction(aval: Aval, seed: int) -> Array:
    if aval.dtype.is_complex:
        kind = aval.dtype.real_dtype
        parts = [_direction(Aval(aval.shape, kind), seed + k) for k in (0, 100)]
        return make_complex(*parts)
    count = Array(iota((aval.size,), 0, "int64").key)
    wave = sin(count * 2.399963 + 0.7 * seed) + 0.3
    return convert(wave.reshape(aval.shape), aval.dtype)


def _inner(a: Any, b: Any) -> float:
    """Re Σ conj(a) b."""
    pairs = zip(_leaves(a), _leaves(b), strict=True)
    return sum(float(real(vdot(x, y))) for x, y in pairs)


def _norm(a: Any) -> float:
    return math.sqrt(_inner(a, a))


def _allowed(
    args: Sequence[Any], atol: float | None, rtol: float | None, eps: float | None
) -> _Limits:
    """Return the limits of the coarsest dtype among the arguments, or those that the user gave."""
    kinds = [leaf.dtype.real_dtype for leaf in _leaves(args) if leaf.dtype.is_inexact]
    coarsest = min(kinds, key=lambda kind: _PRECISION.index(kind.name), default=float64)
    limits = _LIMITS[coarsest.name]
    return limits._replace(
        step=eps or limits.step,
        tolerance=limits.tolerance if rtol is None else rtol,
        absolute=atol or 0.0,
    )


_PRECISION = ("bfloat16", "float16", "float32", "float64")
