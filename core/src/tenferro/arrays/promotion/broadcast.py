"""Promotion and broadcasting: from what the user wrote to operands of one shape and dtype.

The plan for a pair of avals is made once and kept. A Python scalar is weak: it takes the dtype of
the other operand unless its kind does not fit. Read next: ``functions/arithmetic.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, isnan
from operator import index
from typing import Any, TypeVar

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.handle.array import SCALARS, Array
from tenferro.arrays.handle.convert import as_array, check_range, scalar
from tenferro.arrays.handle.weak import WeakName, is_counter, is_weak
from tenferro.arrays.promotion.constant_matrices import known_array
from tenferro.computegraph import Definition, ValueKey
from tenferro.computegraph._keys import SHARED_SERIAL
from tenferro.primitives import (
    Aval,
    AxisError,
    BroadcastInDim,
    DType,
    DTypeMismatchError,
    Shape,
    ShapeMismatchError,
    bind,
    bool_,
    convert,
    float64,
    int64,
    promote,
    promote_dtypes,
)

_WEAK = frozenset(SCALARS)
_shapes: dict[tuple[Shape, ...], Shape] = {}
_stretches: dict[tuple[Shape, Shape], BroadcastInDim] = {}
_weak_dtypes: dict[tuple[DType, type, bool], DType] = {}
_numbers: dict[tuple[Any, ...], tuple[ValueKey, Definition | None]] = {}
_MAX_KEPT_PLANS = 4096
_MAX_ELEMENTS_TO_SHARE = 1024  # elements of a broadcast number whose key is kept


def broadcast_shapes(*shapes: Shape, function: str = "broadcast") -> Shape:
    """Return the common shape of several shapes, by NumPy's rule.

    Raises ShapeMismatchError: if an axis neither matches nor has size 1.

    >>> broadcast_shapes((3, 1), (4,))
    (3, 4)
    """
    found = _shapes.get(shapes)
    if found is None:
        found = _remember(_shapes, shapes, _join_shapes(shapes, function))
    return found


def _join_shapes(shapes: Sequence[Shape], function: str) -> Shape:
    rank = max((len(shape) for shape in shapes), default=0)
    result = []
    for axis in range(-rank, 0):
        sizes = {shape[axis] for shape in shapes if -axis <= len(shape)} - {1}
        if len(sizes) > 1:
            error = ShapeMismatchError.of(
                function,
                "shapes do not broadcast together",
                got=", ".join(map(str, shapes)),
                need=f"equal sizes, or 1, on axis {axis}; there they are {sorted(sizes)}",
                shapes=tuple(shapes),
            )
            raise at_user_line(error)
        result.append(sizes.pop() if sizes else 1)
    return tuple(result)


def stretch(x: Array, shape: Shape) -> Array:
    """Broadcast the array to a shape that is known to fit."""
    aval = x.key.aval
    if aval.shape == shape:
        return x
    operation = _stretches.get((aval.shape, shape))
    if operation is None:
        axes = tuple(range(len(shape) - aval.ndim, len(shape)))
        operation = _remember(_stretches, (aval.shape, shape), BroadcastInDim(shape, axes))
    return _as_recent(bind(operation, x), x)


def _as_recent(y: Array, x: Array) -> Array:
    """Mark a value made from a shared number alone as shared and as recent as that number."""
    if x.key.serial >= SHARED_SERIAL > y.key.serial:
        y.key.serial += SHARED_SERIAL
    return y


_K = TypeVar("_K")
_V = TypeVar("_V")


def _remember(plans: dict[_K, _V], key: _K, plan: _V) -> _V:
    """Keep a plan in a bounded table."""
    if len(plans) >= _MAX_KEPT_PLANS:
        plans.clear()
    plans[key] = plan
    return plan


def cast(x: Array, dtype: DType) -> Array:
    """Cast the array to a dtype.

    Raises OverflowError: if an argument that was a Python integer does not fit.
    """
    if x.key.aval.dtype is dtype:
        return x
    name = x.key.identity
    if dtype.is_integer and type(name) is WeakName and x.key.aval.dtype.is_integer:
        value = name.look()
        if value is not None:
            check_range(value, dtype)
    return _as_recent(convert(x, dtype), x)


def pair(x: Any, y: Any, function: str, floating: bool = False) -> tuple[Array, Array]:
    """Return two operands of one shape and dtype; with ``floating``, integers become float64
    first.
    """
    if type(x) is Array:
        aval = x.key.aval
        if type(y) is Array:
            if aval is y.key.aval and (not floating or aval.dtype.is_inexact):
                return x, y
        elif type(y) in _WEAK:
            number = beside(y, aval, floating)
            return cast(x, number.key.aval.dtype), number
    elif type(x) in _WEAK and type(y) is Array:
        number = beside(x, y.key.aval, floating)
        return number, cast(y, number.key.aval.dtype)
    return _joined(x, y, function, floating)


def _joined(x: Any, y: Any, function: str, floating: bool) -> tuple[Array, Array]:
    """``pair`` where nothing is known of the operands."""
    x_weak, y_weak = type(x) in _WEAK, type(y) in _WEAK
    if x_weak and not y_weak:
        y = as_array(y)
        x = beside(x, y.aval, floating)
    elif y_weak and not x_weak:
        x = as_array(x)
        y = beside(y, x.aval, floating)
    else:
        x, y = known_array(x, y), known_array(y, x)
    a, b = x.key.aval, y.key.aval
    if a is b and (not floating or a.dtype.is_inexact):
        return x, y
    dtype = _joint_dtype(x, y)
    if floating and not dtype.is_inexact:
        dtype = float64
    shape = a.shape if a.shape == b.shape else broadcast_shapes(a.shape, b.shape, function=function)
    return stretch(cast(x, dtype), shape), stretch(cast(y, dtype), shape)


def beside(value: bool | int | float | complex, like: Aval, floating: bool = False) -> Array:
    """A Python scalar in the shape of another operand, and the dtype that it takes there.

    The keys of such small arrays are kept, unless somebody evaluated one.
    """
    kind = type(value)
    text = repr(value) if value == 0 or kind is complex else None  # 0.0 == -0.0
    entry = kind, value, text, like, floating
    found = _numbers.get(entry)
    if found is not None and found[0].definition is found[1]:
        return Array(found[0])
    number = stretch(weak(value, like, floating), like.shape)
    if like.size <= _MAX_ELEMENTS_TO_SHARE:
        _remember(_numbers, entry, (number.key, number.key.definition))
    return number


def _joint_dtype(x: Array, y: Array) -> DType:
    """Return the promoted dtype; an argument that was a Python scalar is weak, unless both were.

    The counter of a loop is weak only next to floats and complex numbers.
    """
    a, b = x.aval.dtype, y.aval.dtype
    if a is b:
        return a
    x_weak = is_weak(x) and (b.is_inexact or not is_counter(x))
    y_weak = is_weak(y) and (a.is_inexact or not is_counter(y))
    if x_weak is not y_weak:
        return promote(b, _KINDS[a.category]) if x_weak else promote(a, _KINDS[b.category])
    return promote_dtypes(a, b)


_KINDS: dict[str, Any] = {"bool": False, "int": 0, "float": 0.0, "complex": 0j}


def weak(value: bool | int | float | complex, like: Aval, floating: bool = False) -> Array:
    """Return a Python scalar in the dtype that it takes next to an operand."""
    kind = like.dtype, type(value), floating
    dtype = _weak_dtypes.get(kind)
    if dtype is None:
        dtype = promote(like.dtype, value)
        dtype = float64 if floating and not dtype.is_inexact else dtype
        _weak_dtypes[kind] = dtype
    if dtype.is_inexact and isinstance(value, (int, bool)):
        value = float(value)
    return scalar(value, dtype)


def together(function: str, *xs: Any) -> list[Array]:
    """Return any number of operands in one shape and dtype."""
    xs = tuple([x if type(x) in _WEAK else as_array(x) for x in xs])
    dtype = common_dtype(xs)
    arrays = [weak_or_array(x, dtype) for x in xs]
    shape = broadcast_shapes(*[x.shape for x in arrays], function=function)
    return [stretch(cast(x, dtype), shape) for x in arrays]


def common_dtype(xs: Sequence[Any]) -> DType:
    """Return the promoted dtype of Arrays and Python scalars; these are weak unless all are."""
    strong = [x.dtype for x in xs if not _is_weak(x)]
    values = [_KINDS[x.dtype.category] if isinstance(x, Array) else x for x in xs if _is_weak(x)]
    dtype = strong[0] if strong else as_array(values[0]).dtype
    for other in strong[1:]:
        dtype = promote_dtypes(dtype, other)
    for value in values:
        dtype = promote(dtype, value)
    if not dtype.is_inexact and any([isinstance(x, Array) and is_counter(x) for x in xs]):
        return promote_dtypes(dtype, int64)
    return dtype


def _is_weak(x: Any) -> bool:
    return type(x) in _WEAK or is_weak(x)


def weak_or_array(x: Any, dtype: DType) -> Array:
    """Return the array; a Python scalar becomes one of the given dtype."""
    return weak(x, Aval((), dtype)) if type(x) in _WEAK else as_array(x)


def fitted(x: Any, dtype: DType, function: str) -> Array:
    """Return a value that takes the dtype of an array; a fraction is cut off, as in NumPy.

    Raises OverflowError: if a Python integer does not fit, or a float is too large for integers.
    Raises ValueError: if it is NaN, and the dtype is that of integers.
    Raises DTypeMismatchError: if it is complex, and the dtype is that of real numbers.
    """
    _check_numbers(x, dtype, function)
    found = as_array(float(x) if type(x) is int and dtype.is_inexact else x)
    if found.dtype.is_complex and not (dtype.is_complex or dtype.is_bool):
        error = DTypeMismatchError.of(
            function, "a complex number has no place among real ones", got=str(found.aval),
            need=f"a real number, for {dtype}", dtypes=(found.dtype, dtype),
        )  # fmt: skip
        raise at_user_line(error)
    return cast(found, dtype)


def _check_numbers(x: Any, dtype: DType, function: str) -> None:
    if type(x) is int:
        check_range(x, dtype)
    elif isinstance(x, float):
        _check_whole_part(x, dtype, function)
    elif isinstance(x, (list, tuple)):
        for item in x:
            _check_numbers(item, dtype, function)


def _check_whole_part(x: float, dtype: DType, function: str) -> None:
    """Refuse a float whose integer part an integer dtype does not hold."""
    if not dtype.is_integer:
        return
    if not isfinite(x):
        kind = ValueError if isnan(x) else OverflowError
        raise at_user_line(kind(f"{function}: {dtype} has no {x}"))
    check_range(int(x), dtype)


def mask_of(where: Any, function: str) -> Array:
    """Return a mask as an array of bools; a Python number or list may hold integers, as in NumPy.

    Raises DTypeMismatchError: if an array holds anything except bools.
    """
    mask = as_array(where)
    if not mask.dtype.is_bool and hasattr(where, "dtype"):
        error = DTypeMismatchError.of(
            function, "a mask does not hold bools", got=f"where: {mask.aval}",
            need="bools, such as `where != 0`", dtypes=(mask.dtype,),
        )  # fmt: skip
        raise at_user_line(error)
    return cast(mask, bool_)


def float_for(dtype: DType) -> DType:
    """Return the dtype in which NumPy computes a floating-point function of a dtype."""
    if dtype.is_inexact:
        return dtype
    bits = 8 if dtype.is_bool else dtype.bits
    return DType.of({8: "float16", 16: "float32"}.get(bits, "float64"))


def floating(x: Any) -> Array:
    """Return the operand as an array of floats or complex numbers."""
    found = x if type(x) is Array else as_array(x)
    dtype = found.key.aval.dtype
    return found if dtype.is_inexact else cast(found, float_for(dtype))


def double_if_exact(x: Any) -> Array:
    """Return the operand, integers and truth of any width as float64, as SciPy's functions do."""
    found = as_array(x)
    return found if found.dtype.is_inexact else cast(found, float64)


