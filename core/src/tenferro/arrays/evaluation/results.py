"""The kind of result that public functions have: NumPy for NumPy, Arrays for Arrays.

``tenferro.sum(np.ones(3))`` is a number of NumPy, as ``np.sum(np.ones(3))`` is, and as results of
``grad`` and ``jit`` are; a single Array among the arguments makes the result an Array. Functions
that create arrays (``zeros``, ``arange``, ``asarray``) always give Arrays. The rule does not ask
whether a transform is open: what depends on no Array is a constant for each of them.
Inside the package the functions are called without it. A value that a memo holds is found there, as
by NumPy's functions. Read next: ``evaluation/evaluate.py``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from functools import update_wrapper
from types import FunctionType
from typing import Any, TypeVar

from tenferro.arrays.evaluation.evaluate import evaluate_keys, to_numpy
from tenferro.arrays.handle import again
from tenferro.arrays.handle.array import RETURN_NUMBERS, Array, evaluable, strong
from tenferro.arrays.handle.convert import is_operand
from tenferro.arrays.handle.memo import memo_of
from tenferro.arrays.handle.traces import is_traced
from tenferro.computegraph import UNKNOWN
from tenferro.computegraph._keys import LENT
from tenferro.primitives._handle import Handle

_F = TypeVar("_F", bound=Callable[..., Any])
CREATE = frozenset(
    "arange array asanyarray asarray asarray_chkfinite ascontiguousarray asfortranarray copy "
    "diag_indices empty empty_like evaluate eye fftfreq from_dlpack fromfunction full full_like "
    "geomspace identity indices linspace logspace mask_indices ones ones_like rfftfreq tri "
    "tril_indices triu_indices zeros zeros_like".split()
)


def public_kind(name: str, function: _F) -> _F:
    """Return a function of arrays whose results are of NumPy where all its arguments are."""
    if name in CREATE or not isinstance(function, FunctionType):
        return function
    code = function.__code__
    is_unary = code.co_varnames[: code.co_argcount] == ("x",) and not code.co_kwonlyargcount
    arrays = _same if name in RETURN_NUMBERS else strong
    made: Any = update_wrapper((_of_x if is_unary else _of_any)(function, arrays), function)
    return made  # type: ignore[no-any-return]


def _same(result: Any) -> Any:
    return result


def publish_kinds(namespace: MutableMapping[str, Any], names: Iterable[str]) -> None:
    """Give the functions of a public module the kind of result of their arguments."""
    for name in names:
        namespace[name] = public_kind(name, namespace[name])


def _of_x(function: Callable[..., Any], arrays: Callable[[Any], Any]) -> Callable[..., Any]:
    def call(x: Any) -> Any:
        if type(x) is not Array:
            return in_kind(function(x), (x,), {})
        memo = x.key.memo
        return arrays(function(x) if memo is None else again.unary(memo, function, function, x))

    return call


def _of_any(function: Callable[..., Any], arrays: Callable[[Any], Any]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        memo = memo_of(args) if LENT else None
        if memo is None:
            result = function(*args, **kwargs)
        else:
            result = again.call(memo, function, function, args, kwargs)
        for x in args:
            if type(x) is Array:
                return arrays(result)
        return in_kind(result, args, kwargs)

    return call


def in_kind(result: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Return the result as NumPy's if no argument is an array of another kind."""
    for given in (*args, *kwargs.values()):
        if _is_of_others(given):
            return result
    keys = [x.key for x in _arrays(result)]
    if not keys or any([is_traced(key) or not _has_value(key) for key in keys]):
        return result
    evaluate_keys(keys)
    return _as_numpy(result)


def _has_value(key: Any) -> bool:
    return key.operand is not UNKNOWN or evaluable(key)


def _is_of_others(x: Any) -> bool:
    """Return True if x is, or holds, an Array or an array of a library other than NumPy."""
    if isinstance(x, Handle):
        return True
    if isinstance(x, (list, tuple)):
        return any(map(_is_of_others, x))
    if isinstance(x, dict):
        return any(map(_is_of_others, x.values()))
    module = type(x).__module__
    if module.startswith("tenferro.arrays.sparse"):
        return True
    if not is_operand(x) or module.startswith("scipy.sparse"):  # whose entries are of NumPy
        return False
    numpy = sys.modules.get("numpy")
    return numpy is None or not isinstance(x, (numpy.ndarray, numpy.generic))


def _arrays(x: Any) -> Iterator[Array]:
    if isinstance(x, Array):
        yield x
    elif isinstance(x, (list, tuple)):
        for item in x:
            yield from _arrays(item)


def _as_numpy(x: Any) -> Any:
    if isinstance(x, Array):
        return to_numpy(x.key.operand, x.aval)
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return type(x)(*map(_as_numpy, x))
    if isinstance(x, (list, tuple)):
        return type(x)(map(_as_numpy, x))
    return x
