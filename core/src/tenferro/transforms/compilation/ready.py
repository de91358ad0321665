"""Calls of a jitted function that look like an earlier one go straight to its program.

A call looks like another if its arguments have the classes, dtypes and shapes of that one's and
are known. Nothing is then flattened or asked of the backend again; only the choice of the
backend is checked. Where the program itself refuses operands of another dtype or shape, only the
classes are compared. Read next: ``compilation/jit.py``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from itertools import count
from threading import RLock
from typing import TYPE_CHECKING, Any

from tenferro._runtime import renew_in_children
from tenferro.arrays import Array
from tenferro.arrays.handle.array import SCALARS
from tenferro.arrays.handle.weak import INT64, class_of, is_weak
from tenferro.backend._default import host
from tenferro.backend.select import inspector, kinds_of, recall
from tenferro.computegraph import UNKNOWN, CacheStats, OperandError, ProgramCache
from tenferro.primitives._aval import Aval
from tenferro.transforms.recording import tree as _tree
from tenferro.transforms.recording.plain_trees import PlainSpec
from tenferro.transforms.recording.run_or_record import deliverer, deliverer_of_one

if TYPE_CHECKING:
    from tenferro.backend.base import Backend, Executable
    from tenferro.backend.timings import Timings

_SCALARS = frozenset(SCALARS)
_KEPT = 256
_PARTS = 3  # of the looks of an operand
UNFIT = object()  # what `Ready.tried` returns instead of a result
Looks = tuple[Any, ...]
_operands: set[type] = set()  # classes of operands that some program has run on


def looks(leaves: Iterable[Any], level: int = 0) -> Looks | None:
    """Return what a program depends on, for leaves that are scalars, known Arrays or operands.

    Return ``None`` for any other argument, containers included. ``level`` says how much programs
    depend on integers.
    """
    found: list[Any] = []
    for x in leaves:
        kind = type(x)
        if kind in _operands:
            found += (kind, x.dtype, x.shape)  # as many as `_PARTS`
        elif kind in _SCALARS:
            plain = not level and (kind is not int or -INT64 <= x < INT64)
            found.append(kind if plain else class_of(x, level))
        elif kind is Array and x.key.operand is not UNKNOWN and not (x.key.traces or is_weak(x)):
            found += (kind, type(x.key.operand), x.key.aval)
        else:
            return None
    return tuple(found)


def classes_of(args: tuple[Any, ...]) -> Any:
    """Return the classes of the arguments of a call, to look up; of one argument its class alone.

    A tuple made of ``map`` takes 0.7 µs, which is much of what a call of a small program takes.
    """
    count = len(args)
    if count == 1:
        return type(args[0])
    if count == 2:
        return type(args[0]), type(args[1])
    return tuple([type(x) for x in args])


class Ready:
    """A program that is bound to its backend, for calls that look alike."""

    __slots__ = (
        "_backend",
        "_call",
        "_captured",
        "_choices",
        "_finish",
        "_generation",
        "_has_arrays",
        "_host",
        "_is_taken",
        "_lowerings",
        "_moved",
        "_named",
        "_refuses_others",
        "_run",
        "_types",
        "_wanted",
    )

    def __init__(
        self,
        run: Executable,
        backend: Backend,
        named: Any,
        leaves: Sequence[Any],
        captured: Sequence[Any],
        chosen_by: Sequence[Any],
        avals: tuple[Sequence[Aval], Sequence[Aval]],
        out_spec: Any,
    ) -> None:
        """Bind the program.

        ``captured`` are its last operands. ``chosen_by`` are the operands that chose the backend;
        numbers among them may be constants of the program now. ``avals`` are those of the inputs,
        captured ones too, and those of the results.
        """
        known = operands_of(leaves)
        given, results = avals
        plain = not any([isinstance(leaf, Array) for leaf in leaves])
        own = given[: len(known)]
        self._run, self._backend, self._named = run, backend, named
        self._lowerings, self._generation = backend.lowerings, backend.lowerings.generation
        self._types = kinds_of(chosen_by)
        self._has_arrays = not plain
        self._moved = [(i, a) for i, a in enumerate(own) if _moves(known[i], a, backend, run)]
        rest = zip(captured, given[len(known) :], strict=True)
        self._captured = [
            run.hold(i, backend.asoperand(x, aval)) for i, (x, aval) in enumerate(rest, len(known))
        ]
        self._is_taken = self._has_arrays or bool(self._moved)
        self._call = run if self._moved else run.specialized([*known, *self._captured])
        self._host = host()
        self._choices = self._host.chosen
        self._wanted: Looks = ()
        self._refuses_others = (
            named is not None
            and not self._is_taken
            and run.refuses_others([*known, *self._captured])
        )
        self._finish = _finisher(results, backend, [*known, *captured], plain, out_spec)
        _operands.update({type(x) for x in leaves if _has_looks(x)} - _SCALARS - {Array})

    def holds(self) -> bool:
        """Return True if the same backend would be chosen now, with the same lowerings."""
        backend = self._backend
        chosen = recall(self._named, self._types)
        return chosen is backend and self._lowerings.generation == self._generation

    def result(self, leaves: Sequence[Any]) -> Any:
        """Run on the leaves of a call; a method, because an object's call takes longer."""
        if self._is_taken:
            leaves = self._taken(leaves)
        captured = self._captured
        found = self._call(*leaves, *captured) if captured else self._call(*leaves)
        return self._finish(found)

    def wants(self, seen: Looks) -> bool:
        """Return True if the program itself refuses all that looks otherwise; note the looks."""
        self._wanted = seen
        return self._refuses_others and _operands.issuperset(seen[::_PARTS])

    def tried(self, leaves: Sequence[Any], level: int) -> Any:
        """Run on operands of the classes that it wants; return ``UNFIT`` if they look otherwise."""
        if (
            self._choices is not self._host.chosen
            or self._lowerings.generation != self._generation
            or inspector() is not None
        ):
            if inspector() is not None or not self.holds():
                return UNFIT
            self._host = host()
            self._choices = self._host.chosen
        captured = self._captured
        try:
            results = self._call(*leaves, *captured) if captured else self._call(*leaves)
        except OperandError:
            if looks(leaves, level) == self._wanted:
                raise
            return UNFIT
        return self._finish(results)

    def profile(self, leaves: Sequence[Any]) -> Timings:
        """Run on the leaves of a call, and return what it took."""
        return self._run.profile(*self._taken(leaves), *self._captured)

    def _taken(self, leaves: Sequence[Any]) -> list[Any]:
        """Convert leaves to operands of the backend; most already are."""
        operands = operands_of(leaves) if self._has_arrays else list(leaves)
        take = self._backend.asoperand
        for i, aval in self._moved:
            operands[i] = take(operands[i], aval)
        return operands


