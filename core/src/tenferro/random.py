"""Random numbers from keys: the same bits on every backend, no state."""

from __future__ import annotations

__all__: list[str] = []
