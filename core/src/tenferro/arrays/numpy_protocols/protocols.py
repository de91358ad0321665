"""NumPy's two protocols: functions and ufuncs of NumPy that are given an Array come here.

A function is found by its name in the table of ``registry.py``; NumPy is not imported. What the
table lacks is a TypeError that names the nearest thing that it has, never a silent conversion. Read
next: ``numpy_protocols/ufuncs.py`` (keywords and methods of ufuncs), ``numpy_protocols/writing.py``
(``out=``).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays.handle import again
from tenferro.arrays.handle.array import PLAIN_UFUNCS, Array
from tenferro.arrays.handle.memo import memo_of
from tenferro.arrays.numpy_protocols.polynomial_series import refuse_other_shape
from tenferro.arrays.numpy_protocols.writing import destination, write
from tenferro.arrays.registry import (
    FUNCTIONS,
    Covered,
    covers,
    keywords_of,
    parameters,
    positional,
    takes_any_keyword,
    takes_any_positional,
)
from tenferro.computegraph._keys import LENT

_HAS_ARGUMENTS = 0x04  # flag of code objects with *args
_ANY = 1 << 30
_MEMORY = frozenset(("atleast_1d", "atleast_2d"))  # by which SciPy's solvers take results
_FILES = frozenset(("save", "savetxt", "savez", "savez_compressed"))  # NumPy writes the values
_plans: dict[Any, _Plan] = {}
_renamings: dict[Any, Mapping[str, Any]] = {}


@covers("__array_ufunc__")
def array_ufunc(ufunc: Any, method: str, inputs: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Apply a NumPy ufunc, or one of its methods, to arrays."""
    name = ufunc.__name__
    function = FUNCTIONS.find(name)
    if not kwargs and method == "__call__" and function is not None:
        if len(inputs) == 2 and type(inputs[0]) is not Array:
            refuse_other_shape(sys._getframe(2))  # a series of np.polynomial, see there
        return _plain(ufunc, function, inputs)
    if method == "__call__" and function is not None:
        return _loaded("ufuncs").call(ufunc, function, inputs, kwargs)
    destination(kwargs.get("out"), name)
    if function is None:
        special = sys.modules.get("scipy.special")
        library = "scipy.special" if getattr(special, name, None) is ufunc else "np"
        raise _hints().unsupported(name if method == "__call__" else f"{name}.{method}", library)
    return _loaded("ufunc_methods").METHODS[method](ufunc, function, *inputs, **kwargs)


def _loaded(file: str) -> Any:
    """Import a module of this folder at its first use; few programs need it."""
    return import_module(f"tenferro.arrays.numpy_protocols.{file}")


def _hints() -> Any:
    """Import what suggests other functions; it loads with the first error."""
    return import_module("tenferro.arrays.diagnosis.hints")


def _plain(ufunc: Any, function: Callable[..., Any], inputs: Sequence[Any]) -> Any:
    """Apply a ufunc that was called with operands alone."""
    count = getattr(ufunc, "nin", 0)
    if count == 1:
        PLAIN_UFUNCS[ufunc] = function = _remembering(ufunc, function)
    memo = memo_of(inputs) if LENT and count == 2 else None
    if memo is None:
        return function(*inputs)
    x, y = inputs
    if type(x) is Array and x.key.memo is memo:
        return again.binary(memo, ufunc, ufunc.__name__, function, x, y)
    if type(y) is Array and y.key.memo is memo:
        what = f"reflected {ufunc.__name__} of NumPy"
        return again.binary(memo, what, ufunc.__name__, lambda y, x: function(x, y), y, x)
    return function(x, y)


