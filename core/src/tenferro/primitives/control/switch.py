"""``Switch``: one of several closed graphs, chosen by an integer.

    outputs = branches[index](operands)

The derivative takes the same branch. A linear branch computes again what it reads of the primals:
only one of them runs, and its operands are there. Read next: ``batching.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from tenferro.computegraph import Fragment
from tenferro.primitives._aval import Aval
from tenferro.primitives._checks import invalid
from tenferro.primitives._errors import ShapeMismatchError
from tenferro.primitives._handle import Handle
from tenferro.primitives._primitive import bind_all
from tenferro.primitives.control.higher_order import HigherOrder, listed
from tenferro.tidu import FlowInput, Residual, RuleBuilder, Value

__all__ = ["Switch", "switch"]


class Switch(HigherOrder):
    """index: int[], operands…   →   the results of a branch

    branches   closed graphs of the same inputs and outputs; an index that is too small or too large
               takes the first or the last
    is_linear  for each operand, whether the results are jointly linear in these operands
    """

    key = "std::switch"
    branches: tuple[Fragment, ...]
    is_linear: tuple[bool, ...] = ()

    def __post_init__(self) -> None:
        branches: Any = self.branches
        if not isinstance(branches, tuple) or not branches or {*map(type, branches)} != {Fragment}:
            need = "a tuple of Fragments"
            raise invalid(self, "branches", "no closed graphs", got=repr(branches), need=need)
        first = branches[0]
        for other in branches[1:]:
            if (other.input_avals, other.output_avals) != (first.input_avals, first.output_avals):
                raise invalid(
                    self, "branches", "the branches differ in inputs or outputs",
                    got=listed((*other.input_avals, *other.output_avals)),
                    need=listed((*first.input_avals, *first.output_avals)),
                )  # fmt: skip
        self.check_marks(len(first.input_avals))

    @property
    def bodies(self) -> tuple[tuple[str, Fragment], ...]:
        """The closed graphs among the parameters, by name."""
        return tuple([(f"branch {i}", branch) for i, branch in enumerate(self.branches)])

    @property
    def shown(self) -> dict[str, object]:
        """The parameters that an equation shows: those that say something."""
        return {"branches": len(self.branches), **super().shown}

    @property
    def output_count(self) -> int:
        """As many as a branch has."""
        return len(self.branches[0].outputs)

    def abstract_eval(self, *avals: Aval) -> tuple[Aval, ...]:
        need = self.branches[0].input_avals
        index = avals[0] if avals else None
        if index is None or index.shape or not index.dtype.is_integer or avals[1:] != need:
            raise ShapeMismatchError.of(
                self.name, "the inputs are not those of the branches", got=listed(avals),
                need=f"an integer of rank 0, {listed(need)}",
                shapes=tuple([aval.shape for aval in avals]),
            )  # fmt: skip
        return self.branches[0].output_avals

    @property
    def linear_inputs(self) -> tuple[int, ...]:
        """The inputs, counted from the index, in which the results are jointly linear."""
        return tuple([i + 1 for i, on in enumerate(self.is_linear) if on])

    def jvp(
        self,
        rule: RuleBuilder,
        primals_in: Sequence[Any],
        primals_out: Sequence[Any],
        tangents_in: Sequence[Value | None],
    ) -> Sequence[Value | None]:
        """Emit the branches of primals and tangents, which give tangents alone."""
        flowing = {i for i, tangent in enumerate(tangents_in) if tangent is not None}
        if flowing <= {*self.linear_inputs}:
            return rule.apply_linear(self, self.linear_inputs, primals_in, tangents_in)
        rules = import_module("tenferro.primitives.control.branches")
        found: Sequence[Value | None] = rules.tangents(self, primals_in, tangents_in, rule)
        return found

    def transpose(
        self,
        rule: RuleBuilder,
        cotangents_out: Sequence[Value | None],
        inputs: Sequence[Residual | FlowInput],
    ) -> Sequence[Value | None]:
        """Emit the transposed branches."""
        rules = import_module("tenferro.primitives.control.branches")
        found: Sequence[Value | None] = rules.cotangents(self, cotangents_out, inputs, rule)
        return found

    def batch_bodies(
        self, batch: Callable[..., Any], size: int, batched: Sequence[bool], *xs: Handle
    ) -> Sequence[Handle]:
        """Batch the branches; an index that differs between examples runs those that some take."""
        batching = import_module("tenferro.primitives.control.batching")
        found: Sequence[Handle] = batching.batched_switch(self, batch, size, batched, xs)
        return found


def switch(branches: Sequence[Fragment], index: Handle, *operands: Handle) -> tuple[Handle, ...]:
    """Run one of several closed graphs.

    index: int[]   operands: any   →   the outputs of a branch

    Definition   branches[min(max(index, 0), n - 1)](operands)
    Transpose    the transpose of the branch that is taken
    Raises       InvalidParameterError: if the branches differ in inputs or outputs.

    >>> from tenferro.computegraph import Fragment
    >>> from tenferro.primitives import switch, variable
    >>> x = variable("x", (3,), "f64")
    >>> both = Fragment.of([x.key], [(x + x).key]), Fragment.of([x.key], [(x * x).key])
    >>> [y.aval for y in switch(both, variable("i", (), "i32"), x)]
    [f64[3]]
    """
    return bind_all(Switch(tuple(branches)), index, *operands)
