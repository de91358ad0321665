"""Looks at values on which the rest of a program depends, while `jit(dynamic=True)` traces it.

A size may depend on values: how many elements a mask selects, which integer an array holds. Where
the values are known, whoever needs the size computes it. Where they are only traced, the observer
that `jit(dynamic=True)` sets answers instead. Read next: ``transforms/compilation/dynamic.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from tenferro.arrays.handle.array import Array

Find = Callable[..., Sequence[Any]]


class Observer(Protocol):
    """Whoever knows values of the program that is being traced."""

    def found(self, xs: Sequence[Array], find: Find, asked: str) -> Sequence[Any] | None:
        """Return what ``find`` computes of the values: its integers, and Arrays for its arrays.

        Return None if the values are known without an observer, or belong to no open trace.
        """


_observer: ContextVar[Observer | None] = ContextVar("tenferro_looks", default=None)


@contextmanager
def observing(observer: Observer | None) -> Iterator[None]:
    """Let the observer answer looks at traced values in this block."""
    token = _observer.set(observer)
    try:
        yield
    finally:
        _observer.reset(token)


def is_observed() -> bool:
    """Return True if a function is being traced whose looks at values are answered."""
    return _observer.get() is not None


def found_in(xs: Sequence[Array], find: Find, asked: str) -> Sequence[Any] | None:
    """Return what ``find`` computes of traced values; None where no observer answers."""
    observer = _observer.get()
    return None if observer is None else observer.found(xs, find, asked)


def number_in(x: Array, asked: str) -> Any:
    """Return the value of a traced array that holds one number; None where no observer answers."""
    if x.ndim or asked in _TEXTS:
        return None
    answer = found_in([x], _KINDS.get(asked, _number), asked)
    return None if answer is None else answer[0]


_TEXTS = ("format()", "str()", "repr()")


def _number(value: Any) -> tuple[Any]:
    return (value,)


def _integer(value: Any) -> tuple[int]:
    return (int(value),)


def _truth(value: Any) -> tuple[bool]:
    return (bool(value),)


_KINDS: dict[str, Find] = {"int()": _integer, "bool()": _truth}


def true_positions(mask: Any) -> Sequence[Any]:
    """Return the positions of true elements, one array per axis."""
    found: Sequence[Any] = mask.nonzero()
    return found
