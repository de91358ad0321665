"""The flow of a linear map as numbers: how large its values are, and what each equation costs.

Values are numbered; an equation lists the values through which flow enters and leaves it. Costs are
multiplications and additions for one direction. Nothing here knows a primitive beyond the family
that it belongs to. Read next: ``bottleneck/cuts.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.computegraph import ValueKey
from tenferro.passes._costs import family
from tenferro.tidu import Linearization

_LOCAL = frozenset(("arithmetic", "complex", "elementwise", "reduction", "structural"))
Operations = Callable[[Any, Sequence[Any], Any], int]


class Equation(NamedTuple):
    """Flow through one operation: values that enter and leave it, and its cost for one direction.

    ``local`` says that its cost is about one operation per element.
    """

    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    cost: int
    local: bool


class Part(NamedTuple):
    """A part of a flow: what all its equations cost, and which ends each of its starts reaches.

    The set of ends is an integer whose bit i is 1 if the i-th end is reached.
    """

    cost: int
    reaches: tuple[int, ...]


class Flow:
    """The equations between starts and ends, dependencies first. No value stands there twice."""

    def __init__(
        self,
        keys: Sequence[ValueKey],
        equations: Sequence[Equation],
        starts: Sequence[int],
        ends: Sequence[int],
        holomorphic: bool,
    ) -> None:
        self.holomorphic = holomorphic
        self.keys = keys
        self.equations = equations
        self.starts = starts
        self.ends = ends

    @cached_property
    def sizes(self) -> list[int]:
        """The number of directions of each value: two per complex element, unless holomorphic."""
        avals = [key.aval for key in self.keys]
        double = not self.holomorphic
        return [aval.size << (double and aval.dtype.is_complex) for aval in avals]

    def size(self, values: Iterable[int]) -> int:
        """Return the number of directions of some values together."""
        return sum([self.sizes[i] for i in values])

    def part(self, starts: Sequence[int], ends: Sequence[int], barred: Sequence[int] = ()) -> Part:
        """Return what flows from some values to others, but through no barred value.

        A start ends the flow into it, as a barred value does.
        """
        closed = {*starts, *barred}
        wanted = _reached_by(self.equations, ends, closed, back=True)
        ahead = _reached_by(self.equations, starts, closed, back=False)
        cost = 0
        for inputs, outputs, price, _ in self.equations:
            enters = any([ahead.get(i) for i in inputs])
            if enters and any([wanted.get(i) and i not in closed for i in outputs]):
                cost += price
        bits = [wanted.get(i, 0) if i not in barred else 0 for i in starts]
        return Part(cost, tuple(bits))

    def pushes(
        self, sources: Sequence[int], targets: Sequence[int], barred: Sequence[int] = ()
    ) -> list[int]:
        """Return, for each source, the operations that push one of its directions."""
        every = [*sources, *barred]
        return [self.part([i], targets, [x for x in every if x != i]).cost for i in sources]

    def pulls(
        self, sources: Sequence[int], targets: Sequence[int], barred: Sequence[int] = ()
    ) -> list[int]:
        """Return, for each target, the operations that pull one of its directions."""
        return [self.part(sources, [i], barred).cost for i in targets]


def _reached_by(
    equations: Sequence[Equation], values: Sequence[int], closed: set[int], back: bool
) -> dict[int, int]:
    """Return, by value, from which of the given values flow comes; or to which it goes."""
    found: dict[int, int] = {}
    for bit, value in enumerate(values):
        found[value] = found.get(value, 0) | 1 << bit
    for inputs, outputs, _, _ in reversed(equations) if back else equations:
        here, there = (outputs, inputs) if back else (inputs, outputs)
        bits = 0
        for i in here:
            if not back or i not in closed:
                bits |= found.get(i, 0)
        if bits:
            for i in there:
                if back or i not in closed:
                    found[i] = found.get(i, 0) | bits
    return found


def flow_of(linear: Linearization, operations: Operations, holomorphic: bool) -> Flow:
    """Return the flow of a linear map; ``operations`` counts the arithmetic of one equation."""
    numbers: dict[ValueKey, int] = {}

    def number(key: ValueKey) -> int:
        return numbers.setdefault(key, len(numbers))

    starts = [number(seed.key) for seed in linear.seeds if seed is not None]
    equations = []
    for node in linear.nodes.each():
        inputs = node.inputs
        active = [key for key, flows in zip(inputs, node.active_mask, strict=True) if flows]
        made = node.outputs
        cost = operations(node.operation, [key.aval for key in inputs], made[0].aval)
        local = family(node.operation) in _LOCAL
        pair = tuple(dict.fromkeys(map(number, active))), tuple(map(number, made))
        equations.append(Equation(*pair, cost, local))
    ends = [number(end.key) for end in linear.ends if end is not None]
    return Flow([*numbers], equations, starts, [*dict.fromkeys(ends)], holomorphic)
