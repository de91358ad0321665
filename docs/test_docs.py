"""All that the documentation shows runs: each page, each program in a process of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parent
PAGES = sorted(page for page in DOCS.rglob("*.md") if "```python" in page.read_text("utf-8"))
PROGRAMS = sorted((DOCS / "tutorial").glob("*.py"))


def run(*command):
    finished = subprocess.run(
        [sys.executable, *map(str, command)], capture_output=True, text=True, encoding="utf-8"
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_snippets_of_a_page_run(page):
    run(DOCS / "_gen/run_page.py", page)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
def test_a_tutorial_runs(program):
    run(program)
