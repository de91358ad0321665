"""Arguments of a call: the arrays among them, and everything else with its place.

Read next: ``stopped.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays import Array, as_array
from tenferro.arrays.handle.convert import is_operand, snapshot
from tenferro.backend._snapshots import is_numpy, snapshots
from tenferro.computegraph import canonical
from tenferro.transforms.recording import tree as _tree
from tenferro.transforms.recording.arguments import has_dtype, own_handle
from tenferro.transforms.recording.loans import MAX_COPIED_BYTES
from tenferro.transforms.recording.owned import Owned
from tenferro.transforms.recording.owned import is_array as can_be_written


class ComparedByContent:
    """A value of the user that compares by content where it can and by identity where not."""

    __slots__ = ("_key", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        try:
            self._key = canonical(value)
            hash(self._key)
        except TypeError:
            self._key = id(value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComparedByContent) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


class FixedArgument:
    """An argument that no rule is about, as it was when its function was called.

    Arrays in it compare by content up to 64 KiB, and by their memory beyond that.
    """

    __slots__ = ("_key", "value")

    def __init__(self, value: Any) -> None:
        leaves, spec = _tree.flatten(value)
        places = [i for i, leaf in enumerate(leaves) if can_be_written(leaf)]
        self.value = value
        if not places:
            self._key: Any = ComparedByContent(value)
            return
        for i in places:
            leaves[i] = _kept(leaves[i])
        self.value = _tree.unflatten(spec, leaves)
        self._key = str(spec), tuple([_content(leaf) for leaf in leaves])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FixedArgument) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


def _kept(leaf: Any) -> Any:
    """Return an array that nothing writes to: an Array with a handle of its own, or a snapshot."""
    if isinstance(leaf, Array):
        return own_handle(leaf)
    return snapshots([leaf])[0] if is_numpy(leaf) else snapshot(leaf)


def _content(leaf: Any) -> Hashable:
    if isinstance(leaf, Array):
        return leaf.key
    if not (can_be_written(leaf) and is_numpy(leaf)):
        return ComparedByContent(leaf)
    if leaf.nbytes <= MAX_COPIED_BYTES:
        return leaf.dtype.str, leaf.shape, leaf.tobytes()
    place, _ = leaf.__array_interface__["data"]
    return leaf.dtype.str, leaf.shape, leaf.strides, place


class ArgumentTree(NamedTuple):
    """A pytree without its arrays: structure, where they stand, and what the other leaves are."""

    spec: Any
    arrays: tuple[int, ...]
    others: tuple[ComparedByContent, ...]

    def fill(self, values: Sequence[Any], other: Callable[[Any], Any] | None = None) -> Any:
        """Fill the tree with these values in the places of the arrays; other leaves are
        unchanged.

        Arrays have handles of their own: the function of the user that gets the tree may assign
        into them.
        """
        rest = iter([same.value if other is None else other(same.value) for same in self.others])
        given = map(own_handle, values)
        chosen = set(self.arrays)
        count = len(self.arrays) + len(self.others)
        leaves = [next(given) if i in chosen else next(rest) for i in range(count)]
        return _tree.unflatten(self.spec, leaves)


def take_arrays(tree: Any) -> tuple[list[Array], ArgumentTree]:
    """Split a pytree into its arrays and the rest. Python scalars are not arrays here."""
    leaves, spec = _tree.flatten(tree)
    chosen = [i for i, leaf in enumerate(leaves) if is_array(leaf)]
    taken = set(chosen)
    others = [ComparedByContent(leaf) for i, leaf in enumerate(leaves) if i not in taken]
    return [as_array(leaves[i]) for i in chosen], ArgumentTree(spec, tuple(chosen), tuple(others))


def is_array(leaf: Any) -> bool:
    """Return True if a leaf is an Array or an operand whose dtype tenferro knows."""
    return isinstance(leaf, Array) or (is_operand(leaf) and has_dtype(leaf))


class Arguments(NamedTuple):
    """The arguments of one call: those that the rule is about, and those that it is not."""

    places: ArgumentTree  # of the tuple of arguments that the rule is about
    fixed: tuple[tuple[int, FixedArgument], ...]  # by position, ``nondiff_argnums``
    keywords: tuple[tuple[str, FixedArgument], ...]  # keyword-only

    def call(self, function: Callable[..., Any], arrays: Sequence[Any]) -> Any:
        """Call the function with these arrays in the places of the arguments."""
        args = list(self.places.fill(arrays))
        with Owned() as own:
            leading, named = self.of_rule(own)
            for (position, _), value in zip(self.fixed, leading, strict=True):
                args.insert(position, value)
            return function(*args, **named)

    def of_rule(self, own: Owned) -> tuple[list[Any], dict[str, Any]]:
        """Return what a rule receives first, and by keyword: the fixed arguments."""
        leading = [own(same.value) for _, same in self.fixed]
        return leading, {name: own(same.value) for name, same in self.keywords}

    def written(self, rule: str, parameters: str) -> str:
        """Return the call of a rule as a message writes it."""
        fixed = [f"argument {position}" for position, _ in self.fixed]
        return f"{rule}({', '.join([*fixed, parameters, *[f'{n}=…' for n, _ in self.keywords]])})"
