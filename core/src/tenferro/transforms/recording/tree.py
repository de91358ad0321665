"""Pytrees: nested containers of leaves.

Lists, tuples and dictionaries of arrays are split by ``plain_trees.py``, everything else by optree,
which is loaded then: the import takes half as long as tenferro's own. ``None`` is an empty
container. Dataclasses are containers of their fields, in order; a field with
``metadata={"static": True}`` belongs to the structure. Sparse matrices are containers of their
entries.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from threading import RLock
from typing import Any

from tenferro._runtime import after_fork_in_child
from tenferro._runtime.records import NamedTuple
from tenferro.arrays import Array
from tenferro.arrays.errors import at_user_line
from tenferro.arrays.handle.convert import is_operand
from tenferro.computegraph._canonical import canonical
from tenferro.primitives import ArgumentValueError
from tenferro.transforms.recording.keyed_trees import KeyedSpec, keyed
from tenferro.transforms.recording.plain_trees import LEAF as LEAF
from tenferro.transforms.recording.plain_trees import NAMESPACE, PlainSpec, split

_OF_SPARSE = ("scipy.sparse", "tenferro.arrays.sparse")  # modules of sparse matrices
_PLAIN = frozenset((Array, float, int, complex, bool))
_CONTAINERS = frozenset((list, tuple, dict, type(None)))  # what ``flatten_plain`` may split
_STRING = frozenset((str,))


class _Row(NamedTuple):
    """The spec of positional arguments that are bare leaves."""

    num_leaves: int

    def unflatten(self, leaves: Sequence[Any]) -> tuple[Sequence[Any], dict[str, Any]]:
        return leaves, {}


class _Static:
    """Values that belong to a structure; 1, 1.0 and True differ."""

    __slots__ = ("_key", "values")

    def __init__(self, values: tuple[Any, ...]) -> None:
        self.values = values
        self._key = canonical(values)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Static) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        return repr(self.values)


_registering = RLock()


def _renew_lock() -> None:
    global _registering
    _registering = RLock()


after_fork_in_child(_renew_lock)
_registered: set[type] = set()


def _register(leaves: Sequence[Any]) -> bool:
    """Make the dataclasses and sparse matrices among the leaves known as containers; whether there
    were any.
    """
    found = {cls for cls in set(map(type, leaves)) if hasattr(cls, "__dataclass_fields__")}
    if found:
        found = {type(x) for x in leaves if type(x) in found and not is_operand(x)}
    sparse = {type(x) for x in leaves if type(x).__module__.startswith(_OF_SPARSE)}
    if sparse:
        is_sparse = import_module("tenferro.transforms.recording.sparse").is_sparse
        sparse = {type(x) for x in leaves if type(x) in sparse and is_sparse(x)}
    for cls in found | sparse:
        with _registering:
            if cls not in _registered:
                (_register_sparse if cls in sparse else _register_class)(cls)
                _registered.add(cls)
    return bool(found or sparse)


def _register_sparse(cls: type) -> None:
    sparse = import_module("tenferro.transforms.recording.sparse")
    register(cls, sparse.parts, sparse.put_together)


def _register_class(cls: type) -> None:
    fields = import_module("dataclasses").fields(cls)
    static = tuple(field.name for field in fields if field.metadata.get("static"))
    names = tuple(field.name for field in fields if field.name not in static)

    def dataclass_parts(x: Any) -> tuple[Any, Any, Any]:
        kept = _Static(tuple([getattr(x, name) for name in static]))
        return [getattr(x, name) for name in names], kept, names

    def put_together(kept: Any, values: Any) -> Any:
        x: Any = object.__new__(cls)  # neither its __init__ nor a check in it is for traced values
        for name, value in zip((*names, *static), (*values, *kept.values), strict=True):
            object.__setattr__(x, name, value)
        return x

    register(cls, dataclass_parts, put_together)


def register(cls: type, parts: Callable[[Any], Any], put_together: Callable[..., Any]) -> None:
    """Make a class known as a container of attributes.

    ``parts`` returns the contents, the structure and the names; ``put_together`` takes the
    structure and the contents.
    """
    optree = _optree()
    optree.register_pytree_node(
        cls,
        parts,
        put_together,
        path_entry_type=optree.GetAttrEntry,
        namespace=NAMESPACE,
    )


def _optree() -> Any:
    return import_module("optree")  # waits where another thread is still importing it


def flatten(tree: Any) -> tuple[list[Any], Any]:
    """Split a pytree into leaves and the structure around them.

    Raises ArgumentValueError: if containers are nested too deeply, or one contains itself.
    """
    if is_bare(tree):
        return [tree], LEAF
    try:
        found = split(tree)
        return _flatten_by_optree(tree) if found is None else found
    except RecursionError:
        error = ArgumentValueError(
            "containers are nested too deeply, or one of them contains itself\n"
            f"  got        {type(tree).__name__}\n"
            "  need       a tree of containers, at most some hundred levels deep",
            function="",
        )
        raise at_user_line(error) from None


def _flatten_by_optree(tree: Any) -> tuple[list[Any], Any]:
    """Split a pytree that has other things in it than plain containers and arrays."""
    optree = _optree()
    leaves, spec = optree.tree_flatten(tree, namespace=NAMESPACE)
    while _register(leaves):
        leaves, spec = optree.tree_flatten(tree, namespace=NAMESPACE)
    if len(leaves) == 1 and leaves[0] is tree:  # a leaf that does not look like one from outside
        return leaves, LEAF
    return leaves, keyed(spec)


def flatten_arguments(args: list[Any], kwargs: dict[str, Any]) -> tuple[list[Any], Any]:
    """Split a call's arguments into leaves and a structure whose ``unflatten`` gives both."""
    if not kwargs and all([is_bare(arg) for arg in args]):
        return args, _Row(len(args))
    return flatten((args, kwargs))


