"""The solution of an initial value problem as a function of the time, from the steps it took."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from tenferro.arrays.evaluation.results import in_kind
from tenferro.arrays.functions.arithmetic import minimum, sign
from tenferro.arrays.functions.comparison import isfinite, where
from tenferro.arrays.functions.creation import ones_like
from tenferro.arrays.functions.elementwise import stop_gradient
from tenferro.arrays.functions.searching import searchsorted
from tenferro.arrays.functions.structural import moveaxis
from tenferro.arrays.handle.array import Array
from tenferro.arrays.promotion.broadcast import cast
from tenferro.integrate._arguments import check_inside, real_array
from tenferro.integrate._followed_steps import stepped
from tenferro.integrate._problem import Given, Setting, problem_of
from tenferro.integrate._step_sizes import Problem
from tenferro.integrate._steps import Part, State, values_within
from tenferro.transforms.control.around import RecordedFunction, program_around
from tenferro.transforms.custom_rules.with_derivative_of import with_derivative_of


class DenseSolution:
    """The solution at any times: ``solution(t)`` is of shape [*s, *t.shape].

    Values are those of the polynomials over the steps. Derivatives flow to the times and to all
    that derivatives of the solution flow to. Times behind an event that ends the solution, or that
    were not reached, give nan.
    """

    def __init__(
        self,
        setting: Setting,
        right: RecordedFunction,
        given: Given,
        steps: Sequence[Array],
        like: Any,
    ) -> None:
        """``steps``: the time that was reached, the attempts, and where they begin.

        ``like`` is what the user gave as y0: it decides the kind of the results.
        """
        self._setting = setting
        self._right = right
        self._given = given
        self._steps = steps
        self._like = like

    def __call__(self, t: Any) -> Any:
        """Return the solution at times of any shape.

        Raises InvalidParameterError: for known times outside of a known interval.
        """
        given = self._given
        times, arrays = cast(real_array("solution", "t", t), given.t0.dtype), given.arrays
        check_inside("solution", "t", times.reshape(-1), given.t0, given.t1)
        (y,) = program_around(
            "solution", [self._right], partial(_read, self._setting, len(arrays)),
            self._setting, [times.reshape(-1), *arrays, *self._steps],
        )  # fmt: skip
        return in_kind(y.reshape(*y.shape[:-1], *times.shape), (t, self._like), {})


def _read(
    setting: Setting, count: int, functions: Any, times: Array, *arrays: Array
) -> list[Array]:
    """Return y at the times, [*s, m], from all steps; ``count`` arrays are those of ``Given``."""
    p = problem_of(setting, functions, times, Given(*arrays[:count]))
    reached, *steps = arrays[count:]
    width = len(Part._fields)
    rows = [x.reshape(x.shape[0] * x.shape[1], *x.shape[2:]) for x in steps]
    return [moveaxis(_between(p, reached, Part(*rows[:width]), State(*rows[width:])), 0, -1)]


def _between(p: Problem, reached: Array, parts: Part, nodes: State) -> Array:
    """Return y at the times, [m, *s]."""
    forward, at = stop_gradient(sign(p.t1 - p.t0)), stop_gradient(p.times)
    ends = forward * (parts.t + parts.size)
    last = where(isfinite(ends), ends, -float("inf")).max()  # rounding may put the end behind it
    i = minimum(searchsorted(ends, minimum(forward * at, last)), ends.size - 1)
    is_known = (forward * (reached - at) >= 0) & (forward * (at - p.t0) >= 0)
    values = values_within(parts, i, where(is_known, at, parts.t[i]))
    known = where(is_known, ones_like(at), 0.0)
    y = with_derivative_of(values, stepped(p, p.times, known, *[x[i] for x in nodes]))
    found: Array = where(is_known.reshape(-1, *[1] * p.y0.ndim), y, float("nan"))
    return found
