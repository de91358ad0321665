"""Special functions on CuPy: those of `cupyx.scipy.special`, imported when one is first used.

Read next: `contraction.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like import SPECIAL, family

__all__ = ["register"]


def register(lowerings: Lowerings, xp: Any, special: Any = None) -> None:
    """Register what the shared lowerings lack; `special` stands in for CuPy's module."""

    def find(name: str) -> Callable[..., Any]:
        function: Callable[..., Any] = getattr(special or _cupy_special(), name)
        return function

    for name in SPECIAL:
        family(name).register(lowerings, xp, find)


def _cupy_special() -> Any:
    from cupyx.scipy import special  # noqa: PLC0415 - with the library only

    return special
