"""Programs that outlive the process: found on disk by what they were made of.

A function that a script differentiates costs recording, derivatives, graph passes and planning at
its first call, in every process anew. With a folder (``TENFERRO_PROGRAMS`` or ``keep_programs``)
only recording is left from the second process on. Nothing here decides what a program computes: a
program is found by a digest of the key under which the process would keep it, of the source files
that make programs, and of the machine. What has no digest is not kept. Read in this order:
``names``, ``sources``, ``forms``, ``folder``, ``keeper``.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Hashable
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from tenferro._runtime import later

if TYPE_CHECKING:
    from tenferro.backend.base import Backend
    from tenferro.backend.kept.keeper import Keeper
    from tenferro.backend.kept.keeper import keep_programs as keep_programs
else:
    __getattr__, __dir__ = later(__name__, {"keeper": "keep_programs"})

__all__ = ["VARIABLE", "keep_programs", "kept_or_made"]

T = TypeVar("T")
VARIABLE = "TENFERRO_PROGRAMS"  # a folder; empty or absent: programs end with the process
LOADED_AT = time.time_ns()  # about when the code of this process was read
_state: dict[str, Keeper | None] = {}


def kept_or_made(key: Hashable, backend: Backend, make: Callable[[], T]) -> T:
    """Return the program of a key from the folder, or make it and keep it at the end of the
    process.

    ``key`` is all that the program depends on besides the backend.
    """
    if not backend.keeps_programs:
        return make()
    keeper = keeper_now()
    return make() if keeper is None else keeper.get_or_make(key, backend, make)


def keeper_now() -> Keeper | None:
    """Return what keeps programs in this process; None without a folder."""
    try:
        return _state["keeper"]
    except KeyError:
        named = os.environ.get(VARIABLE)
        return use_folder(named, VARIABLE) if named else _state.setdefault("keeper", None)


def use_folder(folder: str | None, said_by: str) -> Any:
    """Keep programs in a folder from now on, or nowhere; ``said_by`` names it in errors."""
    made = None
    if folder is not None:
        made = import_module("tenferro.backend.kept.keeper").Keeper.of(folder, said_by)
    _state["keeper"] = made
    return made
