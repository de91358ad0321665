"""Methods of arrays that are unlike the functions of their names: in place, or otherwise called.

A method that NumPy has work in place makes the handle stand for the new value. Read next:
``handle/operators.py`` of the package.
"""

from __future__ import annotations

from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions.assignment import assign, updated
from tenferro.arrays.handle.array import Array
from tenferro.arrays.handle.convert import as_array
from tenferro.arrays.handle.views import view_of
from tenferro.arrays.numpy_protocols.writing import check_cast, rebind, written_by_user
from tenferro.arrays.registry import FUNCTIONS, covers
from tenferro.primitives import DType, DTypeMismatchError, imag, real, reshape
from tenferro.primitives import complex as make_complex


@covers("_astype")
def astype(
    x: Array,
    dtype: Any,
    order: str = "K",
    casting: str = "unsafe",
    subok: bool = True,
    copy: bool = True,
) -> Array:
    """x in another dtype, if the rule ``casting`` allows it."""
    target = DType.of(dtype)
    check_cast(x.dtype, target, casting, "astype", "the array")
    found: Array = FUNCTIONS["astype"](x, target)
    return found if copy or found.key is not x.key else view_of(x, found)


@covers("_sort")
def sort(x: Array, axis: int = -1, kind: Any = None, order: Any = None, **keywords: Any) -> None:
    """Sort in place."""
    _check_axis(axis, "sort")
    rebind(
        written_by_user(x), FUNCTIONS["sort"](x, axis, **_given(kind=kind, order=order), **keywords)
    )


@covers("_partition")
def partition(x: Array, kth: Any, axis: int = -1, kind: Any = None, order: Any = None) -> None:
    """Partition in place."""
    _check_axis(axis, "partition")
    rebind(
        written_by_user(x), FUNCTIONS["partition"](x, kth, axis, **_given(kind=kind, order=order))
    )


def _check_axis(axis: Any, function: str) -> None:
    if axis is None:
        text = f"{function}: in place it needs an axis; np.{function} flattens a copy"
        raise at_user_line(TypeError(text))


def _given(**keywords: Any) -> dict[str, Any]:
    return {name: value for name, value in keywords.items() if value is not None}


@covers("_fill")
def fill(x: Array, value: Any) -> None:
    """Give all elements one value."""
    assign(written_by_user(x), ..., value)


@covers("_put")
def put(x: Array, indices: Any, values: Any, mode: str = "raise") -> None:
    """Set elements of the flattened array at positions, the values repeated as needed."""
    FUNCTIONS["put"](x, indices, values, mode)


@covers("_compress")
def compress(x: Array, condition: Any, axis: int | None = None, out: Any = None) -> Any:
    """Return slices along an axis for which a condition holds."""
    return FUNCTIONS["compress"](condition, x, axis, out)


@covers("_conj", "_conjugate")
def conj(x: Array) -> Array:
    """Return the complex conjugate; bools stay bools, which ``np.conj`` makes integers of."""
    return FUNCTIONS["conj"](x) if x.dtype.is_complex else view_of(x, x)


@covers("_set_real")
def set_real(x: Array, value: Any) -> None:
    """x.real = value."""
    written_by_user(x)
    if not x.dtype.is_complex:
        assign(x, ..., value)
        return
    part = real(x)
    assign(part, ..., value)
    rebind(x, make_complex(part, imag(x)))


@covers("_set_imag")
def set_imag(x: Array, value: Any) -> None:
    """x.imag = value.

    Raises DTypeMismatchError: if x is real.
    """
    if not x.dtype.is_complex:
        error = DTypeMismatchError.of(
            "imag", "a real array has no imaginary part to set", got=x.aval, need="a complex array"
        )
        raise at_user_line(error)
    part = imag(written_by_user(x))
    assign(part, ..., value)
    rebind(x, make_complex(real(x), part))


@covers("__set_flat__")
def set_flat(x: Array, index: Any, value: Any) -> None:
    """x.flat[index] = value; the value is repeated as needed, as NumPy does."""
    flat = reshape(written_by_user(x), (x.size,))
    wanted = flat[index].size
    found = as_array(value)
    if found.ndim and found.size != wanted:
        found = FUNCTIONS["resize"](found, (wanted,))
    rebind(x, reshape(updated(flat, index, found.reshape(-1) if found.ndim else value), x.shape))
