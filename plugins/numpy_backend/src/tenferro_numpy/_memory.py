"""In whose memory a value lies: what a step makes is new, or may share memory with its operands.

Read next: `_recompute.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from tenferro_numpy._steps import Step

__all__ = ["roots_of"]

_FOREIGN = frozenset((-1,))  # of inputs and literals


def roots_of(steps: Sequence[Step]) -> dict[int, frozenset[int]]:
    """For each slot that steps make, the slots whose memory it may lie in."""
    roots: dict[int, frozenset[int]] = {}
    for step in steps:
        if not step.expression.shares:
            roots.update((slot, frozenset((slot,))) for slot in step.targets)
            continue
        shared: frozenset[int] = frozenset().union(*(roots.get(i, _FOREIGN) for i in step.operands))
        roots.update((slot, shared) for slot in step.targets)
    return roots
