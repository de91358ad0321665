"""A search for the labels to slice, so that intermediates of a contraction fit in a limit.

A sliced label is cut in equal parts; the contraction runs once for each part and the results are
added, or stacked for a label of the output. The order of contraction stays. As in J. Gray and
S. Kourtis (Quantum 5 (2021) 410), labels are chosen one after the other, each among those of the
largest intermediate, and each the one that adds the fewest operations. Nothing here computes.
Read next: ``sliced.py``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import prod

from tenferro.arrays.functions.einsum._steps import Pair
from tenferro.arrays.functions.einsum._subscripts import Label

Sizes = Mapping[Label, int]


def slices_of(pairs: Sequence[Pair], sizes: Sizes, limit: int) -> dict[Label, int]:
    """Return into how many parts to cut each label, so that intermediates fit in ``limit``.

    Intermediates are the results of all pairs except the last, which is the result itself.
    ``limit`` counts elements and is at least 1: when all labels are cut up, a single one is left.
    """
    parts: dict[Label, int] = {}
    made = [pair.result for pair in pairs[:-1]]
    while made:
        left = sizes_of_part(sizes, parts)
        largest = max(made, key=lambda labels: _size(labels, left))
        if _size(largest, left) <= limit:
            break
        wanted = -(-_size(largest, left) // limit)
        options = [
            {**parts, label: _parts(sizes[label], wanted * parts.get(label, 1))}
            for label in largest
            if left[label] > 1
        ]
        parts = min(options, key=lambda option: _operations(pairs, sizes, option))
    return parts


def sizes_of_part(sizes: Sizes, parts: Mapping[Label, int]) -> dict[Label, int]:
    """Return the size of each label in one part."""
    return {label: size // parts.get(label, 1) for label, size in sizes.items()}


def _parts(size: int, wanted: int) -> int:
    """Return the smallest divisor of a size that is not below ``wanted``; the size if none is."""
    return next((k for k in range(min(wanted, size), size) if size % k == 0), size)


def _operations(pairs: Sequence[Pair], sizes: Sizes, parts: Mapping[Label, int]) -> int:
    """Return the number of products of elements in all parts."""
    left = sizes_of_part(sizes, parts)
    return prod(parts.values()) * sum(_size({*p.lhs, *p.rhs}, left) for p in pairs)


def _size(labels: Collection[Label], sizes: Sizes) -> int:
    return prod([sizes[label] for label in labels])
