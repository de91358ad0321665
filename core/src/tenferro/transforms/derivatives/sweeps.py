"""Both sweeps of a linear graph: forward along each argument, backward from each output.

Neither sweep runs before one of its directions is asked for. Read next: ``derivatives/blocks.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.computegraph import ValueKey
from tenferro.primitives import Handle
from tenferro.tidu import Linearization
from tenferro.transforms.patterns.compressed import Directions
from tenferro.transforms.recording.positions import Reads

Send = Callable[[list[Any]], Sequence[Any]]  # None among tangents or cotangents is a zero


class BlockOptions(NamedTuple):
    """Options of the blocks of a derivative, as ``jacobian`` takes them.

    A ``symmetric`` derivative is that of a gradient with respect to the one argument of it.
    """

    mode: str
    compress: bool | None
    holomorphic: bool
    sparse: bool = False
    symmetric: bool = False


class Sweeps:
    """The linear graph of ``outputs`` in the tangents of ``wrt``, and its directions."""

    def __init__(
        self,
        linear: Linearization,
        outputs: Sequence[ValueKey],
        wrt: Sequence[ValueKey],
        how: BlockOptions,
        reads: Reads,
    ) -> None:
        self.linear = linear
        self.outputs = outputs
        self.wrt = wrt
        self.how = how
        self.reads = reads

    @cached_property
    def columns(self) -> list[Directions]:
        """For each argument, the derivative of all outputs along it, by the forward sweep."""
        return self._alone(self.linear.apply, self.wrt, self.outputs, last=True)

    @cached_property
    def rows(self) -> list[Directions]:
        """For each output, its derivative in all arguments, by the backward sweep."""
        return self._alone(self.linear.transpose, self.outputs, self.wrt, last=False)

    def _alone(
        self, send: Send, given: Sequence[ValueKey], results: Sequence[ValueKey], last: bool
    ) -> list[Directions]:
        """Return the directions of each given value, with zeros for the other ones."""
        avals = [key.aval for key in results]

        def directions(i: int) -> Directions:
            def send_one(seed: Handle) -> Sequence[Any]:
                return send([seed if j == i else None for j in range(len(given))])

            return Directions(
                send_one, given[i].aval, avals, last, self.how.compress, self.reads,
                symmetric=self.how.symmetric, entries_only=self.how.sparse,
            )  # fmt: skip

        return [directions(i) for i in range(len(given))]
