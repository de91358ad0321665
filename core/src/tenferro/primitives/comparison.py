"""Comparisons, logic, and the choice between two values.

Comparisons and logic give bool, through which no derivative flows. ``select`` is linear in its two
branches together; masks of derivative rules are made with it and with real zeros, so that nan and
inf in the branch not taken leak in neither sweep. Complex numbers have no order.
Read next: ``complex.py``.
"""

from __future__ import annotations

from tenferro.primitives._aval import Aval
from tenferro.primitives._checks import accepted, same_aval, same_shape
from tenferro.primitives._dtype import bool_
from tenferro.primitives._errors import DTypeMismatchError
from tenferro.primitives._handle import H, Handle
from tenferro.primitives._primitive import Mixed, bind, pointwise
from tenferro.primitives._simplify import is_same
from tenferro.primitives.constants import zeros_like

__all__ = [
    "Eq", "Ge", "Gt", "Le", "LogicalAnd", "LogicalNot", "LogicalOr", "LogicalXor", "Lt", "Ne",
    "Select", "eq", "ge", "gt", "le", "logical_and", "logical_not", "logical_or", "logical_xor",
    "lt", "ne", "select",
]  # fmt: skip


class Eq(Mixed):
    """z = (x == y); nan equals nothing"""

    key = "std::eq"
    batch = pointwise
    commutative = True
    linear = ()

    def abstract_eval(self, x: Aval, y: Aval) -> Aval:
        return same_aval(self, x, y).with_dtype(bool_)


class Ne(Mixed):
    """z = (x != y); nan differs from everything"""

    key = "std::ne"
    batch = pointwise
    commutative = True
    linear = ()

    def abstract_eval(self, x: Aval, y: Aval) -> Aval:
        return same_aval(self, x, y).with_dtype(bool_)


class Lt(Mixed):
    """z = (x < y)"""

    key = "std::lt"
    accepts = "ordered"
    batch = pointwise
    linear = ()

    def abstract_eval(self, x: Aval, y: Aval) -> Aval:
        return accepted(self, x, y).with_dtype(bool_)


class Le(Mixed):
    """z = (x <= y)"""

    key = "std::le"
    accepts = "ordered"
    batch = pointwise
    linear = ()

    def abstract_eval(self, x: Aval, y: Aval) -> Aval:
        return accepted(self, x, y).with_dtype(bool_)


class Gt(Mixed):
    """z = (x > y)"""

    key = "std::gt"
    accepts = "ordered"
    batch = pointwise
    linear = ()

    def abstract_eval(self, x: Aval, y: Aval) -> Aval:
        return accepted(self, x, y).with_dtype(bool_)


class Ge(Mixed):
    """z = (x >= y)"""

    key = "std::ge"
    accepts = "ordered"
    batch = pointwise
    linear = ()

    def abstract_eval(self, x: Aval, y: Aval) -> Aval:
        return accepted(self, x, y).with_dtype(bool_)


class LogicalAnd(Mixed):
    """z = x and y"""

    key = "std::logical_and"
    accepts = "bool"
    batch = pointwise
    commutative = True
    linear = ()

    def abstract_eval(self, x: Aval, y: Aval) -> Aval:
        return accepted(self, x, y)


class LogicalOr(Mixed):
    """z = x or y"""

    key = "std::logical_or"
    accepts = "bool"
    batch = pointwise
    commutative = True
    linear = ()

    def abstract_eval(self, x: Aval, y: Aval) -> Aval:
        return accepted(self, x, y)


class LogicalXor(Mixed):
    """z = either x or y"""

    key = "std::logical_xor"
    accepts = "bool"
    batch = pointwise
    commutative = True
    linear = ()

    def abstract_eval(self, x: Aval, y: Aval) -> Aval:
        return accepted(self, x, y)


class LogicalNot(Mixed):
    """y = not x"""

    key = "std::logical_not"
    accepts = "bool"
    batch = pointwise
    linear = ()

    def abstract_eval(self, x: Aval) -> Aval:
        return accepted(self, x)


class Select(Mixed):
    """z = on_true where pred, else on_false"""

    key = "std::select"
    batch = pointwise
    linear = ((1, 2),)

    def abstract_eval(self, pred: Aval, on_true: Aval, on_false: Aval) -> Aval:
        same_shape(self, pred, on_true, on_false)
        if pred.dtype is not bool_:
            raise DTypeMismatchError.of(
                self.name,
                f"the predicate is {pred.dtype}",
                got=pred,
                need="a bool predicate",
                dtypes=(pred.dtype, on_true.dtype, on_false.dtype),
            )
        return same_aval(self, on_true, on_false)

    def simplify(self, pred: Handle, on_true: Handle, on_false: Handle) -> Handle | None:
        if not is_same(on_true, on_false) or pred.aval is not on_true.aval.with_dtype(bool_):
            return None
        return on_true

    def transpose_on_true(
        self, ct: Handle, pred: Handle, on_true: Handle, on_false: Handle
    ) -> Handle:
        return select(pred, ct, zeros_like(ct))

    def transpose_on_false(
        self, ct: Handle, pred: Handle, on_true: Handle, on_false: Handle
    ) -> Handle:
        return select(pred, zeros_like(ct), ct)


