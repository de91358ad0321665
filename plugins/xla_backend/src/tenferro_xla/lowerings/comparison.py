"""Comparisons, logic and selection on XLA: eq ne lt le gt ge logical_* select."""

from __future__ import annotations

from jax import lax

from tenferro.backend.lowering import Lowerings
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
from tenferro_xla.lowerings._direct import register_direct

lowerings = Lowerings()
register_direct(
    lowerings,
    {
        Eq: lax.eq,
        Ne: lax.ne,
        Lt: lax.lt,
        Le: lax.le,
        Gt: lax.gt,
        Ge: lax.ge,
        LogicalAnd: lax.bitwise_and,
        LogicalOr: lax.bitwise_or,
        LogicalXor: lax.bitwise_xor,
        LogicalNot: lax.bitwise_not,
        Select: lax.select,
    },
)
