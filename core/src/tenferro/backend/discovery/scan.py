"""The scan: which plugins are installed, and which of them may be loaded. Imports no plugin.

Steps 1 to 4 of loading: duplicates of one editable install are dropped, two distributions with one
name are a conflict, block and allow lists are applied, version ranges are compared. Everything
comes from the metadata of distributions. Read next: ``host.py``, which imports what is left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any

from tenferro._runtime.frozen import replace
from tenferro._runtime.records import NamedTuple
from tenferro.backend.discovery.installed import Entry, entries, version_of
from tenferro.backend.discovery.versions import range_problem, required_name
from tenferro.backend.lowering.providers import canonical
from tenferro.backend.records import BACKENDS, PRIMITIVES, PluginRecord

GROUPS = (BACKENDS, PRIMITIVES)
CORE = "tenferro"
STANDARD = "std"
LISTED = "TENFERRO_PLUGINS"  # the variable with modules that no entry point names


class Found(NamedTuple):
    """An entry point: its record, how to import it, and what its distribution requires."""

    record: PluginRecord
    load: Callable[[], Any]
    requires: tuple[str, ...] = ()

    @property
    def place(self) -> tuple[str, str]:
        """Group and name, which one distribution owns."""
        return self.record.group, self.record.name


class Filters(NamedTuple):
    """Exclusion of plugins: which ones, and by what, the environment or the caller."""

    blocked: frozenset[str] = frozenset()
    allowed: frozenset[str] | None = None
    blocked_by: str = "TENFERRO_DISABLE_PLUGINS"
    allowed_by: str = "TENFERRO_LOAD_PLUGINS"

    @classmethod
    def of(
        cls,
        environment: Mapping[str, str],
        block: Iterable[str] = (),
        allow: Iterable[str] | None = None,
    ) -> Filters:
        """Return the environment's lists, extended (block) or replaced (allow) by those of a
        call.
        """
        blocked = {*listed_names(environment.get("TENFERRO_DISABLE_PLUGINS", "")), *block}
        wanted: Iterable[str] | None = allow
        if allow is None and "TENFERRO_LOAD_PLUGINS" in environment:
            wanted = listed_names(environment["TENFERRO_LOAD_PLUGINS"])
        return cls(
            blocked=frozenset(map(canonical, blocked)),
            allowed=None if wanted is None else frozenset(map(canonical, wanted)),
            blocked_by="TENFERRO_DISABLE_PLUGINS" if not block else "a block list",
            allowed_by="TENFERRO_LOAD_PLUGINS" if allow is None else "an allow list",
        )

    def reason(self, record: PluginRecord) -> str:
        """Return why a record is excluded; empty if it is not. ``std`` never is: programs need it.

        An allow list is about what is installed: a module without distribution was named itself.
        """
        if record.group == PRIMITIVES and record.name == STANDARD:
            return ""
        dist = canonical(record.dist)
        if {dist, canonical(record.name)} & self.blocked:
            return f"blocked by {self.blocked_by}"
        if self.allowed is not None and dist and dist not in self.allowed:
            return f"not listed in {self.allowed_by}"
        return ""


def listed_names(text: str) -> list[str]:
    """Return the entries of a comma list."""
    return [item.strip() for item in text.split(",") if item.strip()]


def scan(filters: Filters) -> list[Found]:
    """Return every entry point of both groups, sorted, with conflicts and exclusions marked."""
    found = with_standard(_unique(map(_found, entries(GROUPS))))
    return mark_conflicts(mark_blocked(found, filters))


def _found(entry: Entry) -> Found:
    record = PluginRecord(
        name=entry.name,
        group=entry.group,
        dist=entry.dist,
        version=entry.version,
        value=entry.value,
    )
    return Found(_named_well(record), entry.load, entry.requires)


def _named_well(record: PluginRecord) -> PluginRecord:
    if record.name.isidentifier() and record.name == record.name.lower():
        return record
    reason = f"the name {record.name!r} is not a lower-case identifier"
    return replace(record, status="broken", reason=reason)


def _unique(found: Iterable[Found]) -> list[Found]:
    """Step 1: one entry for each (group, name, distribution, value), in a fixed order."""
    kept: dict[tuple[str, ...], Found] = {}
    for item in found:
        r = item.record
        kept.setdefault((r.group, r.name, canonical(r.dist), r.value), item)
    return [kept[place] for place in sorted(kept)]


def with_standard(found: list[Found]) -> list[Found]:
    """Add ``std`` to the entries if core's own metadata is absent or stale."""
    if any(item.place == (PRIMITIVES, STANDARD) for item in found):
        return found
    value = "tenferro.backend.standard"
    return [*found, _found(Entry(PRIMITIVES, STANDARD, value, CORE, core_version(), ()))]


def mark_blocked(found: Iterable[Found], filters: Filters) -> list[Found]:
    """Step 3: those that the lists exclude. Before step 2, so that a list can end a conflict."""
    marked = []
    for item in found:
        reason = filters.reason(item.record)
        marked.append(_mark(item, "blocked", reason) if reason else item)
    return marked


def mark_conflicts(found: Iterable[Found]) -> list[Found]:
    """Step 2: all claimants of one name, where there are several."""
    items = list(found)
    claims: dict[tuple[str, str], list[Found]] = {}
    for item in items:
        if item.record.status == "discovered":
            claims.setdefault(item.place, []).append(item)
    contested = {place: rivals for place, rivals in claims.items() if len(rivals) > 1}
    return [
        _mark(item, "conflict", _conflict_reason(contested[item.place]))
        if item.record.status == "discovered" and item.place in contested
        else item
        for item in items
    ]


def _conflict_reason(rivals: Sequence[Found]) -> str:
    names = " and ".join(sorted({item.record.owner for item in rivals}))
    return f"the name {rivals[0].record.name!r} is claimed by {names}"


def _mark(item: Found, status: Any, reason: str) -> Found:
    return item._replace(record=replace(item.record, status=status, reason=reason))


def check_ranges(found: Sequence[Found]) -> list[Found]:
    """Step 4: incompatible are those whose distribution requires another version of core."""
    ours = [item.record.version for item in found if canonical(item.record.dist) == CORE]
    return [_check_range(item, ours[0] if ours else core_version()) for item in found]


def _check_range(item: Found, core: str) -> Found:
    if item.record.status != "discovered" or canonical(item.record.dist) == CORE:
        return item
    problem = range_problem(item.requires, CORE, core)
    return _mark(item, "incompatible", problem) if problem else item


def core_version() -> str:
    """Return the installed version of core; empty if it is not installed as a distribution."""
    return version_of(CORE)


class Dependent(NamedTuple):
    """A distribution that requires core: the range, and what is wrong with it."""

    distribution: str
    version: str
    requirement: str
    problem: str


def dependents() -> list[Dependent]:
    """Return every installed distribution that requires core, plugin or not."""
    running = core_version()
    found: dict[str, Dependent] = {}
    for dist in import_module("importlib.metadata").distributions():
        requirements = [r for r in dist.requires or () if required_name(r) == CORE]
        if requirements:
            problem = range_problem(requirements, CORE, running)
            text = "; ".join(requirements)
            found.setdefault(
                canonical(dist.name), Dependent(dist.name, dist.version, text, problem)
            )
    return [found[name] for name in sorted(found)]
