"""Names of the inputs that transforms make: tangents and cotangents.

A seed is unique because it carries the identity of the call that made it, and readable because it
carries the name of what it belongs to. An input key that knows better names defines
``tangent_of(sweep_id)`` and ``cotangent_of(sweep_id, index)``.
"""

from __future__ import annotations

from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.computegraph import ValueKey, clip, new_leaf
from tenferro.tidu._value import SweepId


class Seed(NamedTuple):
    """The name of a tangent or cotangent input."""

    prefix: str
    base: str
    sweep_id: SweepId

    def __str__(self) -> str:
        return f"{self.prefix}{self.base}"


def tangent_leaf(key: ValueKey, aval: Any, sweep_id: SweepId) -> ValueKey:
    """Make a fresh input for the tangent of a value."""
    own = getattr(key.identity, "tangent_of", None)
    identity = Seed("d", _base(key), sweep_id) if own is None else own(sweep_id)
    return new_leaf(identity, aval)


def cotangent_leaf(key: ValueKey, aval: Any, sweep_id: SweepId, index: int) -> ValueKey:
    """Make a fresh input for the cotangent of an output."""
    own = getattr(key.identity, "cotangent_of", None)
    identity = Seed("ct", str(index), sweep_id) if own is None else own(sweep_id, index)
    return new_leaf(identity, aval)


def _base(key: ValueKey) -> str:
    if key.operation is not None and key.operation.transparent:
        return _base(key.inputs[0]) if key.inputs[0].is_input else "x"
    return clip(str(key.identity)) if key.is_input else str(key.operation and key.operation.name)
