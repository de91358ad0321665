"""Operators and methods of ``Array``, by table: each calls the function of that name.

The functions are looked up at the call, so that this file depends on none of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenferro.arrays.diagnosis.copy_warnings import tell_of_augmented
from tenferro.arrays.errors import UnknownOperandError
from tenferro.arrays.handle.array import SCALARS, Array, a_handle_of_its_own, remembered
from tenferro.arrays.handle.convert import again_with, as_array
from tenferro.arrays.handle.memo import NUMBERS_ARE_DATA, Memo, entry_of, is_constant
from tenferro.arrays.handle.weak import WeakName, is_weak, stay_weak
from tenferro.arrays.registry import FUNCTIONS
from tenferro.backend._snapshots import is_numpy
from tenferro.primitives._boundary import bounded, refusal

METHODS = (
    "all any argmax argmin argpartition argsort choose clip conj conjugate copy cumprod cumsum "
    "diagonal dot flatten max mean min nonzero prod ptp ravel repeat reshape round searchsorted "
    "squeeze std sum swapaxes take trace transpose var"
).split()
SPECIAL = "astype compress fill partition put sort".split()  # unlike the functions of their names
OPERATORS = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "divide",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "pow": "__power__",
    "matmul": "matmul",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "lshift": "left_shift",
    "rshift": "right_shift",
}
COMPARISONS = {
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
}
EQUALITIES = {"eq": "equal", "ne": "not_equal"}
UNARY = {"neg": "negative", "pos": "positive", "abs": "absolute", "invert": "invert"}


def _entry(memo: Memo, name: str, x: Array, other: Any) -> Any:
    """Return the entry of an operator; None if an operand cannot be compared."""
    if x.flow:
        return None
    kind = type(other)
    if kind is Array:
        key = other.key
        if other.flow or not (key.memo is memo or is_constant(key)):
            return None
        return name, x.key, key
    if kind is float or kind is int:
        return name, x.key, kind, other if other else repr(other)  # there are two zeros
    return None


def _method(name: str, function: str) -> Callable[..., Any]:
    def method(self: Array, *args: Any, **kwargs: Any) -> Any:
        try:
            memo = self.key.memo
            entry = None if memo is None else entry_of(function, memo, (self, *args), kwargs)
            found = None if entry is None else memo.entries.get(entry)
            if found is not None:
                return remembered(found)
            looks = 0 if entry is None else memo.looks
            result = FUNCTIONS[function](self, *args, **kwargs)
            if entry is not None and entry == entry_of(function, memo, (self, *args), kwargs):
                memo.keep(entry, looks, result, Array)  # it has not written into an argument
            return a_handle_of_its_own(result, (self,)) if result is self else result
        except Exception as error:
            if (error := refusal(error, name)) is not None:
                raise error from None
            raise

    method.__name__ = name
    method.__doc__ = f"As ``tenferro.{name}`` with this array as its first argument."
    return method


def _operator(name: str) -> Callable[[Any, Any], Any]:
    shown = name.strip("_")

    def operator(self: Any, other: Any) -> Any:
        try:
            memo = self.key.memo
            if memo is not None and type(other) is not Array and is_numpy(other):
                other = as_array(other)
            entry = None if memo is None else _entry(memo, name, self, other)
            if entry is not None:
                found = memo.entries.get(entry)
                if found is None and type(other) is float and name in NUMBERS_ARE_DATA:
                    other, entry = again_with(memo, self, other, entry)
                    found = memo.entries.get(entry)
                if found is not None:
                    return remembered(found)
                looks = memo.looks
            result = FUNCTIONS[name](self, other)
            if type(self.key.identity) is WeakName and _is_number(other):
                result = stay_weak(result, self, name, self, other)
            if entry is not None:
                memo.keep(entry, looks, result, Array)
            return a_handle_of_its_own(result, (self,)) if result is self else result
        except Exception as error:
            if (error := refusal(error, shown, operator=True)) is not None:
                raise error from None
            raise

    return operator


def _equality(name: str) -> Callable[[Any, Any], Any]:
    def operator(self: Any, other: Any) -> Any:
        try:
            return FUNCTIONS[name](self, other)
        except UnknownOperandError:
            return NotImplemented  # Python decides: `x == None` is False
        except Exception as error:
            if (error := refusal(error, name, operator=True)) is not None:
                raise error from None
            raise

    return operator


def _reflected(name: str) -> Callable[[Any, Any], Any]:
    shown, reflected = name.strip("_"), f"reflected {name}"

    def operator(self: Any, other: Any) -> Any:
        try:
            memo = self.key.memo
            entry = None if memo is None else _entry(memo, reflected, self, other)
            if entry is not None:
                found = memo.entries.get(entry)
                if found is None and type(other) is float and name in NUMBERS_ARE_DATA:
                    other, entry = again_with(memo, self, other, entry)
                    found = memo.entries.get(entry)
                if found is not None:
                    return remembered(found)
                looks = memo.looks
            result = FUNCTIONS[name](other, self)
            if type(self.key.identity) is WeakName and _is_number(other):
                result = stay_weak(result, self, name, other, self)
            if entry is not None:
                memo.keep(entry, looks, result, Array)
            return a_handle_of_its_own(result, (self,)) if result is self else result
        except Exception as error:
            if (error := refusal(error, shown, operator=True)) is not None:
                raise error from None
            raise

    return operator


def _augmented(name: str) -> Callable[[Any, Any], Any]:
    """``x += y``: the handle stands for the result; one of rank 0 stays, as a number does."""
    plain, shown = _operator(name), name.strip("_")

    def operator(self: Any, other: Any) -> Any:
        if not self.key.aval.shape:
            return plain(self, other)
        if self.is_taken:
            tell_of_augmented(self)
        try:
            return FUNCTIONS["__inplace__"](self, name, other)
        except Exception as error:
            if (error := refusal(error, shown, operator=True)) is not None:
                raise error from None
            raise

    return operator


def _unary(name: str) -> Callable[[Any], Any]:
    def operator(self: Any) -> Any:
        try:
            memo = self.key.memo
            if memo is not None and not self.flow:
                found = memo.entries.get((name, self.key))
                if found is not None:
                    return remembered(found)
                looks = memo.looks
            result = FUNCTIONS[name](self)
            if is_weak(self):
                result = stay_weak(result, self, name, self)
            if memo is not None and not self.flow:
                memo.keep((name, self.key), looks, result, Array)
            return a_handle_of_its_own(result, (self,)) if result is self else result
        except Exception as error:
            if (error := refusal(error, name, operator=True)) is not None:
                raise error from None
            raise

    return operator


@bounded("divmod")
def _divmod(self: Any, other: Any) -> Any:
    return _both(FUNCTIONS["divmod"](self, other), self, (self, other))


@bounded("divmod")
def _reflected_divmod(self: Any, other: Any) -> Any:
    return _both(FUNCTIONS["divmod"](other, self), self, (other, self))


def _both(results: Any, x: Array, operands: tuple[Any, Any]) -> Any:
    if is_weak(x) and all([_is_number(operand) for operand in operands]):
        named = zip(results, ("floor_divide", "remainder"), strict=True)
        return tuple([stay_weak(result, x, name, *operands) for result, name in named])
    return results


def _is_number(x: Any) -> bool:
    return type(x) in SCALARS or (isinstance(x, Array) and is_weak(x))


def _attach() -> None:
    """Fill the class from the tables."""
    for name in METHODS:
        setattr(Array, name, _method(name, name))
    for name in SPECIAL:
        setattr(Array, name, _method(name, f"_{name}"))
    for dunder, name in (*OPERATORS.items(), *COMPARISONS.items()):
        setattr(Array, f"__{dunder}__", _operator(name))
    for dunder, name in EQUALITIES.items():
        setattr(Array, f"__{dunder}__", _equality(name))
    for dunder, name in OPERATORS.items():
        setattr(Array, f"__r{dunder}__", _reflected(name))
        setattr(Array, f"__i{dunder}__", _augmented(name))
    for dunder, name in UNARY.items():
        setattr(Array, f"__{dunder}__", _unary(name))
    setattr(Array, "__divmod__", _divmod)  # noqa: B010
    setattr(Array, "__rdivmod__", _reflected_divmod)  # noqa: B010


_attach()
