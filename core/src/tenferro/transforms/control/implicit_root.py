"""The operation around a solution of f(x, θ) = 0: values of a solver, derivatives of the solution.

    dx = -(∂f/∂x)⁻¹ (∂f/∂θ) dθ

Unlike rules of the user, f and the solver of the linear system are graphs here: equal ones are the
same operation at every call, so that programs are kept. Read next: ``custom_root.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenferro.arrays import Array
from tenferro.computegraph import Fragment
from tenferro.primitives import Handle, TensorPrimitive
from tenferro.primitives._aval import Aval
from tenferro.primitives._primitive import bind_all, in_front
from tenferro.primitives.control.batching import every_example
from tenferro.tidu import NotLinearError, RuleBuilder, Trace, Value, pin, pushforward
from tenferro.transforms.custom_rules.linear_part import sent
from tenferro.transforms.custom_rules.stopped import pinned

_RULE = "tenferro.transforms.control.custom_root"


class ImplicitRoot(TensorPrimitive):
    """y… = x…, the solution of function(θ…, x…) = 0   x…, θ…, c…   →   y…

    function   the equations, of θ and x
    solver     minus the solution z of (∂f/∂x) z = b, of c, some of θ, x and b
    read       which of θ the solver takes
    count      how many x there are
    """

    key = "std::implicit_root"
    transparent = True
    redirects = True
    fixed_rules = False
    rule_module = _RULE
    function: Fragment
    solver: Fragment
    read: tuple[int, ...]
    count: int

    @property
    def volatile(self) -> bool:  # type: ignore[override]  # it depends on the graphs
        """True if a derivative of it runs code of the user."""
        return self.function.volatile or self.solver.volatile

    @property
    def output_count(self) -> int:
        """As many as there are values."""
        return self.count

    def abstract_eval(self, *avals: Aval) -> tuple[Aval, ...]:
        """Return the avals of the values."""
        return avals[: self.count]

    def groups(self, count: int) -> tuple[tuple[int, ...], ...]:
        """Return no group: the solution is linear in nothing."""
        return ()

    @property
    def _end(self) -> int:
        """The number of the first input behind θ."""
        return len(self.function.input_avals)

    def jvp(
        self, rule: RuleBuilder, primals_in: Sequence[Value], primals_out: Sequence[Value],
        tangents_in: Sequence[Value | None],
    ) -> Sequence[Value | None]:  # fmt: skip
        """Solve the linear system for the change of the equations by that of θ."""
        n, m = self.count, self._end
        x, given, tangents = [y.key for y in primals_out], primals_in[n:m], tangents_in[n:m]
        trace = Trace()
        moving = [i for i, t in enumerate(tangents) if t is not None]
        theta = [v.key for v in given]
        for i in moving:
            theta[i] = pin(theta[i], trace)
        changed = pushforward(
            self.function.apply([*theta, *x]), [theta[i] for i in moving],
            [tangents[i] for i in moving], space=rule.space, context=rule.context,
        )  # fmt: skip
        if all([change is None for change in changed]):
            trace.open = False
            return [None] * n
        pins = [pinned(None, y.aval, trace) for y in primals_out]
        read = [v.key for v in (*primals_in[m:], *[given[i] for i in self.read])]
        found = [Array(key) for key in self.solver.apply([*read, *x, *[p.key for p in pins]])]
        trace.open = False
        return sent(self, rule, found, pins, changed, _not_linear)

    def batch_bodies(
        self, batch: Callable[..., Any], size: int, batched: Sequence[bool], *xs: Handle
    ) -> Sequence[Handle]:
        """Batch both graphs; every example has a solution of its own."""
        n, m = self.count, self._end
        every = [True] * n
        function = every_example(self.function, batch, size, [*batched[n:m], *every])
        marks = [*batched[m:], *[batched[n + i] for i in self.read], *every, *every]
        solver = every_example(self.solver, batch, size, marks)
        first = [in_front(x, on, size) for x, on in zip(xs[:n], batched, strict=False)]
        return bind_all(ImplicitRoot(function, solver, self.read, n), *first, *xs[n:])


def _not_linear(why: str, active: tuple[int, ...]) -> NotLinearError:
    text = f"custom_root: tangent_solve is not linear in y\n  got        {why}"
    text += "\n  need       `tangent_solve(g, y)` solves the linear system g(x) = y"
    return NotLinearError(text, primitive="custom_root", rule="tangent_solve", active=active)
