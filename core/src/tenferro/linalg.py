"""The functions of np.linalg, and those of scipy.linalg that are differentiable here."""

from __future__ import annotations

__all__: list[str] = []