def normalize_axes(axis: Any, ndim: int, function: str) -> tuple[int, ...]:
    """Return axes as sorted non-negative integers; ``None`` means all.

    Raises AxisError: if an axis is out of range or named twice.
    """
    if axis is None:
        return tuple(range(ndim))
    if type(axis) is int and -ndim <= axis < ndim:
        return (axis % ndim,)
    given = tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
    axes = tuple(normalize_axis(a, ndim, function) for a in given)
    if len(set(axes)) != len(axes):
        raise axis_error(function, given, ndim, "an axis is named twice")
    return tuple(sorted(axes))


def reduced_axes(axis: Any, ndim: int, function: str) -> tuple[int, ...]:
    """Return axes as NumPy's ufuncs take them: an integer or a tuple; a number has axes 0 and −1.

    Raises AxisError: if an axis is out of range or named twice.
    """
    if axis is None or (type(axis) is int and ndim):
        return normalize_axes(axis, ndim, function)
    if isinstance(axis, (list, bool)):
        text = f"{function}: an axis is an integer or a tuple of integers, not {axis!r}"
        raise at_user_line(TypeError(text))
    if not ndim and not isinstance(axis, tuple) and normalize_axis(axis, 1, function) == 0:
        return ()
    return normalize_axes(axis, ndim, function)


