"""From specs as a user writes them to one spec per leaf of a pytree.

A user writes a prefix: None says nothing of a whole subtree, a spec says the same of all its
leaves, and a list, tuple or dictionary has an entry for each child. A tuple is read as a container
only where the tree has one of its length there and no entry is a bare name; ``("data", None)`` is
always a spec. Read next: ``compilation/placement.py``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.primitives import ShardingSpec
from tenferro.primitives._errors import ShardingError
from tenferro.primitives._mesh import is_spec, made_spec, spec_error
from tenferro.transforms.recording import tree as _tree

Specs = list[ShardingSpec | None]


def specs_of(
    prefix: Any, tree: Any, who: str, place: str = "", *, may_be_open: bool = False
) -> Specs:
    """Return the spec of each leaf of a tree, None where the prefix says nothing.

    Raises ShardingError: if the prefix does not match the tree, naming the place.
    """
    try:
        return _specs(prefix, tree, who, may_be_open)
    except ShardingError as error:
        if place:
            error.add_note(f"  where      {place}")
        raise at_user_line(error) from None


def _specs(prefix: Any, tree: Any, who: str, may_be_open: bool) -> Specs:
    leaves, spec = _tree.flatten(tree)
    if prefix is None:
        return [None] * len(leaves)
    if spec is _tree.LEAF:
        return [made_spec(prefix, who, may_be_open=may_be_open)]
    children, names = _children(tree)
    entries = _entries(prefix, tree, len(children))
    if entries is None:
        if not is_spec(prefix):
            raise _mismatch(prefix, tree, names, who)
        return [made_spec(prefix, who, may_be_open=may_be_open)] * len(leaves)
    found: Specs = []
    pairs = zip(names, children, strict=True)
    for number, (name, child) in enumerate(pairs):
        entry = entries[number] if not isinstance(entries, Mapping) else entries.get(name)
        found += _specs(entry, child, who, may_be_open)
    if isinstance(entries, Mapping) and set(entries) - set(names):
        raise _mismatch(prefix, tree, names, who)
    return found


def _children(tree: Any) -> tuple[Sequence[Any], Sequence[Any]]:
    """Return the parts of a container, and their names or numbers."""
    if tree is None:
        return (), ()
    optree = import_module("optree")
    children, _, entries, _ = optree.tree_flatten_one_level(tree, namespace="tenferro")
    return children, entries


def _entries(prefix: Any, tree: Any, count: int) -> Sequence[Any] | Mapping[Any, Any] | None:
    """Return the entries of a prefix for the parts of a container; None for one spec of them all.

    A dictionary names the parts that it says something of.
    """
    if isinstance(prefix, Mapping):
        return prefix if isinstance(tree, Mapping) or not isinstance(tree, (list, tuple)) else None
    if not isinstance(prefix, (list, tuple)) or isinstance(tree, Mapping) or len(prefix) != count:
        return None
    return None if any([isinstance(entry, str) for entry in prefix]) else prefix


def _mismatch(prefix: Any, tree: Any, names: Sequence[Any], who: str) -> ShardingError:
    parts = ", ".join(map(repr, names)) or "nothing"
    return spec_error(
        who,
        "the specs do not match the structure",
        prefix,
        got=f"{prefix!r:.80} for a {type(tree).__name__} of {parts}",
        need="None, a spec for all leaves, or the same container with an entry for each part",
    )
