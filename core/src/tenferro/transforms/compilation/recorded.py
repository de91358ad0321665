"""A function as a recorded program, for those who take it elsewhere: into files, into JAX.

Read next: ``jit.py``, which records it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays.errors import LeakedArrayError, at_user_line
from tenferro.computegraph import MaterializedGraph, ValueKey
from tenferro.primitives import Aval
from tenferro.transforms.compilation.jit import jit
from tenferro.transforms.compilation.jitted import Jitted
from tenferro.transforms.errors import check_function


class RecordedProgram(NamedTuple):
    """A graph, the values of its last inputs, and the structures of arguments and results.

    The first ``len(outputs)`` outputs of the graph are results; effects come behind them.
    """

    graph: MaterializedGraph
    captured: tuple[Any, ...]
    spec: Any
    out_spec: Any
    outputs: tuple[ValueKey, ...]
    has_effects: bool

    def captured_pairs(self) -> list[tuple[Any, Aval]]:
        """Return the values that the function closes over, with their avals."""
        count = len(self.graph.inputs)
        avals = self.graph.avals[count - len(self.captured) : count]
        return list(zip(self.captured, avals, strict=True))


def record_program(
    name: str, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> RecordedProgram:
    """Record a function for arguments, or for an ``Aval`` instead of an array.

    ``name`` is the public function that asks. Static arguments of a jitted function keep their
    values and are not part of the structure.

    Raises LeakedArrayError: if the function reads a value of a transform that is open.
    """
    check_function(function, name)
    jitted = function if isinstance(function, Jitted) else jit(function)
    call = jitted._call(args, kwargs)
    traced = jitted._traced(call)
    if traced.is_open:
        raise at_user_line(
            LeakedArrayError(
                f"{name}: the function reads a value of an outer transform, which is not known\n"
                f"  hint       call {name} outside of the transform, or pass the value to the"
                " function as an argument"
            )
        )
    return RecordedProgram(
        traced.graph,
        traced.captured,
        call.spec,
        traced.out_spec,
        traced.outputs,
        bool(traced.effects),
    )
