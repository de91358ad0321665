"""Catalogue of what plugins provide: primitives by key, and lowerings of them for each backend.

``Catalogue`` asks each plugin once for its lowerings of a backend and makes tables of them; which
of several lowerings runs is the table's decision, and the user's, through ``prefer``. A plugin that
fails when it is asked is broken from then on. Read next: ``host.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any

from tenferro.backend._errors import BackendError, PreferenceError
from tenferro.backend.discovery.loading import (
    FAILURES,
    Plugin,
    failure_of,
    first_line,
    missing_library,
)
from tenferro.backend.discovery.store import PluginStore
from tenferro.backend.lowering import Lowering, LoweringTable, with_provider
from tenferro.backend.lowering.providers import dist_of, owned_by
from tenferro.backend.records import (
    BACKENDS,
    PRIMITIVES,
    ForeignLowering,
    GraphPass,
    LoweringReport,
    PluginRecord,
)
from tenferro.computegraph import Operation
from tenferro.tidu import Primitive

_logged: set[tuple[str, str]] = set()


class Catalogue:
    """Primitives and lowerings of all plugins in a store.

    ``fail(backend, error)`` marks a backend as broken, and gives the error to raise;
    ``forget_choices()`` drops what was decided from the plugins that there were.
    """

    def __init__(
        self,
        store: PluginStore,
        fail: Callable[[str, BaseException], BackendError],
        forget_choices: Callable[[], None],
    ) -> None:
        self._store = store
        self._fail = fail
        self._forget_choices = forget_choices
        self._lowerings: dict[str, list[Lowering]] = {}
        self._tables: list[LoweringTable] = []
        self._preferred: dict[str, dict[str, str]] = {}

    # ---- primitives ------------------------------------------------------------------------------

    def primitives(self) -> Mapping[str, type[Primitive]]:
        """Return every registered primitive by key, sorted."""
        self._store.load_all()
        return dict(sorted(self._store.primitives.items()))

    def primitive(self, key: str) -> type[Primitive] | None:
        """Return the registered class of a key."""
        self._store.load_all()
        return self._store.primitives.get(key)

    def provider(self, key: str) -> str:
        """Return the distribution that registered a key; empty if none did."""
        if self.primitive(key) is None:
            return ""
        namespace = key.partition("::")[0]
        group = PRIMITIVES if (PRIMITIVES, namespace) in self._store.plugins else BACKENDS
        return self.provider_of_plugin(namespace, group)

    def owner(self, key: str) -> str:
        """Return the distribution that owns the namespace of a key; empty if none does.

        Does not load the standard set, which programs ask about before its classes are needed.
        """
        namespace = key.partition("::")[0]
        for group in (PRIMITIVES, BACKENDS):
            record = self._store.record(namespace, group)
            if record is not None and record.status not in ("blocked", "incompatible", "conflict"):
                return record.owner
        return ""

    def note(self, key: str) -> str:
        """Return the problem of a key's namespace; empty if there is none."""
        self._store.load_all()
        namespace = key.partition("::")[0]
        record = self._store.record(namespace, PRIMITIVES)
        if record is None or record.status in ("loaded", "unavailable"):
            return ""
        return f"the namespace {namespace!r} is in the state {record.status}: {record.reason}"

    # ---- lowerings -------------------------------------------------------------------------------

    def table(self, name: str) -> LoweringTable:
        """Make a new lowering table of a backend; each plugin is asked for its lowerings once."""
        self._store.require(name, BACKENDS)
        with self._store.lock:
            lowerings = self._gathered(name)
            preferred = self._preferred.get(name)
            table = LoweringTable(
                name, lowerings, registry=self, preferred=preferred, home=self._home(name)
            )
            if self._observers():
                table.observe = self._notify
            self._tables.append(table)
            return table

    def lowerings(self, backend: str) -> tuple[Lowering, ...]:
        """Return every lowering that any plugin has for a backend, used or not.

        Raises what ``require`` raises.
        """
        return tuple(self._gathered(backend))

    def foreign_lowerings(self) -> tuple[ForeignLowering, ...]:
        """Return every lowering for another distribution's backend, and whether it may run.

        Asks the plugins for their lowerings, but no backend for its own.
        """
        self._store.load_all()
        found = []
        for backend in self._store.backends():
            for place in sorted(self._store.plugins):
                if self.provider_of_plugin(place[1], place[0]) != self._home(backend):
                    given = self._lowerings_by(place, backend)
                    found += [self._foreign(lowering, backend) for lowering in given]
        return tuple(found)

    def _foreign(self, lowering: Lowering, backend: str) -> ForeignLowering:
        key, dist = lowering.primitive, dist_of(lowering.provider)
        cls, owner = self.primitive(key), self.owner(key)
        preferred = self._preferred.get(backend, {}).get(key, "")
        if cls is None and owner:
            runs, why = False, "there is no such primitive"
        elif cls is not None and cls.version != lowering.for_version:
            runs, why = False, f"it is for version {lowering.for_version}, not {cls.version}"
        elif preferred:
            runs, why = owned_by(dist, preferred), f"{preferred} is preferred"
        elif not owner or owned_by(dist, dist_of(owner)):
            runs, why = True, "it owns the primitive" if owner else "no plugin owns the primitive"
        else:
            runs, why = False, f'tenferro.prefer("{key}", "{backend}", "{dist}") allows it'
        return ForeignLowering(
            primitive=key, backend=backend, provider=lowering.provider, runs=runs, why=why
        )

    def backends_with(self, operation: Operation, avals: Sequence[Any]) -> tuple[str, ...]:
        """Return the installed backends that have a lowering for an operation on these operands."""
        return tuple(name for name in self._store.backends() if self._has(name, operation, avals))

    def _has(self, name: str, operation: Operation, avals: Sequence[Any]) -> bool:
        try:
            table = LoweringTable(name, self._gathered(name), registry=self, home=self._home(name))
            return table.is_native(operation, avals)
        except BackendError:
            return False

    def extend(self, record: PluginRecord) -> None:
        """Add the lowerings of a plugin that was registered late to all tables."""
        for table in self._tables:
            table.extend(self._extend(table.backend, record))

    def forget(self, backends: Iterable[str]) -> None:
        """Forget what was made of backends that are no longer there."""
        gone = set(backends)
        self._tables[:] = [table for table in self._tables if table.backend not in gone]
        for name in gone:
            self._lowerings.pop(name, None)

    def _gathered(self, name: str) -> list[Lowering]:
        with self._store.lock:
            if name not in self._lowerings:
                self._lowerings[name] = self._gather(name)
            return self._lowerings[name]

    def _gather(self, name: str) -> list[Lowering]:
        plugin = self._store.require(name, BACKENDS)
        missing = missing_library(plugin.manifest.requires_libs)
        if missing is not None:
            raise self._fail(name, missing) from missing
        gathered: list[Lowering] = []
        for place in sorted(self._store.plugins):
            gathered += self._lowerings_by(place, name)
        self._store.require(name, BACKENDS)  # it may just have broken
        return gathered

    def _lowerings_by(self, place: tuple[str, str], backend: str) -> list[Lowering]:
        """Return one plugin's lowerings for a backend; if it raises, mark it broken and return
        none.
        """
        plugin = self._store.plugins[place]
        provider = self.provider_of_plugin(place[1], place[0])
        try:
            results = self._store.loader.call(plugin.module, "tenferro_lowerings", backend=backend)
            return [x for result in results for x in with_provider(result, provider)]
        except FAILURES as error:
            self._store.break_plugin(place, error, failure_of("its lowerings hook", error))
            self._forget_choices()
            return []

    def _extend(self, backend: str, record: PluginRecord) -> list[Lowering]:
        added = self._lowerings_by((record.group, record.name), backend)
        self._lowerings.get(backend, []).extend(added)
        return added

    def provider_of_plugin(self, name: str, group: str) -> str:
        """Return the distribution of a plugin; empty if there is none."""
        record = self._store.record(name, group)
        return "" if record is None else record.owner

    def _home(self, backend: str) -> str:
        """Return the distribution that a backend comes from."""
        return self.provider_of_plugin(backend, BACKENDS)

    # ---- graph passes ----------------------------------------------------------------------------

    def graph_passes(self) -> tuple[tuple[GraphPass, str], ...]:
        """Return the graph passes of all loaded plugins with their providers, in their order."""
        places = sorted(self._store.plugins, key=lambda place: place[::-1])
        return tuple(
            [
                (each, self.provider_of_plugin(place[1], place[0]))
                for place in places
                for each in self._store.plugins[place].passes
            ]
        )

    # ---- what the user prefers, and who looks on -------------------------------------------------

    def prefer(self, primitive: str | type[Primitive], backend: str, dist: str) -> None:
        """Let one distribution's lowerings of a primitive run on a backend, whoever owns it.

        Raises PreferenceError: if the primitive is not registered, or the distribution has no
        lowering of it for this backend.
        Raises UnknownBackendError: if no installed plugin claims the backend's name.
        """
        key = primitive if isinstance(primitive, str) else primitive.key
        self._store.check_name(backend)
        check_preference(self, key, backend, dist, is_class=not isinstance(primitive, str))
        with self._store.lock:
            self._preferred.setdefault(backend, {})[key] = dist
            for table in self._tables:
                if table.backend == backend:
                    table.prefer(key, dist)

    def _observers(self) -> list[Plugin]:
        hook = "tenferro_on_lowered"
        loader = self._store.loader
        return [p for p in self._store.plugins.values() if loader.implements(p.module, hook)]

    def _notify(self, report: LoweringReport) -> None:
        """Tell the observers; what they raise is logged and goes no further."""
        for plugin in self._observers():
            try:
                self._store.loader.call(plugin.module, "tenferro_on_lowered", report=report)
            except FAILURES as error:
                log_once(plugin.manifest.name, "tenferro_on_lowered", f"raised {first_line(error)}")


