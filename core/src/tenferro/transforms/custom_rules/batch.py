"""Rules of the user under ``vmap``: the rules are recorded for one example, then batched.

Read next: ``checking/check.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays import Array
from tenferro.arrays import sum as array_sum
from tenferro.computegraph import ValueKey
from tenferro.primitives import Handle
from tenferro.primitives._primitive import in_front
from tenferro.tidu import NotLinearError, Trace, pinned_leaf
from tenferro.transforms.batching.batch import batch
from tenferro.transforms.recording.arguments import Name

Mask = tuple[bool, ...]


class Examples:
    """Placeholders of one example, and what they stand for."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._leaves: dict[ValueKey, Handle] = {}
        self._trace = Trace()

    def of(self, values: Sequence[Array | None], mask: Sequence[bool]) -> list[Array | None]:
        """Return one example of each batched value; others unchanged."""
        pairs = zip(values, mask, strict=True)
        return [self._one(x) if x is not None and on else x for x, on in pairs]

    def _one(self, x: Array) -> Array:
        label = Name("example", self._trace.id.serial)
        key = pinned_leaf(label, x.aval.with_shape(x.shape[1:]), self._trace)
        self._leaves[key] = Handle(x.key)
        return Array(key)

    def batched(self, values: Sequence[Array | None]) -> list[Array | None]:
        """Batch the values recorded for one example; ``None`` where it is the same for all."""
        self._trace.open = False
        keys = [x.key for x in values if x is not None]
        found = iter(batch(keys, self._leaves, self._size))
        rows = [None if x is None else next(found) for x in values]
        return [None if row is None else Array(row.key) for row in rows]

    def in_front(self, values: Sequence[Array | None]) -> list[Array | None]:
        """Batch the values recorded for one example, always with the axis of the batch in front."""
        pairs = zip(values, self.batched(values), strict=True)
        return [
            in_front(x, False, self._size) if x is not None and row is None else row
            for x, row in pairs
        ]


def values_in_front(
    operation: Any, size: int, batched: Sequence[bool], inputs: Sequence[Handle]
) -> list[Handle]:
    """Return the inputs of an operation around values, with the batch axis first in each value."""
    n = operation.count
    pairs = zip(inputs[:n], batched[:n], strict=True)
    return [*[in_front(y, on, size) for y, on in pairs], *inputs[n:]]


class BatchedJvp(NamedTuple):
    """A call with a forward rule, for a batch; masks say which values are batched."""

    call: Any
    size: int
    mask: Mask  # of the arguments
    closed_mask: Mask  # of what is closed over

    def tangents(
        self,
        primals: Sequence[Array],
        tangents: Sequence[Array | None],
        outputs: Sequence[Array],
        zero: Callable[[Any], Any],
        closed_over: Sequence[Array] = (),
    ) -> list[Array | None]:
        """Return the tangents of all examples."""
        examples = Examples(self.size)
        xs, dxs = examples.of(primals, self.mask), examples.of(tangents, self.mask)
        ys = examples.of(outputs, [True] * len(outputs))
        closed = examples.of(closed_over, self.closed_mask)
        return examples.in_front(self.call.tangents(xs, dxs, ys, zero, closed))

    def not_linear(self, why: str, active: tuple[int, ...]) -> NotLinearError:
        """Make the error about a rule that is not linear."""
        found: NotLinearError = self.call.not_linear(why, active)
        return found


class BatchedVjp(NamedTuple):
    """A call with a reverse rule, for a batch; masks say which values are batched."""

    call: Any
    size: int
    mask: Mask  # of the arguments
    closed_mask: Mask  # of what is closed over

    def forward(
        self, primals: Sequence[Array], outputs: Sequence[Array],
        closed_over: Sequence[Array] = (),
    ) -> tuple[list[Array], BatchedLinear]:  # fmt: skip
        """Return the residuals of all examples, and the linear rule that reads them."""
        examples = Examples(self.size)
        xs = examples.of(primals, self.mask)
        ys = examples.of(outputs, [True] * len(outputs))
        closed = examples.of(closed_over, self.closed_mask)
        residuals, linear = self.call.forward(xs, ys, closed)
        rows = examples.batched(residuals)
        kept = [r if row is None else row for r, row in zip(residuals, rows, strict=True)]
        varying = [on for x, on in zip(primals, self.mask, strict=True) if x.dtype.is_inexact]
        batched = tuple([row is not None for row in rows])
        return kept, BatchedLinear(linear, self.size, batched, tuple(varying))


class BatchedLinear(NamedTuple):
    """A linear rule for a batch: which residuals and which inputs are batched; all outputs are."""

    rule: Any
    size: int
    residual_mask: Mask
    mask: Mask

    @property
    def wants_zeros(self) -> bool:
        """As the rule for one example."""
        return bool(self.rule.wants_zeros)

    def push(
        self, residuals: Sequence[Array], tangents: Sequence[Array | None]
    ) -> list[Array | None]:
        """Return the results of all examples."""
        examples = Examples(self.size)
        given = examples.of(residuals, self.residual_mask), examples.of(tangents, self.mask)
        return examples.in_front(self.rule.push(*given))

    def pull(self, residuals: Sequence[Array], cts: Sequence[Array | None]) -> list[Array | None]:
        """Return the cotangents of all examples, summed if all examples share the input."""
        examples = Examples(self.size)
        every = [True] * len(cts)
        given = examples.of(residuals, self.residual_mask), examples.of(cts, every)
        rows = examples.in_front(self.rule.pull(*given))
        pairs = zip(rows, self.mask, strict=True)
        return [x if on or x is None else array_sum(x, axis=0) for x, on in pairs]

    def transposed(self) -> None:
        """Return None: this rule has no transposed form."""
        return