def flag(value: Any, name: str, function: str) -> bool:
    """Return an option that is True or False; it may be given as an integer.

    >>> flag(1, "keepdims", "sum")
    True
    """
    if type(value) is bool:
        return value
    if hasattr(value, "__index__") or str(getattr(value, "dtype", "")) == "bool":
        return bool(value)
    raise at_user_line(TypeError(f"{function}: {name} is True or False, not {value!r:.60}"))


def normalize_axis(axis: Any, ndim: int, function: str) -> int:
    """Return one axis as a non-negative integer."""
    try:
        found = axis.__index__()
    except AttributeError:
        text = f"{function}: an axis is an integer, not {type(axis).__name__}"
        raise at_user_line(TypeError(text)) from None
    if not -ndim <= found < ndim:
        raise axis_error(function, axis, ndim, "axis out of range")
    return int(found % ndim)


def is_sequence(x: Any) -> bool:
    """Return True for a list, a tuple, an iterator or an array of rank 1 or more."""
    if type(x) in (tuple, list):
        return True
    return bool(getattr(x, "ndim", hasattr(x, "__len__") or hasattr(x, "__iter__")))


def integers(given: Any) -> tuple[int, ...]:
    """Return a shape, counts or axes, given as one integer or as several, as a tuple.

    An array of rank 0 is one integer, as in NumPy: ``np.roll(x, np.argmax(x))``.

    Raises TypeError: if an element is not an integer; ConcretizationError: if it is only traced.

    >>> integers(3), integers([2, 3])
    ((3,), (2, 3))
    """
    return tuple(map(index, given)) if is_sequence(given) else (index(given),)


def axis_error(function: str, axis: Any, ndim: int, fact: str) -> Exception:
    """Make the error about an axis."""
    need = f"distinct axes, {-ndim} <= axis < {ndim}" if ndim else "an array of rank 1 or more"
    error = AxisError.of(
        function,
        fact,
        got=f"axis={axis} for rank {ndim}",
        need=need,
        parameter="axis",
        value=axis,
    )
    return at_user_line(error)
