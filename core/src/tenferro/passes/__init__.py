"""Graph passes: a graph that computes the same with less, before a backend compiles it.

A pass never changes a dtype or a shape, and a result by rounding at most; each file says what it
may do beyond that, with its reasons. ``docs/passes.md`` shows each pass at work. Importing this
loads no pass: they come with the first program.
Read in this order: ``_rewriter``, ``_driver``, ``arithmetic``, then any other.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tenferro.passes._errors import UnknownPassError
from tenferro.passes._selection import NAMES, selected

if TYPE_CHECKING:
    from tenferro.passes._driver import Report, optimized

__all__ = ["NAMES", "Report", "UnknownPassError", "optimized", "selected"]


def __getattr__(name: str) -> Any:
    """What the driver defines, loaded with the passes when it is first asked for."""
    if name not in ("Report", "optimized"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module("tenferro.passes._driver"), name)
    return value
