"""Look at the graph of a function: ``trace``.

What is recorded is what would be recorded anywhere else; it is only not evaluated.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from tenferro.computegraph import (
    CompiledProgram,
    Linearized,
    MaterializedGraph,
    compile_program,
    flatten,
)
from tenferro.transforms._record import Loans, record
from tenferro.transforms._settle import history, key_of


class GraphOf:
    """The graph of a function at some arguments; print it."""

    def __init__(self, graph: MaterializedGraph) -> None:
        self.graph = graph

    @cached_property
    def program(self) -> CompiledProgram:
        """The program with its slots and frees."""
        return compile_program(self.graph)

    def counts(self) -> dict[str, int]:
        """Number of equations: primal, linear (forward flow) and transposed (backward flow)."""
        found = {"primal": 0, "linear": 0, "transposed": 0}
        for node in self.graph.nodes:
            role = node.role
            if isinstance(role, Linearized):
                found["transposed" if role.transposed else "linear"] += 1
            else:
                found["primal"] += 1
        return found

    def __len__(self) -> int:
        return len(self.graph)

    def __str__(self) -> str:
        return str(self.graph)

    def __repr__(self) -> str:
        return str(self)


def trace(function: Callable[..., Any], *args: Any, **kwargs: Any) -> GraphOf:
    """Record a function and show its graph; nothing is evaluated unless control flow asks for it.

    Arguments are arrays, or an ``Aval`` where only shape and dtype are known. Equations through
    which tangents flow are marked ``linear``, those of cotangents ``transposed``, with a star at
    the operand that carries the flow.

    >>> import tenferro as tn
    >>> print(tn.trace(tn.grad(lambda x: tn.sin(x)), tn.Aval((), "float64")))
    graph(x: f64[]) {
      %1 = cos %0                          : f64[]
      return %1
    }
    """
    with Loans() as loans:
        recording = record(function, args, kwargs, range(len(args)), loans)
        outputs = [key_of(x) for x in recording.outputs]
        given = set(recording.wrt)  # a pin among them has a history that ends in another leaf
        return GraphOf(
            flatten(recording.wrt, outputs, lambda key: None if key in given else history(key))
        )
