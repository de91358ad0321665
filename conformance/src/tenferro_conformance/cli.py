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
from pathlib import Path

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Parse arguments, run the command, return its exit code."""
    arguments, rest = _parser().parse_known_args(argv)
    if rest and arguments.command is not _run:
        _parser().error(f"unrecognized arguments: {' '.join(rest)}")
    code: int = arguments.command(arguments, rest)
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tenferro-conformance", description="test backends against laws and stored numbers"
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    run = commands.add_parser("run", help="run the suite; further arguments go to pytest")
    run.add_argument(
        "--backend", action="append", default=[], metavar="NAME", help="repeatable; default: all"
    )
    run.add_argument(
        "--require", action="append", default=[], metavar="NAME", help="fail if unavailable"
    )
    run.add_argument("--level", type=int, help="test up to this level instead of the claimed one")
    run.add_argument("--report", default="", metavar="PATH", help="write the JSON report")
    run.add_argument(
        "--laws", choices=("all", "graph", "backend"), default="all",
        help="`graph`: only laws that run without a backend; `backend`: only the others",
    )  # fmt: skip
    run.add_argument(
        "--tier", choices=("quick", "rest", "full", "deep"), default="deep",
        help="`quick`: a typical case of each law; `full`: all but declared slow cases; "
             "`rest`: full without quick; `deep` (the default): all",
    )  # fmt: skip
    run.add_argument(
        "--primitive", action="append", default=[], metavar="KEY",
        help="run the cases of this primitive alone, or of all that match `acme::*`; repeatable",
    )  # fmt: skip
    run.add_argument(
        "--case", action="append", default=[], metavar="ID",
        help="run this case alone, or all that match `std::sin/*/float64`; repeatable",
    )  # fmt: skip
    run.add_argument(
        "--law", action="append", default=[], metavar="NAME",
        help="ask this law alone, by the name in the report; repeatable",
    )  # fmt: skip
    run.add_argument(
        "--plugin", action="append", default=[], metavar="MODULE",
        help="load this plugin, too, which is not installed; repeatable",
    )  # fmt: skip
    run.add_argument(
        "--declare", action="append", default=[], metavar="NAME=MODULE:OBJECT",
        help="the profile of the backend NAME, or the cases of the namespace NAME, which no "
             "installed distribution publishes; repeatable",
    )  # fmt: skip
    run.add_argument(
        "--jobs", type=int, default=1, metavar="N",
        help="run the cases in N processes at a time; 0: one per processor",
    )  # fmt: skip
    run.add_argument(
        "--mesh", type=int, metavar="N",
        help="split the inputs of every program over N devices; needs the feature `sharding`",
    )  # fmt: skip
    run.add_argument("--strict-new", action="store_true", help="count provisional cases, too")
    run.set_defaults(command=_run)
    levels = commands.add_parser("levels", help="list the primitives of each level")
    levels.add_argument("--json", action="store_true", help="print JSON instead of text")
    levels.set_defaults(command=_levels)
    matrix = commands.add_parser("matrix", help="primitives × backends, as Markdown")
    matrix.add_argument("reports", nargs="+", type=Path)
    matrix.add_argument("-o", "--output", type=Path)
    matrix.set_defaults(command=_matrix)
    diff = commands.add_parser("diff", help="exit 1 on any regression between two reports")
    diff.add_argument("old", type=Path)
    diff.add_argument("new", type=Path)
    diff.set_defaults(command=_diff)
    golden = commands.add_parser("golden", help="recompute the stored numbers (needs mpmath)")
    golden.add_argument("action", choices=("check", "write"))
    golden.add_argument("families", nargs="*", metavar="FAMILY", help="only these")
    golden.add_argument("--skip", action="append", default=[], metavar="FAMILY", help="not these")
    golden.set_defaults(command=_golden)
    return parser


#: pytest's names of the option that lists tests and runs none
_COLLECT_ONLY = frozenset({"--collect-only", "--collectonly", "--co"})


def _run(arguments: argparse.Namespace, rest: Sequence[str]) -> int:
    from tenferro_conformance.reporting.failures import command_words
    from tenferro_conformance.running.backends import resolve_names
    from tenferro_conformance.running.children import run_children, suite_arguments
    from tenferro_conformance.running.declared import load_also

    words = command_words(_repeated(arguments))  # before plugins are loaded by variables
    load_also(arguments.plugin)
    with tempfile.TemporaryDirectory() as root:
        fixed = [*suite_arguments(Path(root)), *rest]
        fixed += [] if arguments.level is None else [f"--tenferro-level={arguments.level}"]
        fixed += [] if arguments.mesh is None else [f"--tenferro-mesh={arguments.mesh}"]
        fixed += ["--tenferro-strict-new"] if arguments.strict_new else []
        fixed += [f"--tenferro-laws={arguments.laws}", f"--tenferro-tier={arguments.tier}"]
        fixed += [f"--tenferro-primitive={key}" for key in arguments.primitive]
        fixed += [f"--tenferro-case={name}" for name in arguments.case]
        fixed += [f"--tenferro-law={name}" for name in arguments.law]
        fixed += [f"--tenferro-declare={text}" for text in arguments.declare]
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
    from tenferro_conformance.running.levels import levels_as_json, levels_text

    print(levels_as_json() if arguments.json else levels_text())
    return 0


def _matrix(arguments: argparse.Namespace, rest: Sequence[str]) -> int:
    from tenferro_conformance.reporting.matrix import matrix
    from tenferro_conformance.reporting.report import read_report

    text = matrix([read_report(path) for path in arguments.reports])
    if arguments.output is None:
        print(text, end="")
    else:
        arguments.output.write_text(text)
    return 0


def _diff(arguments: argparse.Namespace, rest: Sequence[str]) -> int:
    from tenferro_conformance.reporting.matrix import diff
    from tenferro_conformance.reporting.report import read_report

    lines = diff(read_report(arguments.old), read_report(arguments.new))
    print("\n".join(lines) or "no regression")
    return int(bool(lines))


def _golden(arguments: argparse.Namespace, rest: Sequence[str]) -> int:
    from tenferro_conformance.oracle import golden
    from tenferro_conformance.samples import FAMILIES

    wanted = [f for f in arguments.families or FAMILIES if f not in arguments.skip]
    if arguments.action == "write":
        today = datetime.date.today().isoformat()
        print("\n".join(f"wrote {name}" for name in golden.write(today, wanted)))
        return 0
    problems = golden.check(wanted)
    print("\n".join(problems) or f"stored numbers agree with the oracle: {', '.join(wanted)}")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
