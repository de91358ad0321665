"""The operation around a solution of A(θ) x = b: values of a solver, derivatives of the solution.

    dx = A⁻¹ (db - dA x),   ct_b = A⁻ᴴ ct_x

The map, its adjoint and their solvers are graphs: equal ones are the same operation at every call,
so that programs are kept. Read next: ``custom_linear_solve.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from tenferro._runtime.records import NamedTuple
from tenferro.arrays import Array
from tenferro.arrays.errors import at_user_line
from tenferro.computegraph import Fragment, ValueKey
from tenferro.primitives import Handle, TensorPrimitive, stop_gradient
from tenferro.primitives._aval import Aval
from tenferro.primitives._primitive import bind_all, in_front
from tenferro.primitives.control.batching import every_example
from tenferro.tidu import MissingRuleError, RuleBuilder, Trace, Value, pin, pushforward
from tenferro.transforms.custom_rules.linear_call import LinearCall

_T = TypeVar("_T")


class Part(NamedTuple):
    """A graph of some values that it closes over, of θ, and of a vector.   c…, θ…, v…   →   y…"""

    body: Fragment
    start: int  # the first of c among what all parts close over
    end: int

    def apply(
        self, reads: Sequence[ValueKey], theta: Sequence[ValueKey], vector: Sequence[ValueKey]
    ) -> tuple[ValueKey, ...]:
        """Emit the graph; ``reads`` is what all parts close over."""
        return tuple(self.body.apply([*reads[self.start : self.end], *theta, *vector]))

    def every_example(
        self, batch: Callable[..., Any], size: int, reads: Sequence[bool], rest: Sequence[bool]
    ) -> Part:
        """Return the part for all examples; the marks say which inputs have their axis."""
        marks = [*reads[self.start : self.end], *rest]
        return self._replace(body=every_example(self.body, batch, size, marks))


class Half(NamedTuple):
    """A linear map, and the solver of a system with it."""

    function: Part
    solver: Part

    @property
    def volatile(self) -> bool:
        """True if a derivative runs code of the user."""
        return self.function.body.volatile or self.solver.body.volatile

    def every_example(
        self, batch: Callable[..., Any], size: int, reads: Sequence[bool], rest: Sequence[bool]
    ) -> Half:
        """Return both for all examples."""
        return Half(*[part.every_example(batch, size, reads, rest) for part in self])


class System(NamedTuple):
    """Both halves, of A x = b and of the adjoint system: the rule of a ``LinearCall``."""

    direct: Half
    adjoint: Half | None
    reads: int  # how many values the parts close over
    theta: int
    provider: str  # the module of the solver
    wants_zeros: bool = True

    @property
    def volatile(self) -> bool:
        """True if a derivative runs code of the user."""
        halves = [half for half in (self.direct, self.adjoint) if half is not None]
        return any([half.volatile for half in halves])

    def push(self, residuals: Sequence[Array], xs: Sequence[Array | None]) -> Sequence[Array]:
        """Return the solution, under the operation that carries its derivative."""
        vector = [x for x in xs if x is not None]
        keys = [stop_gradient(x).key for x in (*residuals, *vector)]
        r, n = self.reads, self.reads + self.theta
        found = self.direct.solver.apply(keys[:r], keys[r:n], keys[n:])
        return bind_all(Solution(self, len(vector)), *map(Array, found), *residuals, *vector)

    def pull(self, residuals: Sequence[Array], cts: Sequence[Array | None]) -> Sequence[Array]:
        """Return the solution of the adjoint system."""
        return self.transposed().push(residuals, cts)

    def transposed(self) -> System:
        """Return the adjoint system.

        Raises MissingRuleError.
        """
        if self.adjoint is None:
            raise missing_adjoint(self.provider)
        return self._replace(direct=self.adjoint, adjoint=self.direct)

    def every_example(
        self, batch: Callable[..., Any], size: int, marks: Sequence[bool], count: int
    ) -> System:
        """Return the systems of all examples, whose vectors all have their axis."""
        reads, rest = marks[: self.reads], [*marks[self.reads :], *[True] * count]
        both = [
            None if half is None else half.every_example(batch, size, reads, rest)
            for half in (self.direct, self.adjoint)
        ]
        return System(both[0], both[1], *self[2:])  # type: ignore[arg-type]  # the first is there


class Solution(TensorPrimitive):
    """y… = x…, the solution of A(θ) x = b   x…, c…, θ…, b…   →   y…"""

    key = "std::linear_system"
    transparent = True
    redirects = True
    fixed_rules = False
    rule_module = "tenferro.transforms.control.custom_linear_solve"
    rule: System
    count: int

    @property
    def volatile(self) -> bool:  # type: ignore[override]  # it depends on the graphs
        """True if a derivative of it runs code of the user."""
        return self.rule.volatile

    @property
    def output_count(self) -> int:
        """As many as there are values."""
        return self.count

    def abstract_eval(self, *avals: Aval) -> tuple[Aval, ...]:
        """Return the avals of the values."""
        return avals[: self.count]

    def groups(self, count: int) -> tuple[tuple[int, ...], ...]:
        """Return no group: flow takes another operation, see ``as_linear``."""
        return ()

    def _residuals(self, xs: Sequence[_T]) -> Sequence[_T]:
        return xs[self.count : -self.count]

    def as_linear(self, inputs: Sequence[ValueKey]) -> tuple[LinearCall, Sequence[ValueKey]]:
        """Return the solution without its values, which is linear in b."""
        return self._call([x.aval for x in inputs[: self.count]]), inputs[self.count :]

    def _call(self, avals: Sequence[Aval]) -> LinearCall:
        system = self.rule
        return LinearCall(system, system.reads + system.theta, tuple(avals), tuple(avals))

    def jvp(
        self, rule: RuleBuilder, primals_in: Sequence[Value], primals_out: Sequence[Value],
        tangents_in: Sequence[Value | None],
    ) -> Sequence[Value | None]:  # fmt: skip
        """Solve the same system for db - dA x."""
        residuals = self._residuals(primals_in)
        changed = self._changed(rule, residuals, primals_out, self._residuals(tangents_in))
        rest = [_minus(x, y) for x, y in zip(tangents_in[-self.count :], changed, strict=True)]
        if all([x is None for x in rest]):
            return rest
        return self._call([y.aval for y in primals_out]).send(residuals, rest)

    def _changed(
        self, rule: RuleBuilder, residuals: Sequence[Value], x: Sequence[Value],
        tangents: Sequence[Value | None],
    ) -> Sequence[Value | None]:  # fmt: skip
        """Return dA x; what the parts close over is constant."""
        r, trace = self.rule.reads, Trace()
        keys = [v.key for v in residuals]
        moving = [i for i, t in enumerate(tangents) if t is not None and i >= r]
        for i in moving:
            keys[i] = pin(keys[i], trace)
        outputs = self.rule.direct.function.apply(keys[:r], keys[r:], [y.key for y in x])
        trace.open = False
        wrt, given = [keys[i] for i in moving], [tangents[i] for i in moving]
        return pushforward(outputs, wrt, given, space=rule.space, context=rule.context)

    def batch_bodies(
        self, batch: Callable[..., Any], size: int, batched: Sequence[bool], *xs: Handle
    ) -> Sequence[Handle]:
        """Batch all graphs; every example has a system of its own."""
        n = self.count
        system = self.rule.every_example(batch, size, self._residuals(batched), n)
        pairs = [*zip(xs, batched, strict=True)]
        first, last = ([in_front(x, on, size) for x, on in p] for p in (pairs[:n], pairs[-n:]))
        return bind_all(Solution(system, n), *first, *self._residuals(xs), *last)


def _minus(x: Any, y: Any) -> Any:
    """Return x - y, where ``None`` is zero."""
    if y is None:
        return x
    return -y if x is None else x - y


def missing_adjoint(provider: str) -> MissingRuleError:
    """Make the error about reverse mode without a solver of the adjoint system."""
    text = (
        "custom_linear_solve: reverse mode solves the adjoint system\n"
        "  need       `transpose_solve=`, or `symmetric=True` if the map is its own adjoint"
    )
    return at_user_line(
        MissingRuleError(
            text, primitive="custom_linear_solve", rule="transpose_solve", provider=provider,
            input=None,
        )
    )  # fmt: skip
