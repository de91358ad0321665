"""Failures of a run for people: by primitive, by suspect and law, with a command for each case.

A report of a run holds an entry per law and case; one wrong rule breaks many of them. Read
`suspects.py` next, which says what a broken law points at.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from tenferro_conformance.reporting.report import Entry, Report

__all__ = ["command_words", "failure_lines"]

#: Commands that are shown of one law; the JSON report has all cases.
_SHOWN = 3
#: Characters of a reason that are shown.
_LONGEST_REASON = 160
ClassOf = Callable[[str], "type[Any] | None"]


def failure_lines(report: Report, words: Sequence[str], class_of: ClassOf) -> list[str]:
    """Return the failures of all backends.

    words     the command that runs the suite, with the options that each run needs
    class_of  the class of a primitive's key, if it has one
    """
    lines: list[str] = []
    for name in ["", *sorted(report.backends)]:
        groups: dict[str, list[Entry]] = defaultdict(list)
        for entry in report.failed(name, strict_new=True):
            groups[entry.id.partition("/")[0]].append(entry)
        for key, entries in sorted(groups.items()):
            lines += _of_primitive(key, entries, words, class_of)
    return lines


def _of_primitive(
    key: str, entries: Sequence[Entry], words: Sequence[str], class_of: ClassOf
) -> Iterator[str]:
    by_law: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        by_law[entry.law].append(entry)
    where = f" on {entries[0].backend}" if entries[0].backend else ""
    yield f"{key}{where}: {_count(len(entries), 'failure')} of {_count(len(by_law), 'law')}"
    suspects: dict[str, list[str]] = defaultdict(list)
    for law in by_law:
        suspects[_suspect(key, law, by_law, class_of)].append(law)
    for suspect, laws in suspects.items():
        if suspect:
            yield f"  suspect: {suspect}"
        for law in laws:
            found = by_law[law]
            yield f"    {law}: {_short(found[0].reason)}"
            yield from (f"      {_command(entry, words)}" for entry in found[:_SHOWN])
            if len(found) > _SHOWN:
                yield f"      and {_count(len(found) - _SHOWN, 'more case')}"


def _suspect(key: str, law: str, by_law: dict[str, list[Entry]], class_of: ClassOf) -> str:
    if "::" not in key:  # a test that is about no primitive
        return ""
    if all(is_refusal(entry.reason) for entry in by_law[law]):
        return "the claim of the backend: its level, `features` or `dtypes`"
    from tenferro_conformance.reporting.suspects import suspect_of

    return suspect_of(class_of(key), key, law, tuple(by_law))


def is_refusal(reason: str) -> bool:
    """Return True if a failure is that the backend cannot run the case.

    >>> is_refusal("tenferro.backend._errors.UnsupportedError: flat has no complex128")
    True
    """
    name = reason.strip().partition(":")[0].rpartition(".")[2]
    return name in ("MissingLoweringError", "UnsupportedError")


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def _short(reason: str) -> str:
    line = (reason.strip().splitlines() or [""])[0]
    return line if len(line) <= _LONGEST_REASON else f"{line[:_LONGEST_REASON]}…"


def _command(entry: Entry, words: Sequence[str]) -> str:
    """Return the command that asks the law of this entry of its case alone."""
    found = [*words, *(["--backend", entry.backend] if entry.backend else [])]
    found += ["--case", entry.id] if "::" in entry.id else ["-k", entry.id]
    return shlex.join([*found, "--law", entry.law])


def command_words(options: Sequence[str] = ()) -> list[str]:
    """Return the command that runs the suite, as a shell of this folder finds it.

    Variables that choose plugins are repeated. In an environment of tox, which is on no path
    later, the interpreter is named in full.
    """
    variables = [f"{k}={v}" for k, v in sorted(os.environ.items()) if k in _OF_PLUGINS and v]
    here = shutil.which("tenferro-conformance")
    is_ours = here is not None and Path(here).parent == Path(sys.executable).parent
    if is_ours and "TOX_ENV_NAME" not in os.environ:
        command = ["tenferro-conformance"]
    else:
        command = [sys.executable, "-m", "tenferro_conformance"]
    return [*(["env", *variables] if variables else []), *command, "run", *options]


_OF_PLUGINS = frozenset({"TENFERRO_LOAD_PLUGINS", "TENFERRO_PLUGINS"})
