"""Derivatives of what a law has recorded: tidu's transforms on handles, with seeds as inputs.

A structural zero is None. Read `recorder.py` next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tenferro.computegraph import (
    KeyView,
    ValueKey,
)
from tenferro.primitives import Handle, TensorPrimitive
from tenferro.tidu import linear_transpose, linearize, pullback, pushforward

__all__ = ["Flows", "Handles", "LinearGraph", "double_transpose", "jvp", "keys_of", "vjp"]


_VIEW = KeyView()
Handles = Sequence[Handle]
Flows = Sequence[Handle | None]


def keys_of(handles: Handles) -> list[ValueKey]:
    """Return the keys of some handles."""
    return [handle.key for handle in handles]


def jvp(outputs: Handles, wrt: Handles, tangents: Flows) -> list[Handle | None]:
    """J·v: tangents of the outputs; None where nothing flows."""
    found: list[Any] = pushforward(
        keys_of(outputs), keys_of(wrt), tangents, space=TensorPrimitive.space
    )
    return found


def vjp(outputs: Handles, wrt: Handles, cotangents: Flows) -> list[Handle | None]:
    """Jᵀ·w: cotangents of `wrt`; None where nothing flows."""
    found: list[Any] = pullback(
        keys_of(outputs), keys_of(wrt), cotangents, space=TensorPrimitive.space
    )
    return found


@dataclass(frozen=True)
class LinearGraph:
    """A linear graph as inputs to feed and outputs to read; None where nothing flows."""

    inputs: list[Handle | None]
    outputs: list[Handle | None]


def double_transpose(outputs: Handles, wrt: Handles) -> LinearGraph:
    """Return the linear graph of J, transposed twice."""
    once = linear_transpose(linearize(_VIEW, keys_of(outputs), keys_of(wrt)))
    twice = linear_transpose(once)
    keys = twice.linear.keys
    return LinearGraph(
        [None if t is None else Handle(keys[t.local]) for t in twice.tangent_inputs],
        [None if local is None else Handle(keys[local]) for local in twice.tangent_outputs],
    )
