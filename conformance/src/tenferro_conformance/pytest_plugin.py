"""The pytest plugin: options, markers, fixtures, verdicts. Inert unless its options or fixtures are
used.

Loaded by every pytest run of the environment, so it imports pytest and the standard library alone;
what knows tenferro is `running/selection.py`, imported when a test asks for a fixture. With several
backends each runs in a process of its own, because accelerator libraries reserve memory and global
state. Names: options `--tenferro-*`, markers and fixtures `tenferro_*`. Read
`running/collection.py`, then `running/verdicts.py`.
"""

from __future__ import annotations

import subprocess
import sys
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pytest

from tenferro_conformance.running.collection import (
    Collection,
    Unit,
    generate_tests,
    parameters_of,
    runs_the_suite,
)
from tenferro_conformance.running.options import OF_THE_PARENT, add_options
from tenferro_conformance.running.verdicts import Verdicts

if TYPE_CHECKING:
    from tenferro_conformance.cases.case import Case, ErrorCase
    from tenferro_conformance.running.doors import Door
    from tenferro_conformance.running.selection import Kit
    from tenferro_conformance.running.session import Outcome, Session

_COLLECTION = pytest.StashKey[Collection]()
_MARKERS = (
    "tenferro_law(name, build=None, grad=False, where=None, cases='supported'): a law of the suite",
    "tenferro_golden: a golden test on every selected backend",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the kit."""
    group = parser.getgroup("tenferro", "conformance of tenferro backends")
    add_options(group.addoption, "--tenferro-")
    group.addoption(
        "--tenferro-shard", type=_shard, default=None, metavar="K/N",
        help="run the K-th of N parts; all cases of a primitive are in one part",
    )  # fmt: skip
    group.addoption(
        "--tenferro-journal", default="", metavar="PATH",
        help="write what starts and ends, for a process that goes on after a crash",
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
    collection = config.stash[_COLLECTION] = Collection(config)
    config.pluginmanager.register(Verdicts(collection), "tenferro_verdicts")


# --- fixtures -----------------------------------------------------------------------------------


@pytest.fixture
def tenferro_unit(request: pytest.FixtureRequest) -> Unit:
    """Return the backend and case of this test."""
    unit: Unit = request.param
    return unit


@pytest.fixture
def tenferro_kit(request: pytest.FixtureRequest) -> Kit:
    """Return the selected backends and all cases."""
    return request.config.stash[_COLLECTION].kit


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
    collection = request.config.stash[_COLLECTION]

    def run() -> Outcome:
        peers = collection.peers(request.node, tenferro_session.name)
        outcome = tenferro_session.outcome(marker.kwargs["build"], tenferro_case, peers)
        request.node.tenferro_measured = outcome.measured = []
        return outcome

    return run


@pytest.fixture(params=["graph", "public"])
def tenferro_door(
    request: pytest.FixtureRequest, tenferro_session: Session, tenferro_backend: str
) -> Door:
    """tidu's transforms on graphs of primitives, then the public API: the same numbers."""
    from tenferro_conformance.running.doors import GraphDoor, PublicDoor

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
    """Make one test per backend and case of the law."""
    try:
        generate_tests(metafunc, metafunc.config.stash[_COLLECTION])
    except pytest.Collector.CollectError:  # every file of the suite would say the same
        metafunc.definition.session.shouldstop = "a profile or a case is not valid"
        raise


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Drop laws without a case here, which pytest would show as skipped tests, and the laws and
    the part that were not asked for.

    A warning about some other plugin that is broken says nothing about the backend under test.
    """
    collection = config.stash[_COLLECTION]
    for item in items:
        if "tenferro_unit" in parameters_of(item):
            item.add_marker(pytest.mark.filterwarnings("ignore::tenferro.backend.PluginWarning"))
    dropped = [item for item in items if not collection.is_wanted(item)]
    dropped += [item for item in items if collection.is_done(item)]
    if dropped:
        config.hook.pytest_deselected(items=dropped)
        gone = set(dropped)
        items[:] = [item for item in items if item not in gone]
    collection.give_up(items)


# --- several backends: a process each -----------------------------------------------------------


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> int | None:
    """Run one child process per backend, if there are several, and merge their results."""
    if not runs_the_suite(config) or config.option.collectonly or config.option.help:
        return None
    from tenferro_conformance.running.backends import describe, resolve_names

    names = resolve_names(config.getoption("--tenferro-backend"))
    if len(names) < 2 or sum(describe(name).status == "available" for name in names) < 2:
        return None
    from tenferro_conformance.running.children import run_children

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


def _without_ours(args: Sequence[str]) -> list[str]:
    """Drop the options that the parent sets for each child."""
    kept, skip = [], False
    ours = tuple(f"--tenferro-{option.name}" for option in OF_THE_PARENT)
    for arg in map(str, args):
        if skip:
            skip = False
        elif arg in ours:
            skip = True
        elif not arg.startswith(tuple(f"{name}=" for name in ours)):
            kept.append(arg)
    return kept
