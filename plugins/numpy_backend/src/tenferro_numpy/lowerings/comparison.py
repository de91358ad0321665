"""Comparison and logic on NumPy: ufuncs, and operators on rank 0.

Read next: `selection.py`.
"""

from __future__ import annotations

import numpy as np

from tenferro.primitives import Aval
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
)
from tenferro_numpy.ir.expression import Expression, Function, Specialize, simple
from tenferro_numpy.lowerings import selection
from tenferro_numpy.lowerings.arithmetic import operator_or

__all__ = ["EXPRESSIONS"]


def _not(op: LogicalNot, avals: tuple[Aval, ...], result: Aval, lowering: Function) -> Expression:
    return simple(np.logical_not, 1) if result.shape else Expression("~{0}", broadcasts=True)


EXPRESSIONS: dict[type, Specialize] = {
    Eq: operator_or("==", np.equal),
    Ne: operator_or("!=", np.not_equal),
    Lt: operator_or("<", np.less),
    Le: operator_or("<=", np.less_equal),
    Gt: operator_or(">", np.greater),
    Ge: operator_or(">=", np.greater_equal),
    LogicalAnd: operator_or("&", np.logical_and),
    LogicalOr: operator_or("|", np.logical_or),
    LogicalXor: operator_or("^", np.logical_xor),
    LogicalNot: _not,
    **selection.EXPRESSIONS,
}
