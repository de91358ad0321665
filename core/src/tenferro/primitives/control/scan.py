"""``Scan``: a loop whose body is a closed graph and whose number of steps is known.

    carry₀ = init,   carryₖ₊₁, yₖ = body(consts, carryₖ, xₖ),   k = 0 … length - 1

The derivative is again a loop (``tangents.py``); one for reverse mode is split into a loop over the
primals, which stacks what the derivative reads, and a linear loop (``residuals.py``), whose
transpose runs the other way (``transposed.py``). Read next: ``tangents.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from tenferro.computegraph import Fragment
from tenferro.primitives._aval import Aval
from tenferro.primitives._checks import invalid
from tenferro.primitives._handle import Handle
from tenferro.primitives._primitive import Mixed, bind_all
from tenferro.primitives.control.higher_order import HigherOrder, listed
from tenferro.tidu import FlowInput, Residual, RuleBuilder, Value

__all__ = ["Scan", "scan"]


class Scan(HigherOrder):
    """consts… carry… xs…   →   the chosen ones of carry… ys…

    body      inputs: consts, carry, one row of each x; outputs: carry, one row of each y
    consts    number of inputs that every step reads whole
    carried   number of values that go from step to step
    outputs   results, by their numbers among the body's outputs
    reverse   the last row is taken first; rows of ys stand where those of xs do
    is_linear  for each input, whether the results are jointly linear in these inputs
    offload   the directory of the file in which its derivative stores rows; "" is the system's
              directory for temporary files, None stores them in memory
    offloaded  outputs of the body, by number, whose rows are stored there
    stores_all  its derivative stores all that it reads, and computes nothing again
    derivatives  carries, by number, that are tangents or cotangents: graph passes may regroup the
              products of these
    """

    key = "std::scan"
    body: Fragment
    consts: int
    carried: int
    length: int
    outputs: tuple[int, ...]
    reverse: bool = False
    is_linear: tuple[bool, ...] = ()
    offload: str | None = None
    offloaded: tuple[int, ...] = ()
    stores_all: bool = False
    derivatives: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        self.check_graph("body")
        count, results = len(self.body.input_avals), len(self.body.outputs)
        sizes = (self.consts, self.carried, self.length)
        if not all([type(n) is int and n >= 0 for n in sizes]) or not self.length:
            raise invalid(
                self,
                "length",
                "a size is not an integer of 0 or more, or the length is 0",
                got=repr(sizes),
                need="integers",
            )
        if self.consts + self.carried > count or self.carried > results:
            raise invalid(
                self, "carried", "the body is too small",
                got=f"{self.consts} consts and {self.carried} carries",
                need=f"at most {count} inputs and {results} outputs",
            )  # fmt: skip
        carried = self.body.input_avals[self.consts : self.consts + self.carried]
        if self.body.output_avals[: self.carried] != carried:
            raise invalid(
                self, "body", "the carry changes its shape or dtype",
                got=listed(self.body.output_avals[: self.carried]), need=listed(carried),
            )  # fmt: skip
        self.check_outputs(self.outputs, results)
        self.check_marks(count)
        self.check_bool("reverse")
        self.check_bool("stores_all")
        self._check_derivatives()
        self._check_offload()

    def _check_derivatives(self) -> None:
        numbers: Any = self.derivatives
        is_fine = isinstance(numbers, tuple) and all([type(i) is int for i in numbers])
        if not is_fine or not {*numbers} <= {*range(self.carried)}:
            need = "a tuple of numbers of carries"
            raise invalid(self, "derivatives", "no such carries", got=repr(numbers), need=need)

    def _check_offload(self) -> None:
        directory: Any = self.offload
        if directory is not None and not isinstance(directory, str):
            need = "a directory, or None"
            raise invalid(self, "offload", "no directory", got=repr(directory), need=need)
        marks: Any = self.offloaded
        rows = {*range(self.carried, len(self.body.outputs))}
        is_fine = isinstance(marks, tuple) and all([type(i) is int for i in marks])
        if not is_fine or not {*marks} <= rows or (marks and directory is None):
            need = "numbers of outputs that are stacked, with a directory"
            raise invalid(self, "offloaded", "no such rows", got=repr(marks), need=need)

    @property
    def bodies(self) -> tuple[tuple[str, Fragment], ...]:
        """The closed graphs among the parameters, by name."""
        return (("body", self.body),)

    @property
    def output_count(self) -> int:
        """As many as are chosen."""
        return len(self.outputs)

    @property
    def rows(self) -> int:
        """The number of the first input that is read row by row."""
        return self.consts + self.carried

    def input_aval(self, i: int) -> Aval:
        """Return the aval of an input."""
        aval: Aval = self.body.input_avals[i]
        return aval if i < self.rows else aval.with_shape((self.length, *aval.shape))

    def abstract_eval(self, *avals: Aval) -> tuple[Aval, ...]:
        need = tuple([self.input_aval(i) for i in range(len(self.body.input_avals))])
        self.check_inputs(avals, need)
        found = self.body.output_avals
        stacked = [
            aval if i < self.carried else aval.with_shape((self.length, *aval.shape))
            for i, aval in enumerate(found)
        ]
        return tuple([stacked[i] for i in self.outputs])

    def jvp(
        self,
        rule: RuleBuilder,
        primals_in: Sequence[Any],
        primals_out: Sequence[Any],
        tangents_in: Sequence[Value | None],
    ) -> Sequence[Value | None]:
        """Emit a loop over the tangents: with the primals, or behind a loop that stacks residuals.

        Where the derivative is only applied, one loop carries primals and tangents, so that memory
        does not depend on the length.
        """
        flowing = {i for i, tangent in enumerate(tangents_in) if tangent is not None}
        if flowing <= {*self.linear_inputs}:
            return rule.apply_linear(self, self.linear_inputs, primals_in, tangents_in)
        tangents = import_module("tenferro.primitives.control.tangents")
        found = tangents.joint_loop(self, primals_in, tangents_in, rule)
        if found is None:
            return [None] * self.output_count
        loop, operands, places = found
        if rule.sweep.kept:
            residuals = import_module("tenferro.primitives.control.residuals")
            loop, operands = residuals.split(loop, operands, rule)
        results = emitted(rule, loop, operands)
        found_at = dict(zip(places, results, strict=True))
        return [found_at.get(i) for i in range(self.output_count)]

    def transpose(
        self,
        rule: RuleBuilder,
        cotangents_out: Sequence[Value | None],
        inputs: Sequence[Residual | FlowInput],
    ) -> Sequence[Value | None]:
        """Emit the loop over the cotangents, which runs the other way."""
        transposed = import_module("tenferro.primitives.control.transposed")
        found: Sequence[Value | None] = transposed.cotangents(self, cotangents_out, inputs, rule)
        return found

    def decompose(self, *xs: Handle) -> tuple[Handle, ...]:
        """Write the steps one behind the other, for a backend without loops."""
        unrolled = import_module("tenferro.primitives.control.unrolled")
        found: tuple[Handle, ...] = unrolled.steps_of(self, xs)
        return found

    def batch_bodies(
        self, batch: Callable[..., Any], size: int, batched: Sequence[bool], *xs: Handle
    ) -> Sequence[Handle]:
        """Batch the body; a carry that differs between examples after a step does so before it."""
        batching = import_module("tenferro.primitives.control.batching")
        found: Sequence[Handle] = batching.batched_scan(self, batch, size, batched, xs)
        return found


def emitted(rule: RuleBuilder, loop: Mixed, operands: Sequence[Value]) -> Sequence[Value]:
    """Emit a loop or a choice, and return its results as a sequence."""
    found = rule.emit(loop, *operands)
    return (found,) if loop.output_count == 1 else found


def scan(
    body: Fragment,
    consts: Sequence[Handle],
    carry: Sequence[Handle],
    xs: Sequence[Handle],
    length: int,
    *,
    reverse: bool = False,
) -> tuple[Handle, ...]:
    """Run a closed graph once per row: ``carry, y = body(consts, carry, x)``.

    consts: any   carry: any   xs: [length, *s]   →   the last carry, ys: [length, *t]

    Definition   carry₀ = carry;  carryₖ₊₁, yₖ = body(consts, carryₖ, xₖ)
    Transpose    a loop that runs the other way: cotangents of consts are summed
    Raises       InvalidParameterError: if the body does not fit, or the length is 0.

    >>> from tenferro.computegraph import Fragment
    >>> from tenferro.primitives import scan, variable
    >>> c, x = variable("c", (), "f64"), variable("x", (), "f64")
    >>> body = Fragment.of([c.key, x.key], [(c + x).key, (c * x).key])
    >>> [y.aval for y in scan(body, (), (c,), (variable("xs", (5,), "f64"),), 5)]
    [f64[], f64[5]]
    """
    outputs = tuple(range(len(body.outputs)))
    loop = Scan(body, len(consts), len(carry), length, outputs, reverse)
    return bind_all(loop, *consts, *carry, *xs)
