"""The plugin host: backends, lowerings and the registry of primitives, made from plugins.

An object, not import-time work: the default one is made by the first ``tenferro.host()``. It scans
at the first question, imports light modules when a backend or the registry is asked for, and
creates a backend when it is used. Read next: ``../select.py``, which asks for backends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import Any

from tenferro._runtime import CollectorPaused
from tenferro._runtime.frozen import replace
from tenferro.backend._errors import BackendError, DeviceUnavailableError, PreferenceError
from tenferro.backend.base import Backend
from tenferro.backend.discovery.hints import nearest
from tenferro.backend.discovery.loading import (
    FAILURES,
    Plugin,
    failure_of,
    first_line,
    library_is_missing,
    missing_library,
)
from tenferro.backend.discovery.refusals import broken, unknown_backend
from tenferro.backend.discovery.store import PluginStore
from tenferro.backend.lowering import (
    Implementation,
    Lowering,
    LoweringTable,
    key_of,
    with_provider,
)
from tenferro.backend.lowering.providers import dist_of, owned_by
from tenferro.backend.records import (
    BACKENDS,
    PRIMITIVES,
    BackendConfig,
    BackendInfo,
    ForeignLowering,
    LoweringReport,
    PluginRecord,
    Probe,
)
from tenferro.computegraph import Operation, infer
from tenferro.primitives._boundary import bounded
from tenferro.tidu import Primitive

_FALLBACK = "numpy"  # where an opted-in host callback computes
_DEFAULT = BackendConfig()
_logged: set[tuple[str, str]] = set()


class PluginHost:
    """All installed plugins, and what they provide.

    ``autoload=False`` scans nothing but the standard set, so that a test sees no plugin of the
    developer's. ``block`` and ``allow`` are lists of distributions (``block`` also of names), as
    in ``TENFERRO_DISABLE_PLUGINS`` and ``TENFERRO_LOAD_PLUGINS``; ``strict`` raises at the first
    broken plugin.

    >>> host = PluginHost(autoload=False)
    >>> [record.name for record in host.records()]
    ['std']
    """

    def __init__(
        self,
        *,
        autoload: bool = True,
        block: Iterable[str] = (),
        allow: Iterable[str] | None = None,
        strict: bool | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._store = PluginStore(
            autoload=autoload, block=block, allow=allow, strict=strict, environment=environment
        )
        self._probes: dict[str, Probe] = {}
        self._probe_errors: dict[str, BaseException] = {}
        self._backends: dict[tuple[object, ...], Backend] = {}
        self._lowerings: dict[str, list[Lowering]] = {}
        self._tables: list[LoweringTable] = []
        self._preferred: dict[str, dict[str, str]] = {}
        self._owners: dict[type, str | None] = {}
        self.chosen: dict[Any, Any] = {}  # what `select.py` remembers of this host

    # ---- plugins ---------------------------------------------------------------------------------

    def records(self) -> tuple[PluginRecord, ...]:
        """Return one record per entry point, as far as known; import no plugin."""
        return self._store.records()

    def load(self) -> tuple[PluginRecord, ...]:
        """Load every plugin that may be loaded (light modules only), and give the records."""
        self._store.load_all()
        return self._store.records()

    def require(self, name: str, group: str = BACKENDS) -> Plugin:
        """Return the loaded plugin of a name.

        Raises UnknownBackendError, BackendConflictError, PluginBlockedError,
        PluginIncompatibleError or PluginBrokenError: whatever is in the way.
        """
        return self._store.require(name, group)

    def register(self, module: Any) -> PluginRecord:
        """Load a module (or object) that no entry point names.

        Raises PluginIncompatibleError, PluginBrokenError, NamespaceError, BackendConflictError:
        whatever is in the way; then nothing has changed.
        """
        record = self._store.adopt(module)
        self._forget_choices()
        for table in self._tables:
            table.extend(self._extend(table.backend, record))
        return record

    def block(self, *names: str) -> None:
        """Exclude distributions or names from now on."""
        before = self._store.names(BACKENDS)
        self._store.block(*names)
        self._forget(before)

    def hooks(self, record: PluginRecord) -> tuple[str, ...]:
        """Return the names of the hooks that a loaded plugin implements."""
        plugin = self._store.plugins.get((record.group, record.name))
        if plugin is None or record.status not in ("loaded", "unavailable"):
            return ()
        return self._store.loader.hooks(plugin.module)

    def tolerate(self) -> None:
        """Report broken plugins as states from now on, also where the environment is strict."""
        self._store.tolerate()

    def trace_hooks(self, write: Callable[[str], None]) -> Callable[[], None]:
        """Write every hook call from now on; call what is returned to stop."""
        manager = self._store.loader.manager
        manager.trace.root.setwriter(write)
        return manager.enable_tracing()

    def _forget(self, names: Iterable[str]) -> None:
        """Forget what was made of backends that are no longer there."""
        gone = set(names)
        with self._store.lock:
            self._forget_choices()
            self._tables[:] = [table for table in self._tables if table.backend not in gone]
            for entry in [entry for entry in self._backends if entry[0] in gone]:
                del self._backends[entry]
            for name in gone:
                self._lowerings.pop(name, None)
                self._probes.pop(name, None)

    def _forget_choices(self) -> None:
        self._owners.clear()
        self.chosen.clear()

    # ---- backends --------------------------------------------------------------------------------

    def backends(self) -> tuple[str, ...]:
        """Return the names of the backends whose plugins are loaded, available here or not."""
        self._store.load_others()
        return tuple(sorted(name for group, name in self._store.plugins if group == BACKENDS))

    def check_name(self, name: str, variable: str = "") -> None:
        """Raise UnknownBackendError unless an installed plugin claims the name."""
        installed = self._store.names(BACKENDS)
        if name not in installed:
            raise unknown_backend(name, installed, variable)

    def info(self, name: str) -> BackendInfo:
        """Return the plugin's description of a backend; its library is not imported."""
        info = self._store.require(name, BACKENDS).info
        if info is None:
            raise AssertionError("a loaded backend has a BackendInfo")
        return info

    def probe(self, name: str, *, refresh: bool = False) -> Probe:
        """Return whether a backend can run here; asked once, or again with ``refresh``.

        Raises PluginBrokenError: if the library that the plugin drives is not installed.
        """
        plugin = self._store.require(name, BACKENDS)
        with self._store.lock:
            if refresh or name not in self._probes:
                self.chosen.clear()
                self._probes[name] = self._ask(name, plugin)
            return self._probes[name]

    def _ask(self, name: str, plugin: Plugin) -> Probe:
        try:
            probe: Probe = self._store.loader.call_for(
                Probe, plugin.module, "tenferro_backend_probe"
            )
            self._probe_errors.pop(name, None)
        except FAILURES as error:
            self._probe_errors[name] = error
            if library_is_missing(error, plugin.manifest.requires_libs):
                raise self._break(name, error) from error
            probe = Probe(available=False, reason=failure_of("its probe", error))
        missing = None if probe.available else missing_library(plugin.manifest.requires_libs)
        if missing is not None:
            raise self._break(name, missing) from missing
        record = self._store.record(name, BACKENDS)
        if record is not None:
            status = "loaded" if probe.available else "unavailable"
            self._store.update(record, status=status, reason=probe.reason)
        return probe

    def _break(self, name: str, error: BaseException) -> BackendError:
        record = self._store.break_plugin((BACKENDS, name), error)
        self._forget([name])
        return broken(record)

    def probe_error(self, name: str) -> BaseException | None:
        """Return the error that the last probe of a backend raised; None if it answered."""
        return self._probe_errors.get(name)

    def is_available(self, name: str) -> bool:
        """Return True if a backend could be used now; never raise."""
        try:
            return self.probe(name).available
        except BackendError:
            return False

    @bounded("host().backend")
    def backend(self, name: str, config: BackendConfig | None = None) -> Backend:
        """Return the backend of a name, made at first use; one object per (name, config).

        Raises what ``require`` raises. Raises DeviceUnavailableError: if its probe says so.
        """
        settings = config or _DEFAULT
        entry = name, *settings.identity
        try:
            found = self._backends.get(entry)
        except TypeError:  # an option that cannot be hashed: made anew
            return self._create(name, settings)
        if found is not None:
            return found
        with self._store.lock:
            found = self._backends.get(entry)
            if found is None:
                with CollectorPaused():  # its files are read, and leave no garbage
                    found = self._backends[entry] = self._create(name, settings)
            return found

    def _create(self, name: str, config: BackendConfig) -> Backend:
        plugin = self._store.require(name, BACKENDS)
        probe = self.probe(name)
        if not probe.available:
            raise DeviceUnavailableError(
                f"{name} is not available here: {probe.reason}", backend=name, reason=probe.reason
            )
        backend = self._call_create(name, plugin, config)
        backend.name, backend.config = name, config
        backend.info = self.info(name)
        backend.provider = self._provider_of_plugin(name, BACKENDS)
        backend.lowerings = self.table(name)
        backend.lowerings.describe = backend.aval_of
        if config.allow_host_callback and name != _FALLBACK:
            backend.lowerings.fallback = partial(self._host_callback, backend)
        return backend

    def _call_create(self, name: str, plugin: Plugin, config: BackendConfig) -> Backend:
        try:
            backend: Backend = self._store.loader.call_for(
                Backend, plugin.module, "tenferro_backend_create", config=config
            )
        except BackendError:
            raise
        except FAILURES as error:
            if library_is_missing(error, plugin.manifest.requires_libs):
                raise self._break(name, error) from error
            record = self._store.record(name, BACKENDS)
            reason = failure_of("its create hook", error)
            raise broken(_with_reason(record, reason)) from error
        return backend

    def _host_callback(
        self, backend: Backend, operation: Operation, avals: Sequence[Any]
    ) -> Implementation | None:
        """Make a detour over the NumPy backend, if the user allowed it; logged once."""
        try:
            there = self.backend(_FALLBACK)
        except BackendError:
            return None
        if not there.lowerings.is_native(operation, avals):
            return None
        log_once(backend.name, key_of(operation), f"runs as a host callback on {_FALLBACK}")
        function = there.lowerings.lookup(operation, avals)
        return backend.host_callback(operation, there, function, infer(operation, tuple(avals)))

    # ---- owners of operands ----------------------------------------------------------------------

    def owner_of(self, cls: type) -> str | None:
        """Return the backend whose operands are of a class, by the names that it declares.

        A class that several backends declare has no owner. No library is imported.
        """
        try:
            return self._owners[cls]
        except KeyError:
            return self._find_owner(cls)

    def _find_owner(self, cls: type) -> str | None:
        names = {f"{base.__module__}.{base.__qualname__}" for base in cls.__mro__}
        claims = [b for b in self.backends() if names.intersection(self.info(b).operand_types)]
        owner = self._owners[cls] = claims[0] if len(claims) == 1 else None
        return owner

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
        for backend in self.backends():
            for place in sorted(self._store.plugins):
                if self._provider_of_plugin(place[1], place[0]) != self._home(backend):
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

    def _home(self, backend: str) -> str:
        """Return the distribution that a backend comes from."""
        return self._provider_of_plugin(backend, BACKENDS)

    def _gathered(self, name: str) -> list[Lowering]:
        with self._store.lock:
            if name not in self._lowerings:
                self._lowerings[name] = self._gather(name)
            return self._lowerings[name]

    def _gather(self, name: str) -> list[Lowering]:
        plugin = self._store.require(name, BACKENDS)
        missing = missing_library(plugin.manifest.requires_libs)
        if missing is not None:
            raise self._break(name, missing) from missing
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
        provider = self._provider_of_plugin(place[1], place[0])
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

    def _provider_of_plugin(self, name: str, group: str) -> str:
        record = self._store.record(name, group)
        return "" if record is None else record.owner

    def prefer(self, primitive: str | type[Primitive], backend: str, dist: str) -> None:
        """Let one distribution's lowerings of a primitive run on a backend, whoever owns it.

        Raises PreferenceError: if the primitive is not registered, or the distribution has no
        lowering of it for this backend.
        Raises UnknownBackendError: if no installed plugin claims the backend's name.
        """
        key = primitive if isinstance(primitive, str) else primitive.key
        self.check_name(backend)
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

    # ---- the registry of primitives --------------------------------------------------------------

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
        return self._provider_of_plugin(namespace, group)

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

    def backends_with(self, operation: Operation, avals: Sequence[Any]) -> tuple[str, ...]:
        """Return the installed backends that have a lowering for an operation on these operands."""
        return tuple(name for name in self.backends() if self._has(name, operation, avals))

    def _has(self, name: str, operation: Operation, avals: Sequence[Any]) -> bool:
        try:
            table = LoweringTable(name, self._gathered(name), registry=self, home=self._home(name))
            return table.is_native(operation, avals)
        except BackendError:
            return False


