"""The command line: ``plugins``, ``primitives``, ``doctor``; ``--json`` prints the same as data.

Every command first collects plain data and then prints it, so both forms say the same. ``plugins``
imports light modules only; ``doctor`` asks probes in processes of their own, because they import
the heavy libraries and may hang. Read next: ``backend/_host.py``.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tenferro.backend import API_VERSION, BackendError, PluginError, PluginWarning, host
from tenferro.backend._hints import VARIABLES
from tenferro.backend.discovery import core_version, dependents
from tenferro.backend.lowering import canonical
from tenferro.backend.records import BACKENDS, PluginRecord
from tenferro.backend.select import choose

Data = dict[str, Any]
BAD = ("broken", "incompatible", "conflict")
_LISTS = ("TENFERRO_DISABLE_PLUGINS", "TENFERRO_LOAD_PLUGINS")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code says whether anything is wrong."""
    options = _parser().parse_args(arguments)
    code: int
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PluginWarning)  # states are printed anyway
        try:
            data, code = options.collect(options)
        except BackendError as error:
            print(error, file=sys.stderr)
            return 2
    text = json.dumps(data, indent=2) if options.json else options.write(data, options)
    try:
        print(text, flush=True)
    except BrokenPipeError:  # the reader, `head` perhaps, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tenferro", description="Look at tenferro's plugins.")
    commands = parser.add_subparsers(required=True, metavar="command")
    plugins = _command(commands, "plugins", "list the installed plugins", collect_plugins)
    plugins.set_defaults(write=write_plugins)
    plugins.add_argument("-v", "--verbose", action="store_true", help="hooks and tracebacks too")
    primitives = _command(
        commands, "primitives", "how each backend runs each primitive", collect_primitives
    )
    primitives.set_defaults(write=write_primitives)
    primitives.add_argument("--backend", metavar="B", help="this backend only")
    doctor = _command(commands, "doctor", "check the installation and say why", collect_doctor)
    doctor.set_defaults(write=write_doctor)
    doctor.add_argument("-v", "--verbose", action="store_true", help="hooks and tracebacks too")
    doctor.add_argument(
        "--timeout", type=float, default=60.0, metavar="S", help="seconds that a probe may take"
    )
    probe = commands.add_parser("_probe")  # what doctor runs in a process of its own
    probe.add_argument("name")
    probe.set_defaults(collect=collect_probe, json=True)
    return parser


def _command(
    commands: Any, name: str, text: str, collect: Callable[[Any], tuple[Data, int]]
) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(name, help=text, description=text)
    parser.add_argument("--json", action="store_true", help="print data instead of text")
    parser.set_defaults(collect=collect)
    return parser


# ---- plugins -------------------------------------------------------------------------------------


def collect_plugins(options: Any) -> tuple[Data, int]:
    """Every plugin with its state; loads light modules only."""
    return {"plugins": _plugins(options.verbose)}, 0


def _plugins(verbose: bool) -> list[Data]:
    return [_plugin(record, verbose) for record in host().load()]


def _plugin(record: PluginRecord, verbose: bool) -> Data:
    data: Data = {
        "name": record.name,
        "group": record.group,
        "distribution": record.dist,
        "version": record.version,
        "api": None if record.api is None else ".".join(map(str, record.api)),
        "status": record.status,
        "reason": record.reason,
    }
    if verbose:
        data["module"] = record.value
        data["hooks"] = list(host().hooks(record))
        data["traceback"] = record.traceback
    return data


def write_plugins(data: Data, options: Any) -> str:
    """The table of plugins."""
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
    return "\n".join([_table(header, rows), *details])


def _details(plugins: Iterable[Data]) -> list[str]:
    lines = []
    for plugin in plugins:
        hooks = ", ".join(plugin["hooks"]) or "none"
        lines += ["", f"{plugin['name']} ({plugin['module']})", f"  hooks      {hooks}"]
        if plugin["traceback"]:
            lines += ["  " + line for line in plugin["traceback"].rstrip().splitlines()]
    return lines


# ---- primitives ----------------------------------------------------------------------------------


def collect_primitives(options: Any) -> tuple[Data, int]:
    """Primitives by backends: native, decomposed or missing. Raises if ``--backend`` is unknown."""
    plugins = host()
    names = [options.backend] if options.backend else plugins.backends()
    tables, unusable = {}, {}
    for name in names:
        try:
            tables[name] = plugins.table(name)
        except BackendError as error:
            if options.backend:
                raise
            unusable[name] = str(error).split("\n", 1)[0]
    rows = [
        {
            "key": key,
            "version": primitive.version,
            "provider": plugins.provider(key),
            "backends": {name: table.status(primitive) for name, table in tables.items()},
        }
        for key, primitive in plugins.primitives().items()
    ]
    return {"backends": list(tables), "unusable": unusable, "primitives": rows}, 0


def write_primitives(data: Data, options: Any) -> str:
    """The table of primitives."""
    header = ("primitive", "version", "provider", *data["backends"])
    rows = [
        (row["key"], str(row["version"]), row["provider"], *row["backends"].values())
        for row in data["primitives"]
    ]
    notes = [f"{name}: {reason}" for name, reason in data["unusable"].items()]
    return "\n".join([_table(header, rows), *notes])


# ---- doctor --------------------------------------------------------------------------------------


