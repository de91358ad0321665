"""Keywords and methods of NumPy's ufuncs, the same for all of them.

A covering function computes plain results. What surrounds them is here: ``out=``, ``where=``,
``dtype=``, ``casting=``, ``signature=``, the axes of generalized ufuncs. The loop that ``dtype=``
asks for is found by the ufunc itself (``resolve_dtypes``). An Array has neither a memory order nor
subclasses that NumPy knows, so ``order=`` and ``subok=`` are taken and change nothing.
Read next: ``numpy_protocols/ufunc_methods.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tenferro.arrays.diagnosis.hints import unsupported_keyword
from tenferro.arrays.errors import UnsupportedFunctionError, at_user_line
from tenferro.arrays.handle.array import SCALARS, Array
from tenferro.arrays.handle.convert import as_array
from tenferro.arrays.handle.weak import is_weak
from tenferro.arrays.numpy_protocols.writing import destination, write
from tenferro.arrays.promotion.broadcast import cast, weak_or_array
from tenferro.arrays.registry import FUNCTIONS
from tenferro.primitives import DType, DTypeMismatchError
from tenferro.primitives._source import caller, source_text

_PYTHON = {"bool": bool, "int": int, "float": float, "complex": complex}


def call(
    ufunc: Any, function: Callable[..., Any], inputs: Sequence[Any], kwargs: Mapping[str, Any]
) -> Any:
    """Call a ufunc with keywords."""
    name, given = ufunc.__name__, dict(kwargs)
    outs = _destinations(given.pop("out", None), ufunc)
    where = given.pop("where", True)
    casting = given.pop("casting", "same_kind")
    if where is not True and outs is None:
        raise _nothing_there(name)
    _ignore_layout(name, given)
    compute = _in_axes(ufunc, function, given)
    results = _in_loop(ufunc, compute, inputs, casting, given)
    if given:
        raise unsupported_keyword(name, next(iter(given)))
    if outs is None:
        return results
    pairs = zip(outs, results if ufunc.nout > 1 else (results,), strict=True)
    written = [
        y if out is None else write(out, y, name, casting=casting, where=where) for out, y in pairs
    ]
    return tuple(written) if ufunc.nout > 1 else written[0]


def _destinations(out: Any, ufunc: Any) -> tuple[Array | None, ...] | None:
    if out is None:
        return None
    given = out if isinstance(out, tuple) else (out,)
    found = tuple(destination(x, ufunc.__name__) for x in given)
    return None if all(x is None for x in found) else found


def _nothing_there(name: str) -> UnsupportedFunctionError:
    return UnsupportedFunctionError(
        f"np.{name}: `where=` without `out=` leaves elements that are never computed\n"
        f"  from       {source_text(caller())}\n"
        f"  hint       say what is there: `np.where(mask, np.{name}(x), 0)`, or give `out=`",
        function=name,
        nearest="where",
        keyword="where",
    )


def _ignore_layout(name: str, given: dict[str, Any]) -> None:
    order = given.pop("order", "K")
    if order not in ("K", "A", "C", "F"):
        raise at_user_line(ValueError(f"{name}: order must be one of 'C', 'F', 'A', 'K'"))
    given.pop("subok", None)


def _in_loop(
    ufunc: Any,
    function: Callable[..., Any],
    inputs: Sequence[Any],
    casting: str,
    given: dict[str, Any],
) -> Any:
    """Compute the results in the loop that ``dtype=`` or ``signature=`` selects."""
    dtype, signature = given.pop("dtype", None), given.pop("signature", given.pop("sig", None))
    if dtype is None and signature is None and casting == "same_kind":
        return function(*inputs)
    if dtype is not None:
        kind = dtype if isinstance(dtype, tuple) else (DType.of(dtype).dtype,) * ufunc.nout
        signature = (None,) * ufunc.nin + kind
    loop = loop_of(ufunc, inputs, signature, casting)
    cast_inputs = [
        cast(weak_or_array(x, kind), kind) for x, kind in zip(inputs, loop, strict=False)
    ]
    results = function(*cast_inputs)
    several = results if ufunc.nout > 1 else (results,)
    found = [cast(y, kind) for y, kind in zip(several, loop[ufunc.nin :], strict=True)]
    return tuple(found) if ufunc.nout > 1 else found[0]


def loop_of(
    ufunc: Any, inputs: Sequence[Any], signature: Any = None, casting: str = "same_kind"
) -> list[DType]:
    """Return the dtypes of inputs and outputs in which the ufunc computes.

    Raises DTypeMismatchError: if the rule of casting does not allow what this needs.
    """
    kinds = [_kind_of(x) for x in inputs]
    asked = {} if signature is None else {"signature": signature}
    return _resolve(ufunc, kinds, (*kinds, *[None] * ufunc.nout), casting=casting, **asked)


def loop_of_reduction(ufunc: Any, x: Array, dtype: DType) -> DType:
    """Return the dtype in which the ufunc reduces x, where the caller asks for one of results.

    Raises DTypeMismatchError: if the ufunc has no such loop.
    """
    kinds = (None, x.dtype.dtype, None)
    asked: Any = {"signature": (dtype.dtype, None, None), "casting": "unsafe", "reduction": True}
    return _resolve(ufunc, kinds[1:2], kinds, **asked)[1]


def _resolve(
    ufunc: Any, kinds: Sequence[Any], operands: Sequence[Any], **asked: Any
) -> list[DType]:
    try:
        found = ufunc.resolve_dtypes(tuple(operands), **asked)
    except TypeError as refusal:
        error = DTypeMismatchError.of(
            ufunc.__name__,
            "NumPy has no loop for these dtypes",
            got=", ".join(getattr(kind, "name", str(kind)) for kind in kinds),
            need=f"a loop by casting={asked['casting']!r}; {refusal}",
        )
        raise at_user_line(error) from None
    return [DType.of(kind) for kind in found]


def _kind_of(x: Any) -> Any:
    """NumPy's dtype of an operand; the Python type of a weak one, but for a bool."""
    if type(x) in SCALARS:
        kind: Any = type(x)
    else:
        found = as_array(x)
        kind = _PYTHON[found.dtype.category] if is_weak(found) else found.dtype.dtype
    return as_array(True).dtype.dtype if kind is bool else kind


