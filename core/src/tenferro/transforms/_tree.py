"""Pytrees: nested containers of leaves, by optree.

optree is loaded when the first container is met: most calls pass arrays only, and the import would
take half of tenferro's own. ``None`` is an empty container.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from tenferro.array import Array

_PLAIN = frozenset((Array, float, int, complex, bool))


class _Leaf:
    """The spec of a bare leaf."""

    __slots__ = ()
    num_leaves = 1

    def __repr__(self) -> str:
        return "*"


LEAF = _Leaf()


def _optree() -> Any:
    return sys.modules.get("optree") or import_module("optree")


def flatten(tree: Any) -> tuple[list[Any], Any]:
    """Leaves and the structure around them."""
    if type(tree) in _PLAIN or hasattr(tree, "__array_interface__"):
        return [tree], LEAF
    leaves, spec = _optree().tree_flatten(tree, namespace="tenferro")
    return leaves, spec


def unflatten(spec: Any, leaves: Sequence[Any]) -> Any:
    """The tree with these leaves."""
    return leaves[0] if spec is LEAF else spec.unflatten(leaves)


def same_structure(a: Any, b: Any) -> bool:
    """Whether two specs describe the same nesting."""
    return bool(a is b or a == b)


def paths(tree: Any, base: str) -> list[str]:
    """A readable name for each leaf: ``w``, or ``w['bias']``."""
    if type(tree) in _PLAIN or hasattr(tree, "__array_interface__"):
        return [base]
    found, _, _ = _optree().tree_flatten_with_path(tree, namespace="tenferro")
    return [base + "".join(f"[{step!r}]" for step in path) for path in found]


def map_leaves(function: Callable[[Any], Any], tree: Any) -> Any:
    """The tree with the function applied to each leaf."""
    leaves, spec = flatten(tree)
    return unflatten(spec, [function(leaf) for leaf in leaves])


def spread_prefix(prefix: Any, tree: Any) -> list[Any]:
    """One entry of the prefix per leaf of the tree; ``None`` is an entry like any other.

    Raises ValueError: if the prefix is no prefix of the tree.
    """
    leaves, _ = flatten(tree)
    if prefix is None or isinstance(prefix, int):
        return [prefix] * len(leaves)
    entries = _optree().broadcast_prefix(prefix, tree, none_is_leaf=True, namespace="tenferro")
    places = _optree().tree_leaves(tree, none_is_leaf=True, namespace="tenferro")
    return [e for e, leaf in zip(entries, places, strict=True) if leaf is not None]
