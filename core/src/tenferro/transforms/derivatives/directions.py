"""Directions of derivatives: the keys of tangents and cotangents that a user passes.

A direction has the shape of its input, and its dtype: Python numbers and integers are converted. A
direction that is a literal is recorded as one, so that products with it disappear. Read next:
``linear_map.py``.
"""

from __future__ import annotations

from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays import Array, as_array, is_traced
from tenferro.arrays.errors import at_user_line
from tenferro.arrays.handle.again import number
from tenferro.arrays.handle.array import SCALARS
from tenferro.arrays.handle.convert import aval_of_operand, memo_here, operand_key
from tenferro.arrays.handle.memo import Memo
from tenferro.arrays.handle.traces import refuse_leaked_value
from tenferro.arrays.handle.weak import is_weak
from tenferro.arrays.promotion.broadcast import weak
from tenferro.computegraph import UNKNOWN, ValueKey, is_literal, new_leaf
from tenferro.primitives import constant, convert
from tenferro.primitives._aval import Aval
from tenferro.primitives._dtype import promote_dtypes
from tenferro.tidu import Value
from tenferro.transforms.derivatives.grad import check_differentiable
from tenferro.transforms.errors import TangentMismatchError
from tenferro.transforms.recording import tree as _tree
from tenferro.transforms.recording.arguments import Name, make_known
from tenferro.transforms.recording.loans import Loans

_SCALARS = frozenset(SCALARS)


def as_tuple(x: Any, what: str) -> tuple[Any, ...]:
    """Return the arguments' values as a tuple.

    Raises TypeError: for one value alone.
    """
    if isinstance(x, (tuple, list)):
        return tuple(x)
    text = f"{what} is a tuple with one entry per argument; write `(x,)` for one argument"
    raise at_user_line(TypeError(text))


def flow_key(output: ValueKey, value: Value | None) -> ValueKey:
    """Return the tangent of an output as a key; zeros where nothing flows."""
    return constant(0, output.aval.dtype, output.aval.shape).key if value is None else value.key


def unit_key(leaf: Any, like: ValueKey) -> ValueKey | None:
    """Return the literal 1 if the tangent is that number, so that no multiplication is recorded."""
    aval: Aval = like.aval
    if type(leaf) not in _SCALARS or leaf != 1 or aval.shape or not aval.dtype.is_inexact:
        return None
    return constant(1, aval.dtype).key


def literal_key(leaf: Any, like: ValueKey) -> ValueKey | None:
    """Return the key of a filled Array, as of ``ones_like(x)``, which needs no evaluation."""
    if not isinstance(leaf, Array):
        return None
    fits = leaf.key.aval is like.aval and leaf.key.aval.dtype.is_inexact
    return leaf.key if fits and is_literal(leaf.key) else None


class LeafPlace(NamedTuple):
    """Place of a leaf in a tangent or cotangent that the user gave."""

    tree: Any
    name: str
    number: int

    def __str__(self) -> str:
        return _tree.paths(self.tree, self.name)[self.number]


def direction_key(
    leaf: Any, like: ValueKey, prefix: str, loans: Loans, place: LeafPlace
) -> ValueKey:
    """Return the key of a tangent or cotangent that the user gave for a value.

    Raises LeakedArrayError: if it is an array of a traced call that is over.
    """
    aval: Aval = like.aval
    check_differentiable(like)
    if isinstance(leaf, Array):
        refuse_leaked_value(leaf.key)
    memo = memo_here()
    again = None if memo is None else _found_again(leaf, aval, memo)
    if again is not None:
        return again
    name = Name(f"{prefix}{like.input_key if like.is_input else ''}", like.serial)
    if type(leaf) in _SCALARS:
        leaf_key = weak(leaf, aval).key
        if leaf_key.aval is not aval:
            raise mismatch(f"{leaf!r} for a value {aval}", str(aval), place)
        return _known(name, aval, leaf_key.operand)
    if isinstance(leaf, Array):
        make_known(leaf)
        fitting = _fit(leaf, like, place)
        make_known(fitting)
        operand = fitting.key.operand
        if operand is UNKNOWN or is_traced(fitting.key):
            return fitting.key
        return _known(name, aval, operand)
    found = aval_of_operand(leaf)
    if found is aval:
        key = loans.leaf((place.name, place.number), name, aval)
        loans.lend(key, leaf)
        return key
    fitting = _fit(as_array(leaf), like, place)
    return _known(name, aval, fitting.operand)


def _found_again(leaf: Any, aval: Aval, memo: Memo) -> ValueKey | None:
    """Return the key by which the next call of a remembered function finds a direction again.

    ``None`` for a direction that has to be converted first.
    """
    if isinstance(leaf, Array):
        return leaf.key if leaf.key.aval is aval else None
    if type(leaf) is float:
        return number(memo, aval, leaf).key if aval.dtype.is_float and not aval.shape else None
    if type(leaf) in _SCALARS or aval_of_operand(leaf) is not aval:
        return None
    return operand_key(leaf)


def _known(name: Name, aval: Aval, operand: Any) -> ValueKey:
    key = new_leaf(name, aval)
    key.operand = operand
    return key


def _fit(x: Array, like: ValueKey, place: LeafPlace) -> Array:
    """Convert a direction to the dtype of its value.

    Integers are converted where their product with a Jacobian has that dtype in NumPy; SciPy's
    ``LinearOperator`` asks for the product with zeros of type int8 before any other. The width of
    inexact numbers may differ only if either side is a Python number, as in arithmetic.
    """
    aval: Aval = like.aval
    if x.shape == aval.shape:
        if x.dtype is aval.dtype:
            return x
        fits = aval.dtype.is_float and promote_dtypes(x.dtype, aval.dtype) is aval.dtype
        if fits and not x.dtype.is_inexact:
            return convert(x, aval.dtype)
        fits = x.dtype.is_inexact and x.dtype.is_complex <= aval.dtype.is_complex
        if is_weak(x) and x.dtype.is_complex <= aval.dtype.is_complex:
            return convert(x, aval.dtype)
        if fits and is_weak(Array(like)):
            return convert(x, aval.dtype)
    hint = ""
    if x.shape == aval.shape and x.dtype.is_complex <= aval.dtype.is_complex:
        hint = f"convert it: `.astype({str(aval.dtype)!r})`"
    elif x.shape == aval.shape:
        hint = "a real value varies along real numbers: pass `.real`"
    raise mismatch(str(x.aval), str(aval), place, hint)


def mismatch(
    got: str, need: str, place: LeafPlace | None = None, hint: str = ""
) -> TangentMismatchError:
    """Return the error for a direction that does not fit its input."""
    lines = ["a tangent or cotangent does not fit"]
    if place is not None:
        lines.append(f"  leaf       {place}")
    lines += [f"  got        {got}", f"  need       {need}"]
    if hint:
        lines.append(f"  hint       {hint}")
    return at_user_line(TangentMismatchError("\n".join(lines), got=got, need=need))
