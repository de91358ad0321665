"""Every plugin with its state: scanned, then loaded one by one, all under one lock.

The store knows entry points, records and errors; what loaded plugins are used for is the host's
business. A plugin that fails changes its own state and no other's. Read next: ``catalogue.py``,
``host.py``.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping
from importlib import import_module
from sys import modules, stdlib_module_names
from threading import RLock
from time import perf_counter
from typing import Any

from tenferro._runtime import CollectorPaused, importing, renew_in_children
from tenferro._runtime.frozen import replace
from tenferro.backend._errors import BackendConflictError, BackendError, PluginWarning
from tenferro.backend.discovery.loading import (
    Loader,
    Plugin,
    Refusal,
    absent_module,
    first_line,
    library_is_missing,
)
from tenferro.backend.discovery.scan import (
    LISTED,
    STANDARD,
    Filters,
    Found,
    check_ranges,
    mark_conflicts,
    scan,
    with_standard,
)
from tenferro.backend.discovery.versions import required_name
from tenferro.backend.lowering import key_of
from tenferro.backend.lowering.decompose import check_cycles
from tenferro.backend.lowering.providers import canonical
from tenferro.backend.records import BACKENDS, PRIMITIVES, PluginRecord
from tenferro.primitives._boundary import at_user_line
from tenferro.tidu import Primitive

Place = tuple[str, str]  # group, name
USABLE = ("loaded", "unavailable")
_warned: set[tuple[str, str, str]] = set()  # one warning per process and plugin


class PluginStore:
    """The installed plugins and their states."""

    def __init__(
        self,
        *,
        autoload: bool,
        block: Iterable[str],
        allow: Iterable[str] | None,
        strict: bool | None,
        environment: Mapping[str, str] | None,
    ) -> None:
        self.lock = RLock()
        renew_in_children(self)
        self.loader = Loader()
        self.plugins: dict[Place, Plugin] = {}
        self.primitives: dict[str, type[Primitive]] = {}
        self._autoload = autoload
        self._block = set(block)
        self._allow = None if allow is None else tuple(allow)
        self._strict = strict
        self._environment = os.environ if environment is None else environment
        self._found: list[Found] | None = None
        self._late: list[Found] = []
        self._errors: dict[Place, BaseException] = {}
        self._loaded: set[bool] = set()  # whether that was the standard set
        self._loading = False

    # ---- states ----------------------------------------------------------------------------------

    def records(self) -> tuple[PluginRecord, ...]:
        """Return all records; scan and compare version ranges, but import no plugin."""
        with self.lock:
            found = self._scanned()
            found[:] = check_ranges(found)
            return tuple(item.record for item in found)

    def rivals(self, name: str, group: str) -> list[PluginRecord]:
        """Return all records of one name."""
        return [f.record for f in self._scanned() if f.place == (group, name)]

    def names(self, group: str) -> tuple[str, ...]:
        """Return the names that are claimed in a group."""
        return tuple(sorted({f.record.name for f in self._scanned() if f.place[0] == group}))

    def backends(self) -> tuple[str, ...]:
        """Return the names of the backends whose plugins are loaded, available here or not."""
        self.load_others()
        return tuple(sorted(name for group, name in self.plugins if group == BACKENDS))

    def check_name(self, name: str, variable: str = "") -> None:
        """Raise UnknownBackendError unless an installed plugin claims a backend's name."""
        installed = self.names(BACKENDS)
        if name not in installed:
            raise _refusals().unknown_backend(name, installed, variable)

    def record(self, name: str, group: str) -> PluginRecord | None:
        """Return the record that represents a name: the loaded one if there is one."""
        rivals = self.rivals(name, group)
        usable = [r for r in rivals if r.status not in ("blocked", "incompatible")]
        return next(iter(usable or rivals), None)

    def _scanned(self) -> list[Found]:
        with self.lock:
            if self._found is None:
                filters = Filters.of(self._environment, self._block, self._allow)
                self._found = scan(filters) if self._autoload else with_standard([])
                if self._autoload and LISTED in self._environment:
                    self._found[:] = mark_conflicts(
                        [*self._found, *_listed().listed_plugins(self._environment, filters)]
                    )
            return self._found

    def update(self, record: PluginRecord, **changes: Any) -> PluginRecord:
        """Replace a record by one with other fields."""
        found = self._scanned()
        position = next(i for i, f in enumerate(found) if f.record is record)
        found[position] = found[position]._replace(record=replace(record, **changes))
        return found[position].record

    def block(self, *names: str) -> None:
        """Exclude distributions or names; what is loaded is dropped."""
        with self.lock:
            lists = Filters.of({}, names)
            for item in list(self._scanned()):
                reason = lists.reason(item.record)
                if reason:
                    self._drop(item.place)
                    self.update(item.record, status="blocked", reason=reason)

    # ---- loading ---------------------------------------------------------------------------------

    def renew_after_fork(self) -> None:
        """Make a new lock; the fork waited for a thread that was loading."""
        self.lock = RLock()
        self._loading = False

    def load_all(self) -> None:
        """Load every plugin that may be loaded; the standard set first, then by name."""
        self._load_part(is_standard=True)
        self.load_others()

    def load_others(self) -> None:
        """Load all but the standard set: it gives primitives alone, and no backend waits for it."""
        self._load_part(is_standard=False)

    def _load_part(self, *, is_standard: bool) -> None:
        if is_standard in self._loaded:
            return
        with self.lock:
            failed = [] if self._loading else self._load_waiting(is_standard)
        for record in failed:
            if record is not None:
                warn_once(record)

    def _load_waiting(self, is_standard: bool) -> list[PluginRecord | None]:
        self.records()
        self._loading = True  # an import that asks the host sees what is loaded so far
        try:
            with importing(), CollectorPaused():  # files are read, and leave no garbage
                failed = [self._load(item) for item in self._in_order(is_standard)]
            self._loaded.add(is_standard)
            return failed
        finally:
            self._loading = False

    def _in_order(self, is_standard: bool) -> list[Found]:
        waiting = [f for f in self._scanned() if f.record.status == "discovered"]
        chosen = [f for f in waiting if (f.place == (PRIMITIVES, STANDARD)) is is_standard]
        return sorted(chosen, key=lambda item: item.place[0] == BACKENDS)

    def _load(self, item: Found) -> PluginRecord | None:
        """Load one plugin; its record if it broke."""
        try:
            start, before = perf_counter(), set(modules)
            plugin = self.loader.load(item.record, item.load)
            seconds = perf_counter() - start
            record = self._commit(item.record, plugin)
            own = {"tenferro", record.value.partition(".")[0], *stdlib_module_names}
            new = {name.partition(".")[0] for name in set(modules) - before} - own
            libraries = tuple(sorted(name for name in new if not name.startswith("_")))
            self.update(record, load_seconds=seconds, libraries=libraries)
        except Refusal as refusal:
            return self._refuse(item.record, refusal)
        return None

    def _commit(self, record: PluginRecord, plugin: Plugin) -> PluginRecord:
        """Step 9: take over what a plugin gave, all or nothing."""
        try:
            check_cycles(plugin.primitives, key_of)
        except BackendError as error:
            self.loader.drop(plugin.module)
            raise Refusal("broken", first_line(error)) from error
        self.plugins[record.group, record.name] = plugin
        self.primitives.update({cls.key: cls for cls in plugin.primitives})
        manifest = plugin.manifest
        return self.update(
            record, status="loaded", api=manifest.api, install_hint=manifest.install_hint
        )

    def _refuse(self, record: PluginRecord, refusal: Refusal) -> PluginRecord | None:
        cause = refusal.__cause__
        place = record.group, record.name
        if cause is not None:
            self._errors[place] = cause
        changed = self.update(
            record,
            status=refusal.status,
            reason=refusal.reason,
            traceback=traceback_text(cause),
            install_hint=install_hint(record, refusal, self._requirements(record)),
            missing_library=refusal.missing_library,
        )
        if changed.status != "broken":
            return None
        if self.is_strict:
            raise _refusals().broken(changed) from cause
        return changed

    def _requirements(self, record: PluginRecord) -> tuple[str, ...]:
        return next((f.requires for f in self._scanned() if f.record is record), ())

    def tolerate(self) -> None:
        """Report broken plugins as states from now on, also where the environment is strict."""
        self._strict = False

    @property
    def is_strict(self) -> bool:
        """True if the first broken plugin raises."""
        if self._strict is not None:
            return self._strict
        return self._environment.get("TENFERRO_STRICT_PLUGINS", "") not in ("", "0")

    def break_plugin(self, place: Place, error: BaseException, reason: str = "") -> PluginRecord:
        """Drop a loaded plugin that failed in a data hook, and keep the reason.

        A library that is not installed is the reason by itself, and deserves no warning: nothing is
        wrong with the plugin.
        """
        libraries = self.plugins[place].manifest.requires_libs
        missing = absent_module(error) if library_is_missing(error, libraries) else ""
        if missing:
            reason = f"{missing} is not installed"
        with self.lock:
            record = next(r for r in self.rivals(place[1], place[0]) if r.status in USABLE)
            self._drop(place)
            refusal = Refusal("broken", reason or first_line(error), missing)
            refusal.__cause__ = error
            self._refuse(record, refusal)
        changed = next(r for r in self.rivals(place[1], place[0]) if r.status == "broken")
        if not missing:
            warn_once(changed)
        return changed

    def _drop(self, place: Place) -> None:
        plugin = self.plugins.pop(place, None)
        if plugin is None:
            return
        self.loader.drop(plugin.module)
        for cls in plugin.primitives:
            self.primitives.pop(cls.key, None)

    # ---- asking for one --------------------------------------------------------------------------

    def require(self, name: str, group: str, variable: str = "") -> Plugin:
        """Return the loaded plugin of a name. Raises the typed error of whatever prevents that."""
        self.load_others() if group == BACKENDS else self.load_all()
        plugin = self.plugins.get((group, name))
        if plugin is not None:
            return plugin
        if not isinstance(name, str):
            raise at_user_line(TypeError(f"a {group} is named by a string, not {name!r:.60}"))
        record = self.record(name, group)
        if record is None and group == BACKENDS:
            raise _refusals().unknown_backend(name, self.names(group), variable)
        if record is None:
            raise _refusals().unknown_namespace(name, self.names(group))
        cause = self._errors.get((group, name))
        raise _refusals().unusable(record, self.rivals(name, group)) from cause

    # ---- late registration -----------------------------------------------------------------------

    def adopt(self, module: Any) -> PluginRecord:
        """Load a module that no entry point names (steps 6 to 9). Raises what prevents that."""
        record: PluginRecord = _listed().record_of(module)
        with self.lock:
            self._refuse_second_owner(record)
            try:
                plugin = self.loader.adopt(record, module)
                self._scanned().append(Found(record, lambda: module))
                return self._commit(record, plugin)
            except Refusal as refusal:
                self._found = [f for f in self._scanned() if f.record is not record]
                cause = refusal.__cause__
                if isinstance(cause, BackendError):
                    raise cause from None
                failed = replace(record, status=refusal.status, reason=refusal.reason)
                raise _refusals().unusable(failed, [failed]) from cause

    def adopt_instead(self, module: Any) -> PluginRecord:
        """Load a module in place of the plugin of its name; on failure, put that one back."""
        record: PluginRecord = _listed().record_of(module)
        place = record.group, record.name
        with self.lock:
            self.load_all()
            found, plugin = list(self._scanned()), self.plugins.get(place)
            self._scanned()[:] = [f for f in found if f.place != place]
            self._drop(place)
            try:
                return self.adopt(module)
            except BaseException:
                self._scanned()[:] = found
                if plugin is not None:
                    self._put_back(place, plugin)
                raise

    def _put_back(self, place: Place, plugin: Plugin) -> None:
        """Undo ``_drop``."""
        self.loader.manager.register(plugin.module, name=":".join(place))
        self.plugins[place] = plugin
        self.primitives.update({cls.key: cls for cls in plugin.primitives})

    def remove(self, name: str, group: str) -> PluginRecord:
        """Forget a plugin and its record. Raises UnknownBackendError."""
        with self.lock:
            self.load_all()
            record = self.record(name, group)
            if record is None:
                known = self.names(group)
                raise (
                    _refusals().unknown_backend(name, known, "")
                    if group == BACKENDS
                    else _refusals().unknown_namespace(name, known)
                )
            self._drop((group, name))
            self._scanned()[:] = [f for f in self._scanned() if f.place != (group, name)]
            return record

    def _refuse_second_owner(self, record: PluginRecord) -> None:
        there = [r for r in self.rivals(record.name, record.group) if r.status != "blocked"]
        if there:
            owners = tuple(sorted({r.dist or r.value for r in there}))
            raise BackendConflictError(
                f"{record.name!r} of {record.value} is already the name of {', '.join(owners)}",
                name=record.name,
                group=record.group,
                dist="",
                distributions=(*owners, record.value),
            )


