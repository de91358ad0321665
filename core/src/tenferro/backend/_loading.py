"""Steps 5 to 9 of loading one plugin: import, manifest, registration, unknown hooks, data.

One plugin at a time, and all or nothing: whatever fails leaves the plugin manager as it was and
becomes a ``Refusal`` with a status and a reason. pluggy is called here and nowhere else.
Read next: ``_host.py``, which keeps what comes out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pluggy

from tenferro.backend._api import API_VERSION
from tenferro.backend._errors import NamespaceError
from tenferro.backend.records import (
    BACKENDS,
    PRIMITIVES,
    BackendInfo,
    PluginManifest,
    PluginRecord,
    Status,
)
from tenferro.backend.spec import PROJECT, Specs
from tenferro.computegraph._records import NamedTuple
from tenferro.tidu import Primitive

KINDS = {"backend": BACKENDS, "primitives": PRIMITIVES}
_MANDATORY = ("tenferro_backend_info", "tenferro_backend_probe", "tenferro_backend_create")


class Refusal(Exception):
    """A plugin will not be loaded; ``__cause__`` is what it raised, where it raised."""

    def __init__(self, status: Status, reason: str) -> None:
        super().__init__(reason)
        self.status: Status = status
        self.reason = reason


class Plugin(NamedTuple):
    """A loaded plugin: its module and the data it gave."""

    module: Any
    manifest: PluginManifest
    info: BackendInfo | None = None
    primitives: tuple[type[Primitive], ...] = ()


class Loader:
    """The plugin manager, asked about one plugin at a time."""

    def __init__(self) -> None:
        self.manager = pluggy.PluginManager(PROJECT)
        self.manager.add_hookspecs(Specs)

    def load(self, record: PluginRecord, load: Callable[[], Any]) -> Plugin:
        """Import and adopt a plugin. Raises Refusal."""
        try:
            module = load()
        except Exception as error:
            raise Refusal("broken", first_line(error)) from error
        return self.adopt(record, module)

    def adopt(self, record: PluginRecord, module: Any) -> Plugin:
        """Check, register and ask an imported plugin. Raises Refusal, and leaves nothing behind."""
        manifest = check_manifest(record, module)
        try:
            self.manager.register(module, name=f"{record.group}:{record.name}")
        except Exception as error:
            raise Refusal("broken", first_line(error)) from error
        try:
            self._check_hooks(record, module)
            return Plugin(
                module, manifest, self._info(record, module), self._primitives(record, module)
            )
        except Exception as error:
            self.drop(module)
            if isinstance(error, Refusal):
                raise
            raise Refusal("broken", first_line(error)) from error

    def drop(self, module: Any) -> None:
        """Forget a plugin."""
        self.manager.unregister(module)

    def call(self, module: Any, hook: str, **arguments: object) -> list[Any]:
        """The result of one plugin's implementation of a hook, in a list; empty without one."""
        others = [plugin for plugin in self.manager.get_plugins() if plugin is not module]
        results: list[Any] = self.manager.subset_hook_caller(hook, others)(**arguments)
        return results

    def hooks(self, module: Any) -> tuple[str, ...]:
        """Names of the hooks that a plugin implements."""
        return tuple(sorted(c.name for c in self.manager.get_hookcallers(module) or ()))

    def implements(self, module: Any, hook: str) -> bool:
        """Whether a plugin implements a hook."""
        return hook in self.hooks(module)

    def _check_hooks(self, record: PluginRecord, module: Any) -> None:
        for caller in self.manager.get_hookcallers(module) or ():
            for implementation in caller.get_hookimpls():
                if implementation.plugin is module:
                    _check_hook(caller, implementation)
        missing = [name for name in _MANDATORY if not self.implements(module, name)]
        if record.group == BACKENDS and missing:
            raise Refusal("broken", f"a backend must implement {', '.join(missing)}")

    def _info(self, record: PluginRecord, module: Any) -> BackendInfo | None:
        if record.group != BACKENDS:
            return None
        (info,) = self.call(module, "tenferro_backend_info")
        if not isinstance(info, BackendInfo):
            raise Refusal("broken", f"tenferro_backend_info gave {info!r}, need a BackendInfo")
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


def api_problem(api: tuple[int, int], dist: str) -> str:
    """Why core cannot serve a plugin written for an API; empty if it can.

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
    """Raise NamespaceError for a foreign key, Refusal for what is no primitive."""
    if not (isinstance(cls, type) and issubclass(cls, Primitive)):
        raise Refusal("broken", f"tenferro_primitives gave {cls!r}, which is no Primitive")
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
    text = str(error).strip().split("\n", 1)[0]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def missing_library(libraries: Iterable[str]) -> ImportError | None:
    """The error of importing the first of the libraries that is not installed, if there is one."""
    for name in libraries:
        if find_spec(name.partition(".")[0]) is None:
            try:
                import_module(name)
            except ImportError as error:
                return error
    return None


def library_is_missing(error: BaseException | None, libraries: Iterable[str]) -> bool:
    """Whether an error says that one of the libraries is not installed."""
    if not isinstance(error, ModuleNotFoundError) or not error.name:
        return False
    return error.name.partition(".")[0] in {name.partition(".")[0] for name in libraries}
