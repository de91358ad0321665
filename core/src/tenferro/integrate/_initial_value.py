"""Initial value problems by the names of scipy.integrate: what is given, and what comes back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays.errors import at_user_line, unknown_option
from tenferro.arrays.functions.creation import array
from tenferro.arrays.functions.structural import stack
from tenferro.arrays.handle.array import Array, evaluable
from tenferro.arrays.handle.traces import is_traced
from tenferro.arrays.promotion.broadcast import cast, common_dtype, double_if_exact
from tenferro.integrate._arguments import check_inside, count_of, real_array, refused
from tenferro.integrate._problem import METHODS, EventSetting, Given, Setting
from tenferro.integrate._solve import Solution, solve
from tenferro.primitives import DTypeMismatchError, InvalidParameterError, ShapeMismatchError
from tenferro.transforms.control.around import RecordedFunction, record_function
from tenferro.transforms.control.body import Leaf

_TWO_TIMES = "two times: where the solution begins and ends"


class _Options(NamedTuple):
    """The options of both functions, as the user gave them."""

    rtol: Any
    atol: Any
    first_step: Any
    """None: chosen."""
    max_step: Any
    max_steps: Any
    method: Any = "RK45"
    dense_output: bool = False
    events: Sequence[Any] = ()
    """Functions of t and y with attributes ``terminal`` and ``direction``."""
    max_events: Any = 16


def solve_ivp(
    fun: Callable[..., Any],
    t_span: Sequence[Any],
    y0: Any,
    method: str = "RK45",
    t_eval: Any = None,
    dense_output: bool = False,
    events: Any = None,
    vectorized: bool = False,
    args: Sequence[Any] | None = None,
    *,
    rtol: Any = 1e-3,
    atol: Any = 1e-6,
    first_step: Any = None,
    max_step: Any = float("inf"),
    max_steps: int = 4096,
    max_events: int = 16,
) -> Solution:
    """Solve y′ = fun(t, y, *args) with y(t₀) = y0, at the times ``t_eval`` between t₀ and t₁.

    y0: [*s]   t_span: t₀, t₁   t_eval: [m]   rtol, atol: numbers, or as y0

    ``method`` is "RK45", "RK23" or, of order 8 for strict tolerances, "DOP853", with the steps,
    errors and values between steps of SciPy, or for stiff equations "Rodas4" (Hairer and Wanner's
    RODAS, of order 4), which solves linear systems with the Jacobian of ``fun`` and takes the place
    of SciPy's "Radau" and "BDF". With ``vectorized``, ``fun`` takes y as a column, [n, 1].
    Derivatives, in both modes and of any order, flow to y0, to the times, and to what ``fun``
    reads. They are those of the scheme with the steps that were accepted. Reverse mode computes
    each step twice and keeps one state for 16 attempted steps. ``max_steps`` bounds the attempts:
    at times that they do not reach y is nan, and ``success`` is False.

    ``events`` is a function g(t, y, *args), or several, whose zeros along the solution are wanted.
    As with SciPy, an attribute ``terminal`` of the function, True or a number n, lets its first or
    n-th zero end the solution, and ``direction`` selects zeros where g rises (more than 0) or falls
    (less than 0). ``t_events`` and ``y_events`` have room for n zeros, or for ``max_events`` if
    none is terminal; the solution ends without success where there are more. They have derivatives,
    as y has, by the implicit function theorem. At times behind a terminal event y is nan.

    With ``dense_output``, ``solution.sol(t)`` gives y at any times, of shape [*s, *t.shape]; all
    attempted steps are then kept, ``max_steps`` of them.

    Raises       InvalidParameterError, ShapeMismatchError, DTypeMismatchError.

    >>> import numpy as np
    >>> import tenferro as tn
    >>> def after_two(rate):
    ...     decay = lambda t, y: -rate * y
    ...     return tn.integrate.solve_ivp(decay, (0, 2), [1.0], t_eval=[2.0], rtol=1e-9).y[0, 0]
    >>> float(round(tn.grad(after_two)(0.5), 5)), float(round(-2 * np.exp(-1.0), 5))
    (-0.73576, -0.73576)
    >>> def time_of_fall(height):  # √(2 h / g)
    ...     ground = lambda t, y: y[0]
    ...     ground.terminal = True
    ...     falling = lambda t, y: [y[1], -9.81]
    ...     found = tn.integrate.solve_ivp(falling, (0, 9), [height, 0.0], t_eval=[], events=ground)
    ...     return found.t_events[0][0]
    >>> float(round(time_of_fall(5.0), 6)), float(round(tn.grad(time_of_fall)(5.0), 6))
    (1.009638, 0.100964)
    """
    if t_eval is None:
        raise at_user_line(InvalidParameterError.of(
            "solve_ivp", "the times of the solution are not given", got="t_eval=None",
            need="t_eval: how many steps a solution takes is not known before its values are",
            parameter="t_eval", value=None,
        ))  # fmt: skip
    watched = [] if events is None else [events] if callable(events) else [*events]
    args = _arguments("solve_ivp", args)

    def right(t: Array, y: Array) -> Any:
        return array(fun(t, y[:, None], *args)).reshape(-1) if vectorized else fun(t, y, *args)

    return _solved(
        "solve_ivp", right, _ends(t_span), y0, t_eval,
        _Options(
            rtol, atol, first_step, max_step, max_steps, method, dense_output,
            [_with_arguments(event, args) for event in watched], max_events,
        ),
        axis=-1,
    )  # fmt: skip


def _arguments(function: str, args: Any) -> tuple[Any, ...]:
    """Return more arguments of the right side.

    Raises InvalidParameterError: if they are no sequence, as in ``args=(2.0)``.
    """
    try:
        return () if args is None else tuple(args)
    except TypeError:
        need = "a sequence; of one argument, `args=(x,)`"
        raise at_user_line(refused(function, "not a sequence", "args", args, need)) from None


def _with_arguments(event: Any, args: Sequence[Any]) -> Callable[[Array, Array], Any]:
    """Return an event as a function of t and y, with its attributes."""
    call: Any = lambda t, y: event(t, y, *args)  # noqa: E731
    call.terminal = getattr(event, "terminal", False)
    call.direction = getattr(event, "direction", 0)
    return call  # type: ignore[no-any-return]


def odeint(
    func: Callable[..., Any],
    y0: Any,
    t: Any,
    args: Sequence[Any] = (),
    *,
    tfirst: bool = False,
    rtol: Any = 1.49012e-8,
    atol: Any = 1.49012e-8,
    max_steps: int = 4096,
) -> Array:
    """Solve y′ = func(y, t, *args) with y(t[0]) = y0; return y at the times t, the first included.

    y0: [*s]   t: [m], in order, up or down   →   [m, *s]

    With ``tfirst``, func(t, y, *args). By the method, and with the derivatives, of ``solve_ivp``;
    SciPy's takes LSODA, so that values agree up to the tolerances.

    Raises       InvalidParameterError, ShapeMismatchError.

    >>> import numpy as np
    >>> from tenferro.integrate import odeint
    >>> odeint(lambda y, t: -y, 1.0, [0.0, 1.0, 2.0]).round(6)
    array([1.      , 0.367879, 0.135335])
    """
    args = _arguments("odeint", args)
    times = double_if_exact(t)
    if times.ndim != 1 or not times.size:
        raise at_user_line(_no_times("odeint", times))
    return _solved(
        "odeint", lambda t, y: func(t, y, *args) if tfirst else func(y, t, *args),
        (times[0], times[-1]), y0, times,
        _Options(rtol, atol, None, float("inf"), max_steps), axis=0,
    ).y  # fmt: skip


def _ends(t_span: Any) -> tuple[Any, ...]:
    """Return what an interval consists of."""
    try:
        return tuple(t_span)
    except TypeError:
        return (t_span,)


def _solved(
    function: str,
    fun: Callable[[Array, Array], Any],
    span: tuple[Any, ...],
    y0: Any,
    times: Any,
    options: _Options,
    axis: int,
) -> Solution:
    """Solve the problem in one precision: that of y0 and of its slope.

    Raises InvalidParameterError, ShapeMismatchError, DTypeMismatchError.
    """
    max_steps = _check_options(function, span, options)
    y = double_if_exact(y0)
    t0, t1, at = _times(function, span, times)
    right, y = _recorded(function, fun, t0, y)
    if y.dtype.is_complex and not METHODS[options.method].takes_complex:
        raise at_user_line(DTypeMismatchError.of(
            function, f"{options.method} takes real states", got=y.aval,
            need="real and imaginary parts as two states, or method='RK45'", dtypes=(y.dtype,),
        ))  # fmt: skip
    real = y.dtype.real_dtype
    t0, t1, at = [cast(t, real) for t in (t0, t1, at)]
    check_inside(function, "t_eval", at, t0, t1)
    _check_first_step(function, options.first_step, t0, t1)
    given = _given(function, options, t0, t1, y)
    events, event_setting = _recorded_events(function, options, t0, y)
    fixed_times = all([evaluable(x.key) and not is_traced(x.key) for x in (t0, at)])
    setting = Setting(
        function, options.method, max_steps, fixed_times, axis, bool(options.dense_output),
        given.first_step is not None, event_setting,
    )  # fmt: skip
    return solve(setting, right, events, at, given, y0)


def _times(function: str, span: tuple[Any, ...], times: Any) -> tuple[Array, Array, Array]:
    """Return the two ends of an interval and the times, [m], as arrays.

    Raises InvalidParameterError, ShapeMismatchError, DTypeMismatchError.
    """
    t0, t1 = [real_array(function, "t_span", t) for t in span]
    at = real_array(function, "t_eval", times)
    if at.ndim != 1:
        raise at_user_line(_no_times(function, at))
    if t0.shape or t1.shape:
        raise at_user_line(refused(function, "not an interval", "t_span", span, _TWO_TIMES))
    return t0, t1, at


def _given(function: str, options: _Options, t0: Array, t1: Array, y: Array) -> Given:
    """Return the numbers of a problem in the precision of the times.

    Raises InvalidParameterError, ShapeMismatchError, DTypeMismatchError.
    """

    def number(name: str) -> Array:
        return cast(real_array(function, name, getattr(options, name)), t0.dtype)

    rtol, atol, max_step = number("rtol"), number("atol"), number("max_step")
    first_step = None if options.first_step is None else number("first_step")
    _check_tolerances(function, rtol, atol, y)
    return Given(t0, t1, y, rtol, atol, max_step, first_step)


def _recorded(
    function: str, fun: Callable[[Array, Array], Any], t0: Array, y: Array
) -> tuple[RecordedFunction, Array]:
    """Return the right side, recorded, and y0 in the precision of both."""

    def right(t: Array, y: Array) -> list[Array]:
        found = array(fun(t, y))
        if found.shape != y.shape:
            raise at_user_line(ShapeMismatchError.of(
                function, "the right side has another shape than y0", got=found.aval,
                need=str(y.aval),
                shapes=(found.shape, y.shape),
            ))  # fmt: skip
        return [cast(found, common_dtype([y, found]))]

    while True:
        time = t0.aval.with_dtype(y.dtype.real_dtype)
        found = record_function(function, right, [Leaf("t", time), Leaf("y", y.aval)])
        dtype = found.avals[0].dtype
        if dtype is y.dtype:
            return found, y
        y = cast(y, dtype)


def _recorded_events(
    function: str, options: _Options, t0: Array, y: Array
) -> tuple[RecordedFunction | None, EventSetting | None]:
    """Return the events, recorded as one function that returns a vector, and their attributes."""
    if not options.events:
        return None, None

    def values(t: Array, y: Array) -> list[Array]:
        return [stack([_value_of_event(function, event(t, y), t) for event in options.events])]

    room = count_of(function, "max_events", options.max_events)
    last = tuple([_last(function, event.terminal) for event in options.events])
    directions = tuple([_direction(function, event.direction) for event in options.events])
    recorded = record_function(function, values, [Leaf("t", t0.aval), Leaf("y", y.aval)])
    return recorded, EventSetting(directions, last, tuple([n or room for n in last]))


def _value_of_event(function: str, value: Any, t: Array) -> Array:
    """Return the value of an event as a number in the precision of the time."""
    found = real_array(function, "an event", array(value))
    if found.shape:
        raise at_user_line(ShapeMismatchError.of(
            function, "an event is not a number", got=found.aval, need=str(t.aval),
            shapes=(found.shape,),
        ))  # fmt: skip
    return cast(found, t.dtype)


def _last(function: str, terminal: Any) -> int:
    """Return the number of the zero that ends a solution; 0 if none does."""
    try:
        number = 0 if terminal is None else int(terminal)
        is_count = terminal is None or (number == terminal and number >= 0)
    except (TypeError, ValueError):
        number, is_count = 0, False
    if not is_count:
        fact, need = "terminal is not a number of zeros", "True, False, or an integer, 0 or more"
        raise at_user_line(refused(function, fact, "terminal", terminal, need))
    return number


def _direction(function: str, direction: Any) -> float:
    """Return the direction of an event: 1 for zeros where it rises, -1 where it falls, 0 both."""
    try:
        number = float(direction)
    except (TypeError, ValueError):
        number = float("nan")
    if number != number:
        fact, need = "direction is not a number", "more than 0, less than 0, or 0 for both"
        raise at_user_line(refused(function, fact, "direction", direction, need))
    return float((number > 0) - (number < 0))


def _check_options(function: str, span: tuple[Any, ...], options: _Options) -> int:
    """Check the interval and those options that are numbers of Python; return ``max_steps``.

    Raises InvalidParameterError.
    """
    if not isinstance(options.method, str) or options.method not in METHODS:
        known = " or ".join(map(repr, METHODS))
        raise at_user_line(unknown_option(function, "method", options.method, known))
    if len(span) != 2:
        raise at_user_line(refused(function, "not an interval", "t_span", span, _TWO_TIMES))
    for name in ("rtol", "atol", "first_step", "max_step"):
        value, may_be_zero = getattr(options, name), name in ("rtol", "atol")
        is_missing = value is None and name != "first_step"
        is_known = isinstance(value, (int, float))
        if is_missing or (is_known and not (value >= 0 if may_be_zero else value > 0)):
            need = f"a number, {'0 or more' if may_be_zero else 'more than 0'}"
            raise at_user_line(refused(function, f"{name} is out of range", name, value, need))
    return count_of(function, "max_steps", options.max_steps)


def _check_tolerances(function: str, relative: Array, absolute: Array, y: Array) -> None:
    """Check tolerances that are arrays: their shapes, and the values that are known.

    Raises InvalidParameterError, ShapeMismatchError.
    """
    for name, x in (("rtol", relative), ("atol", absolute)):
        if x.shape not in ((), y.shape):
            raise at_user_line(ShapeMismatchError.of(
                function, f"{name} has another shape than y0", got=x.aval,
                need=f"a number, or {y.aval.with_dtype(x.dtype)}", shapes=(x.shape, y.shape),
            ))  # fmt: skip
        if x.shape and evaluable(x.key):
            value = x._concrete("a tolerance")
            if not (value >= 0).all():
                need = "numbers, 0 or more"
                raise at_user_line(refused(function, f"{name} is out of range", name, value, need))


def _check_first_step(function: str, size: Any, t0: Array, t1: Array) -> None:
    """Check that the first step, if it is a number of Python, stays in an interval that is known.

    Raises InvalidParameterError.
    """
    if not isinstance(size, (int, float)) or not all([evaluable(t.key) for t in (t0, t1)]):
        return
    a, b = [float(t._concrete("the length of an interval")) for t in (t0, t1)]
    if size > abs(b - a):
        need = f"at most the length of t_span, {abs(b - a)}"
        raise at_user_line(refused(function, "first_step is too large", "first_step", size, need))


def _no_times(function: str, times: Array) -> ShapeMismatchError:
    return ShapeMismatchError.of(
        function, "the times are not a vector", got=times.aval, need="f64[m], with m of 1 or more",
        shapes=(times.shape,),
    )  # fmt: skip
