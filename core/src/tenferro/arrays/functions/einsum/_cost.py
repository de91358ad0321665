"""Cost of an einsum, and the table that ``einsum_path`` prints.

Operations are counted as NumPy and opt_einsum do: per point of the space of all labels of a pair
one multiplication, and one addition where something is summed.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from math import prod

from tenferro.arrays.functions.einsum._steps import Pair
from tenferro.arrays.functions.einsum._subscripts import Label, Subscripts, text_of

_RULE = "-" * 74


@dataclass(frozen=True)
class PathInfo:
    """The pairs in which an einsum is contracted, and their cost.

    ``flops`` and ``naive_flops`` count operations of the pairs and of one loop over all labels;
    ``largest_intermediate`` counts elements. Printed, it is a table like NumPy's.
    """

    expression: Subscripts
    pairs: tuple[Pair, ...]

    @property
    def naive_flops(self) -> int:
        """Operations of one loop over all labels."""
        inputs, output = self.expression.inputs, self.expression.output
        return self._flops(set(self.expression.sizes), set(output), len(inputs))

    @property
    def flops(self) -> int:
        """Operations of the pairs."""
        if not self.pairs:
            return self.naive_flops
        return sum(self._flops({*p.lhs, *p.rhs}, set(p.result), 2) for p in self.pairs)

    @property
    def largest_intermediate(self) -> int:
        """Elements of the largest result of a pair, or of the final one."""
        return max(self._size(x) for x in (self.expression.output, *[p.result for p in self.pairs]))

    @property
    def scaling(self) -> int:
        """The largest number of labels over which one pair loops."""
        loops = [len({*p.lhs, *p.rhs}) for p in self.pairs]
        return max(loops, default=len(self.expression.sizes))

    def _size(self, labels: Collection[Label]) -> int:
        return prod(self.expression.sizes[label] for label in labels)

    def _flops(self, labels: set[Label], kept: set[Label], operands: int) -> int:
        return self._size(labels) * (max(1, operands - 1) + (labels != kept))

    def __str__(self) -> str:
        flops = max(self.flops, 1)
        lines = [
            f"  Complete contraction:  {self.expression}",
            f"         Naive scaling:  {len(self.expression.sizes)}",
            f"     Optimized scaling:  {self.scaling}",
            f"      Naive FLOP count:  {self.naive_flops:.3e}",
            f"  Optimized FLOP count:  {self.flops:.3e}",
            f"   Theoretical speedup:  {self.naive_flops / flops:.3f}",
            f"  Largest intermediate:  {self.largest_intermediate:.3e} elements",
            _RULE,
            f"{'scaling':<10}{'FLOPs':<14}current",
            _RULE,
        ]
        return "\n".join([*lines, *map(self._row, self.pairs)])

    def _row(self, pair: Pair) -> str:
        labels = {*pair.lhs, *pair.rhs}
        cost = self._flops(labels, set(pair.result), 2)
        text = f"{text_of(pair.lhs)},{text_of(pair.rhs)}->{text_of(pair.result)}"
        return f"{len(labels):<10}{cost:<14.3e}{text}"

    __repr__ = __str__