def flatten_plain(args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[list[Any], Hashable]:
    """Split like ``flatten_arguments``, with a hashable structure, without optree.

    Only lists, tuples and dictionaries with string keys are split, so a leaf may be another
    container. The structure lists each container before its contents; leaves are zeros.
    """
    leaves: list[Any] = []
    name: list[Any] = [len(args)]
    try:
        _split_plain([*args, kwargs] if kwargs else args, leaves, name)
    except RecursionError:
        flatten((args, kwargs))  # refuses a container that contains itself and has no end
        raise
    return leaves, tuple(name)


def _split_plain(items: Sequence[Any], leaves: list[Any], name: list[Any]) -> None:
    """Append the leaves of each item, and what describes its structure."""
    for x in items:
        kind = type(x)
        if kind is list or kind is tuple:
            inner = x
            name += (kind, len(x))
        elif kind is dict and _STRING.issuperset(map(type, x)):
            keys = sorted(x)
            inner = [x[key] for key in keys]
            name += (kind, *keys, len(x))
        else:
            name.append(None if x is None else 0)
            if x is not None:
                leaves.append(x)
            continue
        if _CONTAINERS.isdisjoint(map(type, inner)):  # leaves alone, without a turn for each
            leaves += inner
            name += (0,) * len(inner)
        else:
            _split_plain(inner, leaves, name)


def is_bare(tree: Any) -> bool:
    """Return True if the tree is known to be a leaf without a closer look.

    The class is asked, since an array describes itself anew each time that it is asked.
    """
    kind = type(tree)
    return kind in _PLAIN or hasattr(kind, "__array_interface__")


def unflatten(spec: Any, leaves: Sequence[Any]) -> Any:
    """Return the tree with these leaves."""
    return leaves[0] if spec is LEAF else spec.unflatten(leaves)


def same_structure(a: Any, b: Any) -> bool:
    """Return True if two specs describe the same nesting; keys are the same if they are equal."""
    if a is b or a == b:
        return True
    return KeyedSpec in (type(a), type(b)) and bool(_of_optree(a) == _of_optree(b))


def paths(tree: Any, base: str) -> list[str]:
    """Return a readable name for each leaf: ``w``, or ``w['bias']``."""
    if is_bare(tree):
        return [base]
    return [*paths_in(flatten(tree)[1], base)]


def paths_in(spec: Any, base: str) -> Sequence[str]:
    """``paths`` of every tree with this spec."""
    if spec is LEAF:
        return [base]
    if type(spec) is PlainSpec:
        return spec.names(base)
    try:
        return _kept_paths(spec, base)
    except TypeError:  # a static field of a dataclass has no hash
        return _paths_in(spec, base)


def _paths_in(spec: Any, base: str) -> tuple[str, ...]:
    return tuple([accessor.codify(base) for accessor in _of_optree(spec).accessors()])


_kept_paths = lru_cache(maxsize=256)(_paths_in)


def map_leaves(function: Callable[[Any], Any], tree: Any) -> Any:
    """Apply the function to each leaf of the tree."""
    leaves, spec = flatten(tree)
    return unflatten(spec, [function(leaf) for leaf in leaves])


def spread_prefix(prefix: Any, tree: Any) -> list[Any]:
    """Return one entry of the prefix per leaf of the tree; ``None`` is an entry like any other.

    Raises ValueError: if the prefix does not match the tree.
    """
    leaves, _ = flatten(tree)
    if prefix is None or isinstance(prefix, int):
        return [prefix] * len(leaves)
    entries = _optree().broadcast_prefix(prefix, tree, none_is_leaf=True, namespace=NAMESPACE)
    places = _optree().tree_leaves(tree, none_is_leaf=True, namespace=NAMESPACE)
    return [e for e, leaf in zip(entries, places, strict=True) if leaf is not None]


def flatten_up_to(spec: Any, tree: Any) -> list[Any]:
    """Return the subtrees in the places of a structure's leaves, ``None`` and containers included.

    Raises ValueError: if the tree has another structure.
    """
    return [tree] if spec is LEAF else list(_of_optree(spec).flatten_up_to(tree))


def children(spec: Any) -> list[Any]:
    """Return the structures of the entries of a tuple."""
    return list(_of_optree(spec).children())


def _of_optree(spec: Any) -> Any:
    return spec.of_optree() if type(spec) in (PlainSpec, KeyedSpec) else spec


def describe(spec: Any) -> str:
    """Describe a structure as text, with a star for each leaf."""
    return repr(unflatten(spec, [LEAF] * spec.num_leaves))
