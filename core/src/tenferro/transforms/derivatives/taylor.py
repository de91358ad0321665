"""Taylor coefficients of recorded values along a path, by recurrences.

With x(t) = Σ xₙ tⁿ, a linear operation acts on each coefficient, a bilinear one is a sum of
products (Cauchy), and a quotient z = a / b follows from a = z b. For every other operation the
derivative rule is the recurrence: z′(t) = L(x(t), z(t)) x′(t) is emitted as a graph once, and zₙ is
the coefficient n − 1 of that graph, divided by n. Where the rule reads the result, or a function
whose derivative leads back, as those of exp, tanh and sin do, nothing new is emitted at higher
orders, so that all of it grows like a polynomial in the order.

Source: Griewank, Walther, Evaluating Derivatives, 2nd ed. (2008), chapter 13, proposition 13.1 and
table 13.2. Nothing recurses. Read next: ``jet.py``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tenferro.computegraph import Definition, ValueKey, inputs_of, new_leaf
from tenferro.primitives import Handle, TensorPrimitive, constant
from tenferro.primitives._primitive import bind_all
from tenferro.primitives.arithmetic import Div
from tenferro.tidu import ADContext, Pin, Primitive, Trace, pinned_leaf, pushforward

Order = tuple[ValueKey, int]  # the coefficient of a value
Coefficient = Any  # a handle; None is zero


class Taylor:
    """The coefficients of values that depend on paths, computed when they are asked for.

    ``paths`` are the coefficients of the arguments from the first on. ``trace`` is that of the
    recording of the function. It must be open: rules of the user take values without an open trace
    as constants.
    """

    def __init__(
        self,
        paths: Mapping[ValueKey, Sequence[Coefficient]],
        trace: Trace,
        context: ADContext | None = None,
    ) -> None:
        self._paths = paths
        self._trace = trace
        self._context = context
        self._start = new_leaf("start", None).serial  # what is older holds no velocity
        self._known: dict[Order, Coefficient] = {}
        self._varies: dict[ValueKey, bool] = dict.fromkeys(paths, True)
        self._reads: dict[ValueKey, bool] = {}  # whether a value is computed of an x′
        self._velocity: dict[ValueKey, ValueKey] = {}  # x → a leaf that stands for x′
        self._moves: dict[ValueKey, ValueKey] = {}  # and back
        self._derivative: dict[ValueKey, Coefficient] = {}  # z → z′ as a graph

    def coefficient(self, key: ValueKey, order: int) -> Coefficient:
        """Return a coefficient; ``None`` if it is zero whatever the values are."""
        known = self._known
        waiting = [(key, order)]
        while waiting:
            here = waiting[-1]
            if here in known:
                waiting.pop()
                continue
            needs = [need for need in self._needs(*here) if need not in known]
            if needs:
                waiting += needs
            else:
                known[here] = self._made(*here)
                waiting.pop()
        return known[key, order]

    # ---- what a coefficient follows from ---------------------------------------------------------

    def _needs(self, key: ValueKey, order: int) -> list[Order]:
        """Return the coefficients that this one is made of."""
        if key in self._moves:
            return [(self._moves[key], order + 1)]
        if key in self._paths:
            return []
        if not order:
            reads = self._reads_velocity(key)
            return [(x, 0) for x in inputs_of(self._definition(key))] if reads else []
        if not self._depends(key):
            return []
        definition = self._definition(key)
        operation: Any = definition[0]
        inputs = inputs_of(definition)
        if type(operation) is Pin:
            return [(inputs[0], order)]
        parts = self._parts(operation, inputs)
        if parts:
            moving = [inputs[i] for part in parts for i in part]
            orders = [order] if len(parts) == 1 else range(order + 1)
            fixed = [x for x in inputs if x not in moving and self._reads_velocity(x)]
            return [*[(x, 0) for x in fixed], *[(x, n) for n in orders for x in moving]]
        if type(operation) is Div:
            a, b = inputs
            orders = range(order + 1)
            return [(a, order), *[(b, n) for n in orders], *[(key, n) for n in orders[:-1]]]
        derivative = self._derivative_of(key, inputs)
        return [] if derivative is None else [(derivative.key, order - 1)]

    def _made(self, key: ValueKey, order: int) -> Coefficient:
        """Compute a coefficient whose needs are known."""
        known = self._known
        if key in self._moves:
            of = known[self._moves[key], order + 1]
            return None if of is None else of * float(order + 1)
        if not order:
            return self._substituted(key) if self._reads_velocity(key) else Handle(key)
        if key in self._paths or not self._depends(key):
            return self._paths.get(key, [None] * order)[order - 1]
        definition = self._definition(key)
        operation: Any = definition[0]
        inputs = inputs_of(definition)
        slot = _slot(definition)
        if type(operation) is Pin:
            return known[inputs[0], order]
        parts = self._parts(operation, inputs)
        if parts:
            return self._products(operation, inputs, slot, parts, order)
        if type(operation) is Div:
            return self._quotient(key, inputs, order)
        return self._by_rule(key, inputs, order)

    def _substituted(self, key: ValueKey) -> Coefficient:
        """Compute a value that reads velocities of their coefficients."""
        definition = self._definition(key)
        operation: Any = definition[0]
        inputs = inputs_of(definition)
        if type(operation) is Pin:
            return self._known[inputs[0], 0]
        return bind_all(operation, *[self._value(x) for x in inputs])[_slot(definition)]

    def _value(self, key: ValueKey) -> Handle:
        """Return the coefficient of order 0: zeros where it is a velocity that is zero."""
        found: Handle | None = self._known.get((key, 0), Handle(key))
        return constant(0, key.aval.dtype, key.aval.shape) if found is None else found

    # ---- recurrences -----------------------------------------------------------------------------

    def _products(
        self,
        operation: Any,
        inputs: Sequence[ValueKey],
        slot: int,
        parts: Sequence[Sequence[int]],
        order: int,
    ) -> Coefficient:
        """Σ f(a_k, b_{n−k}) of what is linear in one part of the inputs, or in two."""
        total = None
        for n in range(order + 1) if len(parts) == 2 else (order,):
            orders = [n, order - n][: len(parts)]
            term = self._term(operation, inputs, slot, list(zip(parts, orders, strict=True)))
            total = _sum(total, term)
        return total

    def _term(
        self,
        operation: Any,
        inputs: Sequence[ValueKey],
        slot: int,
        chosen: Sequence[tuple[Sequence[int], int]],
    ) -> Coefficient:
        """Apply an operation to coefficients, in each part of one order."""
        operands = [self._value(x) for x in inputs]
        for part, order in chosen:
            found = [self._known[inputs[i], order] for i in part]
            if all([x is None for x in found]):
                return None
            for i, x in zip(part, found, strict=True):
                aval = inputs[i].aval
                operands[i] = constant(0, aval.dtype, aval.shape) if x is None else x
        return bind_all(operation, *operands)[slot]

    def _quotient(self, key: ValueKey, inputs: Sequence[ValueKey], order: int) -> Coefficient:
        """zₙ = (aₙ − Σ_{k<n} z_k b_{n−k}) / b₀"""
        known = self._known
        a, b = inputs
        total = known[a, order]
        for n in range(order):
            z, y = known[key, n], known[b, order - n]
            if z is not None and y is not None:
                total = _sum(total, -(z * y))
        return None if total is None else total / self._value(b)

    def _by_rule(self, key: ValueKey, inputs: Sequence[ValueKey], order: int) -> Coefficient:
        """zₙ = (z′)ₙ₋₁ / n"""
        derivative = self._derivative_of(key, inputs)
        found = None if derivative is None else self._known[derivative.key, order - 1]
        return None if found is None else found / float(order)

    def _derivative_of(self, key: ValueKey, inputs: Sequence[ValueKey]) -> Coefficient:
        """Return z′ as a graph of the inputs, of z itself and of leaves that stand for x′."""
        if key not in self._derivative:
            moving = [x for x in dict.fromkeys(inputs) if self._depends(x)]
            seeds = [Handle(self._velocity_of(x)) for x in moving]
            (self._derivative[key],) = pushforward(
                [key], moving, seeds, space=TensorPrimitive.space, context=self._context
            )
        return self._derivative[key]

    def _velocity_of(self, key: ValueKey) -> ValueKey:
        found = self._velocity.get(key)
        if found is None:
            found = self._velocity[key] = pinned_leaf("velocity", key.aval, self._trace)
            self._moves[found] = key
            self._varies[found] = True
        return found

    # ---- what depends on the paths ---------------------------------------------------------------

    def _depends(self, key: ValueKey) -> bool:
        """Return True if a value has coefficients beyond the first."""
        varies = self._varies
        waiting = [key]
        while waiting:
            here = waiting[-1]
            if here in varies:
                waiting.pop()
                continue
            definition = here.definition
            if definition is None or not definition[0].carries(here.aval):
                varies[here] = False
                continue
            inputs = inputs_of(definition)
            unknown = [x for x in inputs if x not in varies]
            if unknown:
                waiting += unknown
            else:
                varies[here] = any([varies[x] for x in inputs])
        return varies[key]

    def _reads_velocity(self, key: ValueKey) -> bool:
        """Return True if a value is computed of a velocity, also where no derivative flows."""
        reads = self._reads
        waiting = [key]
        while waiting:
            here = waiting[-1]
            definition = None if here.serial < self._start else here.definition
            if here in reads or here in self._moves or definition is None:
                reads.setdefault(here, here in self._moves)
                waiting.pop()
                continue
            inputs = inputs_of(definition)
            unknown = [x for x in inputs if x not in reads]
            if unknown:
                waiting += unknown
            else:
                reads[here] = any([reads[x] for x in inputs])
        return reads[key]

    def _parts(self, operation: Any, inputs: Sequence[ValueKey]) -> list[Sequence[int]]:
        """Return the one or two groups of inputs, in each of which an operation is linear, that
        hold all moving inputs; none if there are no such groups.
        """
        if type(operation).jvp is not Primitive.jvp:  # a rule says what linear groups do not
            return []
        moving = {i for i, x in enumerate(inputs) if self._depends(x)}
        parts = [group for group in operation.groups(len(inputs)) if not moving.isdisjoint(group)]
        covered = moving.issubset([i for part in parts for i in part])
        return parts if covered and len(parts) <= 2 else []

    def _definition(self, key: ValueKey) -> Definition:
        definition = key.definition
        assert definition is not None  # what depends on a path is computed
        return definition


def _slot(definition: Definition) -> int:
    """Return which output of its operation a value is."""
    operation: Any = definition[0]
    return definition[2] if operation.output_count != 1 else 0


def _sum(total: Coefficient, term: Coefficient) -> Coefficient:
    if total is None or term is None:
        return term if total is None else total
    return total + term
