"""The error for a plugin that is asked for and cannot be used, by the state it is in.

Each names the remedy, or the owner of the fault. Read next: ``host.py``.
"""

from __future__ import annotations

from collections.abc import Sequence

from tenferro.backend._errors import (
    BackendConflictError,
    BackendError,
    PluginBlockedError,
    PluginBrokenError,
    PluginIncompatibleError,
    UnknownBackendError,
)
from tenferro.backend.discovery.hints import KNOWN, OTHER_NAMES, install_lines, nearest
from tenferro.backend.records import BACKENDS, PluginRecord

_WHAT = {BACKENDS: "backend"}


def unusable(record: PluginRecord, rivals: Sequence[PluginRecord]) -> BackendError:
    """Make the error for a record that is not loaded; the caller chains the cause."""
    if record.status == "conflict":
        return _conflict(record, rivals)
    if record.status == "blocked":
        return PluginBlockedError(
            f"{_who(record)} is {record.reason}", **_fields(record), reason=record.reason
        )
    if record.status == "incompatible":
        return PluginIncompatibleError(
            f"{_who(record)} is incompatible: {record.reason}",
            **_fields(record),
            reason=record.reason,
        )
    return broken(record)


def broken(record: PluginRecord) -> PluginBrokenError:
    """Make the error for a plugin that failed."""
    hint = f"\n  hint       {record.install_hint}" if record.install_hint else ""
    state = "cannot be used" if record.missing_library else "is broken"
    return PluginBrokenError(
        f"{_who(record)} {state}: {record.reason}{hint}", **_fields(record), reason=record.reason
    )


def _who(record: PluginRecord) -> str:
    return f"{_WHAT.get(record.group, 'namespace')} {record.name!r} of {record.owner}"


def _fields(record: PluginRecord) -> dict[str, object]:
    return {"name": record.name, "group": record.group, "dist": record.dist}


def _conflict(record: PluginRecord, rivals: Sequence[PluginRecord]) -> BackendConflictError:
    dists = tuple(sorted({rival.dist or rival.value for rival in rivals}))
    owners = " and ".join(sorted({rival.owner for rival in rivals}))
    remedies = " or ".join(f"`pip uninstall {dist}`" for dist in dists)
    return BackendConflictError(
        f"{_WHAT.get(record.group, 'namespace')} {record.name!r} is claimed by {owners}; "
        "neither is loaded\n"
        f"  hint       {remedies}\n"
        f"  hint       or set TENFERRO_DISABLE_PLUGINS={dists[0]} (or the other one)",
        **_fields(record),
        distributions=dists,
    )


def unknown_backend(name: str, installed: Sequence[str], variable: str = "") -> UnknownBackendError:
    """Make the error for a backend that no plugin provides."""
    blame = f" (from {variable})" if variable else ""
    hint = KNOWN.get(name, "")
    meant = OTHER_NAMES.get(name.lower())
    near = () if hint else (meant,) if meant else nearest(name, {*installed, *KNOWN})
    lines = [f"no backend {name!r} is installed{blame}"]
    if hint:
        lines.append(f"  hint       {hint}")
    if near:
        lines.append(f"  hint       did you mean {' or '.join(map(repr, near))}?")
    lines.append(f"  installed  {', '.join(installed) or 'none'}")
    return UnknownBackendError(
        "\n".join(lines),
        backend=name,
        hint=hint,
        nearest=near,
        installed=tuple(installed),
        variable=variable,
    )


def unknown_namespace(name: str, known: Sequence[str]) -> UnknownBackendError:
    """Make the error for a namespace of primitives that no plugin provides."""
    return UnknownBackendError(
        f"no plugin provides the namespace {name!r}\n  installed  {', '.join(known) or 'none'}",
        backend=name,
        hint="",
        nearest=nearest(name, known),
        installed=tuple(known),
        variable="",
    )


def no_backend_text(records: Sequence[PluginRecord]) -> str:
    """Return the text of NoBackendError: why the installed backends do not serve, or what to
    install.
    """
    if not records:
        fact = "no backend is installed, so nothing can be evaluated; install one"
        return "\n".join([fact, *install_lines()])
    lines = [f"  {r.name:<8} {r.status}: {r.reason or 'not chosen automatically'}" for r in records]
    others = install_lines({record.name for record in records})
    return "\n".join(
        [
            "no backend can be chosen, so nothing can be evaluated",
            *lines,
            '  hint       name one: backend="…", tenferro.use, tenferro.set_default or '
            f"TENFERRO_BACKEND{'; or install one' if others else ''}",
            *others,
        ]
    )
