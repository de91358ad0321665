"""Silence NumPy's floating-point warnings during a call, at a tenth of the cost of `np.errstate`.

NumPy keeps its error state in a context variable. Which one that is can be seen from outside: it is
the variable that `np.errstate` changes. Where none is found, `np.errstate` itself is used.
Settings are per thread and per task, as NumPy's are. Read next: `executable.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar, copy_context
from functools import partial
from typing import Any

import numpy as np

__all__ = ["restore", "silence"]


def _error_state() -> tuple[ContextVar[Any], Any] | None:
    """Find the variable that holds NumPy's error state, and its value when all is ignored."""
    with np.errstate(all="call"):
        before = dict(copy_context().items())
        with np.errstate(all="ignore"):
            inside = copy_context()
    changed = [var for var in inside if before.get(var) is not inside[var]]
    return (changed[0], inside[changed[0]]) if len(changed) == 1 else None


def _by_variable(variable: ContextVar[Any], silent: Any) -> tuple[Callable[[], Any], Any]:
    return partial(variable.set, silent), variable.reset


def _by_errstate() -> tuple[Callable[[], Any], Callable[[Any], None]]:
    def enter() -> Any:
        state = np.errstate(all="ignore")
        state.__enter__()
        return state

    return enter, lambda state: state.__exit__(None, None, None)


_found = _error_state()
#: `token = silence()`, and `restore(token)` whatever happens in between
silence, restore = _by_errstate() if _found is None else _by_variable(*_found)
