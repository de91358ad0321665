"""The platform that a program is being traced for, which lowerings read to suit its libraries.

What they give is right on every platform: a program that is exported for several is traced once,
for the CPU if that is among them. Read next: ``_trace.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["is_for_cpu", "traced_for"]

_in_force: ContextVar[str | None] = ContextVar("tenferro_xla_platform", default=None)


@contextmanager
def traced_for(platform: str) -> Iterator[None]:
    """Let lowerings that are called meanwhile suit a platform."""
    token = _in_force.set(platform)
    try:
        yield
    finally:
        _in_force.reset(token)


def is_for_cpu() -> bool:
    """Return True while a program is traced for the CPU."""
    return _in_force.get() == "cpu"
