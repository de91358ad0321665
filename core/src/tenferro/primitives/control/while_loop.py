"""``WhileLoop``: a loop that ends when a condition on its carry no longer holds.

    while condition(consts, carry):  carry = body(consts, carry)

Forward mode is one loop of primals and tangents. The number of steps is known only when it has run,
so that there is no reverse mode; a loop with a bound is a ``Scan`` (``tn.while_loop(max_steps=)``).
Read next: ``batching.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from tenferro.computegraph import Fragment
from tenferro.primitives._aval import Aval
from tenferro.primitives._checks import invalid
from tenferro.primitives._handle import Handle
from tenferro.primitives._primitive import bind_all
from tenferro.primitives.control.higher_order import HigherOrder, listed
from tenferro.primitives.control.scan import emitted
from tenferro.tidu import FlowInput, MissingRuleError, Residual, RuleBuilder, Value

__all__ = ["WhileLoop", "while_loop"]


class WhileLoop(HigherOrder):
    """consts… carry…   →   the chosen ones of the last carry…

    condition   consts, carry  →  bool[]
    body        consts, carry  →  carry
    consts      number of inputs that every step reads
    outputs     results, by their numbers in the carry
    is_linear   for each input, whether the results are jointly linear in these inputs
    """

    key = "std::while_loop"
    condition: Fragment
    body: Fragment
    consts: int
    outputs: tuple[int, ...]
    is_linear: tuple[bool, ...] = ()

    def __post_init__(self) -> None:
        self.check_graph("condition")
        self.check_graph("body")
        inputs = self.body.input_avals
        if type(self.consts) is not int or not 0 <= self.consts <= len(inputs):
            need = f"an integer from 0 to {len(inputs)}"
            raise invalid(self, "consts", "no such number", got=repr(self.consts), need=need)
        if self.condition.input_avals != inputs:
            raise invalid(
                self, "condition", "other inputs than the body",
                got=listed(self.condition.input_avals), need=listed(inputs),
            )  # fmt: skip
        test = self.condition.output_avals
        if len(test) != 1 or test[0].shape or not test[0].dtype.is_bool:
            raise invalid(self, "condition", "no condition", got=listed(test), need="bool[]")
        if self.body.output_avals != inputs[self.consts :]:
            raise invalid(
                self, "body", "the carry changes its shape or dtype",
                got=listed(self.body.output_avals), need=listed(inputs[self.consts :]),
            )  # fmt: skip
        self.check_outputs(self.outputs, self.carried)
        self.check_marks(len(inputs))

    @property
    def carried(self) -> int:
        """Number of values that go from step to step."""
        return len(self.body.outputs)

    @property
    def bodies(self) -> tuple[tuple[str, Fragment], ...]:
        """The closed graphs among the parameters, by name."""
        return (("condition", self.condition), ("body", self.body))

    @property
    def volatile(self) -> bool:  # type: ignore[override]  # it depends on the body
        """True if a derivative of it runs code of the user."""
        return self.body.volatile

    @property
    def output_count(self) -> int:
        """As many as are chosen."""
        return len(self.outputs)

    def abstract_eval(self, *avals: Aval) -> tuple[Aval, ...]:
        need = self.body.input_avals
        self.check_inputs(avals, need)
        found = self.body.output_avals
        return tuple([found[i] for i in self.outputs])

    def jvp(
        self,
        rule: RuleBuilder,
        primals_in: Sequence[Any],
        primals_out: Sequence[Any],
        tangents_in: Sequence[Value | None],
    ) -> Sequence[Value | None]:
        """Emit one loop over primals and tangents, which gives the tangents."""
        flowing = {i for i, tangent in enumerate(tangents_in) if tangent is not None}
        if flowing <= {*self.linear_inputs}:
            return rule.apply_linear(self, self.linear_inputs, primals_in, tangents_in)
        tangents = import_module("tenferro.primitives.control.tangents")
        found = tangents.joint_while(self, primals_in, tangents_in, rule)
        if found is None:
            return [None] * self.output_count
        loop, operands, places = found
        at = dict(zip(places, emitted(rule, loop, operands), strict=True))
        return [at.get(i) for i in range(self.output_count)]

    def transpose(
        self,
        rule: RuleBuilder,
        cotangents_out: Sequence[Value | None],
        inputs: Sequence[Residual | FlowInput],
    ) -> Sequence[Value | None]:
        """Refuse: how often the body ran is not known."""
        raise MissingRuleError(
            "while_loop: no derivative in reverse mode, since the number of steps is unknown\n"
            "  hint       give a bound, `tenferro.while_loop(…, max_steps=1000)`, or write a\n"
            "             `scan` of known length; `jvp` and `jacfwd` need neither",
            primitive=self.key,
            rule="transpose",
            provider=type(self).__module__,
            input=None,
        )

    def batch_bodies(
        self, batch: Callable[..., Any], size: int, batched: Sequence[bool], *xs: Handle
    ) -> Sequence[Handle]:
        """Batch condition and body; an example that has finished keeps its carry."""
        batching = import_module("tenferro.primitives.control.batching")
        found: Sequence[Handle] = batching.batched_while(self, batch, size, batched, xs)
        return found


def while_loop(
    condition: Fragment, body: Fragment, consts: Sequence[Handle], carry: Sequence[Handle]
) -> tuple[Handle, ...]:
    """Run a closed graph as long as another one holds.

    consts: any   carry: any   →   the last carry

    Definition   while condition(consts, carry): carry = body(consts, carry)
    Transpose    none: the number of steps is unknown
    Raises       InvalidParameterError: if the graphs do not fit.

    >>> from tenferro.computegraph import Fragment
    >>> from tenferro.primitives import lt, variable, while_loop
    >>> n, x = variable("n", (), "f64"), variable("x", (), "f64")
    >>> condition = Fragment.of([n.key, x.key], [lt(x, n).key])
    >>> body = Fragment.of([n.key, x.key], [(x + x).key])
    >>> [y.aval for y in while_loop(condition, body, (n,), (x,))]
    [f64[]]
    """
    loop = WhileLoop(condition, body, len(consts), tuple(range(len(carry))))
    return bind_all(loop, *consts, *carry)
