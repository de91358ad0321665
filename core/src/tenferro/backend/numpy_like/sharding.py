"""Sharding on backends that run on one device: nothing is split, which one warning says."""

from __future__ import annotations

import warnings
from typing import Any

from tenferro.backend._errors import ShardingIgnoredWarning
from tenferro.backend.lowering import Lowerings
from tenferro.primitives.sharding import ShardingConstraint

__all__ = ["note_ignored", "register"]

_is_noted = False


def note_ignored() -> None:
    """Warn that constraints do nothing here; once in a process."""
    global _is_noted
    if _is_noted:
        return
    _is_noted = True
    warnings.warn(
        "sharding_constraint does nothing in a program that runs on one device\n"
        '  hint       tn.jit(f, backend="xla", mesh=mesh) splits values over several',
        ShardingIgnoredWarning,
        stacklevel=2,
    )


def register(lowerings: Lowerings, xp: Any) -> None:
    """Register the sharding family."""

    @lowerings.register(ShardingConstraint)
    def sharding_constraint(op: ShardingConstraint, x: Any) -> Any:
        note_ignored()
        return x
