"""Helpers around CPython: lazy imports, named tuples, pauses of the collector, forked children.

Nothing here knows a graph. Read in this order: ``lazy``, ``records``, ``fork``, ``collector``.
"""

from tenferro._runtime.collector import CollectorPaused
from tenferro._runtime.fork import after_fork_in_child, importing, renew_in_children
from tenferro._runtime.lazy import later
from tenferro._runtime.records import NamedTuple

__all__ = [
    "CollectorPaused",
    "NamedTuple",
    "after_fork_in_child",
    "importing",
    "later",
    "renew_in_children",
]
