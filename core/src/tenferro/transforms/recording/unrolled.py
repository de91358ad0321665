"""Loops, branches and jitted functions as plain Python, for debugging: ``debug.unrolled``.

Read next: ``inspection/callbacks.py``.
"""

from __future__ import annotations

from contextvars import ContextVar, Token

from tenferro.arrays import Array
from tenferro.arrays.handle.weak import WeakName, is_weak
from tenferro.tidu import Trace, pin

_unrolling: ContextVar[bool] = ContextVar("tenferro_unrolling", default=False)


class _State:
    """True from the first time on that anything was unrolled: calls of programs look here first."""

    was_entered = False


state = _State()


class unrolled:
    """Run loops, branches and jitted functions as plain Python, in a ``with`` statement.

    ``scan``, ``fori_loop`` and ``map`` call their body once per step, on values that are known:
    ``print``, ``breakpoint``, ``if`` and ``debug.print`` work in it. ``while_loop``, ``cond`` and
    ``switch`` look at their condition, and call what it chooses; where the condition differs
    between examples (``vmap``) they stay as they are. A function under ``jit`` is called, not
    traced. An error in a body has a note that names the loop and the step. ``grad`` and the other
    derivatives give the same results. It applies to the current thread or task.

    >>> import numpy as np
    >>> import tenferro as tn
    >>> def step(total, x):
    ...     total = total + x
    ...     print("total", total.item())
    ...     return total, None
    >>> with tn.debug.unrolled():
    ...     last, _ = tn.scan(step, 0.0, np.array([1.0, 2.0]))
    total 1.0
    total 3.0
    """

    def __init__(self) -> None:
        self._tokens: list[Token[bool]] = []

    def __enter__(self) -> None:
        state.was_entered = True
        self._tokens.append(_unrolling.set(True))

    def __exit__(self, *exception: object) -> None:
        _unrolling.reset(self._tokens.pop())


def as_number(x: Array, label: str, is_counter: bool = False) -> Array:
    """Return a number that was written in Python as a known value whose dtype yields to others."""
    trace = Trace()
    key = pin(x.key, trace)
    key.identity = WeakName(label, trace.id.serial, is_counter=is_counter)
    trace.open = False
    return Array(key, x.flow)


def strong(x: Array) -> Array:
    """Return the value of a number as one whose dtype does not yield, and any other as it is."""
    if not is_weak(x):
        return x
    trace = Trace()
    key = pin(x.key, trace)
    trace.open = False
    return Array(key, x.flow)


def is_unrolling() -> bool:
    """Return True inside ``debug.unrolled``."""
    return state.was_entered and _unrolling.get()
