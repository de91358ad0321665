"""Names of the inputs that transforms make: tangents and cotangents.

The tangent of x is ``dx``, that of ``dx`` ``d2x``; the cotangent of output 0 is ``ct_y0``. A seed
is unique because it carries the identity of the call that made it, and readable because it
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


def prefix_of(kind: str, prefix: str) -> str:
    """Return the prefix of one more sweep: d and d2 are d3, d and ct_ are dct_.

    >>> [prefix_of("d", x) for x in ("", "d", "d2", "ct_", "dct_")], prefix_of("ct_", "d2")
    (['d', 'd2', 'd3', 'dct_', 'd2ct_'], 'ct_d2')
    """
    if kind != "d" or not prefix.startswith("d"):
        return kind + prefix
    rest = prefix[1:].lstrip("0123456789")
    order = prefix[1 : len(prefix) - len(rest)]
    return f"d{int(order or 1) + 1}{rest}"


def tangent_leaf(key: ValueKey, aval: Any, sweep_id: SweepId) -> ValueKey:
    """Make a fresh input for the tangent of a value."""
    own = getattr(key.identity, "tangent_of", None)
    identity = _tangent_of(key, sweep_id) if own is None else own(sweep_id)
    return new_leaf(identity, aval)


def cotangent_leaf(key: ValueKey, aval: Any, sweep_id: SweepId, index: int) -> ValueKey:
    """Make a fresh input for the cotangent of an output."""
    own = getattr(key.identity, "cotangent_of", None)
    identity = Seed("ct_", f"y{index}", sweep_id) if own is None else own(sweep_id, index)
    return new_leaf(identity, aval)


def _tangent_of(key: ValueKey, sweep_id: SweepId) -> Seed:
    """Return the name of the tangent of a value: dx of x, d2x of dx."""
    seed = key.identity if key.is_input else None
    if type(seed) is Seed:
        return Seed(prefix_of("d", seed.prefix), seed.base, sweep_id)
    return Seed("d", _base(key), sweep_id)


def _base(key: ValueKey) -> str:
    if key.operation is not None and key.operation.transparent:
        return _base(key.inputs[0]) if key.inputs[0].is_input else "x"
    return clip(str(key.identity)) if key.is_input else str(key.operation and key.operation.name)
