"""Command line of a script that generates a page: write it, or with ``--check`` compare it."""

from __future__ import annotations

import sys
from pathlib import Path


def main(path: Path, text: str) -> int:
    """Write the page; with ``--check``, compare the file with it. Return the exit status."""
    if sys.argv[1:] != ["--check"]:
        path.write_text(text, "utf-8")
        return 0
    if path.exists() and path.read_text("utf-8") == text:
        print(f"{path.name} is up to date.")
        return 0
    print(f"{path.name} is stale; run: python docs/_gen/{path.stem}.py", file=sys.stderr)
    return 1
