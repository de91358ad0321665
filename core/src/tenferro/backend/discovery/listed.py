"""Plugins that no entry point names: modules in TENFERRO_PLUGINS, and those registered late.

A module states its name and kind in its manifest, so listed modules are imported by the scan; they
are light like those of entry points. Read next: ``store.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any

from tenferro._runtime.frozen import replace
from tenferro.backend.discovery.loading import FAILURES, KINDS, first_line
from tenferro.backend.discovery.scan import (
    LISTED,
    Filters,
    Found,
    listed_names,
    mark_blocked,
)
from tenferro.backend.records import PRIMITIVES, PluginManifest, PluginRecord


def record_of(module: Any) -> PluginRecord:
    """Return the record of a module, under the name and kind that its manifest states."""
    manifest = getattr(module, "TENFERRO_PLUGIN", None)
    named = manifest if isinstance(manifest, PluginManifest) else None
    value = getattr(module, "__name__", type(module).__name__)
    return PluginRecord(
        name=named.name if named else value,
        group=KINDS.get(named.kind, PRIMITIVES) if named else PRIMITIVES,
        dist="",
        version="",
        value=value,
    )


def listed_plugins(environment: Mapping[str, str], filters: Filters) -> Iterable[Found]:
    """Import the modules that the environment lists, and return an entry for each."""
    names = dict.fromkeys(listed_names(environment.get(LISTED, "")))
    return mark_blocked([_listed(name) for name in names], filters)


def _listed(name: str) -> Found:
    try:
        module = import_module(name)
    except FAILURES as error:
        record = PluginRecord(name=name, group=PRIMITIVES, dist="", version="", value=name)
        reason = f"from {LISTED}: {first_line(error)}"
        return Found(replace(record, status="broken", reason=reason), _raising(error))
    return Found(record_of(module), lambda: module)


def _raising(error: BaseException) -> Callable[[], Any]:
    def load() -> Any:
        raise error

    return load
