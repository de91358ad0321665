"""Backends under test: find them through the host, read their profiles, make them.

Profiles come from the entry-point group `tenferro.conformance`. Read `selection.py` next.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Mapping, Sequence
from importlib import metadata
from typing import Any

from tenferro.backend import Backend, BackendConfig, PluginWarning, host
from tenferro_conformance import SUITE_VERSION
from tenferro_conformance.errors import ProfileError
from tenferro_conformance.profile import Profile
from tenferro_conformance.reporting.report import BackendReport

__all__ = [
    "available_backends",
    "claim_of",
    "describe",
    "make_backend",
    "profile_of",
    "published",
    "register_profile",
    "resolve_names",
]


GROUP = "tenferro.conformance"
_late_profiles: dict[str, Profile] = {}


def register_profile(backend: str, profile: Profile) -> None:
    """Declare the profile of a backend that was registered with `host.register`."""
    _late_profiles[backend] = profile


def published() -> dict[str, metadata.EntryPoint]:
    """Return the kit's entry points by name: profiles by backend, case tables by namespace."""
    points = metadata.entry_points(group=GROUP)  # noqa: TID251 - this group is the kit's own
    return {point.name: point for point in sorted(points, key=lambda p: p.name)}


def profile_of(backend: str) -> Profile:
    """Return the profile that a backend ships; without one, level 2 with derivatives."""
    if backend in _late_profiles:
        return _late_profiles[backend]
    point = published().get(backend)
    found = point.load() if point is not None else Profile()
    if not isinstance(found, Profile):
        raise ProfileError(
            f"entry point {backend!r} of {GROUP} is a {type(found).__name__}, not a Profile"
        )
    return found


def claim_of(profile: Profile) -> str:
    """Return the claim as it must be quoted: never without a suite version."""
    if profile.level is None:
        return ""
    return f"level {profile.level}{'+AD' if profile.ad else ''} under suite {SUITE_VERSION}"


def available_backends() -> list[str]:
    """Return the names of all backends that the host knows, sorted."""
    return sorted(
        {record.name for record in host().records() if record.group == "tenferro.backends"}
    )


def resolve_names(names: Sequence[str]) -> list[str]:
    """`all`, or nothing, becomes every installed backend; a name is taken as it is."""
    if not names or "all" in names:
        return available_backends()
    return sorted(set(names))


def describe(name: str) -> BackendReport:
    """Return the host's description of a backend: status, reason, versions, devices."""
    record = next(
        (r for r in host().records() if r.group == "tenferro.backends" and r.name == name), None
    )
    if record is None:
        raise ProfileError(
            f"no backend is called {name!r}; installed: {', '.join(available_backends()) or 'none'}"
        )
    about = BackendReport(name=name, distribution=f"{record.dist} {record.version}".strip())
    try:
        with warnings.catch_warnings():  # another plugin that is broken is not this backend's fault
            warnings.simplefilter("ignore", PluginWarning)
            info, probe = host().info(name), host().probe(name)
    except Exception as error:
        about.status, about.reason = "broken", f"{type(error).__name__}: {error}".splitlines()[0]
        return about
    about.features = sorted(info.features)
    about.dtypes = sorted(info.dtypes)
    about.libraries, about.devices = dict(probe.lib_versions), list(probe.devices)
    if not probe.available:
        about.status, about.reason = "unavailable", probe.reason
    return about


def make_backend(name: str, profile: Profile) -> Backend:
    """Make a backend for testing: deterministic, unless the profile's `make` says otherwise."""
    made: Any = BackendConfig(deterministic=True)
    if profile.make:
        module, _, attribute = profile.make.partition(":")
        made = getattr(importlib.import_module(module), attribute)()
    if isinstance(made, Mapping):
        made = BackendConfig(deterministic=True, options=made)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PluginWarning)
        return made if isinstance(made, Backend) else host().backend(name, made)
