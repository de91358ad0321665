"""Operators and methods of ``Array``, by table: each calls the function of that name.

The functions are looked up at the call, so that this file depends on none of them.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from tenferro.arrays.errors import UnknownOperandError, at_user_line
from tenferro.arrays.handle import again
from tenferro.arrays.handle.array import SCALARS, Array, a_handle_of_its_own, strong
from tenferro.arrays.handle.weak import WeakName, is_weak, stay_weak
from tenferro.arrays.registry import FUNCTIONS
from tenferro.primitives import ArgumentTypeError
from tenferro.primitives._boundary import bounded, refusal

METHODS = (
    "all any argmax argmin argpartition argsort choose clip copy cumprod cumsum diagonal "
    " dot flatten max mean min nonzero prod ptp ravel repeat reshape round searchsorted "
    "squeeze std sum swapaxes take trace transpose var"
).split()
SPECIAL = (
    "astype compress conj conjugate fill partition put sort".split()
)  # unlike the functions of their names
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
METHODS_OF_NUMBERS = ("conjugate",)  # which numbers of Python have, too
COMPARISONS = {
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
}
EQUALITIES = {"eq": "equal", "ne": "not_equal"}
UNARY = {"neg": "negative", "pos": "positive", "abs": "absolute", "invert": "invert"}


def _method(name: str, function: str) -> Callable[..., Any]:
    def method(self: Array, *args: Any, **kwargs: Any) -> Any:
        try:
            memo = self.key.memo
            if memo is None:
                result = FUNCTIONS[function](self, *args, **kwargs)
            else:
                result = again.call(memo, function, FUNCTIONS[function], (self, *args), kwargs)
            result = a_handle_of_its_own(result, (self,)) if result is self else result
            return result if name in METHODS_OF_NUMBERS else strong(result)
        except Exception as error:
            if (error := refusal(error, name)) is not None:
                raise error from None
            raise

    method.__name__ = name
    method.__doc__ = f"As ``tenferro.{name}`` with this array as its first argument."
    return method


def _recorder(name: str) -> Callable[[Any, Any], Any]:
    def record(self: Any, other: Any) -> Any:
        result = FUNCTIONS[name](self, other)
        if type(self.key.identity) is WeakName and _is_number(other):
            return stay_weak(result, self, name, self, other)
        return a_handle_of_its_own(result, (self,)) if result is self else result

    return record


def _operator(name: str) -> Callable[[Any, Any], Any]:
    """Make an operator of two operands; Python gives a third one to ``pow(x, y, m)`` alone."""
    shown, record = name.strip("_"), _recorder(name)

    def operator(self: Any, other: Any, modulus: None = None) -> Any:
        if modulus is not None:
            raise _of_three()
        try:
            memo = self.key.memo
            if memo is None:
                return record(self, other)
            return again.binary(memo, name, name, record, self, other)
        except Exception as error:
            if (found := _of_other(error, name, self, other)) is not None:
                return found
            if (error := refusal(error, shown, operator=True)) is not None:
                raise error from None
            raise

    return operator


def _of_three() -> ArgumentTypeError:
    """Make the error for ``pow(x, y, m)``, which Python defines for integers."""
    return at_user_line(
        ArgumentTypeError(
            "pow: arrays have no power modulo a number\n"
            "  need       two operands: `np.remainder(x**y, m)`",
            function="pow",
        )
    )


def _of_other(error: Exception, name: str, x: Any, other: Any) -> Any:
    """Return what an operand of another kind makes of ``x <operator> other``; None: an error."""
    if type(error) is UnknownOperandError and _takes_over(other):
        return NotImplemented
    matrix = _sparse(other, error)
    return None if matrix is None else matrix.with_operator(name, x, reflected=True)


def _takes_over(other: Any) -> bool:
    """Return True if the other operand's class has operators of its own, as NumPy asks it."""
    return getattr(type(other), "__array_ufunc__", True) is None


def _sparse(other: Any, error: Exception) -> Any:
    """Return a sparse matrix of SciPy, which an operator refused, as one of the program."""
    if type(error) is not UnknownOperandError or not hasattr(other, "tocsr"):
        return None
    return import_module("tenferro.arrays.sparse.matrix").sparse_array(other)


def _equality(name: str) -> Callable[[Any, Any], Any]:
    def operator(self: Any, other: Any) -> Any:
        try:
            return FUNCTIONS[name](self, other)
        except UnknownOperandError as error:
            if (matrix := _sparse(other, error)) is not None:
                return matrix.with_operator(name, self, reflected=True)
            if other is None or isinstance(
                other, (str, bytes)
            ):  # no element equals it, as in NumPy
                return FUNCTIONS["full_like"](self, name == "not_equal", dtype=bool)
            return NotImplemented  # the other operand decides, as `mock.ANY` does
        except Exception as error:
            if (error := refusal(error, name, operator=True)) is not None:
                raise error from None
            raise

    return operator


def _reflected(name: str) -> Callable[[Any, Any], Any]:
    shown, reflected = name.strip("_"), f"reflected {name}"

    def record(self: Any, other: Any) -> Any:
        result = FUNCTIONS[name](other, self)
        if type(self.key.identity) is WeakName and _is_number(other):
            return stay_weak(result, self, name, other, self)
        return a_handle_of_its_own(result, (self,)) if result is self else result

    def operator(self: Any, other: Any) -> Any:
        try:
            memo = self.key.memo
            if memo is None:
                return record(self, other)
            return again.binary(memo, reflected, name, record, self, other)
        except Exception as error:
            if (matrix := _sparse(other, error)) is not None:
                return matrix.with_operator(name, self)
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
            import_module("tenferro.arrays.diagnosis.copy_warnings").tell_of_augmented(self)
        try:
            return FUNCTIONS["__inplace__"](self, name, other)
        except Exception as error:
            if (error := refusal(error, shown, operator=True)) is not None:
                raise error from None
            raise

    return operator


def _unary(name: str) -> Callable[[Any], Any]:
    def record(self: Any) -> Any:
        result = FUNCTIONS[name](self)
        if is_weak(self):
            return stay_weak(result, self, name, self)
        return a_handle_of_its_own(result, (self,)) if result is self else result

    def operator(self: Any) -> Any:
        try:
            memo = self.key.memo
            return record(self) if memo is None else again.unary(memo, name, record, self)
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
