"""Lazy names of packages (PEP 562): a file is imported when one of its names is first used.

A program uses a part of what there is, and each file costs a fresh process a quarter of a
millisecond to load, and as much again to let go. A package imports what every program needs, and
says of the rest in which file each name is; type checkers are told by imports that only they read:

    if TYPE_CHECKING:
        from tenferro.example._file import name
    else:
        __getattr__, __dir__ = later(__name__, {"_file": "name"})
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from tenferro._runtime.collector import CollectorPaused


def later(
    package: str,
    files: Mapping[str, str],
    otherwise: Callable[[str], Any] = lambda name: None,
    publish: Callable[[str, Any], Any] = lambda name, found: found,
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` for a package whose names load at first use (PEP 562).

    ``files`` lists the names by file. ``otherwise`` finds names that are not listed. The package
    keeps what is found, in the form that ``publish`` gives it.
    """
    file_of = {name: file for file, names in files.items() for name in names.split()}

    def find(name: str) -> Any:
        file = file_of.get(name)
        if file is None:
            found = otherwise(name)
        else:
            with CollectorPaused():
                found = getattr(import_module(f"{package}.{file}"), name)
        if found is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = publish(name, found)
        setattr(sys.modules[package], name, found)
        return found

    def public() -> list[str]:
        return sorted(sys.modules[package].__all__)

    return find, public