def check_preference(
    plugins: PluginHost, key: str, backend: str, dist: str, *, is_class: bool
) -> None:
    """Raise PreferenceError unless the distribution has a lowering of the primitive there."""
    fields = {"primitive": key, "backend": backend, "dist": dist}
    known = plugins.primitives()
    if not is_class and key not in known:
        near = nearest(key, known)
        hint = f"\n  hint       did you mean {' or '.join(near)}?" if near else ""
        text = f"prefer: no primitive {key!r} is known{hint}"
        raise PreferenceError(text, **fields, nearest=near)
    providers = {dist_of(c.provider) for c in plugins.lowerings(backend) if c.primitive == key}
    if not any(owned_by(provider, dist) for provider in providers):
        raise PreferenceError(
            f"prefer: {dist!r} has no lowering of {key} for {backend}\n"
            f"  lowered by {', '.join(sorted(providers)) or 'none'}",
            **fields,
            nearest=nearest(dist, providers),
        )


def _with_reason(record: PluginRecord | None, reason: str) -> PluginRecord:
    if record is None:
        raise AssertionError("a plugin whose hook is called has a record")
    return replace(record, reason=reason, install_hint="")


def log_once(who: str, what: str, text: str) -> None:
    """Log one line to the logger ``tenferro``, the first time only; ``logging`` loads then."""
    if (who, what) not in _logged:
        _logged.add((who, what))
        import_module("logging").getLogger("tenferro").warning("%s: %s %s", who, what, text)
