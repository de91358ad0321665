"""Steps 5 to 9 of loading one plugin: import, manifest, registration, unknown hooks, data.

One plugin at a time, and all or nothing: whatever fails leaves the plugin manager as it was and
becomes a ``Refusal`` with a status and a reason. pluggy is called here and nowhere else.
Read next: ``host.py``, which keeps what comes out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from importlib.util import find_spec
from sys import modules
from types import ModuleType, NoneType
from typing import Any

import pluggy

from tenferro._runtime.records import NamedTuple
from tenferro.backend._api import API_VERSION
from tenferro.backend._errors import NamespaceError
from tenferro.backend.records import (
    BACKENDS,
    PRIMITIVES,
    BackendInfo,
    GraphPass,
    PluginManifest,
    PluginRecord,
    Status,
)
from tenferro.backend.spec import PROJECT, Specs
from tenferro.tidu import Primitive

KINDS = {"backend": BACKENDS, "primitives": PRIMITIVES}
FAILURES = (Exception, SystemExit)  # of a plugin's code; KeyboardInterrupt is the user's
_HOOKS = tuple(name for name in vars(Specs) if name.startswith("tenferro_"))
_NO_HOOKS = (type, ModuleType, str, tuple, dict, NoneType)
_MANDATORY = ("tenferro_backend_info", "tenferro_backend_probe", "tenferro_backend_create")


class Refusal(Exception):
    """A plugin will not be loaded; ``__cause__`` is what it raised, where it raised."""

    def __init__(self, status: Status, reason: str, missing_library: str = "") -> None:
        super().__init__(reason)
        self.status: Status = status
        self.reason = reason
        self.missing_library = missing_library


class WrongResultError(TypeError):
    """A hook gave something else than its specification says."""


class Plugin(NamedTuple):
    """A loaded plugin: its module and the data it gave."""

    module: Any
    manifest: PluginManifest
    info: BackendInfo | None = None
    primitives: tuple[type[Primitive], ...] = ()
    passes: tuple[GraphPass, ...] = ()


class _Manager(pluggy.PluginManager):
    """Plugin manager that asks pluggy only about names that may be hooks.

    pluggy searches every name of a module and of a class; most are imports or come from `object`.
    """

    def parse_hookimpl_opts(self, plugin: Any, name: str) -> Any:
        if isinstance(plugin, ModuleType) and isinstance(vars(plugin).get(name), _NO_HOOKS):
            return None
        return super().parse_hookimpl_opts(plugin, name)

    def parse_hookspec_opts(self, module_or_class: Any, name: str) -> Any:
        return super().parse_hookspec_opts(module_or_class, name) if name in _HOOKS else None


class Loader:
    """The plugin manager, asked about one plugin at a time."""

    def __init__(self) -> None:
        self.manager = _Manager(PROJECT)
        self.manager.add_hookspecs(Specs)

    def load(self, record: PluginRecord, load: Callable[[], Any]) -> Plugin:
        """Import and adopt a plugin. Raises Refusal."""
        try:
            module = load()
        except FAILURES as error:
            raise Refusal("broken", first_line(error)) from error
        return self.adopt(record, module)

    def adopt(self, record: PluginRecord, module: Any) -> Plugin:
        """Check, register and ask an imported plugin. Raises Refusal, and leaves nothing behind."""
        try:
            manifest = check_manifest(record, module)
            self.manager.register(module, name=f"{record.group}:{record.name}")
        except Refusal:
            raise
        except FAILURES as error:
            reason = self._wrong_arguments(module) or first_line(error)
            raise Refusal("broken", reason) from error
        try:
            self._check_hooks(record, module)
            return Plugin(
                module,
                manifest,
                self._info(record, module),
                self._primitives(record, module),
                self._passes(record, module),
            )
        except BaseException as error:
            self.drop(module)
            if isinstance(error, Refusal) or not isinstance(error, FAILURES):
                raise
            raise Refusal("broken", first_line(error)) from error

    def _wrong_arguments(self, module: Any) -> str:
        """Name the hook and the argument that its specification lacks; empty if there is none."""
        signature = import_module("inspect").signature
        for name in _HOOKS:
            hook = getattr(module, name, None)
            if callable(hook):
                passed = list(signature(getattr(Specs, name)).parameters)
                extra = [a for a in signature(hook).parameters if a not in passed]
                if extra:
                    return (
                        f"{name} takes the argument {', '.join(map(repr, extra))}, "
                        f"but core passes {', '.join(map(repr, passed)) or 'none'}"
                    )
        return ""

    def drop(self, module: Any) -> None:
        """Forget a plugin."""
        self.manager.unregister(module)

    def call(self, module: Any, hook: str, **arguments: object) -> list[Any]:
        """Call one plugin's implementation of a hook and return its result in a list; empty
        without one.
        """
        others = [plugin for plugin in self.manager.get_plugins() if plugin is not module]
        results: list[Any] = self.manager.subset_hook_caller(hook, others)(**arguments)
        return results

    def call_for(self, kind: type[Any], module: Any, hook: str, **arguments: object) -> Any:
        """Return the one result of a hook. Raises WrongResultError unless it is of this class."""
        results = self.call(module, hook, **arguments)  # pluggy leaves None out
        if len(results) == 1 and isinstance(results[0], kind):
            return results[0]
        got = repr(results[0]) if results else "None"
        raise WrongResultError(f"{hook} gave {brief(got)}, need a {kind.__name__}")

    def hooks(self, module: Any) -> tuple[str, ...]:
        """Return the names of the hooks that a plugin implements."""
        return tuple(sorted(c.name for c in self.manager.get_hookcallers(module) or ()))

    def implements(self, module: Any, hook: str) -> bool:
        """Return True if a plugin implements a hook."""
        return hook in self.hooks(module)

    def _check_hooks(self, record: PluginRecord, module: Any) -> None:
        for caller in self.manager.get_hookcallers(module) or ():
            for implementation in caller.get_hookimpls():
                if implementation.plugin is module:
                    _check_hook(caller, implementation)
        implemented = self.hooks(module)
        defined = [name for name in _HOOKS if callable(getattr(module, name, None))]
        unmarked = [name for name in defined if name not in implemented]
        if unmarked:
            raise Refusal("broken", f"{', '.join(unmarked)}: not marked with @hookimpl")
        missing = [name for name in _MANDATORY if name not in implemented]
        if record.group == BACKENDS and missing:
            raise Refusal("broken", f"a backend must implement {', '.join(missing)}")

    def _info(self, record: PluginRecord, module: Any) -> BackendInfo | None:
        if record.group != BACKENDS:
            return None
        info: BackendInfo = self.call_for(BackendInfo, module, "tenferro_backend_info")
        if info.name != record.name:
            raise Refusal(
                "broken", f"BackendInfo.name is {info.name!r}, the entry point is {record.name!r}"
            )
        return info

    def _primitives(self, record: PluginRecord, module: Any) -> tuple[type[Primitive], ...]:
        given = [c for result in self.call(module, "tenferro_primitives") for c in result]
        for cls in given:
            check_primitive(record, cls)
        keys = [cls.key for cls in given]
        twice = sorted({key for key in keys if keys.count(key) > 1})
        if twice:
            raise Refusal("broken", f"tenferro_primitives lists {', '.join(twice)} twice")
        return tuple(given)

    def _passes(self, record: PluginRecord, module: Any) -> tuple[GraphPass, ...]:
        given = [p for result in self.call(module, "tenferro_passes") for p in result]
        names: list[str] = []
        for each in given:
            if not isinstance(each, GraphPass):
                raise WrongResultError(
                    f"tenferro_passes gave {brief(repr(each))}, need a GraphPass"
                )
            namespace, _, rest = each.name.partition("::")
            if namespace != record.name or not rest:
                raise Refusal(
                    "broken", f"the graph pass {each.name!r} is not named '{record.name}::…'"
                )
            if each.name in names:
                raise Refusal("broken", f"tenferro_passes lists {each.name} twice")
            names.append(each.name)
        return tuple(given)


def _check_hook(caller: Any, implementation: Any) -> None:
    """Refuse unknown hooks that are not optional, and defaults, which pluggy would not fill."""
    if not caller.has_spec():
        if not implementation.optionalhook:
            raise Refusal("broken", f"unknown hook {caller.name!r}; mark it optionalhook=True")
    elif implementation.kwargnames:
        names = ", ".join(implementation.kwargnames)
        raise Refusal(
            "broken", f"{caller.name}: the parameter {names} has a default, which hooks ignore"
        )


def check_manifest(record: PluginRecord, module: Any) -> PluginManifest:
    """Step 6. Raises Refusal: without a manifest, of another generation, or under another name."""
    manifest = getattr(module, "TENFERRO_PLUGIN", None)
    if not isinstance(manifest, PluginManifest):
        raise Refusal(
            "incompatible", "no TENFERRO_PLUGIN = PluginManifest(...); the API is not guessed"
        )
    check_fields(manifest)
    problem = api_problem(manifest.api, record.dist)
    if problem:
        raise Refusal("incompatible", problem)
    if manifest.name != record.name:
        raise Refusal(
            "broken", f"the manifest says {manifest.name!r}, the entry point {record.name!r}"
        )
    if KINDS.get(manifest.kind) != record.group:
        raise Refusal("broken", f"a plugin of kind {manifest.kind!r} in the group {record.group}")
    return manifest


def check_fields(manifest: PluginManifest) -> None:
    """Raise Refusal for a field of another type than the manifest's annotation says."""
    api: Any = manifest.api
    libraries: Any = manifest.requires_libs
    hint: Any = manifest.install_hint
    if not (isinstance(api, (tuple, list)) and [*map(type, api)] == [int, int]):
        raise Refusal("incompatible", f"PluginManifest.api is {api!r}, need (major, minor)")
    if not (isinstance(libraries, (tuple, list)) and {*map(type, libraries)} <= {str}):
        reason = f"PluginManifest.requires_libs is {libraries!r}, need a tuple of module names"
        raise Refusal("broken", reason)
    if type(hint) is not str:
        raise Refusal("broken", f"PluginManifest.install_hint is {hint!r}, need text")


