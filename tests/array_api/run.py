"""Run the Array API test suite of data-apis on tenferro, and say what part of it passes.

The suite is on no package index: ``ARRAY_API_TESTS_DIR`` names a checkout of
github.com/data-apis/array-api-tests with its submodule. Tests of the extensions (linalg, fft) are
counted apart. What is skipped counts as failed. Arguments are passed to pytest.
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
EXTENSIONS = ("test_linalg.py", "test_fft.py")


def main() -> int:
    """The exit code: 0 where the required part passes."""
    checkout = os.environ.get("ARRAY_API_TESTS_DIR")
    if not checkout:
        print(
            "array-api: ARRAY_API_TESTS_DIR is not set, so nothing was tested. Set it to a checkout"
            " of github.com/data-apis/array-api-tests (git clone --recurse-submodules).",
            file=sys.stderr,
        )
        return 2
    outcomes = run(Path(checkout), sys.argv[1:])
    core = report("standard without extensions", only(outcomes, extensions=False))
    report("extensions linalg and fft", only(outcomes, extensions=True))
    return 0 if core >= REQUIRED else 1


def run(checkout: Path, arguments: list[str]) -> dict[str, str]:
    """The outcome of every collected test, by its id."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "report.json")
        command = [sys.executable, "-m", "pytest", "-q", "array_api_tests", "--json-report"]
        command += [f"--json-report-file={file}", f"--skips-file={HERE / 'skips.txt'}"]
        settings = {"ARRAY_API_TESTS_MODULE": "tenferro", "ARRAY_API_TESTS_VERSION": "2024.12"}
        environment = {**os.environ, **settings}
        subprocess.run([*command, *arguments], cwd=checkout, env=environment, check=False)
        tests = json.loads(file.read_text())["tests"]
    return {test["nodeid"]: test["outcome"] for test in tests}


def only(outcomes: dict[str, str], *, extensions: bool) -> dict[str, str]:
    """The outcomes of the extensions, or all others."""
    return {test: outcome for test, outcome in outcomes.items() if is_extension(test) is extensions}


def is_extension(test: str) -> bool:
    """Whether a test is about an optional part of the standard."""
    in_name = "[linalg-" in test or "[fft-" in test or "linalg." in test or "fft." in test
    return in_name or any(file in test for file in EXTENSIONS)


def report(name: str, outcomes: dict[str, str]) -> float:
    """Print the counts; the part that passed."""
    counts = Counter(outcomes.values())
    part = counts["passed"] / max(len(outcomes), 1)
    listed = ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items()))
    print(f"array-api: {name}: {part:.1%} of {len(outcomes)} tests pass ({listed})")
    return part


if __name__ == "__main__":
    sys.exit(main())
