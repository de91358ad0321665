"""Selection of backends and cases: the part of the pytest plugin that knows tenferro.

Profiles come from the entry-point group `tenferro.conformance`, backends from the host; everything
is decided at collection, sorted and deterministic. Imported only when a test asks for a tenferro
fixture, so the plugin stays inert elsewhere. Read `pytest_plugin.py` next.
"""

from __future__ import annotations

import importlib
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from math import prod
from typing import Any, Literal, TypeVar

from tenferro.backend import Backend, BackendConfig, PluginWarning, host
from tenferro_conformance import SUITE_VERSION
from tenferro_conformance.case import Case, ErrorCase
from tenferro_conformance.engine import Session
from tenferro_conformance.errors import ProfileError
from tenferro_conformance.profile import Exclude, Profile, validate
from tenferro_conformance.report import BackendReport
from tenferro_conformance.samples import load_cases, load_error_cases

__all__ = ["Kit", "Selection", "register_cases", "register_profile"]

GROUP = "tenferro.conformance"
_late_profiles: dict[str, Profile] = {}
_late_cases: list[Case] = []


def register_profile(backend: str, profile: Profile) -> None:
    """Declare the profile of a backend that was registered with `host.register`."""
    _late_profiles[backend] = profile


def register_cases(cases: Iterable[Case]) -> None:
    """Add cases, as an entry point of a third party does."""
    _late_cases.extend(cases)


def _published() -> dict[str, metadata.EntryPoint]:
    """Return the kit's entry points by name: profiles by backend, case tables by namespace."""
    points = metadata.entry_points(group=GROUP)  # noqa: TID251 - this group is the kit's own
    return {point.name: point for point in sorted(points, key=lambda p: p.name)}


def profile_of(backend: str) -> Profile:
    """Return the profile that a backend ships; without one, level 2 with derivatives."""
    if backend in _late_profiles:
        return _late_profiles[backend]
    point = _published().get(backend)
    found = point.load() if point is not None else Profile()
    if not isinstance(found, Profile):
        raise ProfileError(
            f"entry point {backend!r} of {GROUP} is a {type(found).__name__}, not a Profile"
        )
    return found


def _all_cases() -> tuple[Case, ...]:
    backends = set(available_backends())
    tables = [point.load() for name, point in _published().items() if name not in backends]
    third_party = [case for found in tables if isinstance(found, tuple | list) for case in found]
    return tuple(sorted([*load_cases(), *third_party, *_late_cases], key=lambda case: case.id))


@dataclass(frozen=True)
class Selection:
    """Selection of what is tested on one backend."""

    profile: Profile
    features: frozenset[str]
    level: int
    about: BackendReport

    def is_open(self, case: Case | ErrorCase) -> bool:
        """Return True if all features that the case needs are open."""
        return case.features <= self.features

    def is_unsupported(self, case: Case) -> bool:
        """Return True if the profile says that the backend cannot run the case."""
        return not self.is_open(case) or self.profile.exclusion(case.id, "unsupported") is not None

    def why_unsupported(self, case: Case | ErrorCase) -> tuple[str, bool]:
        """Return the reason, and True if a closed feature causes it."""
        closed = sorted(case.features - self.features)
        if closed:
            return f"the backend does not have the feature {', '.join(closed)}", True
        exclusion = self.profile.exclusion(case.id, "unsupported")
        return (exclusion.reason if exclusion else ""), False


