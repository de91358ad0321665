"""Values inside the function that has a rule: no derivative flows through its arguments.

The history of what the function closes over is kept, since it is differentiated too. Read next:
``checks.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenferro.arrays import Array, is_traced
from tenferro.arrays.evaluation.evaluate import ABSTRACT
from tenferro.arrays.handle.weak import WeakName, is_weak
from tenferro.computegraph import UNKNOWN, Definition, ValueKey, new_leaf, postorder
from tenferro.primitives import Handle, Linear, TensorPrimitive, constant
from tenferro.primitives._aval import Aval
from tenferro.primitives._primitive import bind, bind_all, pointwise
from tenferro.tidu import SweepId, Trace, fresh_id, pin
from tenferro.transforms.custom_rules.recorded import older


class Stopped(Linear):
    """y = x, where a function with a rule of its own begins or ends: no derivative passes.

    ``id`` names the call, ``ends`` says that this is a result of it and not an argument.
    """

    key = "std::stopped"
    batch = pointwise
    transparent = True
    volatile = True
    fixed_rules = False
    id: SweepId
    ends: bool

    def abstract_eval(self, x: Aval) -> Aval:
        """Return the aval of the argument."""
        return x

    def carries(self, aval: Aval) -> bool:
        """Return False: no flow passes."""
        return False

    def transpose_x(self, ct: Handle, x: Handle) -> Handle:
        """Flow that a rule sends through the function itself passes."""
        return ct


class Inside:
    """The inside of one call: what arguments and results are there, and what is closed over.

    ``start`` is the serial of a key made before anything inside. No value between it and the
    results counts as closed over: another function with a rule may be called in between, and its
    closure would end elsewhere.

    What is computed of arguments alone is forgotten once it is known, as an iteration needs, unless
    ``keep``. It must be kept where something is closed over: the derivative in that is recorded
    again, on the arguments. Where values are only traced, nothing is known.
    """

    def __init__(self, keep: bool) -> None:
        self.id = fresh_id()
        self.keep = keep
        self.trace = Trace(hidden=True)
        self.start = new_leaf("start", None).serial

    def argument(self, x: Array) -> Array:
        """Return the argument as the function itself receives it."""
        found = _stopped(x, Stopped(self.id, False))
        if self.keep and x.dtype.is_inexact:
            found.key.traces = frozenset((self.trace,))
        return found

    def results(
        self, operation: TensorPrimitive, outputs: Sequence[Array], inputs: Sequence[Array],
        closed_over: Sequence[ValueKey],
    ) -> list[Array]:  # fmt: skip
        """Bind the outputs to the operation that carries the rule."""
        values = [_stopped(y, Stopped(self.id, True)) for y in outputs]
        self._keep_history(values, outputs)
        found = list(bind_all(operation, *values, *inputs, *map(Array, closed_over)))
        for y, inside in zip(found, outputs, strict=True):
            _same_value(y.key, inside)
        return found

    def _keep_history(self, values: Sequence[Array], outputs: Sequence[Array]) -> None:
        """Let what is inside keep its history, when it becomes known, as long as the closure does.

        The derivative in what is closed over is recorded again from it.
        """
        every = [
            frozenset([t for t in y.key.traces if t.open and not (t.hidden or t.sealed)])
            for y in outputs
        ]
        traces = frozenset().union(*every)
        if not traces:
            return
        for value, own in zip(values, every, strict=True):
            value.key.traces |= own
        argument = Stopped(self.id, False)

        def definition_of(key: ValueKey) -> Definition | None:
            definition = None if key.serial < self.start else key.definition
            return None if definition is None or definition[0] is argument else definition

        for key in postorder([y.key for y in outputs], definition_of)[0]:
            if self.trace in key.traces:
                key.traces |= traces

    def closed_over(self, of_rule: Sequence[ValueKey], outputs: Sequence[Array]) -> list[ValueKey]:
        """Return the values from before the call on which the rule or the outputs depend.

        These are those that the rule reads, and those from which the outputs were computed.
        Arguments are not among them, unless the function closes over one of them as well.
        """
        argument = Stopped(self.id, False)
        keys = [y.key for y in outputs]
        found = older(keys, self.start, lambda definition: definition[0] is argument)
        return [*dict.fromkeys([*of_rule, *found])]


def has_known_value(x: Array) -> bool:
    """Return True if the value is known and no derivative of it is being taken."""
    return x.key.operand is not UNKNOWN and not is_traced(x.key) and not x.flow


def _stopped(x: Array, operation: Stopped) -> Array:
    found = bind(operation, Handle(x.key, x.flow))
    if is_traced(x.key):
        found.key.depth = ABSTRACT  # no derivative passes, but it must not be evaluated early
    _same_value(found.key, x)
    return Array(found.key, found.flow)


def _same_value(key: ValueKey, x: Array) -> None:
    """Let a value that is that of x be known, and weak, where x is."""
    if x.key.operand is not UNKNOWN:
        key.operand = x.key.operand
        key.depth = 0
    if is_weak(x):
        key.identity = x.key.identity


def pinned(value: Any, aval: Aval, trace: Trace, is_weak: bool = False) -> Array:
    """Pin a tangent or cotangent, so that it has its own identity; zeros for ``None``.

    The tangent of a number of the user yields to any dtype, as the number does.
    """
    handle = constant(0, aval.dtype, aval.shape) if value is None else value
    key = pin(handle.key, trace)
    if is_weak:
        key.identity = WeakName("tangent", trace.id.serial)
    return Array(key)
