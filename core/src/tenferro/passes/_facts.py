"""Facts that rules ask for: a value's constant, its operation, its kind.

Read next: ``rewrites/arithmetic.py``.
"""

from __future__ import annotations

from typing import Any, TypeVar

from tenferro.computegraph import Operation
from tenferro.passes._rewriter import Rewriter
from tenferro.primitives._aval import Aval
from tenferro.primitives.constants import Constant

Op = TypeVar("Op", bound=Operation)


def made_by(rw: Rewriter, value: int, kind: type[Op]) -> Op | None:
    """Return the operation that made a value, if it is of that kind."""
    operation = rw.operations[value]
    return operation if type(operation) is kind else None


def constant_of(rw: Rewriter, value: int) -> Any:
    """Return the Python scalar that fills a value; ``None`` if it is not a constant."""
    operation = rw.operations[value]
    return operation.value if type(operation) is Constant else None


def constant(rw: Rewriter, value: Any, aval: Aval) -> int:
    """Emit a constant of an aval."""
    return rw.emit(Constant(value, aval.dtype, aval.shape))


def is_real(aval: Aval) -> bool:
    """Return True if the dtype is a float or an integer."""
    dtype = aval.dtype
    return dtype.is_float or dtype.is_integer


def is_narrow(aval: Aval) -> bool:
    """Return True for a float dtype whose sums overflow easily (less than 32 bits)."""
    return bool(aval.dtype.is_float) and aval.dtype.bits < 32
