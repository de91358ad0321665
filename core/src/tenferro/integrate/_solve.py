"""The program of an initial value problem: recorded functions and arrays in, a solution out.

Read next: ``_problem.py``.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays.functions.structural import moveaxis
from tenferro.arrays.handle.array import Array
from tenferro.integrate._dense_solution import DenseSolution
from tenferro.integrate._problem import Given, Setting, problem_of
from tenferro.integrate._solution import solution
from tenferro.transforms.control.around import RecordedFunction, program_around


class Solution(NamedTuple):
    """The result of ``solve_ivp``."""

    t: Array
    """The times that were asked for, [m]."""
    y: Array
    """The solution there, [*s, m]; nan where it was not reached."""
    nfev: Array
    """The number of evaluations of the right side."""
    success: Array
    """Whether the end, or an event that ends the solution, was reached."""
    status: Array
    """0: the end was reached; 1: an event ended the solution; -1: neither."""
    t_events: tuple[Array, ...] | None = None
    """For each function of ``events``, the times of its zeros, [n], in order; the rest is nan."""
    y_events: tuple[Array, ...] | None = None
    """The solution there, [n, *s] for each function."""
    sol: DenseSolution | None = None
    """The solution as a function of the time, with ``dense_output``."""


def solve(
    setting: Setting,
    right: RecordedFunction,
    events: RecordedFunction | None,
    times: Array,
    given: Given,
    like: Any,
) -> Solution:
    """Run, or record, the program of a problem; see ``DenseSolution`` for ``like``."""
    functions = [right] if events is None else [right, events]
    run = partial(_solved, setting)
    found = program_around(setting.name, functions, run, setting, [times, *given.arrays])
    y, evaluations, success, status, *steps = found
    solved = Solution(times, y, evaluations, success, status)
    if setting.events is not None:
        event_times, event_states, *steps = steps
        rooms = [*enumerate(setting.events.room)]
        solved = solved._replace(
            t_events=tuple([event_times[i, :room] for i, room in rooms]),
            y_events=tuple([event_states[i, :room] for i, room in rooms]),
        )
    if setting.is_dense:
        solved = solved._replace(sol=DenseSolution(setting, right, given, steps, like))
    return solved


def _solved(setting: Setting, functions: Any, times: Array, *given: Array) -> list[Array]:
    """Return the solution as arrays: that at the times, of events, and all steps."""
    p = problem_of(setting, functions, times, Given(*given))
    found = solution(p)
    evaluations = p.method.evaluations * found.attempts + (1 if setting.has_first_step else 2)
    outputs = [moveaxis(found.y, 0, setting.axis), evaluations, found.status >= 0, found.status]
    if found.event_times is not None and found.event_states is not None:
        outputs += [found.event_times, found.event_states]
    if found.parts is not None and found.nodes is not None:
        outputs += [found.reached, *found.parts, *found.nodes]
    return outputs
