"""Questions that the ``simplify`` methods ask about their operands.

A simplification keeps shape, dtype and every bit of the value: x·1 and x - 0 are x, but x + 0 is
not where x = -0.0. Where linear flow comes in, the sign of a zero and the nan of inf·0i mean
nothing, because a tangent is an element of a vector space; so flow may be simplified further.
Read next: ``arithmetic.py``.
"""

from __future__ import annotations

from math import copysign
from typing import TypeVar

from tenferro.computegraph import Operation
from tenferro.primitives._handle import Handle
from tenferro.primitives.constants import Constant

Op = TypeVar("Op", bound=Operation)


def defined_by(x: Handle, kind: type[Op]) -> Op | None:
    """Return the operation that defines ``x``, if it is of that kind."""
    operation = x.key.operation
    return operation if isinstance(operation, kind) else None


def literal(x: Handle) -> Constant | None:
    """Return the constant that ``x`` is, if it is one.

    A constant with flow is a tangent that happens to be known; ``emit`` sees to it that the result
    of a simplification carries the flow of all operands.
    """
    definition = x.key.definition
    if definition is None or type(definition[0]) is not Constant:
        return None
    return definition[0]


def is_same(x: Handle, y: Handle) -> bool:
    """Return True if two handles are one value in one role."""
    return x.key is y.key and x.flow == y.flow


def has_literal(x: Handle, y: Handle) -> bool:
    """Return True if either is a literal. It is asked first, because the answer is mostly False."""
    a, b = x.key.definition, y.key.definition
    return (a is not None and a[0].literal) or (b is not None and b[0].literal)


def is_factor_one(one: Handle, of: Handle) -> bool:
    """Return True if ``one · of`` is ``of``, to the bit unless ``of`` is flow."""
    definition = one.key.definition
    if definition is None or type(definition[0]) is not Constant:
        return False
    found: Constant = definition[0]
    if found.value != 1 or one.aval is not of.aval:
        return False
    return bool(of.flow) or not of.dtype.is_complex


def is_term_zero(zero: Handle, of: Handle, *, subtracted: bool = False) -> bool:
    """Return True if ``of + zero`` (or ``of - zero``) is ``of``, to the bit unless ``of`` is flow.

    Adding -0.0 changes nothing, nor does subtracting 0.0; the other two turn -0.0 into 0.0.
    """
    definition = zero.key.definition
    if definition is None or type(definition[0]) is not Constant:
        return False
    found: Constant = definition[0]
    if found.value != 0 or zero.aval is not of.aval:
        return False
    if of.flow or of.dtype.is_integer:
        return True
    return of.dtype.is_float and (copysign(1.0, found.value) < 0) is not subtracted  # type: ignore[arg-type]
