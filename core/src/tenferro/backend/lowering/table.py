"""The table of one backend: the lowering of an operation, and the lowering of whole programs.

Order of resolution: a lowering that fits exactly (version and dtypes), else the decomposition,
else a gap; ``close`` reports all gaps of a program at once. Of several that fit, the preferred
distribution's runs, else the one by the distribution that owns the primitive, else the backend's
own; one by any other distribution runs only after ``prefer``. A dtype or a device is never
substituted. Results are kept in dictionaries: finding the function of an operation is one look-up,
never a plugin call. Read next: ``decompose.py``; then
``../base.py``, which runs what comes out of here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import Any, Literal, Protocol

from tenferro.backend.lowering.checked import CheckedLowering, Describe
from tenferro.backend.lowering.decompose import decomposition, has_decomposition, sample
from tenferro.backend.lowering.promised import Promised
from tenferro.backend.lowering.providers import dist_of, owned_by
from tenferro.backend.lowering.record import Implementation, Lowering, load_target
from tenferro.backend.lowering.signature import Dtypes, dtypes_of, key_of, version_of
from tenferro.backend.records import Gap, GraphPass, LoweringReport
from tenferro.computegraph import CompiledProgram, MaterializedGraph, Operation
from tenferro.tidu import Primitive

__all__ = ["LoweringTable", "Registry", "Status"]

Status = Literal["native", "decomposed", "missing"]
_ADVICE = "how to write a lowering or a decomposition: docs/add_a_primitive.md"


def _gaps() -> Any:
    """Import the errors about lowerings that are missing or in conflict; few programs raise one."""
    return import_module("tenferro.backend.lowering.gaps")


class Registry(Protocol):
    """Interface of the plugin host to a table: primitives and other backends."""

    def primitive(self, key: str) -> type[Primitive] | None:
        """Return the registered class of a key."""

    def provider(self, key: str) -> str:
        """Return the distribution that registered a key; empty if none did."""

    def owner(self, key: str) -> str:
        """Return the distribution that owns the namespace of a key; empty if none does."""

    def note(self, key: str) -> str:
        """Return the problem of a key's namespace; empty if there is none."""

    def backends_with(self, operation: Operation, avals: Sequence[Any]) -> tuple[str, ...]:
        """Return the installed backends that have a lowering for an operation on these operands."""

    def graph_passes(self) -> tuple[tuple[GraphPass, str], ...]:
        """Return the graph passes of plugins with their providers, in their order."""


