"""Programs as bytes and back: pickles that also hold functions made by functions.

Kernels are closures of functions of the library, or functions compiled from text that the library
wrote; Python pickles neither. Here such a function is its code, the names of its module and the
values that it closes over. A backend and its table of lowerings are those of the process that
reads. The backend says how arrays are written (``Backend.kept_value``): constants are, memory that
runs use is not.
"""

from __future__ import annotations

import io
import marshal
import pickle
from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from sys import stdlib_module_names
from types import BuiltinFunctionType, CellType, FunctionType, ModuleType
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.backend.base import Backend, Executable
from tenferro.backend.lowering import LoweringTable

_PROTOCOL = 5
_BACKEND, _TABLE = "backend", "table"
_LIBRARIES = ("", "numpy", "scipy", "optree", "opt_einsum")  # empty: text that a backend compiled


class NotKept(Exception):
    """Signal, never shown: a program holds a value that cannot be moved to another process."""


def written(value: object, backend: Backend, is_known: Callable[[str], bool]) -> bytes:
    """Return a program as bytes; ``is_known`` tells the packages whose source is known.

    Raises NotKept: if it holds a value that cannot be moved to another process.
    """
    file = io.BytesIO()
    try:
        _Pickler(file, backend, is_known).dump(value)
    except NotKept:
        raise
    except Exception as error:  # whatever the parts of a program raise
        raise NotKept(str(error)) from error
    return file.getvalue()


def read(content: bytes, backend: Backend) -> Any:
    """Return the program of some bytes, for a backend."""
    return _Unpickler(io.BytesIO(content), backend).load()


class _Pickler(pickle.Pickler):
    def __init__(self, file: io.BytesIO, backend: Backend, is_known: Callable[[str], bool]) -> None:
        super().__init__(file, _PROTOCOL)
        self._backend = backend
        self._is_known = is_known
        self._codes: dict[Any, bytes] = {}  # one object for equal code, which is then written once

    def persistent_id(self, value: Any) -> str | None:
        if value is self._backend:
            return _BACKEND
        return _TABLE if value is self._backend.lowerings else None

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, FunctionType):
            return self._function(value)
        if isinstance(value, (type, BuiltinFunctionType)):
            self._check(value)
            return NotImplemented
        if isinstance(value, ModuleType):
            self._check_package(value.__name__, value.__name__)
            return import_module, (value.__name__,)
        if isinstance(value, NamedTuple):  # made again without its constructor
            return tuple.__new__, (type(value), value.__getnewargs__())  # type: ignore[attr-defined]
        if isinstance(value, Executable):
            found = value.kept()
            if found is None:
                raise NotKept(f"{type(value).__name__} cannot be kept")
            return found
        if isinstance(value, (Backend, LoweringTable)):
            raise NotKept("a program of several backends")
        return self._backend.kept_value(value)

    def _check(self, value: Any) -> None:
        """Raise NotKept for a class or function of a package whose source is not known."""
        self._check_package(value.__module__ or "", value.__qualname__)

    def _check_package(self, module: str, what: str) -> None:
        package = module.partition(".")[0]
        if not (package in _LIBRARIES or package in stdlib_module_names or self._is_known(package)):
            raise NotKept(f"{what} of {module}")

    def _function(self, function: FunctionType) -> Any:
        """Return how a function is made again; one that has a name is found by it."""
        self._check(function)
        module = function.__module__ or ""
        if module and "<" not in function.__qualname__:
            return NotImplemented
        if function.__dict__:
            raise NotKept(f"the function {function.__qualname__} of {module}")
        code = self._codes.setdefault(function.__code__, marshal.dumps(function.__code__))
        cells = function.__closure__ or ()
        try:
            closed = tuple([cell.cell_contents for cell in cells])
        except ValueError:  # a cell that is empty
            raise NotKept(f"the function {function.__qualname__}") from None
        parts = code, module, function.__qualname__, function.__defaults__, function.__kwdefaults__
        return function_of, (*parts, closed)


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, backend: Backend) -> None:
        super().__init__(file)
        self._backend = backend

    def persistent_load(self, name: str) -> Any:
        return self._backend if name == _BACKEND else self._backend.lowerings


def function_of(
    code: bytes,
    module: str,
    name: str,
    defaults: tuple[Any, ...] | None,
    named: dict[str, Any] | None,
    closed: tuple[Any, ...],
) -> Callable[..., Any]:
    """Make a function of its parts."""
    names = vars(import_module(module)) if module else {}
    cells = tuple([CellType(value) for value in closed])
    made = FunctionType(_code(code), names, name.rpartition(".")[2], defaults, cells)
    made.__kwdefaults__ = named
    made.__qualname__ = name
    return made


@lru_cache(maxsize=1024)
def _code(content: bytes) -> Any:
    return marshal.loads(content)
