"""The plugin host: what is installed, and the backends that are made from it.

An object, not import-time work: the default one is made by the first ``tenferro.host()``. It scans
at the first question, imports light modules when a backend or the registry is asked for, and
creates a backend when it is used. Primitives and lowerings are in its ``Catalogue``. Read next:
``../select.py``, which asks for backends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tenferro._runtime import CollectorPaused, frozen
from tenferro.backend._errors import BackendError, DeviceUnavailableError, UnsupportedError
from tenferro.backend.base import Backend
from tenferro.backend.discovery.catalogue import Catalogue, log_once
from tenferro.backend.discovery.loading import (
    FAILURES,
    Plugin,
    failure_of,
    library_is_missing,
    missing_library,
)
from tenferro.backend.discovery.scan import STANDARD
from tenferro.backend.discovery.store import PluginStore
from tenferro.backend.lowering import (
    Implementation,
    Lowering,
    LoweringTable,
    key_of,
)
from tenferro.backend.records import (
    BACKENDS,
    PRIMITIVES,
    BackendConfig,
    BackendInfo,
    ForeignLowering,
    GraphPass,
    PluginRecord,
    Probe,
)
from tenferro.computegraph import Operation, infer
from tenferro.primitives._boundary import at_user_line, bounded
from tenferro.tidu import Primitive

if TYPE_CHECKING:
    from tenferro.backend.exporting import Exporter
    from tenferro.backend.sharding import Processes

_FALLBACK = "numpy"  # where an opted-in host callback computes
_DEFAULT = BackendConfig()


class PluginHost:
    """All installed plugins, and what they provide.

    ``autoload=False`` scans nothing but the standard set, so that a test sees no plugin of the
    developer's. ``block`` and ``allow`` are lists of distributions (``block`` also of names), as
    in ``TENFERRO_DISABLE_PLUGINS`` and ``TENFERRO_LOAD_PLUGINS``; ``strict`` raises at the first
    broken plugin.

    >>> from tenferro.backend import PluginHost
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
        self._catalogue = Catalogue(self._store, self._break, self._forget_choices)
        self._owners: dict[type, str | None] = {}
        self.chosen: dict[Any, Any] = {}  # of `select.py`; replaced when a choice may change
        self.is_as_installed = autoload  # nothing was registered, dropped or preferred by a call

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

    def register(self, module: Any, *, replace: bool = False) -> PluginRecord:
        """Load a module (or object) that no entry point names.

        With ``replace`` it takes the place of the plugin of its name, if there is one: that of an
        earlier registration while a notebook is edited, for instance.

        Raises PluginIncompatibleError, PluginBrokenError, NamespaceError, BackendConflictError:
        whatever is in the way; then nothing has changed.
        """
        if replace:
            before = self._store.names(BACKENDS)
            record = self._store.adopt_instead(module)
            self._forget(before)
            return record
        record = self._store.adopt(module)
        self.is_as_installed = False
        self._forget_choices()
        self._catalogue.extend(record)
        return record

    def unregister(self, name: str, group: str = "") -> PluginRecord:
        """Drop the plugin of a name, installed or registered, for the rest of the process.

        ``group`` is needed where a backend and a namespace have one name. Functions that were
        compiled before keep what they were compiled with.

        Raises UnknownBackendError: if there is no such plugin.
        Raises ValueError: for the standard set, or if the name is ambiguous.
        """
        groups = [g for g in (BACKENDS, PRIMITIVES) if self._store.record(name, g) is not None]
        if name == STANDARD or (len(groups) > 1 and not group):
            why = (
                "nothing runs without it" if name == STANDARD else "name the group: " + str(groups)
            )
            raise at_user_line(ValueError(f"unregister: {name!r} cannot be dropped: {why}"))
        before = self._store.names(BACKENDS)
        record = self._store.remove(name, group or next(iter(groups), BACKENDS))
        self._forget(before)
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
        self.is_as_installed = False
        gone = set(names)
        with self._store.lock:
            self._forget_choices()
            self._catalogue.forget(gone)
            for entry in [entry for entry in self._backends if entry[0] in gone]:
                del self._backends[entry]
            for name in gone:
                self._probes.pop(name, None)

    def _forget_choices(self) -> None:
        self._owners.clear()
        self.chosen = {}

    # ---- backends --------------------------------------------------------------------------------

    def backends(self) -> tuple[str, ...]:
        """Return the names of the backends whose plugins are loaded, available here or not."""
        return self._store.backends()

    def check_name(self, name: str, variable: str = "") -> None:
        """Raise UnknownBackendError unless an installed plugin claims the name."""
        self._store.check_name(name, variable)

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
                self.chosen = {}
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
        refusal: BackendError = _refusals().broken(record)
        return refusal

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

    def has_made(self, backend: Backend) -> bool:
        """Return True for a backend that ``backend`` returns to whoever asks again."""
        return any([made is backend for made in self._backends.values()])

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
        backend.provider = self._catalogue.provider_of_plugin(name, BACKENDS)
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
            raise _refusals().broken(_with_reason(record, reason)) from error
        return backend

    def implementing(self, hook: str) -> list[str]:
        """Return the backends whose plugins implement a hook, available here or not."""
        modules = [(name, self._store.require(name, BACKENDS).module) for name in self.backends()]
        return [name for name, module in modules if self._store.loader.implements(module, hook)]

    def processes(self, name: str) -> Processes:
        """Return what connects several processes on a backend.

        Raises what ``require`` raises. Raises UnsupportedError: if the backend has no such thing.
        """
        found: Processes = self._ability(
            import_module("tenferro.backend.sharding").Processes,  # few programs have several
            name,
            "tenferro_backend_processes",
            f"{name} runs in one process\n  hint       the feature `sharding` has several",
            "sharding",
        )
        return found

    def exporter(self, name: str) -> Exporter:
        """Return what compiles programs of a backend into files.

        Raises what ``require`` raises. Raises UnsupportedError: if the backend has no such thing.
        """
        found: Exporter = self._ability(
            import_module("tenferro.backend.exporting").Exporter,
            name,
            "tenferro_backend_exporter",
            f"{name} exports no programs\n"
            "  hint       `tn.save_graph` saves a function that every backend runs",
            "export",
        )
        return found

    def _ability(self, kind: type[Any], name: str, hook: str, refusal: str, feature: str) -> Any:
        """Return what an optional hook of a backend gives.

        Raises UnsupportedError: with this text, if its plugin does not implement the hook.
        """
        plugin = self._store.require(name, BACKENDS)
        if not self._store.loader.implements(plugin.module, hook):
            raise UnsupportedError(refusal, backend=name, feature=feature, instead="xla")
        try:
            return self._store.loader.call_for(kind, plugin.module, hook)
        except FAILURES as error:
            if library_is_missing(error, plugin.manifest.requires_libs):
                raise self._break(name, error) from error
            raise

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

    # ---- what plugins provide: see `catalogue.py` ------------------------------------------------

    def primitives(self) -> Mapping[str, type[Primitive]]:
        """Return every registered primitive by key, sorted."""
        return self._catalogue.primitives()

    def primitive(self, key: str) -> type[Primitive] | None:
        """Return the registered class of a key."""
        return self._catalogue.primitive(key)

    def provider(self, key: str) -> str:
        """Return the distribution that registered a key; empty if none did."""
        return self._catalogue.provider(key)

    def owner(self, key: str) -> str:
        """Return the distribution that owns the namespace of a key; empty if none does."""
        return self._catalogue.owner(key)

    def note(self, key: str) -> str:
        """Return the problem of a key's namespace; empty if there is none."""
        return self._catalogue.note(key)

    def table(self, name: str) -> LoweringTable:
        """Make a new lowering table of a backend; each plugin is asked for its lowerings once."""
        return self._catalogue.table(name)

    def lowerings(self, backend: str) -> tuple[Lowering, ...]:
        """Return every lowering that any plugin has for a backend, used or not.

        Raises what ``require`` raises.
        """
        return self._catalogue.lowerings(backend)

    def graph_passes(self) -> tuple[tuple[GraphPass, str], ...]:
        """Return the graph passes of all plugins with their providers, in their order."""
        self._store.load_all()
        return self._catalogue.graph_passes()

    def foreign_lowerings(self) -> tuple[ForeignLowering, ...]:
        """Return every lowering for another distribution's backend, and whether it may run.

        Asks the plugins for their lowerings, but no backend for its own.
        """
        return self._catalogue.foreign_lowerings()

    def backends_with(self, operation: Operation, avals: Sequence[Any]) -> tuple[str, ...]:
        """Return the installed backends that have a lowering for an operation on these operands."""
        return self._catalogue.backends_with(operation, avals)

    def prefer(self, primitive: str | type[Primitive], backend: str, dist: str) -> None:
        """Let one distribution's lowerings of a primitive run on a backend, whoever owns it.

        Raises PreferenceError: if the primitive is not registered, or the distribution has no
        lowering of it for this backend.
        Raises UnknownBackendError: if no installed plugin claims the backend's name.
        """
        self.is_as_installed = False
        self._catalogue.prefer(primitive, backend, dist)


def _with_reason(record: PluginRecord | None, reason: str) -> PluginRecord:
    if record is None:
        raise AssertionError("a plugin whose hook is called has a record")
    return frozen.replace(record, reason=reason, install_hint="")


def _refusals() -> Any:
    """Import the errors about plugins, which few processes raise."""
    return import_module("tenferro.backend.discovery.refusals")