def _finisher(
    avals: Sequence[Aval], backend: Backend, operands: Sequence[Any], plain: bool, spec: Any
) -> Callable[[Any], Any]:
    """Return what makes a result of the user of the results of a program."""
    if len(avals) == 1:
        deliver_one = deliverer_of_one(avals[0], backend, operands, plain)
        if spec is _tree.LEAF:
            return deliver_one
        pattern = _pattern_of(spec)
        if pattern is not None:
            put_together = import_module("tenferro.transforms.recording.sparse").put_together
            return lambda results: put_together(pattern, (deliver_one(results),))
    deliver = deliverer(avals, backend, operands, plain, fresh=True)
    row = spec.row() if type(spec) is PlainSpec else None
    if deliver is list and row is not None:
        return row
    make = spec.maker() if type(spec) is PlainSpec else spec.unflatten
    return make if deliver is list else lambda results: make(deliver(results))


def _pattern_of(spec: Any) -> Any:
    """Return the pattern of a result that is a sparse matrix; None if it is another tree."""
    module = sys.modules.get("tenferro.arrays.sparse.matrix")
    if module is None or getattr(spec, "type", None) is not module.SparseArray:
        return None
    return spec.unflatten([object()]).pattern  # a stand-in makes no matrix


def _has_looks(x: Any) -> bool:
    """Return True if an operand itself tells its dtype and shape, as ``looks`` reads them.

    A backend may describe its operands (``aval_of``) without such attributes.
    """
    try:
        hash((x.dtype, x.shape))
    except (AttributeError, TypeError):
        return False
    return True


def operands_of(leaves: Sequence[Any]) -> list[Any]:
    """Return the operands of Arrays; anything else is returned unchanged."""
    return [leaf.operand if isinstance(leaf, Array) else leaf for leaf in leaves]


def _moves(x: Any, aval: Aval, backend: Backend, run: Executable) -> bool:
    """Return True if an operand must be converted; a backend takes its own ones unchanged."""
    if backend.owns(x):
        return backend.asoperand(x, aval) is not x
    if not run.reads_numpy:
        return True
    kind = type(x)
    return not (kind in _SCALARS or (kind.__module__ == "numpy" and hasattr(x, "dtype")))


class JitCache:
    """Cache of a jitted function: traces by signature, programs by the looks of a call."""

    __slots__ = ("__weakref__", "_lock", "_ready", "by_class", "hits", "level", "traces")

    def __init__(self) -> None:
        self.traces = ProgramCache(max_entries=_KEPT)
        self._ready: dict[Looks, Ready] = {}
        #: By `classes_of` the arguments; None where several programs have the same.
        self.by_class: dict[type | tuple[type, ...], Ready | None] = {}
        self._lock = RLock()
        renew_in_children(self)
        self.hits = count()  # of programs, counted without a lock
        self.level = 0  # the highest `NumberReads.level` of a trace; a part of the keys of calls

    def renew_after_fork(self) -> None:
        """Make a new lock."""
        self._lock = RLock()

    def find(self, key: Looks) -> Ready | None:
        """Return the program for calls with these looks, if it may still be used."""
        ready = self._ready.get(key)
        if ready is None or not ready.holds():
            return None
        next(self.hits)
        return ready

    def keep(self, key: Looks, ready: Ready, args: tuple[Any, ...] | None) -> None:
        """Use the program for such calls from now on; ``args`` are given if they are its leaves."""
        if len(self._ready) >= _KEPT:
            self._ready.clear()
            self.by_class.clear()
        if args is not None and ready.wants(key):
            kinds = key[::_PARTS]
            others = [seen for seen in self._ready if seen != key and seen[::_PARTS] == kinds]
            self.by_class[classes_of(args)] = None if others else ready
        self._ready[key] = ready

    @property
    def stats(self) -> CacheStats:
        """The counters: each call that traced nothing is a hit."""
        found = self.traces.stats
        hits = int(repr(self.hits)[len("count(") : -1])  # the one way to read it as it is
        return found._replace(hits=found.hits + hits)

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._ready.clear()
            self.by_class.clear()
            self.hits = count()
        self.traces.clear()
