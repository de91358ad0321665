"""Recorder: a law's program of one case, with the numbers of its inputs and named outputs.

Read `session.py` next, which runs what is recorded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy.typing as npt

from tenferro.computegraph import (
    ValueKey,
)
from tenferro.primitives import Handle, bind_all, variable
from tenferro_conformance.cases.case import Case, Stored, draw
from tenferro_conformance.observations import observation
from tenferro_conformance.running.derivatives import Flows, Handles
from tenferro_conformance.running.operations import operation_of

__all__ = ["Build", "Recorder"]

Array = npt.NDArray[Any]

Build = Callable[["Recorder"], None]


class Recorder:
    """Recorder of a law's program: inputs with their numbers, and named outputs."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.operation = operation_of(case)
        self.fed: dict[ValueKey, Array] = {}
        self.outputs: dict[str, ValueKey | None] = {}

    def feed(self, name: str, value: Stored | Array) -> Handle:
        """Make a graph input that will receive these numbers."""
        array = value.array() if isinstance(value, Stored) else value
        handle = variable((self.case.id, name), array.shape, str(array.dtype))
        self.fed[handle.key] = array
        return handle

    def feed_to(self, handle: Handle, value: Stored | Array) -> None:
        """Give numbers to an input that a transform made."""
        self.fed[handle.key] = value.array() if isinstance(value, Stored) else value

    def inputs(self, prefix: str = "x") -> list[Handle]:
        """Return the inputs of the case."""
        return [self.feed(f"{prefix}{i}", stored) for i, stored in enumerate(self.case.inputs)]

    def apply(self, xs: Handles) -> list[Handle]:
        """Apply the primitive of the case and return its outputs, or its observation of them."""
        return self.observed(xs, bind_all(self.operation, *xs))

    def observed(self, xs: Handles, ys: Handles) -> list[Handle]:
        """Return the outputs, or the case's observation of them."""
        if self.case.observe is None:
            return list(ys)
        look = observation(self.case.primitive, self.case.observe)
        return [look(self.case.params, xs, ys)]

    def wrt(self, xs: Handles) -> list[Handle]:
        """Return the inputs that the case differentiates."""
        return [xs[i] for i in self.case.grad.wrt] if self.case.grad else []

    def tangents(self, name: str, likes: Handles) -> list[Handle]:
        """Make inputs shaped like these, with numbers drawn from the case id and the name."""
        return [
            self.feed(f"{name}{i}", draw(f"{self.case.id}#{name}{i}", like.shape, like.dtype.name))
            for i, like in enumerate(likes)
        ]

    def stored_tangents(self) -> list[Handle]:
        """Return the stored directions of the case, as inputs."""
        plan = self.case.grad
        return [self.feed(f"v{i}", t) for i, t in enumerate(plan.tangents)] if plan else []

    def output(self, name: str, handle: Handle | None) -> None:
        """Name a result; None is a structural zero."""
        self.outputs[name] = None if handle is None else handle.key

    def output_all(self, name: str, handles: Flows) -> None:
        """Name several results: name0, name1, …"""
        for i, handle in enumerate(handles):
            self.output(f"{name}{i}", handle)
