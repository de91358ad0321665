"""Orders of contraction that are found here: of few operands the best one, of many a greedy one.

These are the methods that opt_einsum's "auto" uses for such numbers of operands (Smith and Gray,
*opt_einsum*, JOSS 3(26) 753, 2018), with the same costs and ties. They are written again because
to load that library takes longer than to record, compile and run most programs with an einsum.
Operands are numbered 0 … n-1, and the result of pair p is n + p. Read next: ``_order.py``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush, heappushpop
from itertools import combinations, count
from math import prod

from tenferro.arrays.functions.einsum._subscripts import Label

Labels = frozenset[Label]
Pair = tuple[int, int]
Sizes = Mapping[Label, int]

MAX_OPERANDS_OF_EXACT_SEARCH = 4  # 18 orders
MIN_OPERANDS_OF_GREEDY_SEARCH = 15


def found(inputs: Sequence[Labels], output: Labels, sizes: Sizes) -> Sequence[Pair] | None:
    """Return the pairs to contract, in order; ``None`` if this number of operands is not for us."""
    if len(inputs) <= MAX_OPERANDS_OF_EXACT_SEARCH:
        return _cheapest([*enumerate(inputs)], len(inputs), output, sizes)[1]
    if len(inputs) >= MIN_OPERANDS_OF_GREEDY_SEARCH:
        return _Greedy(inputs, output, sizes).pairs
    return None


def _cheapest(
    left: Sequence[tuple[int, Labels]], new: int, output: Labels, sizes: Sizes
) -> tuple[int, tuple[Pair, ...]]:
    """Return the fewest operations that contract all that is left, and the pairs; ties: the first.

    Operations are counted as in ``_cost.py``. The result of the next pair has the number ``new``.
    """
    best: tuple[int, tuple[Pair, ...]] | None = None
    for one, other in combinations(left, 2):
        rest = [each for each in left if each is not one and each is not other]
        wanted = output.union(*[labels for _, labels in rest])
        either = one[1] | other[1]
        is_sum = not (one[1] & other[1]) <= wanted
        cost, pairs = _cheapest([*rest, (new, either & wanted)], new + 1, output, sizes)
        cost += _size(either, sizes) * (1 + is_sum)
        if best is None or cost < best[0]:
            best = cost, ((one[0], other[0]), *pairs)
    return best or (0, ())


def _size(labels: Iterable[Label], sizes: Sizes) -> int:
    """Return the number of elements of an array with these labels."""
    return prod([sizes[label] for label in labels])


class _Greedy:
    """Contracts what has the same labels, then the pair that removes most elements, and so on.

    What shares no label is multiplied last, the smallest first. A label that all operands have is
    kept until then.
    """

    def __init__(self, inputs: Sequence[Labels], output: Labels, sizes: Sizes) -> None:
        self.pairs: list[Pair] = []
        self._kept = output | frozenset.intersection(*inputs)
        self._sizes = sizes
        self._numbers = count(len(inputs))
        self._number: dict[Labels, int] = {}  # of what is left
        self._elements: dict[Labels, int] = {}
        self._having: defaultdict[Label, set[Labels]] = defaultdict(set)  # of those that are summed
        self._once: set[Label] = set()  # labels of these that no more than one has
        self._twice: set[Label] = set()  # that two have
        self._queue: list[tuple[int, int, int, Labels, Labels]] = []
        for number, labels in enumerate(inputs):
            self._enter(labels, number)
        self._note_all()
        self._contract()
        self._multiply()

    def _enter(self, labels: Labels, number: int) -> None:
        """Add an operand or a result; multiply it with one that has the same labels."""
        if labels in self._number:
            self.pairs.append((self._number[labels], number))
            number = next(self._numbers)
        self._number[labels] = number
        for label in labels - self._kept:
            self._having[label].add(labels)
            self._count(label)

    def _count(self, label: Label) -> None:
        """Note how many have a label, once that has changed."""
        owners = len(self._having[label])
        (self._once.add if owners <= 1 else self._once.discard)(label)
        (self._twice.add if owners == 2 else self._twice.discard)(label)

    def _note_all(self) -> None:
        """Enter the best partner of each operand, by label, among the later ones."""
        for having in self._having.values():
            ordered = sorted(having, key=self._number.__getitem__)
            for place, labels in enumerate(ordered[:-1], 1):
                self._note(labels, ordered[place:])

    def _note(self, labels: Labels, others: Iterable[Labels]) -> None:
        """Enter the best of some partners of one operand."""
        heappush(self._queue, min([self._candidate(labels, other) for other in others]))

    def _candidate(self, x: Labels, y: Labels) -> tuple[int, int, int, Labels, Labels]:
        """Return a pair with the elements that it adds; a negative number removes some."""
        first, second = self._number[x], self._number[y]
        if first > second:
            x, y, first, second = y, x, second, first
        grown = self._size(self._joined(x, y)) - self._size(x) - self._size(y)
        return grown, second, first, x, y

    def _size(self, labels: Labels) -> int:
        """Return the number of elements of what has these labels, which is asked several times."""
        found = self._elements.get(labels)
        if found is None:
            found = self._elements[labels] = _size(labels, self._sizes)
        return found

    def _joined(self, x: Labels, y: Labels) -> Labels:
        """Return the labels of the result: those of the output, and those that others have."""
        shared = x & y
        return (x | y) - ((x ^ y) & self._once) - (shared & self._twice)

    def _contract(self) -> None:
        """Contract the best pair while there is one that shares a label."""
        while self._queue:
            *_, x, y = heappop(self._queue)
            if x not in self._number or y not in self._number:
                continue
            joined = self._joined(x, y)
            self.pairs.append((self._number.pop(x), self._number.pop(y)))
            for labels in (x, y):
                for label in labels - self._kept:
                    self._having[label].remove(labels)
                    self._count(label)
            self._enter(joined, next(self._numbers))
            partners = {labels for label in joined - self._kept for labels in self._having[label]}
            if partners - {joined}:
                self._note(joined, partners - {joined})

    def _multiply(self) -> None:
        """Multiply what is left, the two smallest first."""
        kept, sizes = self._kept, self._sizes
        rest = [(_size(x & kept, sizes), number, x) for x, number in self._number.items()]
        heapify(rest)
        _, number, labels = heappop(rest)
        while rest:
            _, other, others = heappop(rest)
            self.pairs.append((min(number, other), max(number, other)))
            joined = (labels | others) & kept
            made = _size(joined, sizes), next(self._numbers), joined
            _, number, labels = heappushpop(rest, made)
