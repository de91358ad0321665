"""Initial value problems by the names of scipy.integrate: what is given, and what comes back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import index
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays.errors import at_user_line, unknown_option
from tenferro.arrays.functions.arithmetic import maximum
from tenferro.arrays.functions.creation import array
from tenferro.arrays.functions.data_types import finfo
from tenferro.arrays.functions.structural import moveaxis
from tenferro.arrays.handle.array import Array, evaluable
from tenferro.arrays.handle.traces import is_traced
from tenferro.arrays.promotion.broadcast import cast, common_dtype, double_if_exact
from tenferro.integrate._dormand_prince import RightSide
from tenferro.integrate._step_sizes import Problem
from tenferro.integrate._steps import solution
from tenferro.primitives import InvalidParameterError, ShapeMismatchError
from tenferro.transforms.control.around import program_around, record_function
from tenferro.transforms.control.body import Leaf


class Solution(NamedTuple):
    """The result of ``solve_ivp``."""

    t: Array
    """The times that were asked for, [m]."""
    y: Array
    """The solution there, [*s, m]; nan where it was not reached."""
    nfev: Array
    """The number of evaluations of the right side."""
    success: Array
    """Whether the end was reached."""


class _Options(NamedTuple):
    """The options of both functions, as the user gave them."""

    rtol: Any
    atol: Any
    first_step: Any
    """None: chosen."""
    max_step: Any
    max_steps: Any


def solve_ivp(
    fun: Callable[..., Any],
    t_span: Sequence[Any],
    y0: Any,
    method: str = "RK45",
    t_eval: Any = None,
    *,
    args: Sequence[Any] = (),
    rtol: Any = 1e-3,
    atol: Any = 1e-6,
    first_step: Any = None,
    max_step: Any = float("inf"),
    max_steps: int = 4096,
) -> Solution:
    """Solve y′ = fun(t, y, *args) with y(t₀) = y0, at the times ``t_eval`` between t₀ and t₁.

    y0: [*s]   t_span: t₀, t₁   t_eval: [m]   rtol, atol: numbers, or as y0

    Steps, errors and the values between steps are those of SciPy's "RK45", the only method.
    Derivatives, in both modes and of any order, flow to y0, to the times, and to what ``fun``
    reads. They are those of the scheme with the steps that were accepted. Reverse mode computes
    each step twice and keeps one state for 16 attempted steps. ``max_steps`` bounds the attempts:
    at times that they do not reach y is nan, and ``success`` is False.

    Raises       InvalidParameterError, ShapeMismatchError.

    >>> import numpy as np
    >>> import tenferro as tn
    >>> def after_two(rate):
    ...     decay = lambda t, y: -rate * y
    ...     return tn.integrate.solve_ivp(decay, (0, 2), [1.0], t_eval=[2.0], rtol=1e-9).y[0, 0]
    >>> float(round(tn.grad(after_two)(0.5), 5)), float(round(-2 * np.exp(-1.0), 5))
    (-0.73576, -0.73576)
    """
    if method != "RK45":
        raise at_user_line(unknown_option("solve_ivp", "method", method, "'RK45'"))
    if t_eval is None:
        raise at_user_line(InvalidParameterError.of(
            "solve_ivp", "the times of the solution are not given", got="t_eval=None",
            need="t_eval: how many steps a solution takes is not known before its values are",
            parameter="t_eval", value=None,
        ))  # fmt: skip
    return _solved(
        "solve_ivp", lambda t, y: fun(t, y, *args), _ends(t_span), y0, t_eval,
        _Options(rtol, atol, first_step, max_step, max_steps),
        axis=-1,
    )  # fmt: skip


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

    ``axis``: that of the times in the solution.

    Raises InvalidParameterError, ShapeMismatchError.
    """
    max_steps = _check_options(function, span, options)
    y = double_if_exact(y0)
    t0, t1, at = [double_if_exact(t) for t in (*span, times)]
    if at.ndim != 1:
        raise at_user_line(_no_times(function, at))

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
        real = y.dtype.real_dtype
        t0, t1, at = [cast(t, real) for t in (t0, t1, at)]
        f = record_function(function, right, [Leaf("t", t0.aval), Leaf("y", y.aval)])
        dtype = f.avals[0].dtype
        if dtype is y.dtype:
            break
        y = cast(y, dtype)
    _check_inside(function, t0, t1, at)
    numbers = [options.rtol, options.atol, options.max_step, options.first_step]
    settings = [cast(double_if_exact(x), real) for x in numbers if x is not None]
    fixed_times = all([evaluable(x.key) and not is_traced(x.key) for x in (t0, at)])

    def program(functions: Any, *given: Array) -> list[Array]:
        t0, t1, y, at, relative, absolute, max_step, *first_step = given
        f: RightSide = lambda t, y: functions[0](t, y)[0]  # noqa: E731
        problem = Problem(
            f, t0, t1, y, f(t0, y), at, maximum(relative, 100 * finfo(real).eps), absolute,
            first_step[0] if first_step else None, max_step, max_steps, fixed_times,
        )  # fmt: skip
        found, last = solution(problem)
        evaluations = 6 * last.attempts + (1 if first_step else 2)
        return [moveaxis(found, 0, axis), evaluations, last.at.t == problem.t1]

    key = max_steps, fixed_times, axis
    given = t0, t1, y, at, *settings
    return Solution(at, *program_around(function, [f], program, key, given))


def _check_options(function: str, span: tuple[Any, ...], options: _Options) -> int:
    """Check the interval and those options that are numbers of Python; return ``max_steps``.

    Raises InvalidParameterError.
    """
    if len(span) != 2:
        need = "two times: where the solution begins and ends"
        raise at_user_line(_refused(function, "not an interval", "t_span", span, need))
    for name in ("rtol", "atol", "first_step", "max_step"):
        value, may_be_zero = getattr(options, name), name in ("rtol", "atol")
        is_missing = value is None and name != "first_step"
        is_known = isinstance(value, (int, float))
        if is_missing or (is_known and not (value >= 0 if may_be_zero else value > 0)):
            need = f"a number, {'0 or more' if may_be_zero else 'more than 0'}"
            raise at_user_line(_refused(function, f"{name} is out of range", name, value, need))
    try:
        steps = index(options.max_steps)
    except TypeError:
        steps = 0
    if steps < 1 or isinstance(options.max_steps, bool):
        fact, need = "max_steps is out of range", "an integer of 1 or more"
        raise at_user_line(_refused(function, fact, "max_steps", options.max_steps, need))
    return steps


def _check_inside(function: str, t0: Array, t1: Array, times: Array) -> None:
    """Check times that are known, of an interval that is known.

    Raises InvalidParameterError.
    """
    if not all([evaluable(t.key) for t in (t0, t1, times)]):
        return
    a, b, at = [t._concrete("the order of times") for t in (t0, t1, times)]
    if ((at < min(a, b)) | (at > max(a, b))).any():
        need = f"times from {float(a)} to {float(b)}"
        raise at_user_line(_refused(function, "a time is outside of t_span", "t_eval", at, need))


def _no_times(function: str, times: Array) -> ShapeMismatchError:
    return ShapeMismatchError.of(
        function, "the times are not a vector", got=times.aval, need="f64[m], with m of 1 or more",
        shapes=(times.shape,),
    )  # fmt: skip


def _refused(
    function: str, fact: str, parameter: str, value: Any, need: str
) -> InvalidParameterError:
    return InvalidParameterError.of(
        function, fact, got=f"{parameter}={value!r}", need=need, parameter=parameter, value=value
    )
