"""NumPy's two protocols: functions and ufuncs of NumPy that are given an Array come here.

A function is found by its name in the table of ``_registry.py``; NumPy is not imported. What the
table lacks is a TypeError that names the nearest thing that it has, never a silent conversion.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from tenferro.array._errors import ImmutableArrayError, UnsupportedFunctionError
from tenferro.array._registry import FUNCTIONS, covers
from tenferro.primitives._source import caller, source_text

_REDUCTIONS = {
    "add": "sum",
    "multiply": "prod",
    "maximum": "max",
    "minimum": "min",
    "logical_and": "all",
    "logical_or": "any",
}


@covers("__array_ufunc__")
def array_ufunc(ufunc: Any, method: str, inputs: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """A ufunc of NumPy, or its ``reduce``, applied to arrays."""
    name = ufunc.__name__
    if not kwargs and method == "__call__":
        plain = FUNCTIONS.get(name)
        if plain is not None:
            return plain(*inputs)
    given = {k: v for k, v in kwargs.items() if not (k == "where" and v is True)}
    if given.get("out") is not None:
        raise _writing(name)
    given.pop("out", None)
    if method == "reduce" and name in _REDUCTIONS:
        return _call(f"{name}.reduce", FUNCTIONS[_REDUCTIONS[name]], (*inputs,), _reduce(given))
    function = FUNCTIONS.get(name)
    if method != "__call__" or function is None:
        raise _unsupported(name if method == "__call__" else f"{name}.{method}")
    return _call(name, function, inputs, given)


def _reduce(kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Keywords of a ufunc's ``reduce``, where axis 0 is the default."""
    return {"axis": 0, **kwargs}


@covers("__array_function__")
def array_function(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """A function of NumPy applied to arrays."""
    name = function.__name__
    module = getattr(function, "__module__", None) or ""
    covered = FUNCTIONS.get(name) if module in ("numpy", "numpy.linalg") else None
    if covered is None or name.startswith("__"):
        raise _unsupported(f"{module}.{name}".removeprefix("numpy."))
    given = dict(kwargs)
    if given.get("out") is not None:
        raise _writing(name)
    return _call(name, covered, args, {k: v for k, v in given.items() if k != "out"})


def _call(name: str, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Call the covering function; a keyword that it does not take is an error that says so."""
    missing = _missing_keywords(function, kwargs)
    if missing:
        raise UnsupportedFunctionError(
            f"np.{name}: the keyword {missing[0]!r} is not covered for tenferro arrays\n"
            f"  from       {source_text(caller())}",
            function=name,
            nearest=name,
            keyword=missing[0],
        )
    return function(*args, **kwargs)


def _missing_keywords(function: Any, kwargs: Mapping[str, Any]) -> list[str]:
    code = function.__code__
    known = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    takes_any = bool(code.co_flags & 0x08)
    return [] if takes_any else [name for name in kwargs if name not in known]


def _writing(name: str) -> ImmutableArrayError:
    return ImmutableArrayError(
        f"np.{name} cannot write an Array into memory (`out=`, or an augmented assignment to an\n"
        "  ndarray such as `buf += x`)\n"
        f"  from       {source_text(caller())}\n"
        "  hint       start from `np.zeros_like(x)` with x an Array, or write `buf = buf + x`",
        function=name,
    )


def _unsupported(name: str) -> UnsupportedFunctionError:
    public = sorted(key for key in FUNCTIONS if not key.startswith("_"))
    difflib = sys.modules.get("difflib") or __import__("difflib")
    near = difflib.get_close_matches(name.rpartition(".")[2], public, n=1, cutoff=0.7)
    nearest = near[0] if near else None
    return UnsupportedFunctionError(
        f"np.{name} is not covered for tenferro arrays\n"
        f"  from       {source_text(caller())}\n"
        + (f"  nearest    np.{nearest}\n" if nearest else "")
        + "  hint       `tenferro.numpy_functions()` lists what is covered; for a value that is\n"
        "             meant as a constant, call it on `np.asarray(tenferro.stop_gradient(x))`",
        function=name,
        nearest=nearest,
    )


def numpy_functions() -> tuple[str, ...]:
    """Names of the NumPy functions that work on arrays, sorted.

    >>> "matmul" in numpy_functions()
    True
    """
    hidden = {"getitem", "asarray", "array", "logistic", "expit", "erf", "flatten", "pow", "concat"}
    return tuple(sorted(n for n in FUNCTIONS if not n.startswith("_") and n not in hidden))
