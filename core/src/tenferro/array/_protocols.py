"""NumPy's two protocols: functions and ufuncs of NumPy that are given an Array come here.

A function is found by its name in the table of ``_registry.py``; NumPy is not imported. What the
table lacks is a TypeError that names the nearest thing that it has, never a silent conversion.
Read next: ``_ufuncs.py`` (keywords and methods of ufuncs), ``_writing.py`` (``out=``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from tenferro.array import _ufuncs
from tenferro.array._hints import unsupported, unsupported_keyword
from tenferro.array._registry import (
    FUNCTIONS,
    Covered,
    covers,
    keywords_of,
    parameters,
    positional,
    takes_any_keyword,
)
from tenferro.array._writing import destination, write

_HAS_ARGUMENTS = 0x04  # flag of code objects with *args
_names: dict[Any, str] = {}
_renamings: dict[Any, Mapping[str, Any]] = {}


@covers("__array_ufunc__")
def array_ufunc(ufunc: Any, method: str, inputs: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """A ufunc of NumPy, or one of its methods, applied to arrays."""
    name = ufunc.__name__
    function = FUNCTIONS.get(name)
    if not kwargs and method == "__call__" and function is not None:
        return function(*inputs)
    if method == "__call__" and function is not None:
        return _ufuncs.call(ufunc, function, inputs, kwargs)
    destination(kwargs.get("out"), name)
    if function is None:
        raise unsupported(name if method == "__call__" else f"{name}.{method}")
    return _ufuncs.METHODS[method](ufunc, function, *inputs, **kwargs)


@covers("__array_function__")
def array_function(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """A function of NumPy applied to arrays."""
    name = _names.get(function) or _name_of(function)
    covered = FUNCTIONS.get(name)
    if covered is None or name.startswith("__"):
        destination(kwargs.get("out"), name)
        raise unsupported(name)
    if _fits(args, covered) and _are_known(kwargs, covered):
        return covered(*args, **kwargs)
    args, given = _translated(function, covered, args, kwargs)
    out = destination(given.pop("out", None), name) if "out" not in parameters(covered) else None
    for keyword in given:
        if keyword not in parameters(covered) and not takes_any_keyword(covered):
            raise unsupported_keyword(name, keyword)
    result = covered(*args, **given)
    return result if out is None else write(out, result, name)


def _name_of(function: Any) -> str:
    """The name of a function of NumPy: below its submodule's, where it is in one."""
    module = getattr(function, "__module__", None) or ""
    name = f"{module}.{function.__name__}".removeprefix("numpy.").removeprefix("lib.")
    _names[function] = name
    return name


def _fits(args: Sequence[Any], covered: Any) -> bool:
    """Whether the function takes so many arguments by position; ``*args`` is any number."""
    code = covered.__code__
    return len(args) <= code.co_argcount or bool(code.co_flags & _HAS_ARGUMENTS)


def _are_known(kwargs: Mapping[str, Any], covered: Any) -> bool:
    if not kwargs:
        return True
    known = parameters(covered)
    return takes_any_keyword(covered) or all(name in known for name in kwargs)


def _translated(
    function: Any, covered: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The call in the parameters of the covering function, whose arrays have names of their own.

    What has NumPy's default is left out, so that a wrapper may say ``where=True``.
    """
    try:
        signature = import_module("inspect").signature(function)
    except ValueError:  # an old NumPy does not tell the signature of what is written in C
        return tuple(args), dict(kwargs)
    rename = _renamings.get(function)
    if rename is None:
        rename = _renamings[function] = _renaming(signature.parameters, covered)
    rest: tuple[Any, ...] = ()
    given: dict[str, Any] = {}
    for name, value in signature.bind(*args, **kwargs).arguments.items():
        parameter = signature.parameters[name]
        if parameter.kind is parameter.VAR_POSITIONAL:
            rest, given = (*given.values(), *value), {}  # what stands before it goes by position
        elif parameter.kind is parameter.VAR_KEYWORD:
            given.update(value)
        elif value is not parameter.default:
            given[rename.get(name, name)] = value
    return rest, given


def _renaming(theirs: Mapping[str, Any], covered: Any) -> dict[str, str]:
    """NumPy's names of arrays, by position, to those of the covering function."""
    pairs = zip(theirs, positional(covered), strict=False)
    known = parameters(covered)
    return {a: b for a, b in pairs if a not in known and b not in theirs}


class NumpyFunctions(dict[str, Covered]):
    """Covered functions of NumPy by name, in alphabetical order."""


def numpy_functions() -> NumpyFunctions:
    """Covered functions of NumPy by name: primitives, differentiable or not, keywords.

    >>> numpy_functions()["matmul"].is_differentiable
    True
    """
    table = import_module("tenferro.array._numpy_table").TABLE
    return NumpyFunctions(
        (name, Covered(*table[name], keywords_of(name)))
        for name in sorted(table)
        if name in FUNCTIONS
    )
