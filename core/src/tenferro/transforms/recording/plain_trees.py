"""Pytrees of lists, tuples, dictionaries and None alone, without optree.

Most arguments in containers are such trees, and to load optree takes longer than to record, compile
and run many a program with them. Leaves are in the order of optree: dictionaries, whose keys are
strings here, in the order of the sorted keys. A tree with anything else in it is optree's as a
whole; what few programs ask of a structure is asked of optree's structure of an equal tree.
Read next: ``tree.py``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from itertools import count, islice
from typing import Any

from tenferro.arrays import Array

#: Structure of a tree: None for None, 0 for a leaf; else the class of a container, the sorted keys
#: of a dictionary, and the number of its items where all are leaves, or their structures.
Node = Any
_ONE_LEAF = 0
_MAX_LEAVES_OF_EXPRESSION = 64
_MAX_DEPTH = 32  # of the containers of an expression; Python parses 200 brackets
NAMESPACE = "tenferro"  # of containers that optree knows
_known: set[type] = {Array, float, int, complex, bool}  # classes of leaves that were met


class _Leaf:
    """The spec of a bare leaf."""

    __slots__ = ()
    num_leaves = 1

    def __repr__(self) -> str:
        return "*"


LEAF = _Leaf()


class _NotPlainError(Exception):
    """Signal, never shown: a tree has something in it that is not for this file."""


class PlainSpec:
    """The structure of a tree of lists, tuples, dictionaries and None."""

    __slots__ = ("_node", "_orders", "num_leaves")

    def __init__(self, node: Node, num_leaves: int, orders: Sequence[Sequence[str]]) -> None:
        self._node = node
        self._orders = orders  # keys as they were inserted, of the dictionaries in their order
        self.num_leaves = num_leaves

    def __eq__(self, other: object) -> bool:
        if type(other) is PlainSpec:
            return bool(self._node == other._node)
        return "optree" in sys.modules and bool(self.of_optree() == other)

    def __hash__(self) -> int:
        return hash(self._node)

    def __repr__(self) -> str:
        return f"PlainSpec({self.unflatten([LEAF] * self.num_leaves)!r})"

    def unflatten(self, leaves: Iterable[Any]) -> Any:
        """Return the tree with these leaves."""
        given = leaves if type(leaves) is list else [*leaves]
        if len(given) != self.num_leaves:
            raise ValueError(f"the structure has {self.num_leaves} leaves, got {len(given)}")
        node = self._node
        if type(node) is tuple and type(node[-1]) is int:  # no container in it: fewer calls
            order = self._orders[0] if node[0] is dict else ()
            return _container(node, given, order)
        return _joined(node, iter(given), iter(self._orders))

    def maker(self) -> Callable[[Sequence[Any]], Any]:
        """Return a function that does what ``unflatten`` does, without its count of the leaves.

        It is one expression of Python, which runs in a fifth of the time, unless the tree is large.
        """
        if self.num_leaves > _MAX_LEAVES_OF_EXPRESSION or _depth(self._node) > _MAX_DEPTH:
            return self.unflatten
        text = _expression(self._node, count(), iter(self._orders))
        made: Callable[[Sequence[Any]], Any] = eval(f"lambda leaves: {text}", {})
        return made

    def row(self) -> type | None:
        """Return the class of the tree if it is a list or tuple of leaves alone."""
        node = self._node
        is_row = type(node) is tuple and node[0] is not dict and type(node[-1]) is int
        return node[0] if is_row else None

    def names(self, base: str) -> tuple[str, ...]:
        """Return a readable name for each leaf, such as ``w['bias'][0]``."""
        return tuple(_names(self._node, base))

    def of_optree(self) -> Any:
        """Return the structure that optree gives to such a tree."""
        tree = self.unflatten([0.0] * self.num_leaves)
        return import_module("optree").tree_structure(tree, namespace=NAMESPACE)


def split(tree: Any) -> tuple[list[Any], PlainSpec] | None:
    """Split a tree into leaves and the structure around them; ``None`` if optree must do it."""
    leaves: list[Any] = []
    orders: list[Sequence[str]] = []
    try:
        node = _split(tree, leaves, orders)
    except _NotPlainError:
        return None
    return leaves, PlainSpec(node, len(leaves), orders)


def _split(x: Any, leaves: list[Any], orders: list[Sequence[str]]) -> Node:
    kind = type(x)
    if kind is list or kind is tuple:
        return kind, _split_items(x, leaves, orders)
    if kind is dict:
        if not all([type(key) is str for key in x]):
            raise _NotPlainError
        orders.append(tuple(x))
        keys = tuple(sorted(x))
        return kind, keys, _split_items([x[key] for key in keys], leaves, orders)
    if x is None:
        return None
    if kind not in _known:
        _meet(x)
    leaves.append(x)
    return _ONE_LEAF


def _split_items(items: Sequence[Any], leaves: list[Any], orders: list[Sequence[str]]) -> Node:
    """Split the items of a container; return their number if all are leaves."""
    if _known.issuperset(map(type, items)):
        leaves += items
        return len(items)
    found = tuple([_split(x, leaves, orders) for x in items])
    return found if any([node != _ONE_LEAF for node in found]) else len(found)


def _meet(x: Any) -> None:
    """Note the class of an object if it is certainly a leaf.

    Raises _NotPlainError: if it may be a container.
    """
    cls = type(x)
    if not hasattr(x, "__array_interface__") or hasattr(cls, "__dataclass_fields__"):
        raise _NotPlainError
    _known.add(cls)


def _joined(node: Node, leaves: Iterator[Any], orders: Iterator[Sequence[str]]) -> Any:
    if node is None:
        return None
    if node == _ONE_LEAF:
        return next(leaves)
    order = next(orders) if node[0] is dict else ()
    items = node[-1]
    if type(items) is int:
        return _container(node, islice(leaves, items), order)
    return _container(node, [_joined(each, leaves, orders) for each in items], order)


def _container(node: Node, items: Iterable[Any], order: Sequence[str]) -> Any:
    """Return the container of a structure with these items; a dictionary has its keys in order."""
    if node[0] is not dict:
        return node[0](items)
    found = dict(zip(node[1], items))  # noqa: B905 - counted, and faster
    return found if order == node[1] else {key: found[key] for key in order}


def _depth(node: Node) -> int:
    """Return how many containers lie within each other."""
    if node is None or node == _ONE_LEAF:
        return 0
    items = node[-1]
    return 1 if type(items) is int else 1 + max([_depth(each) for each in items])


def _expression(node: Node, numbers: Iterator[int], orders: Iterator[Sequence[str]]) -> str:
    """Return the text of the tree whose leaves are entries of ``leaves``."""
    if node is None:
        return "None"
    if node == _ONE_LEAF:
        return f"leaves[{next(numbers)}]"
    order = next(orders) if node[0] is dict else ()
    items = (_ONE_LEAF,) * node[-1] if type(node[-1]) is int else node[-1]
    texts = [_expression(each, numbers, orders) for each in items]
    if node[0] is dict:
        found = dict(zip(node[1], texts, strict=True))
        return "{" + ", ".join([f"{key!r}: {found[key]}" for key in order]) + "}"
    inner = "".join([f"{text}, " for text in texts])
    return f"[{inner}]" if node[0] is list else f"({inner})"


def _names(node: Node, base: str) -> Iterator[str]:
    if node is None:
        return
    if node == _ONE_LEAF:
        yield base
        return
    items = (_ONE_LEAF,) * node[-1] if type(node[-1]) is int else node[-1]
    keys = node[1] if node[0] is dict else range(len(items))
    for key, each in zip(keys, items, strict=True):
        yield from _names(each, f"{base}[{key!r}]")
