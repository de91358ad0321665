"""Collection of a run: which laws it has, and on which backends and cases each of them runs.

Loaded by every pytest run of the environment, so it imports pytest and the standard library alone;
what knows tenferro is imported when a test asks for a fixture. The parameter of a test is its
`Unit`. Read `verdicts.py` next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from tenferro_conformance.running.journal import Journal
from tenferro_conformance.running.keywords import Keywords

if TYPE_CHECKING:
    from tenferro_conformance.cases.case import Case, ErrorCase
    from tenferro_conformance.running.selection import Kit

__all__ = [
    "Collection",
    "Unit",
    "entry_of",
    "generate_tests",
    "law_of",
    "parameters_of",
    "runs_the_suite",
]

C = TypeVar("C", bound="Case | ErrorCase")
_SUITE = Path(__file__).parents[1] / "suite"


class Unit:
    """Subject of one test: a backend, and a case or none."""

    def __init__(self, backend: str, case: Case | ErrorCase | None = None) -> None:
        self.backend = backend
        self.case = case

    def __repr__(self) -> str:
        return f"{self.backend}-{self.case.id}" if self.case else self.backend


#: fixtures of a law that runs a backend
_BACKENDS = frozenset({"tenferro_unit", "tenferro_session", "tenferro_backend"})
#: fixtures whose parameter says what a test is about
_CASES = frozenset({"tenferro_unit", "tenferro_any_case", "tenferro_error_case"})


class Collection:
    """Collection of a run: the laws, backends and cases that its options ask for."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self._kit: Kit | None = None
        path = config.getoption("--tenferro-journal")
        self.journal = Journal.read(Path(path)) if path else None
        self._peers: dict[tuple[str, str, str], list[Case]] = {}

    @property
    def has_kit(self) -> bool:
        """True once some test has asked for backends or cases."""
        return self._kit is not None

    @property
    def kit(self) -> Kit:
        """The kit, made at first use."""
        if self._kit is None:
            from tenferro_conformance.errors import ProfileError
            from tenferro_conformance.running.declared import declare
            from tenferro_conformance.running.selection import Kit

            names = [*self.config.getoption("--tenferro-backend"), *self._required()]
            try:
                for text in self.config.getoption("--tenferro-declare"):
                    declare(text)
                self._kit = Kit(
                    names,
                    self.config.getoption("--tenferro-level"),
                    self.config.getoption("--tenferro-mesh"),
                    primitives=self.primitives(),
                )
            except ProfileError as error:
                raise pytest.Collector.CollectError(
                    str(error)
                ) from error  # shown without traceback
        return self._kit

    def chosen(self, cases: Sequence[C], law: str, backend: str = "") -> list[C]:
        """Return those of the cases of a law that this run was asked for."""
        shard = self.config.getoption("--tenferro-shard")
        named = self.primitives()
        found = list(cases)
        if shard is not None:
            mine = self.kit.shard(*shard)
            found = [case for case in found if case.primitive in mine]
        if named:
            found = [c for c in found if any(fnmatchcase(c.primitive, key) for key in named)]
        return self.kit.in_tier(found, self.config.getoption("--tenferro-tier"), law, backend)

    def primitives(self) -> tuple[str, ...]:
        """Return the keys, or patterns, of the primitives that the run was asked for; none: all."""
        cases = [case.partition("/")[0] for case in self.config.getoption("--tenferro-case")]
        return (*self.config.getoption("--tenferro-primitive"), *cases)

    def picks(self, metafunc: pytest.Metafunc) -> Callable[[C, str, Sequence[str]], bool]:
        """Return whether the run was asked for a case of a test, by `--tenferro-case` and `-k`.

        The cases that are left out are peers still: what is asked of one case alone runs as it
        ran among all.
        """
        wanted = self.config.getoption("--tenferro-case")
        test, keywords = metafunc.definition, self._chooser(metafunc)

        def picked(case: C, name: str, marks: Sequence[str] = ()) -> bool:
            if wanted and not any(case.id == w or fnmatchcase(case.id, w) for w in wanted):
                return False
            return (
                keywords is None or not name.isascii() or keywords(f"{test.name}[{name}]", *marks)
            )

        return picked

    def _chooser(self, metafunc: pytest.Metafunc) -> Callable[..., bool] | None:
        """Return the choice by `-k` among the tests of a function of the packaged suite."""
        test = metafunc.definition
        if Path(test.path).parent != _SUITE or not self.config.option.keyword:
            return None
        if test.get_closest_marker("parametrize"):  # names of other parameters are theirs, too
            return None
        nodes = [node.name for node in test.listchain() if not isinstance(node, pytest.Session)]
        marks = [mark.name for mark in test.iter_markers()]
        names = [*nodes, *test.listextrakeywords(), *vars(metafunc.function), *marks]
        return Keywords(self.config.option.keyword).among(names)

    def wants_law(self, fixtures: Sequence[str], marker: pytest.Mark | None = None) -> bool:
        """Return True if a law that uses these fixtures belongs to this run.

        A law that asks for no backend is about graphs alone: it holds for all once it holds
        once.
        """
        named = self.config.getoption("--tenferro-law")
        if named and (law_of(marker) or "golden") not in named:
            return False
        laws: str = self.config.getoption("--tenferro-laws")
        return laws == "all" or (laws == "backend") == bool(_BACKENDS & set(fixtures))

    def is_wanted(self, item: pytest.Item) -> bool:
        """Return True if the test has a case and its law belongs to this run.

        A test of the suite that is about no case runs in the first part, and not in `quick`.
        """
        params = parameters_of(item)
        about = [params[name] for name in _CASES if name in params]
        if not all(isinstance(found, Unit) or hasattr(found, "primitive") for found in about):
            return False
        marker = item.get_closest_marker("tenferro_law")
        if marker is None and item.get_closest_marker("tenferro_golden") is None:
            return True
        if not self.wants_law(getattr(item, "fixturenames", ()), marker):
            return False
        if _has_a_case(item):
            return True
        shard = self.config.getoption("--tenferro-shard")
        tier = self.config.getoption("--tenferro-tier")
        return (shard is None or shard[0] == 1) and tier != "quick" and not self.primitives()

    def is_done(self, item: pytest.Item) -> bool:
        """Return True if a process before this one, which crashed later or here, ran the test."""
        return self.journal is not None and self.journal.is_done(item.nodeid)

    def give_up(self, items: list[pytest.Item]) -> None:
        """Drop the tests of a primitive that has ended too many processes, and say so."""
        journal = self.journal
        if journal is None:
            return
        kept = []
        for item in items:
            entry = entry_of(item)
            key = str(entry["id"]).partition("/")[0] if entry else ""
            if entry and journal.is_given_up(key):
                reason = f"not run: the process ended in other cases of {key}"
                journal.ends(item.nodeid, [{**entry, "verdict": "error", "reason": reason}])
            else:
                kept.append(item)
        items[:] = kept

    def _required(self) -> list[str]:
        found: list[str] = self.config.getoption("--tenferro-require")
        return found

    def peers(self, item: pytest.Item, backend: str) -> list[Case]:
        """Return the cases whose programs may be compiled together with this one's."""
        marker = item.get_closest_marker("tenferro_law")
        assert marker is not None
        law, unit = marker.args[0], parameters_of(item)["tenferro_unit"]
        key = (backend, law, unit.case.primitive)
        if self.journal is not None and self.journal.runs_alone(unit.case.primitive):
            return []
        if (
            self.kit.known_bug(backend, unit.case, law)
            or marker.kwargs.get("cases") == "unsupported"
        ):
            return []
        if key not in self._peers:
            kin = [
                c
                for c in self.chosen(selected(self.kit, backend, marker), law, backend)
                if c.primitive == unit.case.primitive
            ]
            self._peers[key] = [c for c in kin if not self.kit.known_bug(backend, c, law)]
        return self._peers[key]