class Kit:
    """The selected backends, their sessions and the cases of a run."""

    def __init__(self, names: Sequence[str], level: int | None) -> None:
        self.cases = _all_cases()
        self.error_cases = load_error_cases()
        self._level = level
        self._sessions: dict[str, Session] = {}
        self._shards: dict[tuple[int, int], frozenset[str]] = {}
        self.selections: dict[str, Selection] = {}
        self.unavailable: dict[str, BackendReport] = {}
        for name in resolve_names(names):
            self._select(name)

    def _select(self, name: str) -> None:
        about = describe(name)
        if about.status != "available":
            self.unavailable[name] = about
            return
        profile = profile_of(name)
        validate(
            profile,
            [*(case.id for case in self.cases), *(case.id for case in self.error_cases)],
            version=about.distribution.rpartition(" ")[2] or "0",
        )
        features = frozenset(profile.features if profile.features is not None else about.features)
        level = self._level if self._level is not None else profile.level
        about.level, about.ad, about.features = profile.level, profile.ad, sorted(features)
        about.claim = claim_of(profile)
        self.selections[name] = Selection(profile, features, -1 if level is None else level, about)

    def shard(self, index: int, count: int) -> frozenset[str]:
        """Return the primitives of part `index` (from 1) of `count` parts of about equal size.

        The largest primitive goes to the smallest part, so that parts take about the same time.
        """
        if (index, count) not in self._shards:
            sizes = Counter(case.primitive for case in self.cases)
            sizes.update(case.primitive for case in self.error_cases)
            parts: list[list[str]] = [[] for _ in range(count)]
            loads = [0] * count
            for name, size in sorted(sizes.items(), key=lambda item: (-item[1], item[0])):
                smallest = loads.index(min(loads))
                parts[smallest].append(name)
                loads[smallest] += size
            self._shards |= {(k + 1, count): frozenset(part) for k, part in enumerate(parts)}
        return self._shards[index, count]

    def session(self, name: str) -> Session:
        """Return the session of a backend, created at first use."""
        if name not in self._sessions:
            profile = self.selections[name].profile
            self._sessions[name] = Session(name, make_backend(name, profile), profile)
        return self._sessions[name]

    def selected(
        self, backend: str, *, grad: bool, kind: Literal["supported", "unsupported"] = "supported"
    ) -> list[Case]:
        """Return the cases of one backend, sorted by id."""
        selection = self.selections[backend]
        if grad and not selection.profile.ad:
            return []
        return [
            case
            for case in self.cases
            if case.level <= selection.level
            and (case.grad is not None or not grad)
            and selection.is_unsupported(case) == (kind == "unsupported")
        ]

    def in_tier(
        self, cases: Sequence[AnyCase], tier: str, law: str, backend: str = ""
    ) -> list[AnyCase]:
        """Return those of the cases of one law that a tier runs.

        `deep` runs all; `full` those that the profile of the backend does not call slow; `quick`
        a typical case of each primitive in each wide dtype, and edges of values and derivatives,
        unless a law of the case is slow, or this law of all cases; `rest` what `full` has and
        `quick` not.
        """
        if tier == "deep":
            return list(cases)
        profile = self.selections[backend].profile if backend else None
        full = [c for c in cases if profile is None or not profile.is_slow(_id_of(c), law)]
        if tier == "full":
            return full
        able = [c for c in full if profile is None or profile.may_be_quick(_id_of(c), law)]
        quick = {id(case) for case in _typical(able, law in _LAWS_OF_CONVENTIONS)}
        return [case for case in full if (id(case) in quick) == (tier == "quick")]

    def selected_errors(self, backend: str) -> list[ErrorCase]:
        """Return the refusals that depend on data, for a backend with all features that they
        need.
        """
        selection = self.selections[backend]
        cases = [case for case in self.error_cases if case.inputs is not None]
        return [c for c in cases if c.level <= selection.level and selection.is_open(c)]

    def known_bug(self, backend: str, case: Case | ErrorCase, law: str) -> Exclude | None:
        """Return the exclusion that makes this an expected failure."""
        return self.selections[backend].profile.known_bug(case.id, law)


AnyCase = TypeVar("AnyCase", bound="Case | ErrorCase")
#: Dtypes of typical cases, and how many elements these have at most.
_TYPICAL_DTYPES = ("float64", "complex128", "int64", "bool")
_TYPICAL_SIZE = 64


def _id_of(case: Case | ErrorCase) -> str:
    return str(case.id)


#: Laws that judge ties, zeros and nan, which are cases of their own.
_LAWS_OF_CONVENTIONS = frozenset({"value", "derivative"})


def _typical(cases: Sequence[AnyCase], with_edges: bool) -> list[AnyCase]:
    """Return one case per primitive and wide dtype: the largest of those that are not large.

    A primitive without a case in a wide dtype has the first of its cases. With edges, all cases
    in float64 are typical that are not large.
    """
    best: dict[tuple[str, str], AnyCase] = {}
    for case in cases:
        dtype = _id_of(case).rpartition("/")[2]
        kind = dtype if dtype in _TYPICAL_DTYPES else ""
        there = best.get((case.primitive, kind))
        if there is None or (kind and _richness(case) > _richness(there)):
            best[case.primitive, kind] = case
    wide = {primitive for primitive, kind in best if kind}
    found = [case for (primitive, kind), case in best.items() if kind or primitive not in wide]
    edges = [case for case in cases if with_edges and _id_of(case).endswith("/float64")]
    return [*found, *[case for case in edges if _richness(case)]]


def _richness(case: Case | ErrorCase) -> int:
    """Return how many elements the inputs of a case have; 0 of a large one."""
    size = sum(prod(x.shape) for x in case.inputs or ())
    return size if size <= _TYPICAL_SIZE else 0


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
