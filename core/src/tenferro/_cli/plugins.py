"""``tenferro plugins``: every plugin with its state, and lowerings for backends of others.

Only light modules are imported. Read next: ``primitives.py``, ``../backend/discovery/host.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tenferro._cli.layout import table_text
from tenferro.backend import host
from tenferro.backend.discovery.scan import STANDARD
from tenferro.backend.records import PluginRecord

Data = dict[str, Any]
MOST_SECONDS_TO_LOAD = 0.1  # of a light module


def collect_plugins(options: Any) -> tuple[Data, int]:
    """Collect every plugin with its state, and its lowerings for others; load light modules
    only.
    """
    host().tolerate()
    lowerings = foreign_lowerings()  # a plugin that raises there is broken, so they come first
    return {"plugins": plugin_data(options.verbose), "lowerings": lowerings}, 0


def plugin_data(verbose: bool) -> list[Data]:
    """Return one row of data per plugin."""
    return [_plugin(record, verbose) for record in host().load()]


def foreign_lowerings() -> list[Data]:
    """Collect lowerings by other distributions than the backend's, and whether they run."""
    return [
        {"primitive": f.primitive, "backend": f.backend, "by": f.provider, "runs": f.runs,
         "why": f.why}
        for f in host().foreign_lowerings()
    ]  # fmt: skip


def _plugin(record: PluginRecord, verbose: bool) -> Data:
    data: Data = {
        "name": record.name,
        "group": record.group,
        "distribution": record.dist,
        "version": record.version,
        "api": None if record.api is None else ".".join(map(str, record.api)),
        "status": record.status,
        "reason": record.reason,
        "missing_library": record.missing_library,
        "load_seconds": round(record.load_seconds, 4),
        "libraries": list(record.libraries),
    }
    if verbose:
        data["module"] = record.value
        data["hooks"] = list(host().hooks(record))
        data["traceback"] = record.traceback
    return data


def write_plugins(data: Data, options: Any) -> str:
    """Write the table of plugins."""
    rows = [
        (
            plugin["name"],
            plugin["group"].removeprefix("tenferro."),
            plugin["distribution"] or "-",
            plugin["version"] or "-",
            plugin["api"] or "-",
            plugin["status"],
            plugin["reason"],
        )
        for plugin in data["plugins"]
    ]
    header = ("name", "kind", "distribution", "version", "API", "status", "reason")
    details = _details(data["plugins"]) if options.verbose else []
    slow = _slow_lines(data["plugins"])
    foreign = _lowering_lines(data["lowerings"])
    return "\n".join([table_text(header, rows), *slow, *foreign, *details])


def _slow_lines(plugins: Iterable[Data]) -> list[str]:
    """Name plugins that take long to load; the standard set is part of core."""
    lines = []
    for plugin in plugins:
        if plugin["load_seconds"] > MOST_SECONDS_TO_LOAD and plugin["name"] != STANDARD:
            which = ", ".join(plugin["libraries"])
            hint = (
                f"; it imports {which}, which can wait until a function needs it" if which else ""
            )
            lines.append(f"  {plugin['name']}: {plugin['load_seconds'] * 1e3:.0f} ms{hint}")
    return ["", "slow to load, for every program that uses a backend", *lines] if lines else []


def _lowering_lines(lowerings: Sequence[Data]) -> list[str]:
    if not lowerings:
        return []
    rows = [
        (x["primitive"], x["backend"], x["by"], "yes" if x["runs"] else "no", x["why"])
        for x in lowerings
    ]
    title = "lowerings for a backend of another distribution"
    return ["", title, table_text(("primitive", "backend", "by", "runs", "why"), rows)]


def _details(plugins: Iterable[Data]) -> list[str]:
    lines = []
    for plugin in plugins:
        hooks = ", ".join(plugin["hooks"]) or "none"
        lines += ["", f"{plugin['name']} ({plugin['module']})", f"  hooks      {hooks}"]
        if plugin["load_seconds"]:
            lines.append(f"  loaded in  {plugin['load_seconds'] * 1e3:.1f} ms")
        if plugin["traceback"]:
            lines += ["  " + line for line in plugin["traceback"].rstrip().splitlines()]
    return lines
