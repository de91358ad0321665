"""Max-plus matrix products with subgradients, on tenferro's graphs and derivatives alone."""

from tropical.chain import Chain

__all__ = ["Chain"]