# ---- the axes of generalized ufuncs --------------------------------------------------------------


def _in_axes(ufunc: Any, function: Callable[..., Any], given: dict[str, Any]) -> Callable[..., Any]:
    """Apply the function on the axes that ``axis=`` or ``axes=`` names; a plain ufunc has none."""
    signature = getattr(ufunc, "signature", None)
    if signature is None:
        return function
    axis, axes = given.pop("axis", None), given.pop("axes", None)
    keepdims = given.pop("keepdims", False)
    if axis is None and axes is None and not keepdims:
        return function
    if keepdims and not signature.endswith("()"):
        raise at_user_line(TypeError(f"{ufunc.__name__}: keepdims, but no axis is reduced to none"))
    places: list[tuple[int, ...]] = [(-1,)] * ufunc.nin
    if axes is not None:
        places = [_tuple(a) for a in axes]
    if axis is not None:
        places = [(axis,)] * ufunc.nin
    if len(places) == ufunc.nin:
        places.append(places[0] if keepdims or not signature.endswith("()") else ())
    return lambda *inputs: _along(function, inputs, places, keepdims)


def _tuple(axes: Any) -> tuple[int, ...]:
    return tuple(axes) if isinstance(axes, (tuple, list)) else (axes,)


def _along(
    function: Callable[..., Any],
    inputs: Sequence[Any],
    places: Sequence[tuple[int, ...]],
    keepdims: bool,
) -> Any:
    move = FUNCTIONS["moveaxis"]
    moved = [move(x, p, _last(p)) for x, p in zip(inputs, places, strict=False)]
    result = function(*moved)
    if keepdims:
        result = FUNCTIONS["expand_dims"](result, _last(places[-1]))
    return move(result, _last(places[-1]), places[-1])


def _last(places: Sequence[int]) -> tuple[int, ...]:
    return tuple(range(-len(places), 0))
