"""Selection of backends and cases: what a run of the suite tests.

Everything is decided at collection, sorted and deterministic. Imported only when a test asks for a
tenferro fixture, so the pytest plugin stays inert elsewhere. Read `collection.py` next.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from typing import Literal

from tenferro_conformance.cases.case import Case, ErrorCase
from tenferro_conformance.errors import ProfileError
from tenferro_conformance.profile import Exclude, Profile, validate
from tenferro_conformance.reporting.report import BackendReport
from tenferro_conformance.running.backends import (
    available_backends,
    claim_of,
    describe,
    make_backend,
    profile_of,
    published,
    resolve_names,
)
from tenferro_conformance.running.operations import check_case, is_decomposed
from tenferro_conformance.running.session import Session
from tenferro_conformance.running.splitting import mesh_of
from tenferro_conformance.running.tiers import AnyCase, cases_of_tier
from tenferro_conformance.samples import closed_features, load_cases, load_error_cases
from tenferro_conformance.samples.rows import dtype_features
from tenferro_conformance.samples.table import Table

__all__ = ["Kit", "Selection", "register_cases"]


_late_cases: list[Case] = []


def register_cases(cases: object) -> None:
    """Add cases or tables, as an entry point of a third party does."""
    _late_cases.extend(_makeable_cases(cases, "register_cases"))


def _all_cases(primitives: tuple[str, ...]) -> tuple[Case, ...]:
    """Return the cases of some primitives, by keys or patterns; of all, if there are none."""
    backends = set(available_backends())
    names = [name for name in published() if name not in backends]
    third_party = [case for name in names for case in _published_cases(name)]
    for case in (*third_party, *_late_cases):
        check_case(case)
    found = [*load_cases(primitives), *third_party, *_late_cases]
    if primitives:
        found = [c for c in found if any(fnmatchcase(c.primitive, key) for key in primitives)]
    return tuple(sorted(found, key=lambda case: case.id))


@cache
def _published_cases(name: str) -> tuple[Case, ...]:
    """Return the cases of a namespace, read once: an author may publish an iterator."""
    found = _loaded(name)
    if isinstance(found, Profile):  # of a backend that is not installed
        return ()
    return tuple(_makeable_cases(found, name))


def _makeable_cases(found: object, name: str) -> Iterator[Case]:
    """Yield the cases whose operands this environment can make: bfloat16 needs ml_dtypes."""
    closed = closed_features()
    return (case for case in cases_in(found, name) if not case.features & closed)


def _loaded(name: str) -> object:
    """Return what an entry point names.

    Raises ProfileError: if its module raises, whatever that is; it names the distribution.
    """
    point = published()[name]
    try:
        return point.load()
    except Exception as error:
        owner = point.dist.name if point.dist is not None else "an unknown distribution"
        raise ProfileError(
            f"entry point {name!r} of tenferro.conformance, {point.value} of {owner}: its module "
            f"raises {type(error).__name__}: {error}"
        ) from error


def cases_in(found: object, name: str) -> Iterator[Case]:
    """Yield the cases of what an entry point publishes: cases, tables, or a collection of them.

    Raises ProfileError: for anything else, which would otherwise be left out in silence.
    """
    if isinstance(found, Case):
        yield found
    elif isinstance(found, Table):
        yield from found.cases({})
    elif isinstance(found, Iterable) and not isinstance(found, str | bytes):
        for each in found:
            yield from cases_in(each, name)
    else:
        raise ProfileError(
            f"entry point {name!r} of tenferro.conformance has a {type(found).__name__} "
            "where a case or a table is needed"
        )


@dataclass(frozen=True)
class Selection:
    """Selection of what is tested on one backend."""

    profile: Profile
    features: frozenset[str]
    level: int
    about: BackendReport
    _unsupported: dict[str, bool] = field(default_factory=dict)

    def is_open(self, case: Case | ErrorCase) -> bool:
        """Return True if all features that the case needs are open."""
        return not self.closed(case)

    def may_run(self, case: Case) -> bool:
        """Return True for a special function that decomposes into what the backend may have."""
        return self.closed(case) == {"special"} and is_decomposed(case)

    def closed(self, case: Case | ErrorCase) -> frozenset[str]:
        """Return the features and dtypes of a case that the backend does not have.

        A special function is open by the feature `special`, or by its own key. Which integers a
        backend has is told by its dtypes, where it states them.
        """
        needed = set(case.features - self.features)
        if case.primitive in self.features:
            needed.discard("special")
        if self.about.dtypes:
            needed.discard("ints")
            numbers = [*(case.inputs or ()), *(getattr(case, "expected", None) or ())]
            needed |= {x.dtype for x in numbers} - set(self.about.dtypes)
        return frozenset(needed)

    def has_dtypes(self, names: Iterable[str]) -> bool:
        """Return True if the backend has these dtypes, as its features and its dtypes say."""
        stated = self.about.dtypes or names
        return dtype_features(names) <= self.features and set(names) <= set(stated)

    @property
    def runs_golden(self) -> bool:
        """True if the tests of core itself can run: they use level 2 and complex numbers."""
        return self.level >= 2 and self.has_dtypes(GOLDEN_DTYPES)

    def is_unsupported(self, case: Case) -> bool:
        """Return True if the profile says that the backend cannot run the case."""
        known = self._unsupported.get(case.id)
        if known is None:
            excluded = self.profile.exclusion(case.id, "unsupported") is not None
            known = self._unsupported[case.id] = excluded or not self.is_open(case)
        return known

    def why_unsupported(self, case: Case | ErrorCase) -> tuple[str, bool]:
        """Return the reason, and True if a closed feature causes it."""
        closed = sorted(self.closed(case))
        if closed:
            return f"the backend does not have {', '.join(closed)}", True
        exclusion = self.profile.exclusion(case.id, "unsupported")
        return (exclusion.reason if exclusion else ""), False


#: dtypes of the tests `suite/test_golden_*`
GOLDEN_DTYPES = ("bool", "int32", "int64", "float32", "float64", "complex128")
_COST_OF_CASE = 20  # of a case that runs, in those of one that is refused


class Kit:
    """The selected backends, their sessions and the cases of a run."""

    def __init__(
        self,
        names: Sequence[str],
        level: int | None,
        devices: int | None = None,
        *,
        primitives: tuple[str, ...] = (),
    ) -> None:
        self._mesh = None if devices is None else mesh_of(devices)
        self.cases = _all_cases(primitives)
        self._are_all = not primitives
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
        ids = [*(case.id for case in self.cases), *(case.id for case in self.error_cases)]
        validate(
            profile,
            ids if self._are_all else None,
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
            sizes = Counter(case.primitive for case in self.error_cases)
            levels = [found.level for found in self.selections.values()] or [0]
            for case in self.cases:  # those that do not run cost the time to say so
                sizes[case.primitive] += _COST_OF_CASE if case.level <= max(levels) else 1
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
            self._sessions[name] = Session(name, make_backend(name, profile), profile, self._mesh)
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
        """Return those of the cases of one law that a tier runs, see `cases_of_tier`."""
        profile = self.selections[backend].profile if backend else None
        return cases_of_tier(cases, tier, law, profile)

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
