"""``multi_dot``: a chain of matrix products in the order that costs least.

Read next: ``../einsum``, which does the same for any sums of products.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

from tenferro.array._array import Array
from tenferro.array._convert import as_array
from tenferro.array._errors import at_user_line
from tenferro.array._registry import covers
from tenferro.array.functions._out import into
from tenferro.array.functions.contraction import dot
from tenferro.primitives import InvalidParameterError, ShapeMismatchError
from tenferro.primitives.structural import reshape


@covers("linalg.multi_dot")
def multi_dot(arrays: Sequence[Any], *, out: Any = None) -> Array:
    """Multiply a chain of matrices; the first and the last may be vectors.

    x_0: [m,k_1], x_1: [k_1,k_2], …, x_n: [k_n,p]   →   y: [m,p]

    Raises   ShapeMismatchError: if the contracted sizes differ, or an operand has another rank;
             InvalidParameterError: for fewer than two operands.
    Source   Cormen, Leiserson, Rivest and Stein, Introduction to Algorithms, 3rd ed., §15.2

    >>> x = as_array(((1.0, 2.0), (3.0, 4.0)))
    >>> multi_dot([x[0], x, x[1]])
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
    result = _product(chain, _splits(sizes), 0, len(chain) - 1)
    result = reshape(result, (*first[:-1], *last[1:]))
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
        "multi_dot", "the operands are no chain of matrices", got=got, need=need,
        shapes=tuple(x.shape for x in given),
    )  # fmt: skip
    return at_user_line(error)


@lru_cache(maxsize=256)
def _splits(sizes: tuple[int, ...]) -> dict[tuple[int, int], int]:
    """For matrices i … j of the chain, after which one the last product splits."""
    count = len(sizes) - 1
    cost = {(i, i): 0 for i in range(count)}
    split = {}
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            cost[i, j], split[i, j] = min(
                (cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k)
                for k in range(i, j)
            )
    return split


def _product(chain: Sequence[Array], split: dict[tuple[int, int], int], i: int, j: int) -> Array:
    if i == j:
        return chain[i]
    k = split[i, j]
    return dot(_product(chain, split, i, k), _product(chain, split, k + 1, j))
