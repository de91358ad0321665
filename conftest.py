"""The options of all tests here: `--tier`, `--over`, and how tests draw their numbers.

A test draws the same numbers alone and after any others: a generator of its module has the state
that importing the module left, whatever was drawn from it since. Property tests draw the same
examples at every run; `HYPOTHESIS_PROFILE=fuzz` draws fresh ones. What a fresh example finds is
added to its test as a named one (`@example`). Tests say how many examples they draw and nothing of
how: the two profiles are the only place. Read `tests/tiers.py` for tiers.

Errors of tenferro quote the user's line. Here they quote no row of a table, like
`(lambda: call(x), "wanted text")`: that line has the wanted text itself, so no test of it could
fail. A row is a line with a lambda that begins with a bracket, a quotation mark or the lambda.

There are tens of thousands of tests, most of which take a millisecond. What pytest does around each
is therefore kept small: a file is not imported if the chosen tier runs none of its tests, and a
worker of xdist sends one report, instead of three, of a test that passes.
"""

import importlib
import os
import runpy
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

# Distributions that `tenferro new-plugin` writes: their tests run where they are installed.
collect_ignore = ["core/src/tenferro/_cli/templates"]

tiers = runpy.run_path(str(Path(__file__).parent / "tests" / "tiers.py"))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options that choose among tests."""
    group = parser.getgroup("tiers", "tiers of the tests of this repository")
    group.addoption(
        "--tier",
        choices=tiers["TIERS"],
        default="deep",
        help="`quick`, `rest` (of what automation runs), `full` (both), or `deep`: all",
    )
    group.addoption(
        "--over", default="", metavar="BACKEND", help="where tests that take any backend run"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Make the backend that was asked for the default of this process."""
    if config.getoption("--over"):
        os.environ["TENFERRO_BACKEND"] = config.getoption("--over")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not import a file if the chosen tier runs none of its tests.

    The packaged suite of the kit may run from the root of another project: tiers do not name it.
    """
    if collection_path.suffix != ".py" or not collection_path.is_relative_to(config.rootpath):
        return None
    name = collection_path.relative_to(config.rootpath).as_posix()
    is_in = tiers["file_in_tier"](name, config.getoption("--tier"), config.getoption("--over"))
    return None if is_in else True


@pytest.hookimpl(tryfirst=True)  # pytest itself sorts what is left, by the scopes of fixtures
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is not in the tier; refuse tests whose names are others in each process."""
    if unstable := [item.nodeid for item in items if " at 0x" in item.nodeid]:
        raise pytest.UsageError(f"the address of an object is in the name of a test: {unstable[0]}")
    quote_no_rows()
    for module in {getattr(item, "module", None) for item in items} - {None}:
        generators[module] = generators_of(module)
    tier, over = config.getoption("--tier"), config.getoption("--over")
    wanted = tiers["in_tier"]([item.nodeid for item in items], tier, over)
    left_out = [item for item, is_wanted in zip(items, wanted, strict=True) if not is_wanted]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item, is_wanted in zip(items, wanted, strict=True) if is_wanted]


def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """In a process of xdist, report setting up and tearing down only where one of them fails.

    pytest's own protocol sends six messages for each test. The process that reads those of all
    others takes the time of many tests for it.
    """
    if not hasattr(item.config, "workerinput") or item.config.getoption("durations"):
        return None
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed:
            item.ihook.pytest_runtest_logreport(report=report)
    return True


def quote_no_rows() -> None:
    """Let errors quote `<row>` for a row of a table; read the top of this file."""
    if "tenferro" not in sys.modules:
        return
    source = importlib.import_module("tenferro.primitives._source")
    text_of = source._text_of

    def text_without_rows(filename: str, line: int) -> str:
        text = text_of(filename, line)
        is_row = "lambda" in text and text.startswith(("(", "[", "{", '"', "'", "lambda"))
        return "<row>" if is_row else text

    source._text_of = text_without_rows


# Random generators among the globals of each test module, with their states after the import.
generators: dict[ModuleType, list[tuple[Any, dict[str, Any]]]] = {}


def generators_of(module: ModuleType) -> list[tuple[Any, dict[str, Any]]]:
    """Return the generators of NumPy among the globals of a module, with their states."""
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return []
    found = [x for x in vars(module).values() if isinstance(x, numpy.random.Generator)]
    return [(generator, generator.bit_generator.state) for generator in found]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Undo what other tests drew from the generators of this module."""
    for generator, state in generators.get(getattr(item, "module", None), ()):
        generator.bit_generator.state = state


try:
    import hypothesis
except ImportError:  # environments of one distribution have no property tests
    hypothesis = None

if hypothesis is not None:
    every = list(hypothesis.HealthCheck)
    hypothesis.settings.register_profile(
        "same", derandomize=True, database=None, deadline=None, suppress_health_check=every
    )
    hypothesis.settings.register_profile(
        "fuzz", derandomize=False, deadline=None, print_blob=True, suppress_health_check=every
    )
    hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))
