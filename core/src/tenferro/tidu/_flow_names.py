"""Names of tangents and cotangents, kept while somebody wants to print them.

The tangent of x is ``dx``, its cotangent ``ct_x``. In a sweep over what another sweep made, the
tangent of ``dx`` is ``d2x``, that of ``ct_x`` is ``dct_x``, and cotangents are ``ct2_x``,
``ct2_dx``, ``ct2_ct_x``. A name is made from that of the value it belongs to; no graph is walked.
Sweeps note nothing unless ``naming_flows`` is open. Read next: ``_linearization.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.computegraph import ValueKey
from tenferro.tidu._apply_rules import Flowing
from tenferro.tidu._pull import Cotangents
from tenferro.tidu._seed import prefix_of
from tenferro.tidu._value import Value


class FlowName(NamedTuple):
    """The name of a tangent or cotangent: ``d``, ``ct_``, ``d2``, …, and the value it is of.

    ``order`` is how many sweeps, each over results of the one before, lead to it.
    """

    prefix: str
    root: ValueKey
    order: int


class FlowNames:
    """Names by key. A value that has one as a root of others keeps its number."""

    __slots__ = ("_roots", "of")

    def __init__(self) -> None:
        self.of: dict[ValueKey, FlowName] = {}
        self._roots: set[ValueKey] = set()

    def order_over(self, primals: Iterable[ValueKey]) -> int:
        """Return the order of a sweep over some values."""
        return 1 + max([self.of[key].order for key in primals if key in self.of], default=0)

    def add(self, kind: str, key: ValueKey, primal: ValueKey, order: int) -> None:
        """Name a tangent (``d``) or cotangent (``ct_``) of a value; the first name stays."""
        found = self.of.get(primal)
        prefix, root = ("", primal) if found is None else found[:2]
        self._roots.add(root)
        if key not in self.of and key not in self._roots:
            self.of[key] = FlowName(prefix_of(kind, prefix), root, order)

    def follow(self, images: Mapping[ValueKey, Value]) -> None:
        """Give the names of values to what stands for them now, as in a batch."""
        for key, (prefix, root, order) in list(self.of.items()):
            image = images.get(key)
            if image is not None and image.key not in self.of:
                there = images.get(root)
                self.of[image.key] = FlowName(prefix, root if there is None else there.key, order)


_names: ContextVar[FlowNames | None] = ContextVar("_names", default=None)


@contextmanager
def naming_flows() -> Iterator[FlowNames]:
    """Yield the names of what flows in the sweeps that run inside."""
    names = FlowNames()
    token = _names.set(names)
    try:
        yield names
    finally:
        _names.reset(token)


def name_tangents(
    tangents: Mapping[ValueKey, Flowing], leave: Callable[[Flowing], Value | None]
) -> None:
    """Name the tangents of a forward sweep, if names are wanted."""
    names = _names.get()
    if names is None:
        return
    order = names.order_over(tangents)
    for primal, flowing in tangents.items():
        tangent = leave(flowing)
        if tangent is not None:
            names.add("d", tangent.key, primal, order)


def name_images(images: Mapping[ValueKey, Value]) -> None:
    """Name values that stand for others, such as all examples of a batch for one."""
    names = _names.get()
    if names is not None:
        names.follow(images)


class NamedCotangents(Cotangents):
    """Cotangents that are named when the sweep takes them."""

    __slots__ = ("_kind", "_names", "_order", "_primals", "_rules")

    def __init__(
        self,
        rules: Any,
        outputs: Iterable[Value | None],
        cotangents: Iterable[Value | None],
        names: FlowNames,
        primals: Mapping[ValueKey, ValueKey],
    ) -> None:
        super().__init__(rules, outputs, cotangents)
        self._rules, self._names, self._primals = rules, names, primals
        self._order = order = names.order_over(primals.values())
        self._kind = "ct_" if order == 1 else f"ct{order}_"

    def take(self, key: ValueKey) -> Flowing | None:
        """Remove the contributions to a value, name their sum and return it."""
        found = super().take(key)
        primal = self._primals.get(key)
        if found is not None and primal is not None:
            self._names.add(self._kind, self._rules.leave(found).key, primal, self._order)
        return found


def cotangents_of(
    rules: Any,
    outputs: Iterable[Value | None],
    cotangents: Iterable[Value | None],
    primals: Callable[[], Mapping[ValueKey, ValueKey]],
) -> Cotangents:
    """Return what a backward sweep starts with; cotangents are named if names are wanted."""
    names = _names.get()
    if names is None:
        return Cotangents(rules, outputs, cotangents)
    return NamedCotangents(rules, outputs, cotangents, names, primals())
