"""Comparison of arrays for equality and closeness, and choice among values by conditions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions.comparison import equal, isfinite, isnan, logical_and, logical_or
from tenferro.arrays.functions.complex import imag, real
from tenferro.arrays.functions.data_types import finfo
from tenferro.arrays.handle.array import Array
from tenferro.arrays.handle.convert import as_array, asarray
from tenferro.arrays.handle.views import view_of
from tenferro.arrays.promotion.broadcast import (
    broadcast_shapes,
    cast,
    fitted,
    stretch,
    together,
)
from tenferro.arrays.registry import FUNCTIONS, covers
from tenferro.primitives import ShapeMismatchError, bool_, constant, promote
from tenferro.primitives.comparison import select


@covers("isclose")
def isclose(x: Any, y: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> Array:
    """Test elementwise whether |x − y| ≤ atol + rtol·|y|; equal infinities are close.

    >>> import tenferro as tn
    >>> tn.isclose(1.0, 1.0 + 1e-9)
    np.True_
    """
    a = asarray(x)
    b = asarray(y)
    b = cast(b, promote(b.dtype, 1.0))
    distance = FUNCTIONS["absolute"](FUNCTIONS["subtract"](a, b))
    bound = FUNCTIONS["add"](atol, FUNCTIONS["multiply"](rtol, FUNCTIONS["absolute"](b)))
    near = logical_and(FUNCTIONS["less_equal"](distance, bound), isfinite(b))
    result = logical_or(near, equal(a, b))
    return logical_or(result, logical_and(isnan(a), isnan(b))) if equal_nan else result


@covers("allclose")
def allclose(
    x: Any, y: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False
) -> Array:
    """Test whether all elements are close; the result is a bool of rank 0."""
    return FUNCTIONS["all"](isclose(x, y, rtol, atol, equal_nan))  # type: ignore[no-any-return]


@covers("array_equal")
def array_equal(x: Any, y: Any, equal_nan: bool = False) -> Array:
    """Test whether two arrays have equal shapes and elements; the result is a bool of rank 0."""
    a, b = asarray(x), asarray(y)
    if a.shape != b.shape:
        return Array(constant(False, bool_).key)
    same = equal(a, b)
    if equal_nan:
        same = logical_or(same, logical_and(isnan(a), isnan(b)))
    return FUNCTIONS["all"](same)  # type: ignore[no-any-return]


@covers("array_equiv")
def array_equiv(x: Any, y: Any) -> Array:
    """Test whether all elements are equal after broadcasting; False if that is impossible."""
    a, b = asarray(x), asarray(y)
    try:
        broadcast_shapes(a.shape, b.shape, function="array_equiv")
    except ShapeMismatchError:
        return Array(constant(False, bool_).key)
    return FUNCTIONS["all"](equal(a, b))  # type: ignore[no-any-return]


@covers("real_if_close")
def real_if_close(x: Any, tol: float = 100) -> Array:
    """Return the real part if all imaginary parts are within ``tol`` rounding units of 0.

    The values decide, so they must be known.

    A tolerance of at most 1 is an absolute one.
    """
    found = asarray(x)
    if not found.dtype.is_complex:
        return view_of(found, found)
    bound = tol * finfo(found.dtype).eps if tol > 1 else tol
    small = FUNCTIONS["all"](FUNCTIONS["less"](FUNCTIONS["absolute"](imag(found)), bound))
    return real(found) if small else view_of(found, found)


# ---- choosing ------------------------------------------------------------------------------------


@covers("select")
def select_first(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Array:
    """Return elements of the first choice whose condition holds, else ``default``.

    Raises TypeError: if a condition is not an array of bools.
    """
    if len(condlist) != len(choicelist) or not condlist:
        raise at_user_line(
            ValueError("select: need as many conditions as choices, and at least one")
        )
    conditions = [asarray(c) for c in condlist]
    for condition in conditions:
        if not condition.dtype.is_bool:
            raise at_user_line(
                TypeError(f"select: conditions must be bool arrays, got {condition.aval}")
            )
    *choices, result = together("select", *choicelist, default)
    shape = broadcast_shapes(result.shape, *[c.shape for c in conditions], function="select")
    result = stretch(result, shape)
    for condition, choice in zip(reversed(conditions), reversed(choices), strict=True):
        result = select(stretch(condition, shape), stretch(choice, shape), result)
    return result


select_first.__name__ = "select"


@covers("piecewise")
def piecewise(x: Any, condlist: Any, funclist: Sequence[Any], *args: Any, **kwargs: Any) -> Array:
    """Evaluate a piecewise-defined function; the last condition that holds decides.

    The result has the dtype of x.

    One function more than conditions is for where none holds. Every function is computed for all
    of x and selected from: guard its argument where its derivative is infinite, as for ``where``.
    """
    found = asarray(x)
    conditions = _conditions(condlist, found)
    extra = len(funclist) - len(conditions)
    if extra not in (0, 1):
        raise at_user_line(
            ValueError("piecewise: need as many functions as conditions, or one more")
        )
    result = FUNCTIONS["zeros_like"](found)
    if extra:
        result = _piece(funclist[-1], found, args, kwargs)
    for condition, function in zip(conditions, funclist, strict=False):
        result = select(condition, _piece(function, found, args, kwargs), result)
    return result  # type: ignore[no-any-return]


def _conditions(condlist: Any, x: Array) -> list[Array]:
    """Return conditions in the shape of x; a single one stands for a list of one."""
    alone = not isinstance(condlist, (list, tuple)) or (
        bool(condlist) and not hasattr(condlist[0], "__len__") and x.ndim != 0
    )
    if hasattr(condlist, "dtype") and as_array(condlist).ndim > x.ndim:
        condlist, alone = list(asarray(condlist)), False
    given = [condlist] if alone else condlist
    return [stretch(cast(asarray(c), bool_), x.shape) for c in given]


def _piece(function: Any, x: Array, args: Any, kwargs: Any) -> Array:
    is_value = not isinstance(function, Callable) or isinstance(function, Array)  # type: ignore[arg-type]
    value = function if is_value else function(x, *args, **kwargs)
    return stretch(fitted(value, x.dtype, "piecewise"), x.shape)
