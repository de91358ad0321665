"""Comparison, logic and selection for a NumPy-shaped namespace.

All of them name one function. Read next: `complex.py`.
"""

from __future__ import annotations

from typing import Any

from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like._common import register_pointwise
from tenferro.primitives.comparison import (
    Eq,
    Ge,
    Gt,
    Le,
    LogicalAnd,
    LogicalNot,
    LogicalOr,
    LogicalXor,
    Lt,
    Ne,
    Select,
)

__all__ = ["register"]


def register(lowerings: Lowerings, xp: Any) -> None:
    """Register the comparison family."""
    register_pointwise(
        lowerings,
        [
            (Eq, xp.equal),
            (Ne, xp.not_equal),
            (Lt, xp.less),
            (Le, xp.less_equal),
            (Gt, xp.greater),
            (Ge, xp.greater_equal),
            (LogicalAnd, xp.logical_and),
            (LogicalOr, xp.logical_or),
            (LogicalNot, xp.logical_not),
            (LogicalXor, xp.logical_xor),
            (Select, xp.where),
        ],
    )
