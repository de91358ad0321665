"""The functions of scipy.special that are differentiable here, by SciPy's names."""

from __future__ import annotations

__all__: list[str] = []
