"""Effects in the bodies of loops and branches. Read next: ``batching.py``."""

from __future__ import annotations

from typing import Any

_EFFECT = "std::debug_callback"


def has_effects(operation: Any) -> bool:
    """Return True if a closed graph of an operation, or one inside it, calls back for an effect."""
    todo = [body for _, body in getattr(operation, "bodies", ())]
    while todo:
        for node in todo.pop().flat.nodes:
            if getattr(node.operation, "key", "") == _EFFECT:
                return True
            todo += [body for _, body in getattr(node.operation, "bodies", ())]
    return False