def _remembering(ufunc: Any, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of one operand that looks into the memo of an Array."""

    def plain(x: Any) -> Any:
        memo = x.key.memo
        return function(x) if memo is None else again.unary(memo, ufunc, function, x)

    return plain


@covers("__array_function__")
def array_function(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Apply a NumPy function to arrays."""
    name = function.__name__
    if name == "prod":
        refuse_other_shape(sys._getframe(2))  # np.polynomial's polyvalfromroots
    if name in _MEMORY and _is_called_by_scipy():
        return _as_memory(function, args, kwargs)
    if name in _FILES:
        return _as_memory(function, args, kwargs)
    memo = memo_of(args) if LENT else None
    if memo is None:
        return _call(function, args, kwargs)
    given = [again.data(x) for x in args] if name in _OF_DATA else args

    def record(*args: Any, **kwargs: Any) -> Any:
        return _call(function, args, kwargs)

    return again.call(memo, function, record, given, kwargs)


# functions whose positional arguments of NumPy are all data, and may be Arrays as well
_OF_DATA = frozenset(
    "concatenate dot einsum hstack inner kron outer solve stack tensordot vdot vstack where".split()
)


def _call(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Call the function that covers one of NumPy."""
    plan = _plans.get(function)
    if plan is None:
        plan = _plan(function, kwargs)
    covered = plan.covered
    if len(args) <= plan.positional and (not kwargs or plan.takes(kwargs)):
        return covered(*args, **kwargs)
    args, given = _translated(function, covered, args, kwargs)
    out = None if "out" in plan.keywords else destination(given.pop("out", None), plan.name)
    for keyword in given:
        if keyword not in plan.keywords:
            raise _hints().unsupported_keyword(plan.name, keyword)
    result = covered(*args, **given)
    return result if out is None else write(out, result, plan.name)


def _is_called_by_scipy() -> bool:
    """Return True if SciPy, not the user's program, called the NumPy function."""
    module = sys._getframe(3).f_globals.get("__name__") or ""
    return module.startswith("scipy.")


def _as_memory(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Call a function of NumPy on memory of NumPy: solvers of SciPy write into what it returns.

    Raises TracedConversionError: for an array on which a transform is open.
    """
    asarray = sys.modules["numpy"].asarray
    given = [asarray(x) if isinstance(x, Array) else x for x in args]
    named = {name: asarray(x) if isinstance(x, Array) else x for name, x in kwargs.items()}
    return function(*given, **named)


class _Plan(NamedTuple):
    """Plan of a NumPy call: the covering function, and the arguments that it takes unchanged."""

    name: str
    covered: Any
    positional: int
    keywords: frozenset[str]
    takes_any: bool

    def takes(self, keywords: Mapping[str, Any]) -> bool:
        """Return True if the covering function has parameters of these names."""
        return self.takes_any or self.keywords.issuperset(keywords)


def _plan(function: Any, kwargs: Mapping[str, Any]) -> _Plan:
    name = _name_of(function)
    covered = FUNCTIONS.find(name)
    if covered is None or name.startswith("__"):
        destination(kwargs.get("out"), name)
        raise _hints().unsupported(name)
    count = _ANY if takes_any_positional(covered) else len(positional(covered))
    keywords, takes_any = frozenset(parameters(covered)), takes_any_keyword(covered)
    plan = _plans[function] = _Plan(name, covered, count, keywords, takes_any)
    return plan


def _name_of(function: Any) -> str:
    """Return the name of a NumPy function, with its submodule if it is in one."""
    module = getattr(function, "__module__", None) or ""
    module = module.replace("lib._scimath_impl", "lib.scimath")  # its name in NumPy 2.1
    return f"{module}.{function.__name__}".removeprefix("numpy.").removeprefix("lib.")


def _fits(args: Sequence[Any], covered: Any) -> bool:
    """Return True if the function takes that many positional arguments."""
    code = covered.__code__
    return len(args) <= code.co_argcount or bool(code.co_flags & _HAS_ARGUMENTS)


def _translated(
    function: Any, covered: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Translate a call to the parameters of the covering function, whose arrays have other names.

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
    """Return the covered NumPy functions by name: primitives, differentiability, keywords.

    >>> import tenferro as tn
    >>> tn.numpy_functions()["matmul"].is_differentiable
    True
    """
    table = import_module("tenferro.arrays.numpy_protocols.numpy_table").TABLE
    return NumpyFunctions(
        (name, Covered(table[name][0], table[name][1], keywords_of(name)))
        for name in sorted(table)
        if name in FUNCTIONS
    )
