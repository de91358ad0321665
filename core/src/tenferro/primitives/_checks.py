"""The refusals that many primitives share, said once.

Every function takes the primitive first, returns the aval or the normalised parameter it was
asked to check, and raises an error of ``_errors.py`` with fields. Read next: ``arithmetic.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import index
from typing import Any

from tenferro.computegraph import Operation
from tenferro.primitives._aval import Aval, Shape
from tenferro.primitives._dtype import DType
from tenferro.primitives._errors import (
    AxisError,
    DTypeMismatchError,
    InvalidParameterError,
    ShapeMismatchError,
)

KINDS = {
    "numeric": ("int", "uint", "float", "complex"),
    "inexact": ("float", "complex"),
    "real": ("int", "uint", "float"),
    "ordered": ("bool", "int", "uint", "float"),
    "integer": ("int", "uint"),
    "bits": ("bool", "int", "uint"),
    "float": ("float",),
    "complex": ("complex",),
    "bool": ("bool",),
}


def of_kind(op: Operation, kind: str, *avals: Aval) -> Aval:
    """Return the first aval; raise if one is not of the kind, one of ``KINDS``."""
    for aval in avals:
        if aval.dtype.category not in KINDS[kind]:
            raise DTypeMismatchError.of(
                op.name,
                f"not defined for {aval.dtype}",
                got=_listed(avals),
                need=f"{kind} operands ({', '.join(KINDS[kind])})",
                dtypes=tuple(a.dtype for a in avals),
            )
    return avals[0]


def accepted(op: Any, *avals: Aval) -> Aval:
    """Return the one aval of all operands; raise if they differ or are not what ``op.accepts``."""
    first = avals[0]
    if len(avals) > 1:
        same_aval(op, *avals)
    if first.dtype.category not in KINDS[op.accepts]:
        of_kind(op, op.accepts, first)
    return first


def same_shape(op: Operation, *avals: Aval) -> Aval:
    """Return the first aval; raise if the shapes differ."""
    first = avals[0]
    if any(aval.shape != first.shape for aval in avals):
        raise ShapeMismatchError.of(
            op.name,
            "shapes differ",
            got=_listed(avals),
            need="operands of one shape (nothing broadcasts here)",
            shapes=tuple(aval.shape for aval in avals),
        )
    return first


def same_dtype(op: Operation, *avals: Aval) -> Aval:
    """Return the first aval; raise if the dtypes differ."""
    first = avals[0]
    if any(aval.dtype is not first.dtype for aval in avals):
        raise DTypeMismatchError.of(
            op.name,
            "dtypes differ",
            got=_listed(avals),
            need="operands of one dtype (nothing is promoted here)",
            dtypes=tuple(aval.dtype for aval in avals),
        )
    return first


def same_aval(op: Operation, *avals: Aval) -> Aval:
    """Return the one aval of all operands; raise if they differ."""
    first = avals[0]
    if any([aval is not first for aval in avals]):
        same_dtype(op, *avals)
        same_shape(op, *avals)
    return first


def rank_zero(op: Operation, aval: Aval, what: str) -> Aval:
    """Return the aval; raise if its rank is not 0."""
    if aval.ndim:
        raise ShapeMismatchError.of(
            op.name,
            f"{what} has rank {aval.ndim}",
            got=aval,
            need=f"{what} of rank 0",
            shapes=(aval.shape,),
        )
    return aval


def invalid(
    op: Operation, parameter: str, fact: str, *, got: object, need: str
) -> InvalidParameterError:
    """Make the error about one parameter; its value is read from the operation."""
    value = getattr(op, parameter, None)
    return InvalidParameterError.of(
        op.name, fact, got=got, need=need, parameter=parameter, value=value
    )


def integers(
    op: Operation, parameter: str, values: Iterable[int], minimum: int | None = 0
) -> Shape:
    """Return a tuple of Python integers; raise if one is below the minimum."""
    try:
        found = tuple([index(value) for value in values])
    except TypeError:
        raise invalid(
            op,
            parameter,
            f"{parameter} must be integers",
            got=values,
            need="a sequence of integers",
        ) from None
    if minimum is not None and any([value < minimum for value in found]):
        raise invalid(
            op, parameter, f"{parameter} out of range", got=found, need=f"integers >= {minimum}"
        )
    return found


def integer(
    op: Operation, parameter: str, fact: str, minimum: int | None = None, maximum: int | None = None
) -> int:
    """Return one parameter as a Python integer within bounds; else raise, stating ``fact``."""
    value = getattr(op, parameter)
    low = "" if minimum is None else f" from {minimum}"
    high = "" if maximum is None else f" to {maximum}"
    try:
        found = index(value)
    except TypeError:
        found = None
    if (
        found is None
        or found < (found if minimum is None else minimum)
        or (maximum is not None and found > maximum)
    ):
        got = f"{parameter}={value!r}"
        raise invalid(op, parameter, fact, got=got, need=f"an integer{low}{high}")
    return found


def at_least_zero(op: Operation, parameter: str, fact: str) -> float:
    """Return one parameter as a float >= 0; else raise, stating ``fact``."""
    value = getattr(op, parameter)
    try:
        found = -1.0 if isinstance(value, (str, bytes)) else float(value)
    except (TypeError, ValueError, OverflowError):
        found = -1.0
    if not found >= 0:
        raise invalid(op, parameter, fact, got=f"{parameter}={value!r}", need="a number from 0")
    return found


def order_up_to(op: Operation, highest: int) -> float:
    """Return the parameter ``order``: a number from 0, as an integer where it is one."""
    fact = "no such order"
    order = at_least_zero(op, "order", fact)
    if not order <= highest:
        need = f"a number from 0 to {highest}"
        raise invalid(op, "order", fact, got=f"order={order!r}", need=need)
    return int(order) if order == int(order) else order


def axes(op: Operation, parameter: str, values: Sequence[int], aval: Aval) -> Sequence[int]:
    """Return the axes; raise if they are not distinct axes of the aval."""
    if len(set(values)) != len(values):
        raise _axis_error(op, parameter, values, aval, f"{parameter} names an axis twice")
    if any([not 0 <= axis < aval.ndim for axis in values]):
        raise _axis_error(op, parameter, values, aval, f"{parameter} names an axis out of range")
    return values


def _axis_error(
    op: Operation, parameter: str, values: Sequence[int], aval: Aval, fact: str
) -> AxisError:
    return AxisError.of(
        op.name,
        fact,
        got=f"{parameter}={tuple(values)} for {aval}",
        need=f"distinct axes, 0 <= axis < {aval.ndim}",
        parameter=parameter,
        value=tuple(values),
    )


def one_per_axis(op: Operation, parameter: str, values: Sequence[int], aval: Aval) -> None:
    """Refuse a parameter that has not one entry per axis."""
    if len(values) != aval.ndim:
        raise invalid(
            op,
            parameter,
            f"{parameter} has {len(values)} entries for rank {aval.ndim}",
            got=f"{parameter}={tuple(values)} for {aval}",
            need="one entry per axis",
        )


def index_dtype(op: Operation, dtype: object) -> DType:
    """Return an integer dtype, for results that are positions."""
    found = DType.of(dtype)
    if not found.is_integer:
        raise DTypeMismatchError.of(
            op.name, "positions are integers", got=found, need="an integer dtype", dtypes=(found,)
        )
    return found


def _listed(avals: Iterable[Aval]) -> str:
    return ", ".join(map(str, avals))
