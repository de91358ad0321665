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
from functools import wraps
from itertools import product
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays.errors import at_user_line
from tenferro.backend._snapshots import is_numpy
from tenferro.transforms.checking.differences import Break, Estimate, broken, central, two_sided
from tenferro.transforms.checking.gauge import warn_of_gauge
from tenferro.transforms.checking.limits import Limits, limits_for
from tenferro.transforms.checking.line import COMPLEX_STEP, Line
from tenferro.transforms.checking.pytrees import (
    as_complex_as,
    directions_like,
    inner_product,
    scaled_directions,
)
from tenferro.transforms.derivatives.directions import as_tuple
from tenferro.transforms.derivatives.jvp import jvp
from tenferro.transforms.derivatives.linear_map import vjp
from tenferro.transforms.errors import GradientCheckError, check_function
from tenferro.transforms.recording import tree as _tree
from tenferro.transforms.recording.arguments import own_handle

MODES = ("fwd", "rev")
_STEP_FACTORS = (1.0, 0.02, 4e-4, 8e-6)  # of the first step, if a kink or an edge is near
_ERRORS_ALLOWED = 4.0  # estimated errors of the difference


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
    for mode in modes:
        if mode not in MODES:
            raise at_user_line(ValueError(f"check_grads: modes are {MODES}, not {mode!r}"))
    is_told = False
    function = _of_own_arguments(function)
    for level in range(1, order + 1):
        is_told = is_told or warn_of_gauge(function, args, directions_like(args, 2), level)
        line = Line(function, args, scaled_directions(args))  # all modes are compared with it
        allowed = limits_for(args, atol, rtol, eps)
        for mode in modes:
            _check(line, mode, level, allowed)
        inner = function
        function = lambda *xs, _f=inner: _along(_f, xs)  # noqa: E731


def _of_own_arguments(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function of copies of its arguments, into which it may write."""

    @wraps(function, updated=())
    def call(*args: Any) -> Any:
        own = lambda x: x.copy() if is_numpy(x) else own_handle(x)  # noqa: E731
        return function(*_tree.map_leaves(own, args))

    return call


def _along(function: Callable[..., Any], args: Sequence[Any]) -> Any:
    """Compute the derivative in a fixed direction, which the next order checks."""
    return jvp(function, tuple(args), directions_like(args, 1))[1]


def _check(line: Line, mode: str, order: int, allowed: Limits) -> None:
    """Raise GradientCheckError unless the derivative in this mode is that along the line."""
    if mode == "fwd":
        got = inner_product(line.weights, jvp(line.function, line.args, line.directions)[1])
    else:
        value, pull = vjp(line.function, *line.args)
        got = inner_product(pull(as_complex_as(value, line.weights)), line.directions)
    kink = line.kink(allowed)
    if kink is not None:
        raise _disagreement(got, _compare(line, got, allowed, 1.0), kink, mode, order)
    _confirm(line, got, allowed, mode, order)


def _confirm(line: Line, got: float, allowed: Limits, mode: str, order: int) -> None:
    """Raise GradientCheckError unless differences show the derivative."""
    tried: list[_Comparison] = []
    for shrinking, estimate in product(_STEP_FACTORS, (central, two_sided)):
        found = _compare(line, got, allowed, shrinking, estimate)
        if found.is_confirmed and not found.is_unsure:
            return
        tried.append(found)
    best = min(tried, key=lambda found: (found.is_unsure, found.error))
    if best.is_unsure:
        exact = line.complex_step()
        if exact is not None and abs(exact - best.need.value) <= _ERRORS_ALLOWED * best.error:
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
        need = Estimate(exact, 0.0, COMPLEX_STEP)
        return self._replace(need=need, bound=bound, is_unsure=False)


def _compare(
    line: Line,
    got: float,
    allowed: Limits,
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
    bound = allowed.absolute + allowed.tolerance * scale
    bound += _ERRORS_ALLOWED * min(error, allowed.unsure * scale)
    is_zero = shrinking == 1 and max(abs(got), abs(need.value)) <= _ERRORS_ALLOWED * noise
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
