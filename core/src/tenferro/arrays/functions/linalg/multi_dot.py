"""``multi_dot``: a chain of matrix products in the order that costs least.

Read next: ``../einsum``, which does the same for any sums of products.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions._out import into
from tenferro.arrays.functions.contraction import dot
from tenferro.arrays.handle.array import Array
from tenferro.arrays.handle.convert import as_array
from tenferro.arrays.registry import covers
from tenferro.primitives import InvalidParameterError, ShapeMismatchError
from tenferro.primitives.structural import reshape

_LONGEST_EXACT = 101  # sizes of a chain

#: the product of matrices a … b-1 of the chain, times that of matrices b … c-1
_Step = tuple[int, int, int]


@covers("linalg.multi_dot")
def multi_dot(arrays: Sequence[Any], *, out: Any = None) -> Array:
    """Multiply a chain of matrices; the first and the last may be vectors.

    x_0: [m,k_1], x_1: [k_1,k_2], …, x_n: [k_n,p]   →   y: [m,p]

    Up to 100 operands are multiplied in the order of least cost; more of them in one that costs at
    most 15.5 % more, and is found in time proportional to their number.

    Raises   ShapeMismatchError: if the contracted sizes differ, or an operand has another rank;
             InvalidParameterError: for fewer than two operands.
    Source   Cormen, Leiserson, Rivest and Stein, Introduction to Algorithms, 3rd ed., §15.2;
             Chin, Communications of the ACM 21 (1978) 544, and Hu and Shing, Journal of
             Algorithms 2 (1981) 122, for long chains

    >>> import tenferro as tn
    >>> x = tn.asarray(((1.0, 2.0), (3.0, 4.0)))
    >>> tn.linalg.multi_dot([x[0], x, x[1]])
    Array(61.)
    """
    given = [as_array(x) for x in arrays]
    if len(given) < 2:
        error = InvalidParameterError.of(
            "multi_dot", "nothing to multiply", got=f"{len(given)} operands", need="two or more",
            parameter="arrays", value=len(given),
        )  # fmt: skip
        raise at_user_line(error)
    _check(given)
    first, last = given[0].shape, given[-1].shape
    chain = list(given)
    chain[0] = reshape(chain[0], (1, *first)) if len(first) == 1 else chain[0]
    chain[-1] = reshape(chain[-1], (*last, 1)) if len(last) == 1 else chain[-1]
    sizes = tuple([x.shape[0] for x in chain] + [chain[-1].shape[1]])
    parts = {(i, i + 1): x for i, x in enumerate(chain)}
    for a, b, c in _order(sizes):
        parts[a, c] = dot(parts.pop((a, b)), parts.pop((b, c)))
    result = reshape(parts[0, len(chain)], (*first[:-1], *last[1:]))
    return result if out is None else into(out, result, "multi_dot")


def _check(given: Sequence[Array]) -> None:
    """Raise ShapeMismatchError unless the operands are a chain."""
    for i, x in enumerate(given):
        if x.ndim != 2 and not (x.ndim == 1 and i in (0, len(given) - 1)):
            raise _no_chain(given, f"operand {i} is {x.aval}", "matrices, and vectors at the ends")
    for i, (x, y) in enumerate(pairwise(given)):
        if x.shape[-1] != y.shape[0]:
            got = f"operand {i} {x.aval} axis {x.ndim - 1}, operand {i + 1} {y.aval} axis 0"
            raise _no_chain(given, got, "equal sizes of neighbouring axes")


def _no_chain(given: Sequence[Array], got: str, need: str) -> Exception:
    error = ShapeMismatchError.of(
        "multi_dot", "the operands are not a chain of matrices", got=got, need=need,
        shapes=tuple(x.shape for x in given),
    )  # fmt: skip
    return at_user_line(error)


@lru_cache(maxsize=256)
def _order(sizes: tuple[int, ...]) -> list[_Step]:
    """Return the products of a chain in an order in which each finds its factors."""
    split = _least(sizes) if len(sizes) <= _LONGEST_EXACT else _near_least(sizes)
    steps: list[_Step] = []
    waiting = [(0, len(sizes) - 1)]
    while waiting:
        a, c = waiting.pop()
        if c - a > 1:
            b = split[a, c]
            steps.append((a, b, c))
            waiting += (a, b), (b, c)
    steps.reverse()
    return steps


def _least(sizes: tuple[int, ...]) -> dict[tuple[int, int], int]:
    """Find, for matrices a … c-1, where the last product splits, in O(count³) steps."""
    count = len(sizes) - 1
    cost = {(a, a + 1): 0 for a in range(count)}
    split = {}
    for length in range(2, count + 1):
        for a in range(count - length + 1):
            c = a + length
            cost[a, c], split[a, c] = min(
                (cost[a, b] + cost[b, c] + sizes[a] * sizes[b] * sizes[c], b)
                for b in range(a + 1, c)
            )
    return split


def _near_least(sizes: tuple[int, ...]) -> dict[tuple[int, int], int]:
    """``_least`` for long chains, in work that grows as their length.

    The sizes are the corners of a polygon, and each product is a triangle of a triangulation. A
    corner is cut off where that costs less than to join it to the smallest corner.
    """
    smallest = min(range(len(sizes)), key=sizes.__getitem__)
    low = sizes[smallest]
    corners = [*range(smallest, len(sizes)), *range(smallest + 1)]
    kept: list[int] = []
    split = {}

    def cut(*triangle: int) -> None:
        a, b, c = sorted(triangle)
        split[a, c] = b

    for c in corners:
        while len(kept) > 2:
            a, b = kept[-2:]
            x, y, z = sizes[a], sizes[b], sizes[c]
            if x * z * (y + low) >= y * low * (x + z):
                break
            cut(a, kept.pop(), c)
        kept.append(c)
    for b, c in pairwise(kept[1:-1]):
        cut(smallest, b, c)
    return split
