"""The pytest plugin: options, markers, fixtures, verdicts. Inert unless its options or fixtures are
used.

Loaded by every pytest run of the environment, so it imports pytest and the standard library alone;
what knows tenferro is `kit.py`, imported when a test asks for a fixture. With several backends each
runs in a process of its own, because accelerator libraries reserve memory and global state. Names:
options `--tenferro-*`, markers and fixtures `tenferro_*`.
"""

from __future__ import annotations

import datetime
import subprocess
import sys
from argparse import ArgumentTypeError
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

if TYPE_CHECKING:
    from tenferro_conformance.case import Case, ErrorCase
    from tenferro_conformance.doors import Door
    from tenferro_conformance.engine import Outcome, Session
    from tenferro_conformance.kit import Kit
    from tenferro_conformance.report import Entry

_STATE = pytest.StashKey["State"]()
C = TypeVar("C", bound="Case | ErrorCase")
_MARKERS = (
    "tenferro_law(name, build=None, grad=False, where=None, cases='supported'): a law of the suite",
    "tenferro_golden: a golden test on every selected backend",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the kit."""
    group = parser.getgroup("tenferro", "conformance of tenferro backends")
    group.addoption(
        "--tenferro-backend", action="append", default=[], metavar="NAME",
        help="backend to test, repeatable; `all` (the default) is every available one",
    )  # fmt: skip
    group.addoption(
        "--tenferro-require", action="append", default=[], metavar="NAME",
        help="fail if this backend is unavailable here, repeatable",
    )  # fmt: skip
    group.addoption(
        "--tenferro-report", default="", metavar="PATH", help="write the JSON report to this file"
    )
    group.addoption(
        "--tenferro-level",
        type=int,
        default=None,
        metavar="N",
        help="test up to this level instead of the claimed one",
    )
    group.addoption(
        "--tenferro-strict-new", action="store_true", help="count provisional cases, too"
    )
    group.addoption(
        "--tenferro-laws", choices=("all", "graph", "backend"), default="all",
        help="`graph`: only laws that run without a backend; `backend`: only the others",
    )  # fmt: skip
    group.addoption(
        "--tenferro-shard", type=_shard, default=None, metavar="K/N",
        help="run the K-th of N parts; all cases of a primitive are in one part",
    )  # fmt: skip
    group.addoption(
        "--tenferro-tier", choices=("quick", "rest", "full", "deep"), default="deep",
        help="`quick`: a typical case of each law; `full`: all but declared slow cases; "
             "`rest`: full without quick; `deep` (the default): all",
    )  # fmt: skip
    group.addoption(
        "--tenferro-primitive", action="append", default=[], metavar="KEY",
        help="run the cases of this primitive alone, repeatable",
    )  # fmt: skip


def _shard(text: str) -> tuple[int, int]:
    """Parse `K/N` with 1 ≤ K ≤ N."""
    index, _, count = text.partition("/")
    if not (index.isdecimal() and count.isdecimal() and 1 <= int(index) <= int(count)):
        raise ArgumentTypeError(f"{text!r} is not K/N with 1 ≤ K ≤ N")
    return int(index), int(count)


def pytest_configure(config: pytest.Config) -> None:
    """Register markers and the state of the run."""
    for marker in _MARKERS:
        config.addinivalue_line("markers", marker)
    state = State(config)
    config.stash[_STATE] = state
    config.pluginmanager.register(state, "tenferro_state")


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


# --- fixtures -----------------------------------------------------------------------------------


@pytest.fixture
def tenferro_unit(request: pytest.FixtureRequest) -> Unit:
    """Return the backend and case of this test."""
    unit: Unit = request.param
    return unit


@pytest.fixture
def tenferro_kit(request: pytest.FixtureRequest) -> Kit:
    """Return the selected backends and all cases."""
    return request.config.stash[_STATE].kit


@pytest.fixture
def tenferro_session(tenferro_unit: Unit, tenferro_kit: Kit) -> Session:
    """Return the backend under test, with its profile."""
    return tenferro_kit.session(tenferro_unit.backend)


@pytest.fixture
def tenferro_backend(tenferro_session: Session) -> Iterator[str]:
    """Yield the name of the backend under test, selected for the public API."""
    import tenferro as tn

    with tn.use(tenferro_session.backend):
        yield tenferro_session.name


@pytest.fixture
def tenferro_case(tenferro_unit: Unit) -> Case | ErrorCase:
    """Return the case under test."""
    assert tenferro_unit.case is not None
    return tenferro_unit.case


@pytest.fixture
def tenferro_any_case(request: pytest.FixtureRequest) -> Case:
    """Return a case for a law that needs no backend."""
    case: Case = request.param
    return case


@pytest.fixture
def tenferro_error_case(request: pytest.FixtureRequest) -> Any:
    """Return a refusal to be tested."""
    return request.param


@pytest.fixture
def tenferro_run(
    request: pytest.FixtureRequest, tenferro_session: Session, tenferro_case: Case
) -> Callable[[], Outcome]:
    """Run the law's program of this case."""
    marker = request.node.get_closest_marker("tenferro_law")
    state = request.config.stash[_STATE]

    def run() -> Outcome:
        peers = state.peers(request.node, tenferro_session.name)
        outcome = tenferro_session.outcome(marker.kwargs["build"], tenferro_case, peers)
        request.node.tenferro_measured = outcome.measured = []
        return outcome

    return run


@pytest.fixture(params=["graph", "public"])
def tenferro_door(
    request: pytest.FixtureRequest, tenferro_session: Session, tenferro_backend: str
) -> Door:
    """tidu's transforms on graphs of primitives, then the public API: the same numbers."""
    from tenferro_conformance.doors import GraphDoor, PublicDoor

    return GraphDoor(tenferro_session) if request.param == "graph" else PublicDoor()


@pytest.fixture
def tenferro_run_python() -> Callable[[str], str]:
    """Run a program in a fresh interpreter and return what it printed."""

    def run(program: str) -> str:
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


# --- collection ---------------------------------------------------------------------------------


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make one test per backend and case, sorted; expected failures are always strict."""
    names = metafunc.fixturenames
    if not _CASES & set(names):
        return
    state = metafunc.config.stash[_STATE]
    if not state.wants_law(names):
        metafunc.parametrize(next(n for n in names if n in _CASES), [], indirect=True)
        return
    marker = metafunc.definition.get_closest_marker("tenferro_law")
    if "tenferro_any_case" in names:
        cases = state.chosen(_filtered(state.kit.cases, marker), _law_of(marker))
        metafunc.parametrize("tenferro_any_case", cases, ids=[c.id for c in cases], indirect=True)
    elif "tenferro_error_case" in names and "tenferro_unit" not in names:
        errors = [c for c in state.kit.error_cases if c.inputs is None]
        errors = state.chosen(errors, _law_of(marker))
        metafunc.parametrize(
            "tenferro_error_case", errors, ids=[c.id for c in errors], indirect=True
        )
    else:
        params = list(_units(state, marker, "tenferro_case" in names))
        metafunc.parametrize("tenferro_unit", params, indirect=True)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Drop laws without a case here, which pytest would show as skipped tests, and the laws and
    the part that were not asked for.

    A warning about some other plugin that is broken says nothing about the backend under test.
    """
    state = config.stash[_STATE]
    for item in items:
        if "tenferro_unit" in _params(item):
            item.add_marker(pytest.mark.filterwarnings("ignore::tenferro.backend.PluginWarning"))
    dropped = [item for item in items if not state.is_wanted(item)]
    if dropped:
        config.hook.pytest_deselected(items=dropped)
        gone = set(dropped)
        items[:] = [item for item in items if item not in gone]


def _has_a_case(item: pytest.Item) -> bool:
    """Return True if the test is about one case."""
    params = _params(item)
    unit = params.get("tenferro_unit")
    return unit.case is not None if unit else bool(_CASES & set(params))


def _params(item: pytest.Item) -> dict[str, Any]:
    """Return the parameters of a test."""
    return item.callspec.params if hasattr(item, "callspec") else {}


def _law_of(marker: pytest.Mark | None) -> str:
    return str(marker.args[0]) if marker else ""


def _filtered(cases: Sequence[Case], marker: pytest.Mark | None) -> list[Case]:
    where = marker.kwargs.get("where") if marker else None
    return [case for case in cases if where is None or where(case)]


def _units(state: State, marker: pytest.Mark | None, with_cases: bool) -> Iterator[Any]:
    kit = state.kit
    for backend in sorted(kit.selections):
        if not with_cases:
            yield pytest.param(Unit(backend), id=backend)
            continue
        assert marker is not None, "a test that asks for tenferro_case states its law"
        for case in state.chosen(_selected(kit, backend, marker), marker.args[0], backend):
            marks = _expected_failure(kit, backend, case, marker.args[0])
            yield pytest.param(Unit(backend, case), id=f"{backend}-{case.id}", marks=marks)


def _selected(kit: Kit, backend: str, marker: pytest.Mark) -> Sequence[Case | ErrorCase]:
    """Return the cases or refusals of one law on one backend."""
    if marker.kwargs.get("cases") == "errors":
        return kit.selected_errors(backend)
    return selected(kit, backend, marker)


def selected(kit: Kit, backend: str, marker: pytest.Mark) -> list[Case]:
    """Return the cases of one law on one backend."""
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


# --- several backends: a process each -----------------------------------------------------------


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> int | None:
    """Run one child process per backend, if there are several, and merge their results."""
    if not _runs_the_suite(config) or config.option.collectonly or config.option.help:
        return None
    from tenferro_conformance.kit import describe, resolve_names

    names = resolve_names(config.getoption("--tenferro-backend"))
    if len(names) < 2 or sum(describe(name).status == "available" for name in names) < 2:
        return None
    from tenferro_conformance.runner import run_children

    return run_children(
        names,
        lambda name, report: [*_without_ours(config.invocation_params.args),
                              f"--tenferro-backend={name}",
                              f"--tenferro-report={report}"],
        require=config.getoption("--tenferro-require"),
        report=config.getoption("--tenferro-report"),
        chosen=config.getoption("--tenferro-backend"),
        laws=config.getoption("--tenferro-laws"),
    )  # fmt: skip


def _runs_the_suite(config: pytest.Config) -> bool:
    return any("tenferro_conformance" in str(arg) for arg in config.args)


def _without_ours(args: Sequence[str]) -> list[str]:
    """Drop the options that the parent sets for each child."""
    kept, skip = [], False
    ours = ("--tenferro-backend", "--tenferro-report", "--tenferro-require")
    for arg in map(str, args):
        if skip:
            skip = False
        elif arg in ours:
            skip = True
        elif not arg.startswith(tuple(f"{name}=" for name in ours)):
            kept.append(arg)
    return kept


# --- verdicts -----------------------------------------------------------------------------------


class State:
    """State of a run: what it has found, and the hooks that collect it."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.entries: list[Entry] = []
        self._kit: Kit | None = None
        self._peers: dict[tuple[str, str, str], list[Case]] = {}

    @property
    def kit(self) -> Kit:
        """The kit, made at first use."""
        if self._kit is None:
            from tenferro_conformance.errors import ProfileError
            from tenferro_conformance.kit import Kit

            names = [*self.config.getoption("--tenferro-backend"), *self._required()]
            try:
                self._kit = Kit(names, self.config.getoption("--tenferro-level"))
            except ProfileError as error:
                raise pytest.UsageError(str(error)) from error
        return self._kit

    def chosen(self, cases: Sequence[C], law: str, backend: str = "") -> list[C]:
        """Return those of the cases of a law that this run was asked for."""
        shard = self.config.getoption("--tenferro-shard")
        named = self.config.getoption("--tenferro-primitive")
        found = list(cases)
        if shard is not None:
            mine = self.kit.shard(*shard)
            found = [case for case in found if case.primitive in mine]
        if named:
            found = [case for case in found if case.primitive in named]
        return self.kit.in_tier(found, self.config.getoption("--tenferro-tier"), law, backend)

    def wants_law(self, fixtures: Sequence[str]) -> bool:
        """Return True if a law that uses these fixtures belongs to this run.

        A law that asks for no backend is about graphs alone: it holds for all once it holds
        once.
        """
        laws: str = self.config.getoption("--tenferro-laws")
        return laws == "all" or (laws == "backend") == bool(_BACKENDS & set(fixtures))

    def is_wanted(self, item: pytest.Item) -> bool:
        """Return True if the test has a case and its law belongs to this run.

        A test of the suite that is about no case runs in the first part, and not in `quick`.
        """
        params = _params(item)
        about = [params[name] for name in _CASES if name in params]
        if not all(isinstance(found, Unit) or hasattr(found, "primitive") for found in about):
            return False
        marker = item.get_closest_marker("tenferro_law")
        if marker is None and item.get_closest_marker("tenferro_golden") is None:
            return True
        if not self.wants_law(getattr(item, "fixturenames", ())):
            return False
        if _has_a_case(item):
            return True
        shard = self.config.getoption("--tenferro-shard")
        tier, named = (self.config.getoption(f"--tenferro-{o}") for o in ("tier", "primitive"))
        return (shard is None or shard[0] == 1) and tier != "quick" and not named

    def _required(self) -> list[str]:
        found: list[str] = self.config.getoption("--tenferro-require")
        return found

    def peers(self, item: pytest.Item, backend: str) -> list[Case]:
        """Return the cases whose programs may be compiled together with this one's."""
        marker = item.get_closest_marker("tenferro_law")
        assert marker is not None
        law, unit = marker.args[0], _params(item)["tenferro_unit"]
        key = (backend, law, unit.case.primitive)
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

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, Any, Any]:
        """Attach our entry to the report, so that it travels between workers."""
        report = yield
        if report.when == "call" or (report.when == "setup" and not report.passed):
            entry = self._entry(item, call, report)
            if entry is not None:
                report.user_properties.append(("tenferro", entry))
        return report

    def _entry(
        self, item: pytest.Item, call: pytest.CallInfo[None], report: Any
    ) -> dict[str, Any] | None:
        params = _params(item)
        unit = params.get("tenferro_unit")
        marker = item.get_closest_marker("tenferro_law")
        if marker is None and unit is None:
            return None
        case = (
            unit.case
            if unit
            else params.get("tenferro_any_case") or params.get("tenferro_error_case")
        )
        law = marker.args[0] if marker else "golden"
        is_refusal = marker is not None and marker.kwargs.get("cases") == "unsupported"
        entry: dict[str, Any] = {
            "id": case.id if case is not None else item.name.partition("[")[0],
            "law": law,
            "backend": unit.backend if unit else "",
            "verdict": _verdict(report, call, is_refusal),
            "reason": self._reason(report, call, unit, is_refusal),
            "level": getattr(case, "level", None),
            "provisional": getattr(case, "provisional", False),
            "seconds": report.duration,
        }
        if unit and case is not None and (bug := self.kit.known_bug(unit.backend, case, law)):
            entry["issue"] = bug.issue
        worst = max(
            getattr(item, "tenferro_measured", []),
            key=lambda m: m.measured / (m.bound or 1),
            default=None,
        )
        if worst is not None:
            entry.update(max_ulp=worst.measured, bound=worst.bound, tol=worst.tol)
        return entry

    def _reason(
        self, report: Any, call: pytest.CallInfo[None], unit: Unit | None, is_refusal: bool
    ) -> str:
        if getattr(report, "wasxfail", None) is not None:
            return str(report.wasxfail)
        if call.excinfo is not None:
            return f"{call.excinfo.typename}: {call.excinfo.value}"[:400]
        if is_refusal and unit is not None and unit.case is not None:
            return self.kit.selections[unit.backend].why_unsupported(unit.case)[0]
        return ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Collect entries, from workers too."""
        from tenferro_conformance.report import Entry

        found: list[Any] = [value for name, value in report.user_properties if name == "tenferro"]
        self.entries += [Entry(**value) for value in found]

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Write the report; a selected backend with zero executed cases fails."""
        if hasattr(self.config, "workerinput") or not self._is_used():
            return
        if self.config.option.collectonly:
            return
        problems = self._problems()
        if self.config.getoption("--tenferro-shard") is not None:
            problems = []  # whoever adds up the parts judges whether anything ran
            if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
                session.exitstatus = exitstatus = pytest.ExitCode.OK
        self._lines = [
            self._report.summary(name) for name in sorted(self._report.backends)
        ] + problems
        if exitstatus == pytest.ExitCode.TESTS_FAILED and self._only_provisional(session):
            session.exitstatus = exitstatus = pytest.ExitCode.OK
        path = self.config.getoption("--tenferro-report")
        if path:
            self._report.write(Path(path))
        if problems and exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _only_provisional(self, session: pytest.Session) -> bool:
        """Return True if only provisional cases failed, which do not count yet."""
        failed = [e for e in self.entries if e.verdict in ("fail", "error")]
        counted = self.config.getoption("--tenferro-strict-new")
        return (
            not counted
            and session.testsfailed == len(failed)
            and all(e.provisional for e in failed)
        )

    def _is_used(self) -> bool:
        return self._kit is not None and (
            bool(self.entries) or bool(self._kit.selections or self._kit.unavailable)
        )

    def _problems(self) -> list[str]:
        """Return why a run without failing tests still fails."""
        from tenferro_conformance.report import Report
        from tenferro_conformance.runner import problems_of

        about = {name: selection.about for name, selection in self.kit.selections.items()}
        self._report = Report(
            backends={**about, **self.kit.unavailable}, date=datetime.date.today().isoformat()
        )
        self._report.entries = list(self.entries)
        if not _runs_the_suite(self.config):
            return []
        return problems_of(
            self._report,
            self.config.getoption("--tenferro-require"),
            self.config.getoption("--tenferro-backend"),
            laws=self.config.getoption("--tenferro-laws"),
        )

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Write one line per backend."""
        for line in getattr(self, "_lines", ()):
            terminalreporter.write_line(f"tenferro: {line}")


def _verdict(report: Any, call: pytest.CallInfo[None], is_refusal: bool) -> str:
    if hasattr(report, "wasxfail"):
        return "xfail"
    if report.passed:
        return "unsupported" if is_refusal else "pass"
    if report.skipped:
        return "not_selected"
    return "fail" if call.excinfo is None or call.excinfo.errisinstance(AssertionError) else "error"
