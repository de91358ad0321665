"""Emission: how rules write operations, and the builder that they are handed.

Keys are global, so emitting is deriving a key; nothing is collected by hand. The role of a new
node is inferred from the flow of the handles that come in: an active input makes it linear, in
every sweep that is open on it; otherwise it is an ordinary value, a residual, which merges with the
primal. Identities such as x·1 are simplified here, so that a later transform never sees them.
Read next: ``_apply_rules.py``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from operator import attrgetter
from typing import Any

from tenferro.computegraph import Operation, OperationRole, ValueKey, derive, derive_one
from tenferro.tidu._check import linear_role
from tenferro.tidu._context import EMPTY_CONTEXT, ADContext
from tenferro.tidu._errors import DifferentiationError
from tenferro.tidu._linear_space import LinearSpace
from tenferro.tidu._primitive import Primitive
from tenferro.tidu._value import NO_FLOW, Flow, Mask, Sweep, Value, join_flow, joint_flow


def emit(operation: Primitive, values: Sequence[Value], cls: type[Value]) -> tuple[Value, ...]:
    """Apply an operation to values; the results are of class ``cls`` and carry the joint flow.

    Raises NotLinearError: if flow enters and the operation is not linear in it.
    """
    if operation.output_count == 1:
        return (cls(*emit_one(operation, values)),)
    if operation.simplify is not None:
        simpler = operation.simplify(*values)
        if simpler is not None:
            return (cls(*_simplified(operation, values, simpler)),)
    flow = joint_flow(values)
    keys = [value.key for value in values]
    if not flow:
        return tuple([cls(key) for key in derive(operation, keys)])
    role, masks = _role_in(flow, operation, values)
    outputs = derive(operation, keys, role)
    _note_node(flow, outputs[0], masks)
    return tuple([cls(key, flow) for key in outputs])


def emit_one(operation: Primitive, values: Sequence[Value]) -> tuple[ValueKey, Flow]:
    """``emit`` for an operation of one output: return the key of the result and its flow."""
    if operation.simplify is not None:
        simpler = operation.simplify(*values)
        if simpler is not None:
            return _simplified(operation, values, simpler)
    if operation.commutative:
        values = canonical_order(values)
    flow = NO_FLOW
    keys = []
    for value in values:
        keys.append(value.key)
        if value.flow and value.flow is not flow:
            flow = join_flow(flow, value.flow)
    if not flow:
        return derive_one(operation, keys), NO_FLOW
    return _linear_node(operation, values, keys, flow), flow


def _linear_node(
    operation: Operation, values: Sequence[Value], keys: Sequence[ValueKey], flow: Flow
) -> ValueKey:
    """Record a linear node of one output and return its key."""
    if len(flow) > 1:
        role, masks = _role_in(flow, operation, values)
        key = derive_one(operation, keys, role)
        _note_node(flow, key, masks)
        return key
    sweep = flow[0]  # one open sweep, which is nearly always
    mask = tuple([True if value.flow else False for value in values])
    key = derive_one(operation, keys, linear_role(operation, mask, values, sweep))
    if key.source is None:
        key.source = sweep.source
    sweep.nodes.setdefault(key, mask)
    return key


def _simplified(
    operation: Primitive, values: Sequence[Value], simpler: Value
) -> tuple[ValueKey, Flow]:
    """Return the simpler value instead of the operation, with the flow that enters the operation.

    A seed may be known, as in ``x · 1`` with the tangent 1: then x is the result, and it is flow.
    The operation itself must be linear: ``dx · dx`` is refused where the tangent is 1, too.
    """
    flow = joint_flow(values)
    for sweep in flow:
        linear_role(operation, tuple([sweep in value.flow for value in values]), values, sweep)
    return simpler.key, flow


def canonical_order(values: Sequence[Value]) -> Sequence[Value]:
    """Order two operands of a commutative operation: older first, literals last."""
    x, y = values
    first, second = x.key, y.key
    if first.aval is not second.aval and first.aval != second.aval:
        return values  # an error tells of them as they were given
    a, b = first.definition, second.definition
    a_last = a is not None and a[0].literal
    b_last = b is not None and b[0].literal
    in_order = first.serial <= second.serial if a_last is b_last else b_last
    return values if in_order else (y, x)


def _role_in(
    flow: Flow, operation: Operation, values: Sequence[Value]
) -> tuple[OperationRole, list[Mask]]:
    """Return the role of a linear node, which the oldest open sweep decides, and its masks."""
    masks = [tuple([sweep in value.flow for value in values]) for sweep in flow]
    pairs = zip(masks, flow, strict=True)
    roles = [linear_role(operation, mask, values, sweep) for mask, sweep in pairs]
    return roles[0], masks


def _note_node(flow: Flow, key: ValueKey, masks: Sequence[Mask]) -> None:
    """Record a linear node, by its first output, in every open sweep."""
    if key.source is None:
        key.source = flow[-1].source
    for sweep, mask in zip(flow, masks, strict=True):
        sweep.nodes.setdefault(key, mask)


_depth = attrgetter("key.depth")


class _Open(threading.local):
    sweeps: Flow = NO_FLOW


_open = _Open()


@contextmanager
def sweeping(sweep: Sweep, context: ADContext | None) -> Iterator[RuleBuilder]:
    """Open a sweep and yield the builder for its rules.

    A rule may itself run a transform. What that transform finds by key may be flow of the sweeps
    that are open around it.
    """
    outer = _open.sweeps
    _open.sweeps = (*outer, sweep)
    try:
        yield RuleBuilder(sweep, context or EMPTY_CONTEXT, outer)
    except DifferentiationError as error:
        _locate(error, sweep)
        raise
    finally:
        _open.sweeps = outer


def _locate(error: DifferentiationError, sweep: Sweep) -> None:
    """Add the line that recorded the operation whose rule failed, if the vocabulary knows it."""
    describe = getattr(sweep.space, "source_text", None)
    line = None if describe is None or getattr(error, "__notes__", None) else describe(sweep.source)
    if line is not None:
        error.add_note(f"  from       {line}")


@contextmanager
def alone(sweep: Sweep) -> Iterator[RuleBuilder]:
    """``sweeping`` as if no other sweep were open: to see what a rule emits."""
    outer = _open.sweeps
    _open.sweeps = (sweep,)
    try:
        yield RuleBuilder(sweep, EMPTY_CONTEXT, NO_FLOW)
    finally:
        _open.sweeps = outer


def in_rule() -> bool:
    """Return True inside a rule: what it calls must stay in the graph."""
    return bool(_open.sweeps)


def flow_of(key: ValueKey) -> Flow:
    """Return the open sweeps in which a key is active."""
    return tuple([sweep for sweep in _open.sweeps if key in sweep.nodes or key in sweep.seeds])


class RuleBuilder:
    """Builder for a rule: emits operations, reads the context, makes zeros, adds terms."""

    __slots__ = ("context", "enclosing", "space", "sweep")

    def __init__(self, sweep: Sweep, context: ADContext, enclosing: Flow) -> None:
        self.sweep = sweep
        self.context = context
        self.space: LinearSpace = sweep.space
        self.enclosing = enclosing  # sweeps of outer transforms, whose flow may be closed over

    def emit(self, operation: Primitive, *values: Value) -> Any:
        """Apply an operation; one value, or a tuple where it has not exactly one output."""
        results = emit(operation, values, self.space.value)
        return results[0] if operation.output_count == 1 else results

    def zeros(self, aval: Any) -> Value:
        """Return the zero of a space, for a place that needs a value."""
        return self.space.zeros(aval)

    def reader(self) -> Callable[[ValueKey], Value]:
        """``value``, or what does the same for less where no other sweep is open."""
        return self.value if self.enclosing else self.space.value

    def value(self, key: ValueKey) -> Value:
        """Return a value that is fixed in this sweep."""
        if not self.enclosing:
            return self.space.value(key)
        flow = tuple(
            [sweep for sweep in self.enclosing if key in sweep.nodes or key in sweep.seeds]
        )
        return self.space.value(key, flow)

    def apply_linear(
        self,
        operation: Primitive,
        group: Sequence[int],
        primals: Sequence[Value],
        tangents: Sequence[Value | None],
    ) -> Sequence[Value | None]:
        """Apply the operation itself, with tangents instead of one of its linearity groups."""
        inputs = list(primals)
        for i in group:
            tangent = tangents[i]
            inputs[i] = self.zeros(primals[i].aval) if tangent is None else tangent
        return emit(operation, inputs, self.space.value)

    def sum_terms(self, terms: Sequence[Sequence[Value | None]]) -> Sequence[Value | None]:
        """Add tangents of outputs, term by term."""
        if len(terms) == 1:
            return terms[0]
        return [self.add_all(column) for column in zip(*terms, strict=True)]

    def add_all(self, contributions: Sequence[Value | None]) -> Value | None:
        """Add the contributions as a balanced tree; ``None`` if nothing flows."""
        if len(contributions) == 1:
            return contributions[0]
        values = [value for value in contributions if value is not None]
        if len(values) < 2:
            return values[0] if values else None
        total: Value = sum_of(values, self.space.add, _depth)
        return total


def sum_of(terms: list[Any], add: Callable[[Any, Any], Any], depth: Callable[[Any], int]) -> Any:
    """Add two or more terms as a balanced tree."""
    if len(terms) == 2:
        return add(terms[0], terms[1])
    terms.sort(key=depth, reverse=True)  # equal sets are then equal sums, as far as depths tell
    while len(terms) > 1:
        pairs = [add(*terms[i : i + 2]) for i in range(0, len(terms) - 1, 2)]
        terms = pairs + terms[len(terms) & ~1 :]
    return terms[0]
