"""A recursive filter for tenferro, with a kernel in C++ for the XLA backend."""

from acme_filters.recursion import Recursion, recursion

__all__ = ["Recursion", "recursion"]
