"""Identity matrices among the equations of a graph: row = column, or ones that are padded.

Read next: ``rewrites/inverses.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenferro.computegraph._materialize import MaterializedNode
from tenferro.primitives.comparison import Eq
from tenferro.primitives.constants import Constant, Iota
from tenferro.primitives.structural import Convert, Pad, Reshape


def identities_of(nodes: Sequence[MaterializedNode]) -> frozenset[int]:
    """Return the values that are one identity matrix."""
    makers = {node[2][0]: node for node in nodes}
    return frozenset([value for value, node in makers.items() if _is_identity(makers, node)])


_Makers = dict[int, MaterializedNode]


def _made_by(makers: _Makers, value: int, kind: type) -> Any:
    """Return the operation that made a value, if it is of that kind."""
    node = makers.get(value)
    return node[0] if node is not None and type(node[0]) is kind else None


def _is_identity(makers: _Makers, node: MaterializedNode) -> bool:
    op: Any = node[0]
    if type(op) is Convert and _made_by(makers, node[1][0], Eq):
        counts = [_made_by(makers, i, Iota) for i in makers[node[1][0]][1]]
        return all(counts) and _is_square([*counts])
    if type(op) is not Reshape or len(op.shape) != 2 or op.shape[0] != op.shape[1]:
        return False
    pad = _made_by(makers, node[1][0], Pad)
    if pad is None or (*pad.low, *pad.high, *pad.interior) != (0, 0, op.shape[0]):
        return False
    ones, zero = (_made_by(makers, i, Constant) for i in makers[node[1][0]][1])
    return bool(ones and zero and ones.value == 1 and zero.value == 0)


def _is_square(counts: Sequence[Any]) -> bool:
    """Return True for the counts of rows and of columns of a square matrix."""
    shape = counts[0].shape
    dimensions = sorted([count.dimension for count in counts])
    return len(shape) == 2 and shape[0] == shape[1] and dimensions == [0, 1]
