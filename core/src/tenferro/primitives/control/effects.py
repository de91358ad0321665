"""Effects in the bodies of loops and branches. Read next: ``batching.py``."""

from __future__ import annotations

from typing import Any

_EFFECT = "std::debug_callback"


def has_effects(operation: Any) -> bool:
    """Return True if a closed graph of an operation, or one inside it, calls back for an effect."""
    todo = [body for _, body in getattr(operation, "bodies", ())]
    while todo:
        flat = todo.pop().flat
        classes = flat.operation_counts  # that the graph remembers
        if _EFFECT in [getattr(cls, "key", "") for cls in classes]:
            return True
        if any([hasattr(cls, "bodies") for cls in classes]):
            given = [getattr(node.operation, "bodies", ()) for node in flat.nodes]
            todo += [body for bodies in given for _, body in bodies]
    return False
