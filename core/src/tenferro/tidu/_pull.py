"""The backward sweep: turn linear flow around.

``pull`` visits the linear nodes of a forward sweep, last first, and asks the transpose rule of each
for the cotangents of its active inputs. What the readers of a value contribute is listed under the
value's key and added once, when the sweep reaches the value. Read next: ``_linearization.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tenferro.computegraph import ValueKey, inputs_of, outputs_of
from tenferro.tidu._apply_rules import CalledRules, Flowing
from tenferro.tidu._seed import cotangent_leaf
from tenferro.tidu._value import LinearNodes, Sweep, Value


class Cotangents:
    """By value, what its readers have contributed to its cotangent; a list if there are several."""

    __slots__ = ("_add", "kept", "terms")

    def __init__(
        self,
        rules: CalledRules,
        outputs: Iterable[Value | None],
        cotangents: Iterable[Value | None],
    ) -> None:
        self._add = rules.add
        self.kept: frozenset[ValueKey] = frozenset()  # seeds that a node makes, with other outputs
        self.terms: dict[ValueKey, Flowing | list[Flowing]] = {}
        for y, ct_y in zip(outputs, cotangents, strict=True):
            if y is not None and ct_y is not None:
                term = rules.enter(ct_y)
                there = y.key in self.terms
                self.terms[y.key] = _joined(self.terms[y.key], term) if there else term

    def take(self, key: ValueKey) -> Flowing | None:
        """Remove the contributions to a value and return their sum; ``None`` if nothing flows."""
        found = self.terms.pop(key, None)
        return self._add(found) if type(found) is list else found


def _joined(terms: Flowing | list[Flowing], term: Flowing) -> list[Flowing]:
    """Append one contribution to the first, or to a list of them."""
    if type(terms) is not list:
        return [terms, term]
    terms.append(term)
    return terms


def pull(nodes: LinearNodes, cotangents: Cotangents, rules: CalledRules) -> None:
    """Pass the cotangents of all nodes on to the values that the nodes are linear in.

    For each y = A(r) x:   ct_x += A(r)ᵀ ct_y
    """
    sweep, take, terms, transpose = rules.sweep, cotangents.take, cotangents.terms, rules.transpose
    kept = cotangents.kept
    for key, definition, active in nodes.backward():
        operation = definition[0]
        if operation.output_count == 1:
            ct = take(key)
            if ct is None:
                continue
            inputs, cts = definition[3:], [ct]
        else:
            cts = [None if y in kept else take(y) for y in outputs_of(key, definition)]
            if all([ct is None for ct in cts]):
                continue
            inputs = inputs_of(definition)
        sweep.source = key.source
        found = transpose(operation, inputs, active, cts)
        for x, ct_x in zip(inputs, found):  # noqa: B905 - checked, and faster
            if ct_x is not None:
                terms[x] = ct_x if x not in terms else _joined(terms[x], ct_x)


def fresh_cotangents(outputs: Sequence[Value | None], sweep: Sweep) -> list[Value | None]:
    """Make a fresh seed for each output through which something flows, also for repeated ones."""
    seeds: list[Value | None] = []
    for index, output in enumerate(outputs):
        if output is None:
            seeds.append(None)
        else:
            leaf = cotangent_leaf(output.key, output.aval, sweep.id, index)
            sweep.seeds.add(leaf)
            seeds.append(sweep.space.value(leaf, (sweep,)))
    return seeds