def collect_doctor(options: Any) -> tuple[Data, int]:
    """All that decides what runs; the code is 1 if anything is broken or does not fit."""
    plugins = _plugins(options.verbose)
    probes = {name: ask_probe(name, options.timeout) for name in host().backends()}
    for plugin in plugins:
        probe = probes.get(plugin["name"])
        if probe and plugin["group"] == BACKENDS and plugin["status"] == "loaded":
            plugin["status"], plugin["reason"] = probe["status"], probe["reason"]
    data: Data = {
        "versions": _versions(),
        "backend": _effective(probes),
        "variables": _variables(os.environ, plugins),
        "distributions": [dependent._asdict() for dependent in dependents()],
        "plugins": plugins,
        "probes": probes,
    }
    misfits = [d["distribution"] for d in data["distributions"] if d["problem"]]
    bad = [f"{p['name']} is {p['status']}" for p in plugins if p["status"] in BAD]
    data["problems"] = [*bad, *(f"{dist} does not fit this core" for dist in misfits)]
    return data, 1 if data["problems"] else 0


def _versions() -> Data:
    return {
        "tenferro": core_version() or "not installed as a distribution",
        "api": ".".join(map(str, API_VERSION)),
        "python": platform.python_version(),
        "platform": platform.platform(),
    }


def ask_probe(name: str, timeout: float) -> Data:
    """The probe of a backend, run in a process of its own; never raises, never hangs."""
    command = [sys.executable, "-m", "tenferro", "_probe", name]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        return _no_probe(f"its probe did not answer within {timeout:g} s")
    try:
        found: Data = json.loads(done.stdout)
    except ValueError:
        last = (done.stderr.strip() or "no output").splitlines()[-1]
        return _no_probe(f"its probe ended with code {done.returncode}: {last}")
    return found


def _no_probe(reason: str) -> Data:
    return {"status": "unavailable", "reason": reason, "lib_versions": {}, "devices": []}


def collect_probe(options: Any) -> tuple[Data, int]:
    """One probe, in this process."""
    try:
        probe = host().probe(options.name)
    except PluginError as error:
        hint = str(error).partition("hint")[2].strip()
        reason = f"{error.fields['reason']}{'; ' if hint else ''}{hint}"
        return {"status": "broken", "reason": reason, "lib_versions": {}, "devices": []}, 0
    return {
        "status": "loaded" if probe.available else "unavailable",
        "reason": probe.reason,
        "lib_versions": dict(probe.lib_versions),
        "devices": list(probe.devices),
    }, 0


def _effective(probes: Mapping[str, Data]) -> Data:
    """The backend that would run, and why; judged by the probes that were asked."""
    try:
        choice = choose(available=lambda name: probes[name]["status"] == "loaded")
    except BackendError as error:
        return {"name": None, "why": str(error).split("\n", 1)[0]}
    return {"name": choice.name, "why": choice.why}


def _variables(environment: Mapping[str, str], plugins: Sequence[Data]) -> list[Data]:
    """Every TENFERRO_* variable, and what is wrong with it."""
    names = sorted(name for name in environment if name.startswith("TENFERRO_"))
    return [
        {"name": name, "value": environment[name], "note": _note(name, environment[name], plugins)}
        for name in names
    ]


def _note(name: str, value: str, plugins: Sequence[Data]) -> str:
    if name not in VARIABLES:
        return "unknown: nothing reads it"
    if name not in _LISTS:
        return VARIABLES[name]
    known = {canonical(p["distribution"]) for p in plugins}
    if name == "TENFERRO_DISABLE_PLUGINS":
        known |= {canonical(p["name"]) for p in plugins}
    strays = [item.strip() for item in value.split(",") if item.strip()]
    strays = [item for item in strays if canonical(item) not in known]
    return f"matches nothing: {', '.join(strays)}" if strays else VARIABLES[name]


def write_doctor(data: Data, options: Any) -> str:
    """The report, section by section, ending with a plain sentence."""
    chosen = data["backend"]
    problems = data["problems"]
    lines = [
        *_section("versions", data["versions"].items()),
        *_section("backend", [(chosen["name"] or "none", chosen["why"])]),
        *_section(
            "variables", [(f"{v['name']}={v['value']}", v["note"]) for v in data["variables"]]
        ),
        *_section(
            "distributions",
            [(f"{d['distribution']} {d['version']}", _fit(d)) for d in data["distributions"]],
        ),
        *_section("probes", [(name, _probe_text(p)) for name, p in data["probes"].items()]),
        "plugins",
        *("  " + line for line in write_plugins(data, options).splitlines()),
        "",
        f"Wrong: {'; '.join(problems)}." if problems else "Nothing is wrong.",
    ]
    return "\n".join(lines)


def _fit(distribution: Data) -> str:
    return distribution["problem"] or f"{distribution['requirement']}: fits"


def _probe_text(probe: Data) -> str:
    versions = ", ".join(f"{lib} {version}" for lib, version in probe["lib_versions"].items())
    devices = ", ".join(probe["devices"])
    return "; ".join(part for part in (probe["status"], probe["reason"], versions, devices) if part)


def _section(title: str, rows: Iterable[tuple[str, str]]) -> list[str]:
    listed = list(rows) or [("none", "")]
    width = max(len(name) for name, _ in listed)
    return [title, *(f"  {name:<{width}}  {text}".rstrip() for name, text in listed), ""]


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[i]) for row in (header, *rows)) for i in range(len(header))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (header, *rows)
    ]
    return "\n".join(lines)
