"""Effects: operations that are there for what they do, and that no result needs.

Where the values that an effect reads are known, it happens at once, inside ``grad`` and ``jvp``
too. Where they are only traced, whoever records the program collects the effect and makes it a
root: ``jit`` puts it behind the results of its program, ``vmap`` batches it, each in program
order. Read next: ``inspection/callbacks.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from tenferro.arrays import evaluate_keys
from tenferro.arrays.handle.array import evaluable
from tenferro.computegraph import UNKNOWN, ValueKey

_collected: ContextVar[list[ValueKey] | None] = ContextVar("tenferro_effects", default=None)


class _EveryStep(list[ValueKey]):
    """Effects of a body, which happen at every step, on known values too."""


@contextmanager
def collecting(every_step: bool = False) -> Iterator[list[ValueKey]]:
    """Collect the effects of a program in program order while it is recorded.

    With ``every_step`` nothing happens at once, not even where all values are known.
    """
    effects: list[ValueKey] = _EveryStep() if every_step else []
    token = _collected.set(effects)
    try:
        yield effects
    finally:
        _collected.reset(token)


_silent: ContextVar[bool] = ContextVar("tenferro_silent", default=False)


@contextmanager
def silenced() -> Iterator[None]:
    """Suppress effects while a function runs again whose effects have already happened."""
    token = _silent.set(True)
    try:
        yield
    finally:
        _silent.reset(token)


def is_silent() -> bool:
    """Return True if effects are suppressed."""
    return _silent.get()


def is_every_step() -> bool:
    """Return True while a body is recorded, whose effects happen at every step."""
    return type(_collected.get()) is _EveryStep


def perform(effects: Sequence[ValueKey]) -> None:
    """Let effects happen now, if what they read is known; else the program being recorded has them.

    A function that is only looked at (``trace``, ``eval_shape``) has no effects.
    """
    if is_silent():
        return
    for effect in effects:
        if effect.operand is not UNKNOWN:
            continue
        if not is_every_step() and evaluable(effect):
            evaluate_keys([effect])
            continue
        collected = _collected.get()
        if collected is not None:
            collected.append(effect)


class WithoutEffects:
    """An executable without the tokens of its effects, which are its last results."""

    __slots__ = ("_count", "_run")

    def __init__(self, run: Any, count: int) -> None:
        self._run = run
        self._count = count

    def __call__(self, *operands: Any) -> Any:
        """Run, and leave the tokens out."""
        return self._run(*operands)[: self._count]

    def specialized(self, operands: Sequence[Any]) -> Any:
        """Return what runs operands like these, and leaves the tokens out."""
        return WithoutEffects(self._run.specialized(operands), self._count)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._run, name)