def generate_tests(metafunc: pytest.Metafunc, collection: Collection) -> None:
    """Make one test per backend and case, sorted; expected failures are always strict."""
    names = metafunc.fixturenames
    if not _CASES & set(names):
        return
    marker = metafunc.definition.get_closest_marker("tenferro_law")
    if not collection.wants_law(names, marker):
        metafunc.parametrize(next(n for n in names if n in _CASES), [], indirect=True)
        return
    picks = collection.picks(metafunc)
    if "tenferro_any_case" in names:
        cases = collection.chosen(_filtered(collection.kit.cases, marker), law_of(marker))
        cases = [case for case in cases if picks(case, case.id, ())]
        metafunc.parametrize("tenferro_any_case", cases, ids=[c.id for c in cases], indirect=True)
    elif "tenferro_error_case" in names and "tenferro_unit" not in names:
        errors = [c for c in collection.kit.error_cases if c.inputs is None]
        errors = [c for c in collection.chosen(errors, law_of(marker)) if picks(c, c.id, ())]
        metafunc.parametrize(
            "tenferro_error_case", errors, ids=[c.id for c in errors], indirect=True
        )
    else:
        is_golden = metafunc.definition.get_closest_marker("tenferro_golden") is not None
        with_cases = "tenferro_case" in names
        params = list(_units(collection, marker, with_cases, is_golden, picks))
        metafunc.parametrize("tenferro_unit", params, indirect=True)


