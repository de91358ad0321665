"""A contraction that runs part by part: one scan per sliced label, the last one innermost.

An axis of a sliced label is reshaped to [parts, rest] and becomes the rows of the scan, so that the
cotangent of an operand is stacked from those of its parts. Each part is a checkpoint: reverse mode
computes the intermediates of one part again instead of keeping those of all parts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tenferro.arrays import Array
from tenferro.arrays.functions.arithmetic import add
from tenferro.arrays.functions.comparison import logical_or
from tenferro.arrays.functions.creation import zeros
from tenferro.arrays.functions.einsum._subscripts import Label, Subscripts
from tenferro.arrays.functions.structural import moveaxis, reshape
from tenferro.primitives import DType
from tenferro.transforms.control.checkpoint import checkpoint
from tenferro.transforms.control.scan import scan

Contract = Callable[..., Array]


def contracted_in_parts(
    contract: Contract,
    operands: Sequence[Array],
    expression: Subscripts,
    parts: Mapping[Label, int],
) -> Array:
    """Contract operands part by part; ``contract`` contracts a part, ``expression`` describes it.

    ``parts`` says how often each label is cut in these operands.
    """
    if not parts:
        return checkpoint(contract)(*operands)
    terms, output = expression.inputs, expression.output
    (label, count), *rest = parts.items()
    rows = {
        i: _split(operands[i], terms[i].index(label), count)
        for i in range(len(operands))
        if label in terms[i]
    }

    def part(row: Sequence[Array]) -> Array:
        own = dict(zip(rows, row, strict=True))
        inside = [own.get(i, x) for i, x in enumerate(operands)]
        return contracted_in_parts(contract, inside, expression, dict(rest))

    if label in output:
        _, found = scan(lambda carry, row: (carry, part(row)), (), [*rows.values()])
        return _joined(found, output.index(label))
    shape = [expression.sizes[x] * dict(rest).get(x, 1) for x in output]
    return _summed(part, [*rows.values()], shape, operands[0].dtype)


def _summed(
    part: Callable[[Sequence[Array]], Array],
    rows: Sequence[Array],
    shape: Sequence[int],
    dtype: DType,
) -> Array:
    """Return the sum of all parts, or the "or" of bools."""
    plus = logical_or if dtype.is_bool else add
    total, _ = scan(lambda total, row: (plus(total, part(row)), None), zeros(shape, dtype), rows)
    return total  # type: ignore[no-any-return]


def _split(x: Array, axis: int, count: int) -> Array:
    """Cut an axis in parts, which come first."""
    shape = x.shape
    cut = reshape(x, (*shape[:axis], count, shape[axis] // count, *shape[axis + 1 :]))
    return moveaxis(cut, axis, 0)


def _joined(x: Array, axis: int) -> Array:
    """Put parts, which come first, one behind the other along an axis."""
    moved = moveaxis(x, 0, axis)
    shape = moved.shape
    return reshape(moved, (*shape[:axis], shape[axis] * shape[axis + 1], *shape[axis + 2 :]))
