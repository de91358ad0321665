"""Run the table of source mutants: put each fault into a scratch copy; some test must fail there.

`python tests/mutants/run.py` runs all; `--only TEXT` those whose area or name holds the text, and
may be repeated; `--sample N` runs N of the rows that remain, evenly spaced; `--tier quick` asks
whether the quick tests alone find them; `--list` prints them. The tests of a row stop at the first
failure; that test must pass once the fault is taken out again. The checkout is never written to.
Exit code 1 if a mutant survives, 2 if a text is not in its file.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from itertools import count
from pathlib import Path

from source_mutants import AREAS

ROOT = Path(__file__).resolve().parents[2]
SOURCES = (
    "core/src", "conformance/src", "plugins/numpy_backend/src", "plugins/xla_backend/src",
    "plugins/cupy_backend/src",
)  # fmt: skip
SECONDS_PER_COMMAND = 1200
_NOTHING_COLLECTED = 5  # an exit code of pytest


def main(arguments=None):
    """Run what was asked for; return the exit code."""
    asked = _parser().parse_args(arguments)
    rows = [(area, m) for area in AREAS for m in area.mutants if _is_wanted(asked.only, area, m)]
    rows = evenly_spaced(rows, asked.sample)
    stale = [f"{m.name}: its text is not once in {m.file}" for _, m in rows if not stands_once(m)]
    if stale or not rows:
        print("\n".join(stale or ["no mutant has such a name"]), file=sys.stderr)
        return 2
    if asked.list:
        print("\n".join(f"{area.name}: {m.name}" for area, m in rows))
        return 0
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copy = scratch_copy(Path(folder))
        verdicts = [_run_one(copy, area, mutant, asked) for area, mutant in rows]
    _print_table(rows, verdicts)
    if asked.report:
        found = [{"name": m.name, "caught_by": v} for (_, m), v in zip(rows, verdicts, strict=True)]
        asked.report.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    return int(not all(verdicts))


def _parser():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", default=[], metavar="TEXT")
    parser.add_argument("--sample", type=int, metavar="N")
    parser.add_argument("--tier", choices=("quick", "full", "deep"), default="deep")
    parser.add_argument("--first", action="store_true", help="only the tests of the row itself")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--report", type=Path, metavar="PATH", help="write what was found as JSON")
    return parser


def _is_wanted(texts, area, mutant):
    return not texts or any(text in f"{area.name}: {mutant.name}" for text in texts)


def evenly_spaced(rows, count):
    """Return so many of the rows, the same at every run; all if no number is given."""
    if count is None or count >= len(rows):
        return rows
    return [rows[i * len(rows) // count] for i in range(count)]


def stands_once(mutant):
    """Whether the text to replace stands exactly once in its file."""
    return (ROOT / mutant.file).read_text("utf-8").count(mutant.old) == 1


def scratch_copy(folder):
    """Copy what git knows, or would add, into a folder of its own."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, capture_output=True,
    ).stdout.decode()  # fmt: skip
    for name in filter(None, listed.split("\0")):
        source = ROOT / name
        if source.is_file():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(source.read_bytes())
    return folder


def _run_one(copy, area, mutant, asked):
    """Run tests until one fails; return the command that found the mutant, or nothing."""
    path = copy / mutant.file
    whole = path.read_text("utf-8")
    began = time.monotonic()
    tests = mutant.tests if asked.first else (*mutant.tests, *area.tests)
    caught = failed = ""
    _write(path, whole.replace(mutant.old, mutant.new))
    try:
        for test in dict.fromkeys(tests):
            if asked.tier == "quick" and test.startswith("kit loopback"):
                continue  # it runs in the tests of the kit, which are not quick
            failed = _first_failure(copy, command_of(test, asked.tier))
            if failed:
                caught = test
                break
    finally:
        _write(path, whole)
    if caught and failed != _TOO_LONG:
        _check_without_fault(copy, caught, failed)
    seconds = time.monotonic() - began
    verdict = f"caught by {failed or caught}" if caught else "SURVIVED"
    print(f"{seconds:5.0f} s  {area.name}: {mutant.name}: {verdict}", flush=True)
    return failed


_TOO_LONG = "a run that does not end"
_writes = count(int(time.time()), 2)


def _write(path, text):
    """Write a file with a time of its own: Python tells by time and size what to compile anew."""
    path.write_text(text, "utf-8")
    now = next(_writes)
    os.utime(path, (now, now))


def _check_without_fault(copy, test, failed):
    """Stop if the test that failed also fails in the copy as it is."""
    command = command_of(test, "deep")
    options = [x for x in command if x.startswith("--tenferro-backend=") or x == _LOAD_LOOPBACK]
    command = [*_PYTEST, *options, failed]
    again = _first_failure(copy, command)
    if again:
        raise SystemExit(f"{again} fails without any fault\n{' '.join(command)}")


def _first_failure(copy, command):
    """The name of the test that fails in the copy; empty if all that there are pass."""
    environment = {**os.environ, "PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1"}
    paths = [str(copy / source) for source in (*SOURCES, _LOOPBACK)]
    environment["PYTHONPATH"] = os.pathsep.join(paths)
    environment.setdefault("JAX_PLATFORMS", "cpu")
    try:
        done = subprocess.run(
            command, cwd=copy, env=environment, check=False, capture_output=True, text=True,
            timeout=SECONDS_PER_COMMAND,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return _TOO_LONG
    if done.returncode in (0, _NOTHING_COLLECTED):
        return ""
    found = re.search(r"^(?:FAILED|ERROR) (\S.*?)(?: - .*)?$", done.stdout, re.MULTILINE)
    if done.returncode < 0 or (found is None and "Fatal Python error" in done.stderr):
        return command[-1]
    if found is None:
        raise SystemExit(f"{' '.join(command)}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return found.group(1)


#: where the backend of the kit's own tests lives: it runs `tenferro.backend.numpy_like` on NumPy
_LOOPBACK = "conformance/tests/loopback"
_LOAD_LOOPBACK = "-ploopback_plugin"
_PYTEST = (sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider")


def command_of(test, tier):
    """Return the command for one entry of the table."""
    if test.startswith("kit "):
        backend, _, keys = test.removeprefix("kit ").partition(":")
        plugin = [_LOAD_LOOPBACK] if backend == "loopback" else []
        command = [*_PYTEST, *plugin, f"--tenferro-backend={backend}", f"--tenferro-tier={tier}"]
        command += [f"--tenferro-primitive={key}" for key in keys.split()]
        return [*command, "--pyargs", "tenferro_conformance.suite"]
    over = ["--over", "xla"] if test.startswith("xla: ") else []
    paths = test.removeprefix("xla: ").split()
    return [*_PYTEST, "--tier", tier, *over, *paths]


def _print_table(rows, verdicts):
    print()
    for area in AREAS:
        mine = [bool(v) for (a, _), v in zip(rows, verdicts, strict=True) if a is area]
        if mine:
            print(f"{area.name:<50} {sum(mine):>3} of {len(mine):>3} caught")
    print(f"{'all':<50} {sum(map(bool, verdicts)):>3} of {len(verdicts):>3} caught")
    for (area, mutant), verdict in zip(rows, verdicts, strict=True):
        if not verdict:
            print(f"survived: {area.name}: {mutant.name} ({mutant.file})")


if __name__ == "__main__":
    sys.exit(main())