def eq(x: H, y: H) -> H:
    """Compare for equality.

    x: [*s]   y: [*s]   →   z: bool[*s]

    >>> from tenferro.primitives import eq, variable
    >>> eq(variable("x", (2,), "f64"), variable("y", (2,), "f64")).aval
    bool[2]
    """
    return bind(Eq(), x, y)


def ne(x: H, y: H) -> H:
    """Compare for inequality.

    x: [*s]   y: [*s]   →   z: bool[*s]

    >>> from tenferro.primitives import ne, variable
    >>> ne(variable("x", (2,), "f64"), variable("y", (2,), "f64")).aval
    bool[2]
    """
    return bind(Ne(), x, y)


def lt(x: H, y: H) -> H:
    """Find where x is less than y.

    x: [*s]   y: [*s]   →   z: bool[*s]

    Raises   DTypeMismatchError: if the operands are complex.

    >>> from tenferro.primitives import lt, variable
    >>> lt(variable("x", (2,), "f64"), variable("y", (2,), "f64")).aval
    bool[2]
    """
    return bind(Lt(), x, y)


def le(x: H, y: H) -> H:
    """Find where x is at most y.

    x: [*s]   y: [*s]   →   z: bool[*s]

    Raises   DTypeMismatchError: if the operands are complex.

    >>> from tenferro.primitives import le, variable
    >>> le(variable("x", (2,), "f64"), variable("y", (2,), "f64")).aval
    bool[2]
    """
    return bind(Le(), x, y)


def gt(x: H, y: H) -> H:
    """Find where x is greater than y.

    x: [*s]   y: [*s]   →   z: bool[*s]

    Raises   DTypeMismatchError: if the operands are complex.

    >>> from tenferro.primitives import gt, variable
    >>> gt(variable("x", (2,), "f64"), variable("y", (2,), "f64")).aval
    bool[2]
    """
    return bind(Gt(), x, y)


def ge(x: H, y: H) -> H:
    """Find where x is at least y.

    x: [*s]   y: [*s]   →   z: bool[*s]

    Raises   DTypeMismatchError: if the operands are complex.

    >>> from tenferro.primitives import ge, variable
    >>> ge(variable("x", (2,), "f64"), variable("y", (2,), "f64")).aval
    bool[2]
    """
    return bind(Ge(), x, y)


def logical_and(x: H, y: H) -> H:
    """Find where both hold.

    x: bool[*s]   y: bool[*s]   →   z: bool[*s]

    >>> from tenferro.primitives import logical_and, variable
    >>> logical_and(variable("x", (2,), bool), variable("y", (2,), bool)).aval
    bool[2]
    """
    return bind(LogicalAnd(), x, y)


def logical_or(x: H, y: H) -> H:
    """Find where at least one holds.

    x: bool[*s]   y: bool[*s]   →   z: bool[*s]

    >>> from tenferro.primitives import logical_or, variable
    >>> logical_or(variable("x", (2,), bool), variable("y", (2,), bool)).aval
    bool[2]
    """
    return bind(LogicalOr(), x, y)


def logical_xor(x: H, y: H) -> H:
    """Find where exactly one holds.

    x: bool[*s]   y: bool[*s]   →   z: bool[*s]

    >>> from tenferro.primitives import logical_xor, variable
    >>> logical_xor(variable("x", (2,), bool), variable("y", (2,), bool)).aval
    bool[2]
    """
    return bind(LogicalXor(), x, y)


def logical_not(x: H) -> H:
    """Find where it does not hold.

    x: bool[*s]   →   y: bool[*s]

    >>> from tenferro.primitives import logical_not, variable
    >>> logical_not(variable("x", (2,), bool)).aval
    bool[2]
    """
    return bind(LogicalNot(), x)


def select(pred: H, on_true: H, on_false: H) -> H:
    """Choose between two values element by element.

    pred: bool[*s]   on_true: [*s]   on_false: [*s]   →   z: [*s]

    Definition   z_i = on_true_i if pred_i else on_false_i
    Transpose    ct_on_true = select(pred, ct, 0),  ct_on_false = select(pred, 0, ct)
    Convention   the predicate is inactive; the branch not taken contributes a real zero

    >>> from tenferro.primitives import select, variable
    >>> x = variable("x", (2,), "f64")
    >>> select(variable("p", (2,), bool), x, x).aval
    f64[2]
    """
    return bind(Select(), pred, on_true, on_false)
