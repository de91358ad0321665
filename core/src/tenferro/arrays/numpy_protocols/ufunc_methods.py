"""Methods of NumPy's ufuncs: ``reduce``, ``accumulate``, ``reduceat``, ``outer``, ``at``.

Sums, products, extrema and logarithms of sums of exponentials go to their primitives, so that ties
share the derivative equally. Any other associative function is folded in pairs, ⌈log₂ n⌉ steps for
n elements, and scanned by doubling (Hillis and Steele, CACM 29 (1986) 1170); a function that is not
associative is folded one element after the other, up to a bound.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, log, nan, prod
from typing import Any

from tenferro.arrays.errors import UnsupportedFunctionError, at_user_line
from tenferro.arrays.handle.array import Array, strong
from tenferro.arrays.handle.convert import as_array, asarray
from tenferro.arrays.numpy_protocols.ufuncs import call, loop_of, loop_of_reduction
from tenferro.arrays.numpy_protocols.writing import (
    check_cast,
    destination,
    rebind,
    write,
    writing_error,
    written_by_user,
)
from tenferro.arrays.promotion.broadcast import (
    broadcast_shapes,
    cast,
    common_dtype,
    fitted,
    mask_of,
    normalize_axis,
    reduced_axes,
    stretch,
)
from tenferro.arrays.registry import FUNCTIONS
from tenferro.primitives import DType, bool_, int64, iota
from tenferro.primitives import cumulative as p
from tenferro.primitives._source import caller, source_text
from tenferro.primitives.comparison import select
from tenferro.primitives.exponential_sums import reduce_logsumexp

_SUMS = {"add": "sum", "multiply": "prod"}
_REDUCTIONS = {
    "add": "any",  # of bools
    "multiply": "all",
    "maximum": "max",
    "minimum": "min",
    "fmax": "nanmax",
    "fmin": "nanmin",
    "logical_and": "all",
    "logical_or": "any",
}
_SCANS = {"add": "cumsum", "multiply": "cumprod"}
_EXTREME_SCANS = {
    "maximum": p.cummax, "minimum": p.cummin, "fmax": p.cummax, "fmin": p.cummin,
}  # fmt: skip
_BASES = {"logaddexp": 1.0, "logaddexp2": log(2)}  # of the exponentials, as logarithms
_WORST = {"maximum": -inf, "minimum": inf, "fmax": nan, "fmin": nan}
_ASSOCIATIVE = frozenset(
    "add multiply maximum minimum fmax fmin logaddexp logaddexp2 hypot gcd lcm bitwise_and "
    "bitwise_or bitwise_xor logical_and logical_or logical_xor".split()
)
_COMBINED = ("multiply", "minimum", "maximum")
_MAX_SEQUENTIAL = 1024  # elements that are folded one by one
_Binary = Callable[[Any, Any], Any]
_ABSENT = object()


def reduce(
    ufunc: Any,
    function: _Binary,
    x: Any,
    axis: Any = 0,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = _ABSENT,
    where: Any = True,
) -> Any:
    """Reduce all elements along axes by the function."""
    _only_binary(ufunc, "reduce")
    target = destination(out, ufunc.__name__)
    found = _start(ufunc, as_array(x), dtype, target)
    axes = reduced_axes(axis, found.ndim, ufunc.__name__)
    if initial is not _ABSENT and initial is not None:
        initial = fitted(initial, found.dtype, f"{ufunc.__name__}.reduce")
    how = _reduce_in_any_order if ufunc.__name__ in _ASSOCIATIVE else _reduce_in_order
    result = how(ufunc, function, found, axes, initial, where)
    if keepdims:
        result = FUNCTIONS["expand_dims"](result, axes)
    return result if target is None else write(target, result, ufunc.__name__)


def _only_binary(ufunc: Any, method: str) -> None:
    if ufunc.nin != 2 or ufunc.nout != 1 or ufunc.signature is not None:
        text = f"{ufunc.__name__}.{method}: only functions of two arrays with one result have it"
        raise at_user_line(ValueError(text))


def _start(ufunc: Any, x: Array, dtype: Any, out: Array | None) -> Array:
    """x in the dtype in which the ufunc reduces it."""
    name = ufunc.__name__
    if dtype is None and out is not None and not name.startswith("logical_"):
        dtype = out.dtype
    if dtype is not None:
        return cast(x, loop_of_reduction(ufunc, x, DType.of(dtype)))
    if name.startswith("logical_"):
        return cast(x, bool_)
    if name in ("add", "multiply"):
        return cast(x, FUNCTIONS["sum"](x).dtype)
    return cast(x, loop_of(ufunc, (x, x))[-1])


def _reduce_in_any_order(
    ufunc: Any, function: _Binary, x: Array, axes: Sequence[int], initial: Any, where: Any
) -> Any:
    """Reduce in pairs; masked elements are neutral, and ``initial`` joins at the end."""
    name = ufunc.__name__
    starts = initial is not _ABSENT and initial is not None
    neutral = initial if initial is None or ufunc.identity is None else ufunc.identity
    if starts and name in _WORST and x.dtype.is_float:
        neutral = _WORST[name]  # `initial` would share in a tie of elements
    if where is not True:
        filler = cast(as_array(_required(neutral, name)), x.dtype)
        x = FUNCTIONS["where"](_mask(where, x, name), x, filler)
    count = prod(x.shape[a] for a in axes)
    if not count:
        result = _of_nothing(x, axes, _required(neutral, name))
    elif name in _SUMS and not x.dtype.is_bool:
        result = FUNCTIONS[_SUMS[name]](x, axis=tuple(axes), dtype=x.dtype)
    elif name in _REDUCTIONS:
        result = FUNCTIONS[_REDUCTIONS[name]](x, axis=tuple(axes))
    elif name in _BASES:
        base = _BASES[name]
        result = reduce_logsumexp(_scaled(x, base), tuple(axes))
        result = _scaled(result, 1 / base)
    else:
        front = _in_front(x, axes, count)
        signed = count == 1 and name in ("hypot", "gcd")  # their result is never negative
        result = function(front[0], 0) if signed else _fold_in_pairs(function, front)
    return function(initial, result) if starts else result


def _mask(where: Any, x: Array, name: str) -> Array:
    return FUNCTIONS["broadcast_to"](mask_of(where, f"{name}.reduce"), x.shape)  # type: ignore[no-any-return]


def _required(neutral: Any, name: str) -> Any:
    if neutral is None or neutral is _ABSENT:
        text = f"{name}.reduce: say `initial=`; nothing is left to start with"
        raise at_user_line(ValueError(text))
    return neutral


def _of_nothing(x: Array, axes: Sequence[int], value: Any) -> Array:
    shape = tuple(n for i, n in enumerate(x.shape) if i not in axes)
    filler = cast(as_array(value), x.dtype)  # the identity -1 has every bit set, unsigned ones, too
    return FUNCTIONS["full_like"](x, filler, shape=shape)  # type: ignore[no-any-return]


def _reduce_in_order(
    ufunc: Any, function: _Binary, x: Array, axes: Sequence[int], initial: Any, where: Any
) -> Any:
    """Reduce one element after the other along one axis."""
    name = ufunc.__name__
    if len(axes) > 1:
        raise at_user_line(ValueError(f"{name}.reduce: the order counts, so give one axis"))
    starts = initial is not _ABSENT and initial is not None
    count = prod(x.shape[a] for a in axes)
    if where is not True or not count:
        _required(initial, name)
    masks = None
    if where is not True:
        masks = _in_front(_mask(where, x, name), axes, count)
    first = _of_nothing(x, axes, initial) if starts else None
    return _partial(name, function, _in_front(x, axes, count), first, masks)[-1]


def _in_front(x: Array, axes: Sequence[int], count: int) -> Array:
    """x with the axes as one, which comes first."""
    if not axes:
        return FUNCTIONS["expand_dims"](x, 0)  # type: ignore[no-any-return]
    moved = FUNCTIONS["moveaxis"](x, tuple(axes), tuple(range(len(axes))))
    return FUNCTIONS["reshape"](moved, (count, *moved.shape[len(axes) :]))  # type: ignore[no-any-return]


def _fold_in_pairs(function: _Binary, x: Array) -> Array:
    while x.shape[0] > 1:
        even = x.shape[0] // 2 * 2
        rest = x[even:]
        x = function(x[:even:2], x[1:even:2])
        x = FUNCTIONS["concatenate"]([x, rest]) if rest.shape[0] else x
    return x[0]


def _partial(
    name: str, function: _Binary, x: Array, first: Any = None, masks: Array | None = None
) -> list[Array]:
    """Return all partial results, the first element first; masked elements are skipped."""
    if x.shape[0] > _MAX_SEQUENTIAL:
        raise UnsupportedFunctionError(
            f"np.{name}.reduce and .accumulate go one by one, and {x.shape[0]} elements are many\n"
            f"  from       {source_text(caller())}\n"
            f"  hint       at most {_MAX_SEQUENTIAL}; the order counts, so it cannot be split",
            function=f"{name}.reduce",
            nearest=None,
        )
    found = [x[0] if first is None else first]
    for i in range(1 if first is None else 0, x.shape[0]):
        after = function(found[-1], x[i])
        found.append(after if masks is None else select(masks[i], after, found[-1]))
    return found


def accumulate(
    ufunc: Any, function: _Binary, x: Any, axis: Any = 0, dtype: Any = None, out: Any = None
) -> Any:
    """Accumulate the function over the elements along an axis."""
    _only_binary(ufunc, "accumulate")
    name = ufunc.__name__
    target = destination(out, name)
    found = _start(ufunc, as_array(x), dtype, target)
    along = normalize_axis(axis, found.ndim, name)
    if name in _SCANS and not found.dtype.is_bool:
        result = FUNCTIONS[_SCANS[name]](found, axis=along, dtype=found.dtype)
    elif name in _EXTREME_SCANS and not found.dtype.is_complex:
        scan = _EXTREME_SCANS[name]
        skips_nan = name in ("fmax", "fmin") and found.dtype.is_float
        result = _scan_without_nan(scan, found, along) if skips_nan else scan(found, along)
    elif name in _BASES:
        base = _BASES[name]
        result = _scaled(p.cumlogsumexp(_scaled(found, base), along), 1 / base)
    else:
        front = FUNCTIONS["moveaxis"](found, along, 0)
        result = FUNCTIONS["moveaxis"](_scan(name, function, front), 0, along)
    return result if target is None else write(target, result, name)


def _scaled(x: Array, factor: float) -> Array:
    return x if factor == 1 else x * factor


def _scan_without_nan(scan: Callable[[Array, int], Array], x: Array, axis: int) -> Array:
    """Return the extrema so far, ignoring NaN; NaN before the first number."""
    where, missing = FUNCTIONS["where"], FUNCTIONS["isnan"](x)
    filled = where(missing, -inf if scan is p.cummax else inf, x)
    result: Array = where(p.cummin(missing, axis), nan, scan(filled, axis))
    return result


def _scan(name: str, function: _Binary, x: Array) -> Array:
    if not x.shape[0]:
        return x
    if name not in _ASSOCIATIVE:
        return FUNCTIONS["stack"](_partial(name, function, x))  # type: ignore[no-any-return]
    step = 1
    while step < x.shape[0]:
        x = FUNCTIONS["concatenate"]([x[:step], function(x[:-step], x[step:])])
        step *= 2
    return x


def reduceat(
    ufunc: Any,
    function: _Binary,
    x: Any,
    indices: Any,
    axis: Any = 0,
    dtype: Any = None,
    out: Any = None,
) -> Any:
    """Reduce the elements from each index up to the next one."""
    _only_binary(ufunc, "reduceat")
    found = as_array(x)
    front = FUNCTIONS["moveaxis"](found, normalize_axis(axis, found.ndim, ufunc.__name__), 0)
    starts = asarray(indices)._concrete("reduceat").tolist()
    outside = [i for i in starts if not 0 <= i < front.shape[0]]
    if outside:
        text = f"{ufunc.__name__}.reduceat: index {outside[0]} is not in 0 … {front.shape[0] - 1}"
        raise at_user_line(IndexError(text))
    target = destination(out, ufunc.__name__)
    start = _start(ufunc, front, dtype, target)
    parts = []
    for i, stop in zip(starts, [*starts[1:], front.shape[0]], strict=False):
        is_single = i + 1 >= stop
        part = start[i : i + 1 if is_single else stop]
        parts.append(part[0] if is_single else reduce(ufunc, function, part, dtype=start.dtype))
    result = FUNCTIONS["moveaxis"](FUNCTIONS["stack"](parts) if parts else start[:0], 0, axis)
    return result if target is None else write(target, result, ufunc.__name__)


def outer(ufunc: Any, function: _Binary, x: Any, y: Any, **kwargs: Any) -> Any:
    """Apply the function to each pair of an element of x and one of y."""
    a, b = strong(as_array(x)), strong(as_array(y))
    left = FUNCTIONS["reshape"](a, a.shape + (1,) * b.ndim)
    return call(ufunc, function, (left, b), kwargs) if kwargs else function(left, b)


def at(ufunc: Any, function: Callable[..., Any], x: Any, index: Any, *values: Any) -> None:
    """Apply the function at an index, once per occurrence of a position; rebind x to the result."""
    if not isinstance(x, Array):
        raise writing_error(f"{ufunc.__name__}.at")
    x, name = written_by_user(x), ufunc.__name__
    if name in ("add", "subtract", *_COMBINED) and not x.dtype.is_bool:
        value = FUNCTIONS["negative"](*values) if name == "subtract" else values[0]
        combined = "add" if name == "subtract" else name
        rebind(x, FUNCTIONS["__at_combine__"](x, index, value, combined))
        return
    counted = Array(iota((x.size,), 0, int64).key)
    places = FUNCTIONS["getitem"](FUNCTIONS["reshape"](counted, x.shape), index)
    flat = FUNCTIONS["reshape"](x, (x.size,))
    others = [_value_per_position(v, places, x, name) for v in values]
    places = FUNCTIONS["reshape"](places, (places.size,))
    result = _apply_at(function, flat, places, others)
    rebind(x, FUNCTIONS["reshape"](cast(result, x.dtype), x.shape))


def _value_per_position(value: Any, places: Array, x: Array, name: str) -> Array:
    """Return one value per position."""
    given = as_array(value)
    is_weak = given is not value and not hasattr(value, "dtype")
    kind = common_dtype([x, value]) if is_weak and not given.ndim else given.dtype
    check_cast(kind, x.dtype, "same_kind", f"{name}.at", "the values to the array's")
    found = fitted(value, x.dtype, f"{name}.at") if is_weak else cast(given, x.dtype)
    broadcast_shapes(found.shape, places.shape, function=f"{name}.at")
    return FUNCTIONS["reshape"](stretch(found, places.shape), (places.size,))  # type: ignore[no-any-return]


def _apply_at(
    function: Callable[..., Any], x: Array, places: Array, others: Sequence[Array]
) -> Array:
    """Apply the function in rounds, one for each repetition of a position."""
    waiting = list(enumerate(places._concrete("the positions of `at`").tolist()))
    take, where = FUNCTIONS["take"], FUNCTIONS["where"]
    while waiting:
        first = {place: i for i, place in reversed(waiting)}
        at = asarray(list(first))
        now = asarray([first[place] for place in first])
        new = cast(function(take(x, at), *[take(y, now) for y in others]), x.dtype)
        source = {place: k for k, place in enumerate(first)}
        chosen = take(new, asarray([source.get(i, 0) for i in range(x.size)]))
        x = where(asarray([i in source for i in range(x.size)]), chosen, x)
        waiting = [(i, place) for i, place in waiting if first[place] != i]
    return x


METHODS: dict[str, Callable[..., Any]] = {
    "reduce": reduce,
    "accumulate": accumulate,
    "reduceat": reduceat,
    "outer": outer,
    "at": at,
}
