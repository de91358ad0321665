"""Declaration of a backend: the level it claims, its features, and its deviations.

A backend ships one `Profile` in its wheel, under the entry-point group `tenferro.conformance` and
its own name. Data only: importing this file imports the standard library and nothing else. Whether
the declaration is *true* is decided by the suite; `validate` finds lists that have rotted. Read
`cases/case.py` next.
"""

from __future__ import annotations

import datetime
import fnmatch
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

from tenferro_conformance.errors import ProfileError

__all__ = ["Exclude", "Profile", "Slow", "Tol", "until_has_passed", "validate"]

#: Words for `Profile.features`, those of `tenferro.backend`; see `docs/conformance.md`.
#: A case whose features are not all open is `unsupported`.
FEATURES = frozenset(
    {
        *("f64", "complex", "int64", "f16", "bf16"),
        "ints",  # the integers other than int32 and int64
        "special",  # special functions; a key such as std::erf opens one of them
        *("dynamic_shape", "control_flow", "inplace", "sharding", "checks"),
    }
)


@dataclass(frozen=True, kw_only=True)
class Tol:
    """An override of one tolerance: another bound in the class's unit, or another class.

    >>> Tol(ulp=6, reason="vendor fast path").ulp
    6
    """

    reason: str
    ulp: float | None = None
    tol: str | None = None

    def __post_init__(self) -> None:
        if not self.reason.strip():
            raise ProfileError("Tol: an override needs a reason")
        if (self.ulp is None) == (self.tol is None):
            raise ProfileError("Tol: give either ulp= (a bound) or tol= (a class), and not both")


@dataclass(frozen=True)
class Exclude:
    """One deviation: the cases that match `pattern`, why, and until when.

    `pattern` is an exact case id or an explicit glob (`std::svd/*/complex64`), never a bare prefix.
    `unsupported`: the case is called once and must raise `MissingLoweringError` or
    `UnsupportedError`. `known_bug`: the named `laws` of the case are strict expected failures with
    the exception `raises`; all other laws of the case run as usual.
    """

    pattern: str
    kind: Literal["unsupported", "known_bug"] = field(kw_only=True)
    reason: str = field(kw_only=True)
    issue: str = field(default="", kw_only=True)
    until: str = field(default="", kw_only=True)
    raises: type[BaseException] | tuple[type[BaseException], ...] = field(
        default=AssertionError, kw_only=True
    )
    laws: tuple[str, ...] = field(default=("value",), kw_only=True)

    def __post_init__(self) -> None:
        if self.kind not in ("unsupported", "known_bug"):
            raise ProfileError(f"Exclude {self.pattern!r}: unknown kind {self.kind!r}")
        if not self.reason.strip():
            raise ProfileError(f"Exclude {self.pattern!r}: a reason is mandatory")
        if self.kind == "known_bug" and not (self.issue and self.until):
            raise ProfileError(f"Exclude {self.pattern!r}: a known bug needs issue= and until=")

    def matches(self, case_id: str) -> bool:
        """Return True if this case is excluded; `*` and `?` are wildcards, all else is literal."""
        return fnmatch.fnmatchcase(case_id, self.pattern.replace("[", "[[]"))


@dataclass(frozen=True, kw_only=True)
class Slow:
    """Cases that only the tier `deep` runs, because they take a backend long.

    `cases` are globs of case ids; `laws` names the laws that take long, and is empty where all do.
    Of the laws in `but`, cases that match these globs are quick enough. Nothing is known to be
    wrong with them: a backend is judged by all tiers together.

    >>> slow = Slow(cases=("std::svd/*",), but={"value": ("*/float64",)}, reason="compiling")
    >>> slow.matches("std::svd/wide/float64", "adjoint")
    True
    >>> slow.matches("std::svd/wide/float64", "value")
    False
    """

    cases: tuple[str, ...]
    reason: str
    but: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    laws: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.reason.strip():
            raise ProfileError(f"Slow {self.cases!r}: a reason is mandatory")

    def matches(self, case_id: str, law: str) -> bool:
        """Return whether a law of a case is left to `deep`."""
        return (
            (not self.laws or law in self.laws)
            and _any_matches(tuple(self.cases), case_id)
            and not _any_matches(tuple(self.but.get(law, ())), case_id)
        )


@cache
def _any_matches(patterns: tuple[str, ...], case_id: str) -> bool:
    """Return whether a pattern matches; memoized, because every law asks for every case again."""
    return any(fnmatch.fnmatchcase(case_id, pattern) for pattern in patterns)