def api_problem(api: tuple[int, int], dist: str) -> str:
    """Return why core cannot serve a plugin written for an API; empty if it can.

    >>> api_problem((2, 0), "tenferro-acme")
    'written for API 2.0, core offers 1.0; pip install -U tenferro'
    """
    major, minor = api
    if major == API_VERSION[0] and minor <= API_VERSION[1]:
        return ""
    newer = tuple(api) > API_VERSION
    remedy = "tenferro" if newer or not dist else dist
    return (
        f"written for API {major}.{minor}, core offers {API_VERSION[0]}.{API_VERSION[1]}; "
        f"pip install -U {remedy}"
    )


def check_primitive(record: PluginRecord, cls: object) -> None:
    """Raise NamespaceError for a foreign key, Refusal for anything but a primitive."""
    if not (isinstance(cls, type) and issubclass(cls, Primitive)):
        raise Refusal("broken", f"tenferro_primitives gave {cls!r}, which is not a Primitive")
    namespace, separator, name = cls.key.partition("::")
    if not (separator and name):
        raise Refusal("broken", f"{cls.__qualname__}.key is {cls.key!r}, need '{record.name}::…'")
    if namespace != record.name:
        raise NamespaceError(
            f"{cls.key} is outside the namespace {record.name!r} of {record.owner}\n"
            f"  need       a key that begins with {record.name}::",
            name=record.name,
            group=record.group,
            dist=record.dist,
            key=cls.key,
            namespace=record.name,
        )
    if type(cls.version) is not int or cls.version < 1:
        raise Refusal("broken", f"{cls.key}: version is {cls.version!r}, need an integer from 1")


