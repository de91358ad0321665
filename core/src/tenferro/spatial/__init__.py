"""Distances that are differentiable here, by the names of scipy.spatial.

Read next: ``distance.py``.
"""

from __future__ import annotations

from tenferro.spatial import distance

__all__ = ["distance"]