def _has_a_case(item: pytest.Item) -> bool:
    """Return True if the test is about one case."""
    params = parameters_of(item)
    unit = params.get("tenferro_unit")
    return unit.case is not None if unit else bool(_CASES & set(params))


def parameters_of(item: pytest.Item) -> dict[str, Any]:
    """Return the parameters of a test."""
    return item.callspec.params if hasattr(item, "callspec") else {}


def entry_of(item: pytest.Item) -> dict[str, Any] | None:
    """Return what a report says of a test before it runs; None if it says nothing of it."""
    params = parameters_of(item)
    unit = params.get("tenferro_unit")
    marker = item.get_closest_marker("tenferro_law")
    if marker is None and unit is None:
        return None
    about = params.get("tenferro_any_case") or params.get("tenferro_error_case")
    case = unit.case if unit else about
    return {
        "id": case.id if case is not None else item.name.partition("[")[0],
        "law": law_of(marker) or "golden",
        "backend": unit.backend if unit else "",
        "level": getattr(case, "level", None),
        "provisional": getattr(case, "provisional", False),
    }


def law_of(marker: pytest.Mark | None) -> str:
    """Return the name of the law that a marker states."""
    return str(marker.args[0]) if marker else ""


def _filtered(cases: Sequence[Case], marker: pytest.Mark | None) -> list[Case]:
    where = marker.kwargs.get("where") if marker else None
    return [case for case in cases if where is None or where(case)]


def _units(
    collection: Collection,
    marker: pytest.Mark | None,
    with_cases: bool,
    is_golden: bool,
    picks: Callable[[Any, str, Sequence[str]], bool],
) -> Iterator[Any]:
    kit = collection.kit
    for backend in sorted(kit.selections):
        if not with_cases:
            if not is_golden or kit.selections[backend].runs_golden:
                yield pytest.param(Unit(backend), id=backend)
            continue
        assert marker is not None, "a test that asks for tenferro_case states its law"
        for case in collection.chosen(_selected(kit, backend, marker), marker.args[0], backend):
            marks = _expected_failure(kit, backend, case, marker.args[0])
            if not picks(case, f"{backend}-{case.id}", [mark.name for mark in marks]):
                continue
            yield pytest.param(Unit(backend, case), id=f"{backend}-{case.id}", marks=marks)


def _selected(kit: Kit, backend: str, marker: pytest.Mark) -> Sequence[Case | ErrorCase]:
    """Return the cases or refusals of one law on one backend."""
    if marker.kwargs.get("cases") == "errors":
        return kit.selected_errors(backend)
    return selected(kit, backend, marker)


def selected(kit: Kit, backend: str, marker: pytest.Mark) -> list[Case]:
    """Return the cases of one law on one backend; none if it lacks dtypes that the law needs."""
    if not kit.selections[backend].has_dtypes(marker.kwargs.get("dtypes", ())):
        return []
    kind = marker.kwargs.get("cases", "supported")
    return _filtered(
        kit.selected(backend, grad=marker.kwargs.get("grad", False), kind=kind), marker
    )


def _expected_failure(
    kit: Kit, backend: str, case: Case | ErrorCase, law: str
) -> list[pytest.MarkDecorator]:
    bug = kit.known_bug(backend, case, law)
    if bug is None:
        return []
    return [
        pytest.mark.xfail(
            strict=True, raises=bug.raises, reason=f"{bug.reason} ({bug.issue}, until {bug.until})"
        )
    ]


def runs_the_suite(config: pytest.Config) -> bool:
    """Return True if the run was asked for the packaged suite."""
    return any("tenferro_conformance" in str(arg) for arg in config.args)
