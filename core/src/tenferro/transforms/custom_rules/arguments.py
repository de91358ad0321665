"""Arguments of a call: the arrays among them, and everything else with its place.

Read next: ``stopped.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays import Array, as_array
from tenferro.arrays.handle.convert import is_operand
from tenferro.computegraph import canonical
from tenferro.transforms.recording import tree as _tree
from tenferro.transforms.recording.arguments import has_dtype, own_handle


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


def with_own_handles(tree: Any) -> Any:
    """Return the tree for a function that is called at once: see `own_handle`."""
    leaves, spec = _tree.flatten(tree)
    if not any([isinstance(leaf, Array) for leaf in leaves]):
        return tree
    return _tree.unflatten(spec, [own_handle(leaf) for leaf in leaves])


def is_array(leaf: Any) -> bool:
    """Return True if a leaf is an Array or an operand whose dtype tenferro knows."""
    return isinstance(leaf, Array) or (is_operand(leaf) and has_dtype(leaf))


class Arguments(NamedTuple):
    """The arguments of one call: those that the rule is about, and those that it is not."""

    places: ArgumentTree  # of the tuple of arguments that the rule is about
    fixed: tuple[tuple[int, ComparedByContent], ...]  # by position, ``nondiff_argnums``
    keywords: tuple[tuple[str, ComparedByContent], ...]  # keyword-only

    def call(self, function: Callable[..., Any], arrays: Sequence[Any]) -> Any:
        """Call the function with these arrays in the places of the arguments."""
        args = list(self.places.fill(arrays))
        for position, same in self.fixed:
            args.insert(position, same.value)
        return function(*args, **self.named)

    @property
    def leading(self) -> list[Any]:
        """Fixed arguments, which a rule receives first."""
        return [same.value for _, same in self.fixed]

    def written(self, rule: str, parameters: str) -> str:
        """Return the call of a rule as a message writes it."""
        fixed = [f"argument {position}" for position, _ in self.fixed]
        return f"{rule}({', '.join([*fixed, parameters, *[f'{n}=…' for n, _ in self.keywords]])})"

    @property
    def named(self) -> dict[str, Any]:
        """The keyword-only arguments."""
        return {name: same.value for name, same in self.keywords}
