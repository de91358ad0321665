"""The table of covered NumPy functions, by name.

One table serves operators and methods of ``Array``, both NumPy protocols and the public namespace.
A function registers itself under NumPy's name with ``@covers("add")``; one of a submodule under its
path, ``"linalg.trace"``. A ufunc says so, since its keywords and methods come from
``numpy_protocols/ufuncs.py``. A family loads with the first question for one of its functions;
``families.py`` lists them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any, TypeVar

from tenferro._runtime import CollectorPaused, NamedTuple
from tenferro.arrays.families import FAMILIES


class Functions(dict[str, Callable[..., Any]]):
    """Covering functions by name; a family loads when one of its functions is asked for."""

    def load(self) -> None:
        """Load every family."""
        for family in FAMILIES:
            _load(family)

    def find(self, name: str) -> Callable[..., Any] | None:
        """Return the function of a name, if there is one."""
        found = self.get(name)
        if found is None and name in _FAMILY_OF:
            module = _load(_FAMILY_OF[name])
            found = self.get(name)
            if found is None:  # a signal handler interrupted the import of the family
                _execute_again(module)
                found = self.get(name)
        return found

    def __missing__(self, name: str) -> Callable[..., Any]:
        found = self.find(name)
        if found is None:
            raise KeyError(name)
        return found

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.find(name) is not None

    def __iter__(self) -> Iterator[str]:
        self.load()
        return super().__iter__()


def _load(family: str) -> ModuleType:
    with CollectorPaused():
        return import_module(f"tenferro.arrays.functions.{family}")


def _execute_again(module: ModuleType) -> None:
    """Register the functions of a half-imported family by executing its file in another module."""
    spec = module.__spec__
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(ModuleType(module.__name__))


FUNCTIONS = Functions()
_FAMILY_OF = {name: family for family, names in FAMILIES.items() for name in names.split()}
UFUNCS: set[str] = set()
UFUNC_KEYWORDS = ("out", "where", "casting", "order", "dtype", "subok", "signature")
_F = TypeVar("_F", bound=Callable[..., Any])
_HAS_POSITIONALS = 0x04  # flag of code objects with *args
_HAS_KEYWORDS = 0x08  # flag of code objects with **kwargs


class Covered(NamedTuple):
    """Coverage of a NumPy function."""

    primitives: tuple[str, ...]  # that its examples record
    is_differentiable: bool
    keywords: tuple[str, ...]


def covers(*names: str, ufunc: bool = False) -> Callable[[_F], _F]:
    """Register a function under the names that NumPy has for it."""

    def register(function: _F) -> _F:
        for name in names:
            FUNCTIONS[name] = function
        if ufunc:
            UFUNCS.update(names)
        return function

    return register


@cache  # the code object makes the tuple anew each time
def parameters(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the names of the parameters that can be given by keyword, in order."""
    code = function.__code__
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


@cache
def positional(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the names of the parameters that can be given by position."""
    code = function.__code__
    return code.co_varnames[: code.co_argcount]


def takes_any_keyword(function: Callable[..., Any]) -> bool:
    """Return True if the function has ``**keywords``."""
    return bool(function.__code__.co_flags & _HAS_KEYWORDS)


def takes_any_positional(function: Callable[..., Any]) -> bool:
    """Return True if the function has ``*arguments``."""
    return bool(function.__code__.co_flags & _HAS_POSITIONALS)


def keywords_of(name: str) -> tuple[str, ...]:
    """Return the keywords that a covered function claims to support."""
    own = parameters(FUNCTIONS[name])
    return own + UFUNC_KEYWORDS if name in UFUNCS else own
