"""Values made from parameters alone: constants, iota, and integers written out one by one.

They have no inputs, so no derivative flows through them, and a backend may evaluate them once.
A constant is a full array of one Python scalar; scalars in derivative rules become constants of
the other operand's shape and dtype. Read next: ``arithmetic.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from operator import index
from typing import Any

from tenferro.primitives._aval import Aval, Shape
from tenferro.primitives._checks import integers, invalid, of_kind
from tenferro.primitives._dtype import DType
from tenferro.primitives._handle import Handle, Scalar
from tenferro.primitives._primitive import Mixed, bind

__all__ = [
    "Constant", "Iota", "Table", "constant", "full", "full_like", "iota", "table", "zeros_like",
]  # fmt: skip


class Constant(Mixed):
    """An array of one Python scalar.   →   y: [*shape]"""

    key = "std::constant"
    literal = True
    linear = ()
    value: Scalar
    dtype: DType
    shape: Shape = ()

    def __post_init__(self) -> None:
        dtype = DType.of(self.dtype)
        self._set(shape=integers(self, "shape", self.shape), dtype=dtype)
        try:
            self._set(value=_typed(self.value, dtype))
        except (TypeError, ValueError, OverflowError):
            raise invalid(
                self,
                "value",
                f"{self.value!r} is not a value of {dtype}",
                got=f"{self.value!r} of type {type(self.value).__name__}",
                need=f"a Python scalar that {dtype} can hold",
            ) from None

    def abstract_eval(self) -> Aval:
        return Aval(self.shape, self.dtype)


def _typed(value: Any, dtype: DType) -> Scalar:
    """Return the value as the Python type of the dtype's kind; integers must be in range."""
    if isinstance(value, (str, bytes)):
        raise TypeError
    if dtype.is_complex:
        return complex(value)
    if dtype.is_float:
        return float(value)
    if dtype.is_bool:
        return bool(value)
    found = index(value)
    low, high = _range(dtype)
    if not low <= found <= high:
        raise OverflowError
    return int(found)


def _range(dtype: DType) -> tuple[int, int]:
    """Return the smallest and the largest integer of an integer dtype."""
    if dtype.category == "uint":
        return 0, 2**dtype.bits - 1
    return -(2 ** (dtype.bits - 1)), 2 ** (dtype.bits - 1) - 1


class Iota(Mixed):
    """Positions along one dimension.   →   y: [*shape],  y[..., i, ...] = i"""

    key = "std::iota"
    literal = True
    linear = ()
    shape: Shape
    dimension: int
    dtype: DType

    def __post_init__(self) -> None:
        shape = integers(self, "shape", self.shape)
        dimension = integers(self, "dimension", (self.dimension,))[0]
        self._set(shape=shape, dimension=dimension, dtype=DType.of(self.dtype))
        if dimension >= len(shape):
            raise invalid(
                self,
                "dimension",
                "dimension out of range",
                got=f"dimension={dimension} for shape {shape}",
                need=f"0 <= dimension < {len(shape)}",
            )

    def abstract_eval(self) -> Aval:
        return of_kind(self, "numeric", Aval(self.shape, self.dtype))


class Table(Mixed):
    """Integers written out in row-major order, as elements of a dtype.   →   y: [*shape]"""

    key = "std::table"
    literal = True
    linear = ()
    values: tuple[int, ...]
    dtype: DType
    shape: Shape

    def __post_init__(self) -> None:
        dtype = DType.of(self.dtype)
        shape = integers(self, "shape", self.shape)
        values = integers(self, "values", self.values, minimum=None)
        self._set(values=values, dtype=dtype, shape=shape)
        if len(values) != prod(shape):
            got, need = f"{len(values)} values for shape {shape}", "one value per element"
            raise invalid(self, "values", "values miscounted", got=got, need=need)
        low, high = _exact(dtype)
        if values and not low <= min(values) <= max(values) <= high:
            got = f"values from {min(values)} to {max(values)}"
            need = f"{dtype} holds {low} to {high} exactly"
            raise invalid(self, "values", f"some values do not fit {dtype}", got=got, need=need)

    def abstract_eval(self) -> Aval:
        return Aval(self.shape, self.dtype)


def _exact(dtype: DType) -> tuple[int, int]:
    """Return the smallest and the largest integer between which a dtype represents all."""
    if dtype.is_bool:
        return 0, 1
    if dtype.is_integer:
        return _range(dtype)
    return -(2**dtype.precision), 2**dtype.precision


def constant(value: Scalar, dtype: object, shape: Shape = ()) -> Handle:
    """Make an array of one Python scalar.

    →   y: [*shape]

    Convention   constants compare by dtype and bytes: 0.0 and -0.0 are two, a nan equals itself
    Raises       InvalidParameterError: if the dtype cannot hold the value.

    >>> from tenferro.primitives import constant
    >>> constant(2, "float32", (3,)).aval
    f32[3]
    """
    return bind(Constant(value, DType.of(dtype), tuple(shape)))


def iota(shape: Shape, dimension: int, dtype: object) -> Handle:
    """Count from 0 along one dimension.

    →   y: [*shape]

    Definition   y[i_0, …, i_n] = i_dimension
    Raises       InvalidParameterError: if the shape lacks the dimension.

    >>> from tenferro.primitives import iota
    >>> iota((2, 3), 1, "int32").aval
    i32[2,3]
    """
    return bind(Iota(tuple(shape), dimension, DType.of(dtype)))


def table(values: Sequence[int], dtype: object, shape: Shape | None = None) -> Handle:
    """Make an array of integers that are written out, in row-major order; a vector without a shape.

    →   y: [*shape]

    Convention   the values are part of the program, so they should be few
    Raises       InvalidParameterError: if their number is not that of the elements, or if the
                 dtype cannot hold one exactly.

    >>> from tenferro.primitives import table
    >>> table((0, 2, 1), "float32").aval
    f32[3]
    """
    wanted = (len(values),) if shape is None else tuple(shape)
    return bind(Table(tuple(values), DType.of(dtype), wanted))


def full(shape: Shape, value: Scalar, dtype: object) -> Handle:
    """Fill an array with one Python scalar: ``constant`` with the shape first.

    →   y: [*shape]

    >>> from tenferro.primitives import full
    >>> full((3,), 2, "float32").aval
    f32[3]
    """
    return constant(value, dtype, shape)


def full_like(x: Handle | Aval, value: Scalar) -> Handle:
    """Return a constant of the shape and dtype of ``x``; its values are not read.

    x: [*s]   →   y: [*s]

    >>> from tenferro.primitives import full_like, variable
    >>> full_like(variable("x", (2,), "f64"), 0.5).aval
    f64[2]
    """
    return constant(value, x.dtype, x.shape)


def zeros_like(x: Handle | Aval) -> Handle:
    """Return zeros of the shape and dtype of ``x``. ``x - x`` would be nan where x is inf.

    x: [*s]   →   y: [*s]

    >>> from tenferro.primitives import variable, zeros_like
    >>> zeros_like(variable("x", (2,), "f64")).aval
    f64[2]
    """
    return full_like(x, 0)