@dataclass(frozen=True, kw_only=True)
class Profile:
    """The claim of one backend, checked by the suite.

    level       the highest level claimed (`docs/conformance.md`); `None` claims nothing
    ad          whether derivatives are claimed too
    features    which groups of cases are open: `f64 complex int64 …`; `None` takes
                `BackendInfo.features`
    make        "module:function" that returns the `BackendConfig` to test with; empty:
                `deterministic=True`
    tolerance   overrides by (primitive key, dtype name)
    exclusions  deviations; each has a reason
    slow        cases that are left to the tier `deep`
    slow_laws   laws that are left to the tier `full`
    weights     for primitives that compile to long programs, by key: how many ordinary equations
                one of theirs counts as, where the kit limits the length of a compiled program
    """

    level: int | None = 2
    ad: bool = True
    features: frozenset[str] | set[str] | None = None
    make: str = ""
    tolerance: Mapping[tuple[str, str], Tol] = field(default_factory=dict)
    exclusions: Iterable[Exclude] = ()
    slow: Iterable[Slow] = ()
    slow_laws: frozenset[str] | set[str] = frozenset()
    weights: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.features is not None:
            unknown = {name for name in self.features if "::" not in name} - FEATURES
            if unknown:
                raise ProfileError(
                    f"Profile: unknown features {', '.join(sorted(unknown))}; the words are "
                    + ", ".join(sorted(FEATURES))
                )
            object.__setattr__(self, "features", frozenset(self.features))
        object.__setattr__(self, "exclusions", tuple(self.exclusions))
        object.__setattr__(self, "slow", tuple(self.slow))
        object.__setattr__(self, "tolerance", dict(self.tolerance))
        object.__setattr__(self, "weights", dict(self.weights))

    def exclusion(self, case_id: str, kind: str) -> Exclude | None:
        """Return the first exclusion of that kind that matches the case."""
        return next((e for e in self.exclusions if e.kind == kind and e.matches(case_id)), None)

    def is_slow(self, case_id: str, law: str) -> bool:
        """Return whether this law of the case is left to the tier `deep`."""
        return any(slow.matches(case_id, law) for slow in self.slow)

    def may_be_quick(self, case_id: str, law: str) -> bool:
        """Return whether the tier `quick` may run this law of the case."""
        return law not in self.slow_laws and not any(
            (not slow.laws or law in slow.laws) and _any_matches(tuple(slow.cases), case_id)
            for slow in self.slow
        )

    def known_bug(self, case_id: str, law: str) -> Exclude | None:
        """Return the known bug that makes this law of this case an expected failure."""
        found = (e for e in self.exclusions if e.kind == "known_bug" and e.matches(case_id))
        return next((e for e in found if law in e.laws), None)


def until_has_passed(until: str, version: str, today: datetime.date) -> bool:
    """Return True if an `until` has passed: an ISO date, or a version of the distribution."""
    if not until:
        return False
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}", until):
        return datetime.date.fromisoformat(until) < today
    return _release(version) >= _release(until)


def _release(version: str) -> tuple[int, ...]:
    """Return the leading numbers of a version: "2.1.0rc1" → (2, 1, 0)."""
    numbers = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(int(part) for part in numbers.group().split(".")) if numbers else (0,)


def validate(
    profile: Profile,
    case_ids: Iterable[str] | None,
    *,
    version: str = "0",
    today: datetime.date | None = None,
) -> None:
    """Raise `ProfileError` if an exclusion or override matches nothing, or an `until`
    has passed.

    `case_ids`: None where only some cases are known, so that what matches nothing is not.
    """
    problems = [
        f"exclusion {e.pattern!r}: until {e.until!r} has passed ({e.reason})"
        for e in profile.exclusions
        if until_has_passed(e.until, version, today or datetime.date.today())
    ]
    if case_ids is not None:
        problems = [*_idle(profile, tuple(case_ids)), *problems]
    if problems:
        raise ProfileError("profile: " + "; ".join(problems))


def _idle(profile: Profile, ids: Sequence[str]) -> list[str]:
    """Return what a profile states of no case."""
    primitives = {case_id.split("/")[0] for case_id in ids}
    problems = [
        f"exclusion {e.pattern!r} matches no case"
        for e in profile.exclusions
        if not any(e.matches(i) for i in ids)
    ]
    problems += [
        f"slow {pattern!r} matches no case"
        for slow in profile.slow
        for pattern in (*slow.cases, *(p for found in slow.but.values() for p in found))
        if not any(_any_matches((pattern,), i) for i in ids)
    ]
    problems += [
        f"weight of {key!r}, which has no cases" for key in profile.weights if key not in primitives
    ]
    problems += [
        f"tolerance for {key!r}, which has no cases"
        for key, _ in profile.tolerance
        if key not in primitives
    ]
    return problems