def first_line(error: BaseException) -> str:
    """``ImportError: no module named x``, on one line."""
    try:
        text = str(error).strip().split("\n", 1)[0]
    except Exception:  # an exception class of the plugin whose text cannot be made
        text = ""
    if isinstance(error, WrongResultError):
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def failure_of(what: str, error: BaseException) -> str:
    """``its probe raised OSError: …``, or what was wrong with what it gave."""
    text = first_line(error)
    return text if isinstance(error, WrongResultError) else f"{what} raised {text}"


def brief(text: str) -> str:
    """Cut a text to a length that fits a message."""
    return text if len(text) <= 80 else f"{text[:77]}…"


def missing_library(libraries: Iterable[str]) -> ImportError | None:
    """Return the error of importing the first library that is not installed, if there is one."""
    for name in libraries:
        if not is_installed(name):
            try:
                import_module(name)
            except ImportError as error:
                return error
    return None


def is_installed(module: str) -> bool:
    """Return True if the top-level package of a module can be found; import nothing."""
    top = module.partition(".")[0]
    try:
        return top in modules or find_spec(top) is not None
    except ValueError:  # a module without a spec is there, whoever made it
        return True


def absent_module(error: BaseException | None) -> str:
    """Return the missing top-level package that an error reports; empty for any other error."""
    if not isinstance(error, ModuleNotFoundError) or not error.name or is_installed(error.name):
        return ""
    return error.name.partition(".")[0]


def library_is_missing(error: BaseException | None, libraries: Iterable[str]) -> bool:
    """Return True if an error says that one of the libraries is not installed."""
    return absent_module(error) in {name.partition(".")[0] for name in libraries}