def check_preference(
    catalogue: Catalogue, key: str, backend: str, dist: str, *, is_class: bool
) -> None:
    """Raise PreferenceError unless the distribution has a lowering of the primitive there."""
    fields = {"primitive": key, "backend": backend, "dist": dist}
    nearest = import_module("tenferro.backend.discovery.hints").nearest
    known = catalogue.primitives()
    if not is_class and key not in known:
        near = nearest(key, known)
        hint = f"\n  hint       did you mean {' or '.join(near)}?" if near else ""
        text = f"prefer: no primitive {key!r} is known{hint}"
        raise PreferenceError(text, **fields, nearest=near)
    providers = {dist_of(c.provider) for c in catalogue.lowerings(backend) if c.primitive == key}
    if not any(owned_by(provider, dist) for provider in providers):
        raise PreferenceError(
            f"prefer: {dist!r} has no lowering of {key} for {backend}\n"
            f"  lowered by {', '.join(sorted(providers)) or 'none'}",
            **fields,
            nearest=nearest(dist, providers),
        )


def log_once(who: str, what: str, text: str) -> None:
    """Log one line to the logger ``tenferro``, the first time only; ``logging`` loads then."""
    if (who, what) not in _logged:
        _logged.add((who, what))
        import_module("logging").getLogger("tenferro").warning("%s: %s %s", who, what, text)
