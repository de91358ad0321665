"""``out=``: an Array that is given a new value, by NumPy's rules for shapes and casts.

An Array is a handle; "writing" binds it to another value and mutates nothing. Memory of NumPy is
never written. Read next: ``numpy_protocols/ufuncs.py``.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from tenferro.arrays.errors import ImmutableArrayError, at_user_line
from tenferro.arrays.handle.array import Array
from tenferro.arrays.handle.bodies import refuse_captured
from tenferro.arrays.handle.convert import as_array
from tenferro.arrays.handle.weak import is_weak
from tenferro.arrays.promotion.broadcast import broadcast_shapes, cast, mask_of, stretch
from tenferro.primitives import DType, DTypeMismatchError, ShapeMismatchError, promote_dtypes
from tenferro.primitives._source import caller, source_text
from tenferro.primitives.comparison import select

_KINDS = ("bool", "uint", "int", "float", "complex")
CASTINGS = ("no", "equiv", "safe", "same_kind", "unsafe")


def may_cast(source: DType, target: DType, casting: str = "safe") -> bool:
    """Return True if a casting rule of NumPy allows the cast.

    >>> from tenferro.primitives import float32, float64, int64
    >>> may_cast(float64, float32), may_cast(float64, float32, "same_kind")
    (False, True)
    """
    if casting in ("no", "equiv"):
        return source is target
    if casting == "unsafe":
        return True
    if promote_dtypes(source, target) is target:
        return True
    return casting == "same_kind" and _KINDS.index(source.category) <= _KINDS.index(target.category)


def check_cast(source: DType, target: DType, casting: str, function: str, what: str) -> None:
    """Raise DTypeMismatchError if the rule does not allow the cast."""
    if casting not in CASTINGS:
        raise at_user_line(ValueError(f"{function}: casting is one of {CASTINGS}"))
    if may_cast(source, target, casting):
        return
    error = DTypeMismatchError.of(
        function,
        f"the rule casting={casting!r} does not allow to cast {what}",
        got=f"{source} to {target}",
        need="another dtype, or casting='unsafe'",
        dtypes=(source, target),
    )
    raise at_user_line(error)


def destination(out: Any, function: str) -> Array | None:
    """Return the Array that ``out=`` names; ``None`` if there is none.

    Raises ImmutableArrayError: if it is memory of NumPy.
    """
    if isinstance(out, tuple) and len(out) == 1:
        out = out[0]
    if out is None:
        return None
    if isinstance(out, Array):
        return written_by_user(out)
    raise writing_error(function)


def write(
    out: Array, result: Any, function: str, *, casting: str = "same_kind", where: Any = True
) -> Array:
    """Bind ``out`` to a result where a mask holds, cast to the dtype of ``out``.

    Raises ShapeMismatchError: if the result does not broadcast to the shape of ``out``.
    """
    found = as_array(result)
    dtype = out.dtype
    if not is_weak(found):
        check_cast(found.dtype, dtype, casting, function, "the result to that of `out`")
    value = _fitted(cast(found, dtype), out, function)
    if where is not True:
        mask = _fitted(mask_of(where, function), out, function)
        value = select(mask, value, out)
    return rebind(out, value)


def _fitted(x: Array, out: Array, function: str) -> Array:
    if broadcast_shapes(x.shape, out.shape, function=function) != out.shape:
        error = ShapeMismatchError.of(
            function,
            "`out` does not have the shape of the result",
            got=f"out: {out.aval}, result: {x.aval}",
            need="an `out` of the shape of the result",
            shapes=(out.shape, x.shape),
        )
        raise at_user_line(error)
    return stretch(x, out.shape)


def written_by_user(x: Array) -> Array:
    """Return x, into which the user has a function write; warn where it is a view in NumPy."""
    if x.is_taken:
        import_module("tenferro.arrays.diagnosis.copy_warnings").tell_of_write(x)
    return x


def rebind(x: Array, value: Array) -> Array:
    """Rebind the handle x to the value.

    Raises CapturedAssignmentError: in the body of a loop or branch, if x was made outside of it.
    """
    refuse_captured(x)
    x.key = value.key
    x.flow = value.flow
    return x


def writing_error(function: str) -> ImmutableArrayError:
    """Make the error about an Array that would be written into memory."""
    then = f", then `np.{function}(buf, ...)`" if "." in function else ", or write `buf = buf + x`"
    return ImmutableArrayError(
        f"np.{function} cannot write an Array into memory (`out=`, or an augmented assignment to "
        "an\n  ndarray such as `buf += x`)\n"
        f"  from       {source_text(caller())}\n"
        "  hint       an array of NumPy holds numbers only: make it an Array first, as in\n"
        f"             `buf = tenferro.asarray(buf)`{then}",
        function=function,
    )
