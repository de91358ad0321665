"""The whole standard set: every primitive that the package lists, in the order of the keys.

It is found by listing, and loads every family. Read next: ``elementwise.py``.
"""

from __future__ import annotations

from tenferro import primitives
from tenferro.primitives._primitive import TensorPrimitive


def _listed() -> list[type[TensorPrimitive]]:
    named = [getattr(primitives, name) for name in primitives.__all__ if name != "STANDARD"]
    classes = [x for x in named if isinstance(x, type) and issubclass(x, TensorPrimitive)]
    return [cls for cls in classes if cls.key.startswith("std::")]


STANDARD: tuple[type[TensorPrimitive], ...] = tuple(sorted(_listed(), key=lambda cls: cls.key))
