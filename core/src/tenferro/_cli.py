"""The command line: ``plugins``, ``primitives``, ``doctor``; ``--json`` prints the same as data.

Every command first collects plain data and then prints it, so both forms say the same. What plugins
print meanwhile goes to standard error. ``plugins`` imports light modules only; ``doctor`` tries
each backend in a process of its own, because that imports the heavy libraries and may hang. Read
next: ``_trial.py``, then ``backend/discovery/host.py``.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from typing import Any

from tenferro._trial import try_in_child_process, write_trial
from tenferro.backend import API_VERSION, BackendError, LoweringTable, PluginWarning, host
from tenferro.backend.discovery.hints import VARIABLES
from tenferro.backend.discovery.scan import core_version, dependents
from tenferro.backend.lowering.providers import canonical
from tenferro.backend.records import BACKENDS, PluginRecord
from tenferro.backend.select import choose
from tenferro.tidu import Primitive

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
            with _printing_to_stderr():
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


@contextmanager
def _printing_to_stderr() -> Iterator[None]:
    """Keep standard output for the answer: what plugins print goes to standard error.

    The file descriptor is moved, too, for whatever does not print through Python.
    """
    sys.stdout.flush()
    try:
        kept = os.dup(1)
    except OSError:  # standard output is closed, as in a service
        kept = -1
    with redirect_stdout(sys.stderr):
        try:
            if kept >= 0:
                os.dup2(2, 1)
            yield
        finally:
            sys.stderr.flush()
            if kept >= 0:
                os.dup2(kept, 1)
                os.close(kept)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tenferro", description="Inspect the installed plugins of tenferro."
    )
    commands = parser.add_subparsers(required=True, metavar="command")
    plugins = _command(commands, "plugins", "list the installed plugins", collect_plugins)
    plugins.set_defaults(write=write_plugins)
    plugins.add_argument(
        "-v", "--verbose", action="store_true", help="print hooks and tracebacks, too"
    )
    primitives = _command(
        commands, "primitives", "show how each backend runs each primitive", collect_primitives
    )
    primitives.set_defaults(write=write_primitives)
    primitives.add_argument("--backend", metavar="B", help="show only this backend")
    doctor = _command(
        commands, "doctor", "check the installation and report problems", collect_doctor
    )
    doctor.set_defaults(write=write_doctor)
    doctor.add_argument(
        "-v", "--verbose", action="store_true", help="print hooks and tracebacks, too"
    )
    doctor.add_argument(
        "--timeout",
        type=float,
        default=60.0,
        metavar="S",
        help="stop a backend's trial after S seconds (default: 60)",
    )
    trial = commands.add_parser("_try")  # what doctor runs in a process of its own
    trial.add_argument("name")
    trial.add_argument("folder")
    trial.set_defaults(collect=collect_trial, json=True)
    return parser


def _command(
    commands: Any, name: str, text: str, collect: Callable[[Any], tuple[Data, int]]
) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(name, help=text, description=text)
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")
    parser.set_defaults(collect=collect)
    return parser


# ---- plugins -------------------------------------------------------------------------------------


def collect_plugins(options: Any) -> tuple[Data, int]:
    """Collect every plugin with its state, and its lowerings for others; load light modules
    only.
    """
    host().tolerate()
    lowerings = _foreign_lowerings()  # a plugin that raises there is broken, so they come first
    return {"plugins": _plugins(options.verbose), "lowerings": lowerings}, 0


def _plugins(verbose: bool) -> list[Data]:
    return [_plugin(record, verbose) for record in host().load()]


def _foreign_lowerings() -> list[Data]:
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
    return "\n".join([_table(header, rows), *_lowering_lines(data["lowerings"]), *details])


def _lowering_lines(lowerings: Sequence[Data]) -> list[str]:
    if not lowerings:
        return []
    rows = [
        (x["primitive"], x["backend"], x["by"], "yes" if x["runs"] else "no", x["why"])
        for x in lowerings
    ]
    title = "lowerings for a backend of another distribution"
    return ["", title, _table(("primitive", "backend", "by", "runs", "why"), rows)]


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
    """Collect primitives by backend: native, decomposed or missing.

    Raises if ``--backend`` is unknown.
    """
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
            "lowered_by": {name: _lowered_by(table, primitive) for name, table in tables.items()},
            "offered_by": {name: table.offers(primitive) for name, table in tables.items()},
        }
        for key, primitive in plugins.primitives().items()
    ]
    return {"backends": list(tables), "unusable": unusable, "primitives": rows}, 0


def _lowered_by(table: LoweringTable, primitive: type[Primitive]) -> str:
    """Return the provider of the lowering that runs; empty if it is the backend's own."""
    provider = table.runs(primitive)
    return "" if provider == table.home else provider


def write_primitives(data: Data, options: Any) -> str:
    """Write the table of primitives."""
    header = ("primitive", "version", "provider", *data["backends"])
    rows = [
        (row["key"], str(row["version"]), row["provider"], *_cells(row, data["backends"]))
        for row in data["primitives"]
    ]
    notes = [f"{name}: {reason}" for name, reason in data["unusable"].items()]
    return "\n".join([_table(header, rows), *notes])


def _cells(row: Data, backends: Sequence[str]) -> Iterator[str]:
    for name in backends:
        by, offered = row["lowered_by"][name], row["offered_by"][name]
        notes = [f"by {by}"] if by else []
        notes += [f"not used: {dist}" for dist in offered]
        status = row["backends"][name]
        yield f"{status} ({'; '.join(notes)})" if notes else status


