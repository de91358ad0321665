"""The command `tenferro-conformance`: run, levels, matrix, diff, golden write, golden check.

Thin: it parses arguments and calls `running/children.py`, `reporting/matrix.py` and
`oracle/golden.py`. Exit code 0 means that everything asked for holds.
"""

from __future__ import annotations

import argparse
import datetime
import os
import sys
import tempfile
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tenferro_conformance import SUITE_VERSION
from tenferro_conformance.errors import ProfileError
from tenferro_conformance.running.options import add_options, forwarded

if TYPE_CHECKING:
    from tenferro_conformance.reporting.page import Column
    from tenferro_conformance.reporting.report import Report

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Parse arguments, run the command, return its exit code."""
    try:
        return _done(argv)
    except ProfileError as error:
        return _refused(str(error))


def _done(argv: Sequence[str] | None) -> int:
    arguments, rest = _parser().parse_known_args(argv)
    if rest and arguments.command is not _run:
        _parser().error(f"unrecognized arguments: {' '.join(rest)}")
    code: int = arguments.command(arguments, rest)
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tenferro-conformance", description="test backends against laws and stored numbers"
    )
    parser.add_argument(
        "--version", action="version",
        version=f"tenferro-conformance {version('tenferro-conformance')}, suite {SUITE_VERSION}",
    )  # fmt: skip
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    run = commands.add_parser("run", help="run the suite; further arguments go to pytest")
    add_options(run.add_argument, "--")
    run.add_argument(
        "--plugin", action="append", default=[], metavar="MODULE",
        help="load this plugin, too, which is not installed; repeatable",
    )  # fmt: skip
    _add_jobs(run)
    run.set_defaults(command=_run)
    levels = commands.add_parser("levels", help="list the primitives of each level")
    levels.add_argument("--json", action="store_true", help="print JSON instead of text")
    levels.add_argument(
        "--required", type=int, metavar="N",
        help="list the primitives up to level N that have no decomposition, so need a lowering",
    )  # fmt: skip
    levels.set_defaults(command=_levels)
    _add_matrix(commands)
    diff = commands.add_parser("diff", help="exit 1 on any regression between two reports")
    diff.add_argument("old", type=_file)
    diff.add_argument("new", type=_file)
    diff.set_defaults(command=_diff)
    golden = commands.add_parser("golden", help="recompute the stored numbers (needs mpmath)")
    golden.add_argument("action", choices=("check", "write"))
    golden.add_argument("families", nargs="*", metavar="FAMILY", help="only these")
    golden.add_argument("--skip", action="append", default=[], metavar="FAMILY", help="not these")
    golden.set_defaults(command=_golden)
    return parser


def _file(path: str) -> Path:
    """Return the path of a file that is there."""
    if not Path(path).is_file():
        raise argparse.ArgumentTypeError(f"there is no file {path!r}")
    return Path(path)


def _add_jobs(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--jobs", type=int, default=1, metavar="N",
        help="run the cases in N processes at a time; 0: one per processor",
    )  # fmt: skip


def _add_matrix(commands: Any) -> None:
    matrix = commands.add_parser("matrix", help="primitives × backends, as Markdown")
    matrix.add_argument("reports", nargs="*", type=_file, help="files that `run --report` wrote")
    matrix.add_argument(
        "--measure", metavar="NAME",
        help="run all cases over this backend first, and take the report of this run, too",
    )  # fmt: skip
    _add_jobs(matrix)
    where = matrix.add_mutually_exclusive_group()
    where.add_argument("-o", "--output", type=Path, metavar="PAGE", help="write this file")
    where.add_argument(
        "--into", type=Path, metavar="PAGE",
        help="replace the columns of the measured backends in this page; the others stay",
    )  # fmt: skip
    matrix.set_defaults(command=_matrix)


#: pytest's names of the option that lists tests and runs none
_COLLECT_ONLY = frozenset({"--collect-only", "--collectonly", "--co"})


def _run(arguments: argparse.Namespace, rest: Sequence[str]) -> int:
    from tenferro_conformance.reporting.failures import command_words
    from tenferro_conformance.running.backends import resolve_names
    from tenferro_conformance.running.children import run_children, suite_arguments
    from tenferro_conformance.running.declared import load_also

    words = command_words(_repeated(arguments))  # before plugins are loaded by variables
    load_also(arguments.plugin)
    fixed = [*suite_arguments(), *rest, *forwarded(vars(arguments))]
    return run_children(
        resolve_names(arguments.backend),
        lambda name, report: [
            *fixed,
            f"--tenferro-backend={name}",
            f"--tenferro-report={report}",
        ],
        require=arguments.require,
        report=arguments.report,
        chosen=arguments.backend,
        isolated=True,
        jobs=arguments.jobs or os.cpu_count() or 1,
        laws=arguments.laws,
        collect_only=not _COLLECT_ONLY.isdisjoint(rest),
        words=words,
        asked=(*arguments.primitive, *arguments.case),
    )


def _repeated(arguments: argparse.Namespace) -> list[str]:
    """Return the options that a run of one case needs as well."""
    found = []
    for name in ("plugin", "declare"):
        found += [text for value in getattr(arguments, name) for text in (f"--{name}", value)]
    for name in ("level", "mesh"):
        if getattr(arguments, name) is not None:
            found += [f"--{name}", str(getattr(arguments, name))]
    return [*found, *(["--strict-new"] if arguments.strict_new else [])]


def _levels(arguments: argparse.Namespace, rest: Sequence[str]) -> int:
    from tenferro_conformance.running.levels import levels_as_json, levels_text, required_text

    if arguments.required is not None:
        print(required_text(arguments.required))
        return 0
    print(levels_as_json() if arguments.json else levels_text())
    return 0


def _matrix(arguments: argparse.Namespace, rest: Sequence[str]) -> int:
    from tenferro_conformance.errors import PageError
    from tenferro_conformance.reporting.matrix import columns
    from tenferro_conformance.reporting.page import write_page
    from tenferro_conformance.reporting.report import read_report

    try:
        kept = _columns_of(arguments.into)  # before hours of measuring
    except PageError as error:
        return _refused(f"{arguments.into}: {error}")
    reports, code = [read_report(path) for path in arguments.reports], 0
    if arguments.measure:
        code, measured = _measured(arguments.measure, arguments.jobs)
        reports.append(measured)
    found = columns(reports)
    if not found:
        return _refused("no backend was run: name a report, or an available backend by --measure")
    text = write_page({**kept, **found})
    if output := arguments.into or arguments.output:
        output.write_text(text, "utf-8")
    else:
        print(text, end="")
    return code


def _refused(reason: str) -> int:
    """Print why a command did nothing; return its exit code."""
    print(f"tenferro-conformance: {reason}", file=sys.stderr)
    return 2


def _columns_of(page: Path | None) -> dict[str, Column]:
    """Return the columns of a page; none if it is not there."""
    from tenferro_conformance.reporting.page import read_page

    return read_page(page.read_text("utf-8")) if page and page.exists() else {}


def _measured(name: str, jobs: int) -> tuple[int, Report]:
    """Run all cases over a backend; return the exit code of the run, and its report."""
    from tenferro_conformance.reporting.report import read_report

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.json"
        options = [f"--backend={name}", "--laws=backend", f"--jobs={jobs}", f"--report={path}"]
        code = _done(["run", *options])
        return code, read_report(path)


def _diff(arguments: argparse.Namespace, rest: Sequence[str]) -> int:
    from tenferro_conformance.reporting.matrix import diff
    from tenferro_conformance.reporting.report import read_report

    lines = diff(read_report(arguments.old), read_report(arguments.new))
    print("\n".join(lines) or "no regression")
    return int(bool(lines))


def _golden(arguments: argparse.Namespace, rest: Sequence[str]) -> int:
    from tenferro_conformance.oracle import golden
    from tenferro_conformance.samples import FAMILIES

    unknown = sorted({*arguments.families, *arguments.skip} - {*FAMILIES})
    if unknown:
        return _refused(f"no family is called {unknown[0]!r}; there are {', '.join(FAMILIES)}")
    wanted = [f for f in arguments.families or FAMILIES if f not in arguments.skip]
    if arguments.action == "write":
        today = datetime.date.today().isoformat()
        print("\n".join(f"wrote {name}" for name in golden.write(today, wanted)))
        return 0
    problems = golden.check(wanted)
    print("\n".join(problems) or f"stored numbers agree with the oracle: {', '.join(wanted)}")
    return int(bool(problems))