def install_hint(record: PluginRecord, refusal: Refusal, requires: Iterable[str]) -> str:
    """Suggest what to install for a plugin that could not import a module; empty otherwise.

    The plugin's own distribution is installed, so it is suggested only with an extra, which brings
    libraries with it. Otherwise the hint is the requirement that the distribution declares.
    """
    module = absent_module(refusal.__cause__)
    if not module:
        return ""
    known = import_module("tenferro.backend.discovery.hints").KNOWN
    offered = record.install_hint or known.get(record.name, "")
    plain = [canonical(word.strip("\"'")) for word in offered.split()]
    if offered and canonical(record.dist) not in plain:
        return offered
    needed = next((r for r in requires if required_name(r) == canonical(module)), "")
    text = needed.partition(";")[0].strip()
    return f'pip install "{text}"' if text else f"install what provides the module {module!r}"


def traceback_text(error: BaseException | None) -> str:
    """Return the full chained traceback of an error."""
    if error is None:
        return ""
    return "".join(import_module("traceback").format_exception(error))


def warn_once(record: PluginRecord) -> None:
    """Tell the user of a broken plugin, once per process."""
    seen = record.dist or record.value, record.group, record.name
    if seen in _warned:
        return
    _warned.add(seen)
    warnings.warn(
        f"{record.owner}: plugin {record.name!r} is broken and left out: {record.reason}; "
        "`tenferro doctor -v` shows all of it",
        PluginWarning,
        stacklevel=2,
    )


def _listed() -> Any:
    """Import what loads modules without entry points, which few processes have."""
    return import_module("tenferro.backend.discovery.listed")


def _refusals() -> Any:
    """Import the errors about plugins, which few processes raise."""
    return import_module("tenferro.backend.discovery.refusals")
