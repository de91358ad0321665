"""Pins: fresh identities for values that an inner transform differentiates with respect to.

A transform that is called on values of an outer trace pins them and differentiates with respect
to the pins. The inner transform then cannot confuse its argument with anything else that has the
same value; for outer transforms a pin is the identity; ``materialize_merge`` removes it.
Perturbation confusion, closures over outer values and ``wrt`` that is also closed over are right
without substitution. Read next: ``_emit.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from tenferro.computegraph import (
    PRIMARY,
    UNKNOWN,
    Operation,
    ValueKey,
    derive_at,
    join_traces,
    new_leaf,
)
from tenferro.tidu._trace import Trace
from tenferro.tidu._value import SweepId, Value, fresh_id

if TYPE_CHECKING:
    from tenferro.tidu._emit import RuleBuilder


class Pin(Operation):
    """y = x, under an identity of its own."""

    transparent: ClassVar[bool] = True
    unique: ClassVar[bool] = True
    id: SweepId

    def abstract_eval(self, x: Any) -> Any:
        """Return the aval of the input."""
        return x

    def jvp(
        self,
        rule: RuleBuilder,
        primals_in: Sequence[Value],
        primals_out: Sequence[Value],
        tangents_in: Sequence[Value | None],
    ) -> Sequence[Value | None]:
        """Return the tangents unchanged."""
        return tangents_in


def is_pin(operation: Operation) -> bool:
    """Return whether an operation is a pin, which a closed graph leaves out.

    The transforms inside of the graph have ended, and pins differ from one call to the next: a
    graph that kept them would be another one at every call, and be compiled again.
    """
    return type(operation) is Pin


def pin(key: ValueKey, trace: Trace, memo: Any = None) -> ValueKey:
    """Return the same value under a fresh identity on which ``trace`` is open.

    With a ``memo``, later calls have this pin too, so it does not hold the operand of this one.
    """
    pinned = derive_at((Pin(fresh_id()), PRIMARY, 0, key), key.aval)
    pinned.traces = join_traces(key.traces, frozenset((trace,)))
    pinned.memo = memo
    if memo is None and key.operand is not UNKNOWN:
        pinned.operand = key.operand
        pinned.depth = 0
    return pinned


def pinned_leaf(identity: Any, aval: Any, trace: Trace) -> ValueKey:
    """Make a fresh input on which ``trace`` is open."""
    key = new_leaf(identity, aval)
    key.traces = frozenset((trace,))
    return key
