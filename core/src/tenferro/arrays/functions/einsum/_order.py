"""In which order operands are contracted in pairs.

Two operands leave no choice. For more, the user gives a path, or ``_search.py``, ``opt_einsum``
(Smith and Gray, *opt_einsum*, JOSS 3(26) 753, 2018) or ``cotengra`` finds one; the libraries are
imported then. A step of three or more operands is contracted in pairs too. Positions become numbers
that stay: operands are 0 … n-1, and the result of pair p is n + p. Read next: ``_steps.py``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions.einsum._subscripts import Label
from tenferro.primitives import InvalidParameterError

Sets = Sequence[frozenset[Label]]
_DEFAULT_METHOD = "auto"


class Tree(NamedTuple):
    """Order of contraction: the pairs of values to contract, and the labels of all values."""

    pairs: tuple[tuple[int, int], ...]
    labels: tuple[frozenset[Label], ...]


def choice(optimize: Any) -> Any:
    """``optimize=`` as something that can be a key.

    >>> choice(True), choice(["einsum_path", (0, 1)]), choice(("greedy", 100))
    ('auto', ((0, 1),), ('greedy', 100))
    """
    if optimize is None or isinstance(optimize, bool):
        return _DEFAULT_METHOD
    if isinstance(optimize, str) or callable(optimize):
        return optimize
    if not isinstance(optimize, (list, tuple)):
        raise _no_path(optimize, "it names none")
    if len(optimize) == 2 and isinstance(optimize[0], str) and optimize[0] != "einsum_path":
        return tuple(optimize)
    steps = optimize[1:] if optimize and optimize[0] == "einsum_path" else optimize
    try:
        return tuple(tuple(place.__index__() for place in step) for step in steps)
    except (TypeError, AttributeError):
        raise _no_path(optimize, "it is not a sequence of tuples of positions") from None


def order(inputs: Sets, output: frozenset[Label], sizes: dict[Label, int], chosen: Any) -> Tree:
    """Return the contraction tree for operands with these sets of labels.

    Raises InvalidParameterError: if ``chosen`` is unknown, or a path that does not fit.
    """
    if isinstance(chosen, tuple) and not (chosen and isinstance(chosen[0], str)):
        return _Pairing(inputs, output, sizes).follow(chosen)
    if len(inputs) < 3:
        return _Pairing(inputs, output, sizes).follow((tuple(range(len(inputs))),))
    pairs = None
    if chosen == _DEFAULT_METHOD:
        search = import_module("tenferro.arrays.functions.einsum._search")
        pairs = search.found(inputs, output, sizes)
    if pairs is not None:
        return _Pairing(inputs, output, sizes).join_all(pairs)
    path = _found(inputs, output, sizes, chosen)
    return _Pairing(inputs, output, sizes).follow(path)


def _found(
    inputs: Sets, output: frozenset[Label], sizes: dict[Label, int], chosen: Any
) -> Sequence[Sequence[int]]:
    """Return the path that opt_einsum, cotengra or an optimizer object finds."""
    method, limit = chosen if isinstance(chosen, tuple) else (chosen, None)
    search = method if callable(method) else _search_named(method)
    limit = None if limit is None else int(limit)
    found: Sequence[Sequence[int]] = search(list(inputs), output, sizes, limit)
    return found


def _search_named(method: str) -> Any:
    """Return the function that searches a path by this name."""
    library, _, preset = method.partition(":")
    if library == "cotengra":
        return _search_of_cotengra(method, preset or "auto")
    try:
        return import_module("opt_einsum.paths").get_path_fn(method)
    except KeyError:
        raise _no_path(method, "opt_einsum knows no such method") from None


def _search_of_cotengra(method: str, preset: str) -> Any:
    """Return a search by a preset of cotengra (J. Gray, S. Kourtis, Quantum 5 (2021) 410)."""
    try:
        cotengra = import_module("cotengra")
    except ModuleNotFoundError:
        raise _no_path(method, "cotengra is not installed") from None

    def search(inputs: Any, output: Any, sizes: dict[Label, int], limit: int | None) -> Any:
        terms = [tuple(sorted(labels, key=str)) for labels in inputs]
        try:
            return cotengra.array_contract_path(
                terms, tuple(sorted(output, key=str)), size_dict=sizes, optimize=preset
            )
        except KeyError:
            raise _no_path(method, "cotengra knows no such preset") from None

    return search


class _Pairing:
    """Follows a path of positions, where each result is put behind what is left."""

    def __init__(self, inputs: Sets, output: frozenset[Label], sizes: dict[Label, int]) -> None:
        self.labels = list(inputs)
        self.sizes = sizes
        self.left = list(range(len(inputs)))
        self.wanted = Counter([*output, *(x for labels in inputs for x in labels)])  # by how many
        self.pairs: list[tuple[int, int]] = []

    def follow(self, path: Sequence[Sequence[int]]) -> Tree:
        for step in path:
            self.contract(self.taken(step, path))
        if len(self.left) > 1:
            raise _no_path(path, f"{len(self.left)} operands are left at its end")
        return Tree(tuple(self.pairs), tuple(self.labels))

    def join_all(self, pairs: Sequence[tuple[int, int]]) -> Tree:
        """Contract pairs of numbers that stay."""
        for i, j in pairs:
            self.join(i, j)
        return Tree(tuple(self.pairs), tuple(self.labels))

    def taken(self, step: Sequence[int], path: object) -> list[int]:
        if len(set(step)) != len(step) or not all(0 <= i < len(self.left) for i in step):
            raise _no_path(path, f"step {tuple(step)} names operands that are not there")
        return [self.left.pop(i) for i in sorted(step, reverse=True)][::-1]

    def contract(self, group: list[int]) -> None:
        if len(group) == 2:
            self.left.append(self.join(*group))
        elif len(group) == 1:
            self.left += group
        elif group:
            self.left.append(self.within(group))

    def within(self, group: list[int]) -> int:
        """Contract a group of operands in pairs, in the order of least cost."""
        inputs = [self.labels[i] for i in group]
        inside = Counter(x for labels in inputs for x in labels)
        output = frozenset(x for x in inside if self.wanted[x] > inside[x])
        members = list(group)
        for i, j in order(inputs, output, self.sizes, _DEFAULT_METHOD).pairs:
            members.append(self.join(members[i], members[j]))
        return members[-1]

    def join(self, i: int, j: int) -> int:
        """Contract a pair; the result keeps the labels that are used elsewhere."""
        a, b = self.labels[i], self.labels[j]
        self.wanted.subtract(a)
        self.wanted.subtract(b)
        kept = frozenset(x for x in a | b if self.wanted[x])
        self.wanted.update(kept)
        self.pairs.append((i, j))
        self.labels.append(kept)
        return len(self.labels) - 1


def _no_path(value: object, fact: str) -> Exception:
    error = InvalidParameterError.of(
        "einsum",
        f"`optimize` is not a way to contract these operands: {fact}",
        got=f"optimize={value!r}",
        need="True, False, a method of opt_einsum such as 'greedy', 'cotengra' or "
        "'cotengra:PRESET' where it is installed, (method, limit), an optimizer, or a path",
        parameter="optimize",
        value=value,
    )
    return at_user_line(error)