class LoweringTable:
    """All lowerings of one backend, by primitive key; the host makes it on activation.

    ``home`` is the distribution of the backend; lowerings by others are checked on their first run
    at each signature once ``describe``, the backend's ``aval_of``, is set. ``advice`` is the last
    hint of the error about missing lowerings.
    ``generation`` grows when lowerings are added or preferred later, so that what was compiled
    before can be told from what is compiled now.
    """

    def __init__(
        self,
        backend: str,
        lowerings: Iterable[Lowering] = (),
        *,
        registry: Registry | None = None,
        preferred: Mapping[str, str] | None = None,
        home: str = "",
        advice: str = _ADVICE,
    ) -> None:
        self.backend = backend
        self._advice = advice
        self.home = home
        self.describe: Describe | None = None
        self.generation = 0
        self.observe: Callable[[LoweringReport], None] | None = None
        self.fallback: Callable[[Operation, Sequence[Any]], Implementation | None] | None = None
        self._registry = registry
        self._preferred = dict(preferred or {})
        self._candidates: dict[str, tuple[Lowering, ...]] = {}
        self._chosen: dict[tuple[type, Dtypes], Lowering | None] = {}
        self._functions: dict[tuple[type, Dtypes], Implementation] = {}
        self._callbacks: dict[tuple[Operation, tuple[Any, ...]], Implementation] = {}
        self.extend(lowerings)

    def extend(self, lowerings: Iterable[Lowering]) -> None:
        """Add lowerings and forget what was resolved."""
        for lowering in lowerings:
            there = self._candidates.get(lowering.primitive, ())
            self._candidates[lowering.primitive] = (*there, lowering)
        self._changed()

    def prefer(self, primitive: str, dist: str) -> None:
        """Let one distribution's lowerings of a primitive win every tie and every priority."""
        self._preferred[primitive] = dist
        self._changed()

    def _changed(self) -> None:
        self.generation += 1
        self._chosen.clear()
        self._functions.clear()
        self._callbacks.clear()

    @property
    def is_as_made(self) -> bool:
        """True unless lowerings were added or preferred later."""
        return self.generation == 1

    def __contains__(self, key: object) -> bool:
        return key in self._candidates

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._candidates))

    def __len__(self) -> int:
        return len(self._candidates)

    def __repr__(self) -> str:
        return f"<LoweringTable of {self.backend}: {len(self)} primitives>"

    def graph_passes(self) -> tuple[tuple[GraphPass, str], ...]:
        """Return the graph passes of plugins with their providers, in their order."""
        return () if self._registry is None else self._registry.graph_passes()

    # ---- one operation ---------------------------------------------------------------------------

    def lookup(self, operation: Operation, avals: Sequence[Any] | None = None) -> Implementation:
        """Return the function ``(operation, *operands)`` for an operation, by its operands' dtypes.

        Raises MissingLoweringError: if no lowering fits; decompositions are ``close``'s business.
        Raises LoweringConflictError: if two fit with equal priority.
        """
        entry = type(operation), dtypes_of(operation, avals)
        function = self._functions.get(entry)
        if function is None:
            function = self._resolve(operation, entry, tuple(avals or ()))
        return function

    def promise(self, operation: Operation, avals: Sequence[Any]) -> Promised | None:
        """Return the promise of the function that ``lookup`` would return, without loading it.

        ``None`` unless the lowering is promised by the backend's own distribution.
        """
        chosen = self._choose((type(operation), dtypes_of(operation, avals)))
        if chosen is None or not self.is_at_home(chosen):
            return None
        target = chosen.target
        return target if isinstance(target, Promised) else None

    def _resolve(
        self, operation: Operation, entry: tuple[type, Dtypes], avals: tuple[Any, ...]
    ) -> Implementation:
        chosen = self._choose(entry)
        if chosen is not None:
            function = load_target(chosen, self.backend)
            if getattr(function, "takes_table", False):
                function = partial(function, self)
            if self.describe is not None and not self.is_at_home(chosen):
                function = CheckedLowering(function, self.describe, self.backend, chosen.provider)
            self._functions[entry] = function
            return function
        callback = self._callback(operation, avals)
        if callback is None:
            gap = self._gap(operation, avals, "")
            raise _gaps().missing_lowerings(self.backend, [gap], self._advice)
        return callback

    def provider_of(self, operation: Operation, avals: Sequence[Any] | None = None) -> str:
        """Return the provider of the lowering that ``lookup`` would return; empty if there is
        none.
        """
        chosen = self._choose((type(operation), dtypes_of(operation, avals)))
        return "" if chosen is None else chosen.provider

    def lowerings_of(self, key: str) -> tuple[Lowering, ...]:
        """Return all lowerings of a primitive, of whatever version and dtypes."""
        return self._candidates.get(key, ())

    def is_native(self, operation: Operation, avals: Sequence[Any] | None = None) -> bool:
        """Return True if a lowering fits this operation on operands of these avals."""
        return self._choose((type(operation), dtypes_of(operation, avals))) is not None

    def _choose(self, entry: tuple[type, Dtypes]) -> Lowering | None:
        if entry in self._chosen:
            return self._chosen[entry]
        chosen = self._chosen[entry] = self.best(*entry)
        return chosen

    def best(self, cls: type, dtypes: Dtypes) -> Lowering | None:
        """Return the fitting lowering of highest priority by the distribution that may lower it.

        Raises LoweringConflictError: if nothing decides between several.
        """
        key, version = key_of(cls), version_of(cls)
        fitting = [c for c in self._candidates.get(key, ()) if fits(c, version, dtypes)]
        if len(fitting) == 1 and self.is_at_home(fitting[0]):
            return fitting[0]
        usable = self._usable(key, fitting)
        ranked = sorted(usable, key=lambda c: -c.priority)
        several = len({dist_of(c.provider) for c in ranked}) > 1
        rivals = ranked if several else [c for c in ranked if c.priority == ranked[0].priority]
        if len(rivals) > 1:
            raise _gaps().lowering_conflict(key, self.backend, [c.provider for c in rivals])
        return ranked[0] if ranked else None

    def is_at_home(self, lowering: Lowering) -> bool:
        """Return True if a lowering comes from the backend's own distribution."""
        return lowering.provider == self.home

    def _usable(self, key: str, fitting: Sequence[Lowering]) -> list[Lowering]:
        """Return the lowerings that may run: the preferred, the owner's, or the backend's own.

        If no plugin owns the key, all may run, since none is for another distribution's primitive.
        """
        owner = "" if self._registry is None else self._registry.owner(key)
        for dist in (self._preferred.get(key, ""), owner, self.home):
            found = [c for c in fitting if dist and owned_by(c.provider, dist_of(dist))]
            if found:
                return found
        return [] if owner else list(fitting)

    def runs(self, primitive: type) -> str:
        """Return the provider of the lowering that runs a primitive, for any dtypes; empty if
        none.
        """
        usable = self.usable(primitive)
        return max(usable, key=lambda c: c.priority).provider if usable else ""

    def offers(self, primitive: type) -> tuple[str, ...]:
        """Return the distributions whose lowerings of a primitive run only after ``prefer``."""
        usable = {dist_of(c.provider) for c in self.usable(primitive)}
        fitting = self._of_version(primitive)
        return tuple(sorted({dist_of(c.provider) for c in fitting} - usable))

    def _of_version(self, cls: type) -> list[Lowering]:
        version = version_of(cls)
        return [c for c in self._candidates.get(key_of(cls), ()) if c.for_version == version]

    def usable(self, cls: type) -> list[Lowering]:
        """Return the lowerings of a primitive that may run, for any dtypes."""
        return self._usable(key_of(cls), self._of_version(cls))

    def foreign_in(self, program: CompiledProgram) -> tuple[str, ...]:
        """``key by distribution`` for each primitive of a program that another one lowers."""
        found = {}
        for operation, inputs, *_ in program.instructions:
            provider = self.provider_of(operation, [program.avals[i] for i in inputs])
            if provider not in ("", self.home):
                found[key_of(operation)] = provider
        return tuple(f"{key} by {provider}" for key, provider in sorted(found.items()))

    def status(self, primitive: type[Primitive] | str) -> Status:
        """Return how the backend runs a primitive, judged by its key, version and decomposition."""
        cls = self._class_of(primitive)
        if cls is not None and any([self.is_at_home(c) for c in self._of_version(cls)]):
            return "native"  # whoever owns the primitive
        key = primitive if isinstance(primitive, str) else primitive.key
        if self.usable(cls) if cls else self._usable(key, self.lowerings_of(key)):
            return "native"
        return "decomposed" if cls is not None and self._closes(cls, frozenset()) else "missing"

    def _class_of(self, primitive: type[Primitive] | str) -> type[Primitive] | None:
        if not isinstance(primitive, str):
            return primitive
        return None if self._registry is None else self._registry.primitive(primitive)

    def _closes(self, cls: type, above: frozenset[type]) -> bool:
        """Return True if the decomposition of a class leads to lowerings, as far as a sample
        shows.
        """
        if cls in above or not has_decomposition(cls):
            return False
        operations = sample(cls)
        if operations is None:
            return True
        return all(self.usable(type(o)) or self._closes(type(o), above | {cls}) for o in operations)

    # ---- whole programs --------------------------------------------------------------------------

    def close(self, program: CompiledProgram) -> CompiledProgram:
        """Replace every operation that has no lowering by its decomposition.

        Raises MissingLoweringError: naming every gap of the whole program.
        Raises DecompositionCycleError: if a decomposition leads back to itself.
        """
        if self.observe is None and self._are_native(program):
            return program
        splice = import_module("tenferro.backend.lowering.splice")  # few programs need it
        splicer = splice.Splicer(self._runs, self._decompose)
        closed: CompiledProgram = splicer.splice(program)
        if splicer.gaps:
            raise _gaps().missing_lowerings(
                self.backend, [self._gap(*gap) for gap in splicer.gaps], self._advice
            )
        if self.observe is not None:
            self.observe(self._report(closed, splicer.decomposed))
        return closed

    def _are_native(self, program: CompiledProgram) -> bool:
        """Return True if every operation of a program has a lowering."""
        try:
            names = [aval.dtype.name for aval in program.avals]
        except AttributeError:  # of another vocabulary than that of tensors
            return False
        entries = {
            (type(row[0]), tuple([names[i] for i in row[1] or row[2]])) for row in program.nodes
        }
        return all([self._choose(entry) is not None for entry in entries])

    def _runs(self, operation: Operation, avals: tuple[Any, ...]) -> bool:
        if self.is_native(operation, avals):
            return True
        return not has_decomposition(type(operation)) and (
            self._callback(operation, avals) is not None
        )

    def _decompose(self, operation: Operation, avals: tuple[Any, ...]) -> MaterializedGraph | None:
        return decomposition(operation, avals) if has_decomposition(type(operation)) else None

    def _callback(self, operation: Operation, avals: tuple[Any, ...]) -> Implementation | None:
        """Return the opted-in detour over the host for an operation; ``None`` without one."""
        if self.fallback is None:
            return None
        entry = operation, avals
        if entry not in self._callbacks:
            found = self.fallback(operation, avals)
            if found is None:
                return None
            self._callbacks[entry] = found
        return self._callbacks[entry]

    def _report(self, closed: CompiledProgram, decomposed: Iterable[Operation]) -> LoweringReport:
        native = {key_of(instruction.operation) for instruction in closed.instructions}
        return LoweringReport(
            backend=self.backend,
            native=tuple(sorted(native)),
            decomposed=tuple(sorted({key_of(operation) for operation in decomposed})),
            instructions=len(closed.instructions),
        )

    def _gap(self, operation: Operation, avals: Sequence[Any], within: str) -> Gap:
        """Describe an operation that cannot run."""
        cls, key, registry = type(operation), key_of(operation), self._registry
        others = self._candidates.get(key, ())
        fitting = [c for c in others if c.for_version == version_of(cls)]
        limits = {name for c in fitting for name in c.dtypes or ()}
        provider = registry.provider(key) if registry is not None else ""
        return Gap(
            primitive=key,
            version=version_of(cls),
            dtypes=dtypes_of(operation, avals) or (),
            provider=provider or cls.__module__,
            registered=registry is None or bool(provider),
            note=registry.note(key) if registry is not None else "",
            has_decomposition=has_decomposition(cls),
            within=within,
            written_for=tuple(
                sorted({c.for_version for c in others if c.for_version != version_of(cls)})
            ),
            dtypes_of_lowerings=tuple(sorted(limits)),
            offered_by=self.offers(cls),
            backends=registry.backends_with(operation, avals) if registry is not None else (),
        )


def fits(lowering: Lowering, version: int, dtypes: Dtypes) -> bool:
    """Return True if a lowering is for this version of its primitive and these dtypes."""
    if lowering.for_version != version:
        return False
    return lowering.dtypes is None or dtypes is None or lowering.dtypes.issuperset(dtypes)
