"""Selection on NumPy: `np.where` for small arrays, arithmetic on the bits for large ones.

`np.where` takes a branch for each element, which costs 5 ns where the condition follows no pattern.
With the elements read as integers, y ⊕ (x ⊕ y)·c is x where c is 1 and y where it is 0, bit for bit
and at the speed of memory; next to a zero one product is enough (Warren (2012), Hacker's Delight,
2-20). Read next: `complex.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from tenferro.primitives import Aval
from tenferro.primitives.comparison import Select
from tenferro.primitives.constants import Constant
from tenferro_numpy.ir.expression import Expression, Function, Specialize
from tenferro_numpy.ir.kept import number

__all__ = ["EXPRESSIONS", "choose", "drop", "keep", "select_with_zero"]

#: Elements from which three simple passes cost less than one with branches.
_MIN_ELEMENTS_FOR_BITWISE_SELECT = 1024
_INTEGERS = {size: np.dtype(f"int{8 * size}") for size in (1, 2, 4, 8)}


def choose(condition: Any, x: Any, y: Any, out: Any) -> None:
    """`np.where` into an array that is not y."""
    kind = _INTEGERS.get(out.dtype.itemsize)
    if kind is None:
        np.copyto(out, y)
        np.copyto(out, x, where=condition)
        return
    a, b, bits = x.view(kind), y.view(kind), out.view(kind)
    if not b.ndim and not b:
        _keep(a, condition, bits)
        return
    if not a.ndim and not a:
        _keep(b, np.logical_not(condition), bits)
        return
    if a.ndim or b.ndim:
        np.bitwise_xor(a, b, bits)
        np.multiply(bits, condition, bits)
    else:
        np.multiply(condition, a ^ b, bits)
    np.bitwise_xor(bits, b, bits)


def keep(condition: Any, x: Any, out: Any) -> Any:
    """x where the condition holds, zero elsewhere, in an array that may be x."""
    kind = _INTEGERS[out.dtype.itemsize]
    _keep(x.view(kind), condition, out.view(kind))
    return out


def drop(condition: Any, x: Any, out: Any) -> Any:
    """Zero where the condition holds, x elsewhere, in an array that may be x."""
    return keep(np.logical_not(condition), x, out)


def _keep(x: Any, condition: Any, out: Any) -> None:
    """Zero where the condition does not hold, in an array that may be x.

    A ufunc that both casts and expands does so row by row.
    """
    if condition.shape != out.shape:
        condition = condition.astype(out.dtype)
    elif x.shape != out.shape:
        np.copyto(out, condition)
        condition = out
    np.multiply(x, condition, out)


def _chosen(condition: Any, x: Any, y: Any, shape: tuple[int, ...]) -> Any:
    """`np.where` into new memory, for operands that expand to this shape."""
    out = np.empty(shape, x.dtype)
    choose(condition, x, y, out)
    return out


def _select(op: Select, avals: tuple[Aval, ...], result: Aval, lowering: Function) -> Expression:
    if not result.shape:
        return Expression("{1} if {0} else {2}", shares=True)
    if result.size < _MIN_ELEMENTS_FOR_BITWISE_SELECT:
        return Expression("{p0}({0}, {1}, {2})", (np.where, choose), broadcasts=True, into=_INTO)
    bound = (_chosen, choose, result.shape)
    return Expression("{p0}({0}, {1}, {2}, {p2})", bound, broadcasts=True, into=_INTO)


def select_with_zero(
    op: Select,
    chosen: Expression,
    operands: tuple[int, ...],
    literals: Mapping[int, Any],
    avals: Sequence[Aval],
) -> tuple[Expression, tuple[int, ...]]:
    """Return the line for a selection and its operands: no numbers, in place if possible."""
    condition, *branches = operands
    aval = avals[branches[0]]
    dtype = np.dtype(aval.dtype.name)
    numbers = None if chosen.foreign else _between_numbers(aval, *map(literals.get, branches))
    if numbers is not None:
        return numbers, (condition,)
    if (
        chosen.foreign
        or aval.size < _MIN_ELEMENTS_FOR_BITWISE_SELECT
        or dtype.itemsize not in _INTEGERS
    ):
        return chosen, operands
    first, second = branches
    is_zero = import_module("tenferro_numpy.ir.literals").is_zero  # a kept program needs none
    for function, x, zero in ((keep, first, second), (drop, second, first)):
        if is_zero(literals.get(zero)):
            line = Expression(
                "{p0}({0}, {1}, {p1}({p2}, {p3}))",
                (function, np.empty, aval.shape, dtype),
                broadcasts=True,
                into="{p0}({0}, {1}, {out})",
                onto="{p0}({0}, {1}, {out})",
                in_place=True,
            )
            return line, (condition, x)
    return chosen, operands


def _between_numbers(aval: Aval, first: Any, second: Any) -> Expression | None:
    """Return a selection between two numbers as c·d + y with d = x - y, if that is exact.

    `np.where` takes a branch for each element, whose cost depends on the pattern of the condition.
    """
    is_known = type(first) is Constant and type(second) is Constant
    is_large = aval.size >= _MIN_ELEMENTS_FOR_BITWISE_SELECT
    if not is_known or not is_large or aval.dtype.name not in ("float32", "float64"):
        return None
    wanted = np.array([second.value, first.value], aval.dtype.name)
    if not np.isfinite(wanted).all():
        return None
    with np.errstate(all="ignore"):
        difference = wanted[1] - wanted[0]
        found = np.array([False, True]) * difference + wanted[0]
    if found.tobytes() != wanted.tobytes():
        return None
    given = [number(value, aval.dtype.name) for value in (difference, wanted[0])]
    return Expression(
        "{p0}({p1}({0}, {p2}), {p3})",
        (np.add, np.multiply, *given),
        broadcasts=True,
        into="{p0}({p1}({0}, {p2}, {out}), {p3}, {out})",
    )


_INTO = "{p1}({0}, {1}, {2}, {out})"

EXPRESSIONS: dict[type, Specialize] = {Select: _select}
