"""Run the Array API test suite of data-apis on tenferro, and say what part of it passes.

The suite is on no package index: ``ARRAY_API_TESTS_DIR`` names a checkout of
github.com/data-apis/array-api-tests with its submodule. The standard without extensions, and each
of the extensions linalg and fft, are counted apart and must pass alike. What is skipped counts as
failed. There are no deadlines, since a slow machine proves nothing. Arguments are passed to pytest.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent
REQUIRED = 0.95
EXTENSIONS = ("linalg", "fft")


def main() -> int:
    """The exit code: 0 where the required part of each passes."""
    checkout = os.environ.get("ARRAY_API_TESTS_DIR")
    if not checkout:
        print(
            "array-api: ARRAY_API_TESTS_DIR is not set, so nothing was tested. Set it to a checkout"
            " of github.com/data-apis/array-api-tests (git clone --recurse-submodules).",
            file=sys.stderr,
        )
        return 2
    outcomes = run(Path(checkout), sys.argv[1:])
    parts = [report("standard without extensions", only(outcomes, None))]
    parts += [report(f"extension {name}", only(outcomes, name)) for name in EXTENSIONS]
    return 0 if min(parts) >= REQUIRED else 1


def run(checkout: Path, arguments: list[str]) -> dict[str, str]:
    """The outcome of every collected test, by its id."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "report.json")
        command = [sys.executable, "-m", "pytest", "-q", "array_api_tests", "--disable-deadline"]
        command += [
            "--json-report",
            f"--json-report-file={file}",
            f"--skips-file={HERE / 'skips.txt'}",
        ]
        settings = {"ARRAY_API_TESTS_MODULE": "tenferro", "ARRAY_API_TESTS_VERSION": "2024.12"}
        environment = {**os.environ, **settings}
        subprocess.run([*command, *arguments], cwd=checkout, env=environment, check=False)
        tests = json.loads(file.read_text())["tests"]
    return {test["nodeid"]: test["outcome"] for test in tests}


def only(outcomes: dict[str, str], extension: str | None) -> dict[str, str]:
    """The outcomes of one extension, or of what belongs to none."""
    return {test: outcome for test, outcome in outcomes.items() if extension_of(test) == extension}


def extension_of(test: str) -> str | None:
    """The optional part of the standard that a test is about, if it is."""
    for name in EXTENSIONS:
        if f"[{name}-" in test or f"{name}." in test or f"test_{name}.py" in test:
            return name
    return None


def report(name: str, outcomes: dict[str, str]) -> float:
    """Print the counts; the part that passed."""
    counts = Counter(outcomes.values())
    part = counts["passed"] / max(len(outcomes), 1)
    listed = ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items()))
    print(f"array-api: {name}: {part:.1%} of {len(outcomes)} tests pass ({listed})")
    return part


if __name__ == "__main__":
    sys.exit(main())