# ---- doctor --------------------------------------------------------------------------------------


def collect_doctor(options: Any) -> tuple[Data, int]:
    """Collect everything that decides what runs; the exit code is 1 if anything is wrong."""
    host().tolerate()
    lowerings = _foreign_lowerings()
    plugins = _plugins(options.verbose)
    trials = {name: try_in_child_process(name, options.timeout) for name in host().backends()}
    for plugin in plugins:
        _adopt_findings(plugin, trials)
    data: Data = {
        "versions": _versions(),
        "backend": _effective(trials),
        "variables": _variables(os.environ, plugins),
        "distributions": [dependent._asdict() for dependent in dependents()],
        "plugins": plugins,
        "probes": {name: _without(trial, "broken") for name, trial in trials.items()},
        "lowerings": lowerings,
    }
    data["problems"] = list(dict.fromkeys(_problems(data, os.environ)))
    return data, 1 if data["problems"] else 0


def _adopt_findings(plugin: Data, trials: Mapping[str, Data]) -> None:
    """Give a plugin that is loaded here the state that it has in the trials."""
    if plugin["status"] != "loaded":
        return
    for trial in trials.values():
        for group, name, reason in trial["broken"]:
            if (group, name) == (plugin["group"], plugin["name"]):
                plugin["status"], plugin["reason"] = "broken", reason
                return
    if plugin["group"] == BACKENDS and plugin["name"] in trials:
        own = trials[plugin["name"]]
        plugin["status"], plugin["reason"] = own["status"], own["reason"]


def _without(data: Data, name: str) -> Data:
    return {key: value for key, value in data.items() if key != name}


def _problems(data: Data, environment: Mapping[str, str]) -> Iterator[str]:
    """Yield sentences about problems. A missing device is one only if its backend was named."""
    for p in data["plugins"]:
        if p["status"] in BAD:
            state = "in conflict" if p["status"] == "conflict" else p["status"]
            yield f"{p['name']} is {state}: {p['reason']}"
    said = {p["reason"] for p in data["plugins"] if p["status"] in BAD}
    for name, probe in data["probes"].items():
        yield from (f"{name}: {text}" for text in probe["problems"] if text not in said)
    for dist in data["distributions"]:
        if dist["problem"]:
            yield f"{dist['distribution']} does not fit this core: {dist['problem']}"
    chosen, named = data["backend"]["name"], environment.get("TENFERRO_BACKEND", "").strip()
    if chosen is None:
        yield data["backend"]["why"]
    elif named and _state(data, named) != "loaded":
        yield f"TENFERRO_BACKEND names {named}, which is {_state(data, named)}"


def _state(data: Data, backend: str) -> str:
    """Return the status and reason of a backend; ``"loaded"`` if it works."""
    rows = [p for p in data["plugins"] if (p["group"], p["name"]) == (BACKENDS, backend)]
    states = [f"{p['status']}: {p['reason']}" if p["reason"] else p["status"] for p in rows]
    return "loaded" if "loaded" in states else "; ".join(states)


def _versions() -> Data:
    return {
        "tenferro": core_version() or "not installed as a distribution",
        "api": ".".join(map(str, API_VERSION)),
        "python": platform.python_version(),
        "platform": platform.platform(),
    }


def collect_trial(options: Any) -> tuple[Data, int]:
    """Run one trial in this process."""
    write_trial(options.name, options.folder)
    return {}, 0


def _effective(probes: Mapping[str, Data]) -> Data:
    """Return the backend that would run, and why, according to the probes that were asked."""
    try:
        choice = choose(available=lambda name: probes[name]["status"] == "loaded")
    except BackendError as error:
        return {"name": None, "why": str(error).split("\n", 1)[0]}
    return {"name": choice.name, "why": choice.why}


def _variables(environment: Mapping[str, str], plugins: Sequence[Data]) -> list[Data]:
    """List every TENFERRO_* variable with its problem, if any.

    The value of a variable that nothing reads is left out: it may be a secret of another program.
    """
    names = sorted(name for name in environment if name.startswith("TENFERRO_"))
    return [
        {
            "name": name,
            "value": environment[name] if name in VARIABLES else None,
            "note": _note(name, environment[name], plugins),
        }
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
    """Write the report, section by section, ending with a plain sentence."""
    chosen = data["backend"]
    problems = data["problems"]
    lines = [
        *_section("versions", data["versions"].items()),
        *_section("backend", [(chosen["name"] or "none", chosen["why"])]),
        *_section("variables", [(_variable_text(v), v["note"]) for v in data["variables"]]),
        *_section(
            "distributions",
            [(f"{d['distribution']} {d['version']}", _fit(d)) for d in data["distributions"]],
        ),
        *_section("probes", [(name, _probe_text(p)) for name, p in data["probes"].items()]),
        "plugins",
        *(f"  {line}".rstrip() for line in write_plugins(data, options).splitlines()),
        "",
        *(["Wrong:", *(f"  {text}" for text in problems)] if problems else ["Nothing is wrong."]),
    ]
    return "\n".join(lines)


def _variable_text(variable: Data) -> str:
    value = variable["value"]
    return (
        f"{variable['name']} (value not shown)" if value is None else f"{variable['name']}={value}"
    )


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
