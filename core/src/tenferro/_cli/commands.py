"""The commands and their options: collect plain data, then print it as text or as JSON.

Both forms say the same. What plugins print meanwhile goes to standard error. Read next:
``plugins.py``, ``primitives.py``, ``doctor.py``, ``new_plugin.py``.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from typing import Any

from tenferro._cli.completion import SHELLS, collect_completion, write_completion
from tenferro._cli.doctor import collect_doctor, write_doctor
from tenferro._cli.errors import CommandError
from tenferro._cli.explain import collect_explain, write_explain
from tenferro._cli.new_plugin import KINDS, collect_new_plugin, write_new_plugin
from tenferro._cli.plugins import Data, collect_plugins, write_plugins
from tenferro._cli.primitives import collect_primitives, write_primitives
from tenferro._trial import write_trial
from tenferro.backend import BackendError, PluginWarning
from tenferro.backend.discovery.scan import core_version
from tenferro.transforms.errors import UnknownPrimitiveError

#: The version of what ``--json`` prints: it grows when a field is removed or changes its meaning.
SCHEMA = 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code says whether anything is wrong."""
    options = _parser().parse_args(arguments)
    code: int
    load_also(getattr(options, "plugin", ()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PluginWarning)  # states are printed anyway
        try:
            with _printing_to_stderr():
                data, code = options.collect(options)
        except (BackendError, CommandError, UnknownPrimitiveError) as error:
            print(error, file=sys.stderr)
            return 2
    data = {"schema": SCHEMA, **data}
    text = json.dumps(data, indent=2) if options.json else options.write(data, options)
    try:
        print(text, flush=True)
    except BrokenPipeError:  # the reader, `head` perhaps, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code


def load_also(modules: Sequence[str]) -> None:
    """Let this process and its children load modules that no entry point names.

    The working folder is searched for them, as ``python -m`` does.
    """
    if modules:
        there = os.environ.get("TENFERRO_PLUGINS", "")
        os.environ["TENFERRO_PLUGINS"] = ",".join([*filter(None, [there]), *modules])
        sys.path.insert(0, os.getcwd())


@contextmanager
def _printing_to_stderr() -> Iterator[None]:
    """Keep standard output for the answer: what plugins print goes to standard error.

    The file descriptor is moved, too, for whatever does not print through Python.
    """
    sys.stdout.flush()
    try:
        kept = os.dup(1)
    except OSError:  # standard output is closed, as in a service
        kept = -1
    with redirect_stdout(sys.stderr):
        try:
            if kept >= 0:
                os.dup2(2, 1)
            yield
        finally:
            sys.stderr.flush()
            if kept >= 0:
                os.dup2(kept, 1)
                os.close(kept)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tenferro",
        description="Inspect the installed plugins of tenferro, and write new ones.",
    )
    parser.add_argument(
        "--version", action="version", version=f"tenferro {core_version() or '(not installed)'}"
    )
    commands = parser.add_subparsers(required=True, metavar="command")
    plugins = _command(commands, "plugins", "list the installed plugins", collect_plugins)
    plugins.set_defaults(write=write_plugins)
    plugins.add_argument(
        "-v", "--verbose", action="store_true", help="print hooks and tracebacks, too"
    )
    primitives = _command(
        commands, "primitives", "show how each backend runs each primitive", collect_primitives
    )
    primitives.set_defaults(write=write_primitives)
    primitives.add_argument("--backend", metavar="B", help="show only this backend")
    doctor = _command(
        commands, "doctor", "check the installation and report problems", collect_doctor
    )
    doctor.set_defaults(write=write_doctor)
    doctor.add_argument(
        "-v", "--verbose", action="store_true", help="print hooks and tracebacks, too"
    )
    doctor.add_argument(
        "--timeout",
        type=float,
        default=60.0,
        metavar="S",
        help="stop a backend's trial after S seconds (default: 60)",
    )
    _add_explain(commands)
    _add_new_plugin(commands)
    completion = _command(
        commands, "completion", "print a script that completes words in a shell", collect_completion
    )
    completion.set_defaults(write=write_completion, parser=_parser)
    completion.add_argument("shell", choices=SHELLS)
    trial = commands.add_parser("_try")  # what doctor runs in a process of its own
    trial.add_argument("name")
    trial.add_argument("folder")
    trial.set_defaults(collect=collect_trial, json=True)
    return parser


def _add_explain(commands: Any) -> None:
    explain = _command(
        commands, "explain", "say how a primitive or a function would run", collect_explain
    )
    explain.set_defaults(write=write_explain)
    explain.add_argument("subject", help="a primitive (std::tan), or a function (module:function)")
    explain.add_argument("arguments", nargs="*", help="the function's arguments, as in f64[3,4]")
    explain.add_argument("--backend", metavar="B", help="ask only this backend")


def _add_new_plugin(commands: Any) -> None:
    new = _command(
        commands,
        "new-plugin",
        "write a distribution of primitives or of a backend that works at once",
        collect_new_plugin,
    )
    new.set_defaults(write=write_new_plugin)
    new.add_argument("kind", choices=KINDS)
    new.add_argument("name", help="the namespace of the primitives, or the name of the backend")
    new.add_argument(
        "primitive", nargs="*", help="names of the primitives (default: softplus alone)"
    )
    new.add_argument(
        "--distribution", metavar="D", help="the name on the index (default: tenferro-NAME)"
    )
    new.add_argument("--folder", metavar="F", help="where (default: a new folder, called like it)")


def _command(
    commands: Any, name: str, text: str, collect: Callable[[Any], tuple[Data, int]]
) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(name, help=text, description=text)
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")
    parser.add_argument(
        "--plugin", action="append", default=[], metavar="MODULE",
        help="load this module, too, which is not installed; repeatable",
    )  # fmt: skip
    parser.set_defaults(collect=collect)
    return parser


def collect_trial(options: Any) -> tuple[Data, int]:
    """Run one trial in this process."""
    write_trial(options.name, options.folder)
    return {}, 0
