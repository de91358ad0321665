"""``tenferro doctor``: everything that decides what runs, and what is wrong with it.

Each backend is tried in a process of its own, because that imports the heavy libraries and may
hang. Read next: ``../_trial.py``.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tenferro._cli.layout import section_lines
from tenferro._cli.plugins import Data, foreign_lowerings, plugin_data, write_plugins
from tenferro._trial import try_in_child_process
from tenferro.backend import API_VERSION, BackendError, host
from tenferro.backend.discovery.hints import VARIABLES
from tenferro.backend.discovery.scan import core_version, dependents
from tenferro.backend.lowering.providers import canonical
from tenferro.backend.records import BACKENDS
from tenferro.backend.select import choose

BAD = ("broken", "incompatible", "conflict")
_LISTS = ("TENFERRO_DISABLE_PLUGINS", "TENFERRO_LOAD_PLUGINS")


def collect_doctor(options: Any) -> tuple[Data, int]:
    """Collect everything that decides what runs; the exit code is 1 if anything is wrong."""
    host().tolerate()
    lowerings = foreign_lowerings()
    plugins = plugin_data(options.verbose)
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
        for group, name, reason, missing in trial["broken"]:
            if (group, name) == (plugin["group"], plugin["name"]):
                plugin.update(status="broken", reason=reason, missing_library=missing)
                return
    if plugin["group"] == BACKENDS and plugin["name"] in trials:
        own = trials[plugin["name"]]
        plugin.update({key: own[key] for key in ("status", "reason", "missing_library")})


def _without(data: Data, name: str) -> Data:
    return {key: value for key, value in data.items() if key != name}


def _problems(data: Data, environment: Mapping[str, str]) -> Iterator[str]:
    """Yield sentences about problems.

    A missing device, or a library that is not installed, is one only if its backend was named.
    """
    for p in data["plugins"]:
        if p["status"] in BAD and not p["missing_library"]:
            yield f"{p['name']} {_predicate(p)}: {p['reason']}"
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


def _predicate(plugin: Data) -> str:
    """Return the predicate of a sentence about a plugin that cannot be used, as in "is broken"."""
    return "is in conflict" if plugin["status"] == "conflict" else f"is {plugin['status']}"


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
        *section_lines("versions", data["versions"].items()),
        *section_lines("backend", [(chosen["name"] or "none", chosen["why"])]),
        *section_lines("variables", [(_variable_text(v), v["note"]) for v in data["variables"]]),
        *section_lines(
            "distributions",
            [(f"{d['distribution']} {d['version']}", _fit(d)) for d in data["distributions"]],
        ),
        *section_lines("probes", [(name, _probe_text(p)) for name, p in data["probes"].items()]),
        "plugins",
        *(f"  {line}".rstrip() for line in write_plugins(data, options).splitlines()),
        "",
        *(["Wrong:", *(f"  {text}" for text in problems)] if problems else _all_is_well(data)),
    ]
    return "\n".join(lines)


def _all_is_well(data: Data) -> Iterator[str]:
    """Yield the end of a report without problems, with the plugins that only lack a library."""
    yield "Nothing is wrong."
    for plugin in data["plugins"]:
        if plugin["missing_library"]:
            yield (
                f"{plugin['name']} cannot be used until {plugin['missing_library']} is installed; "
                "ignore it if you do not need it."
            )


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
