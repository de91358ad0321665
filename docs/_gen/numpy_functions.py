"""Write what `tenferro.numpy_functions()` says of each function; `--check` only compares.

The primitives and the derivatives are read off the rows by which the tests compare functions with
NumPy (`core/tests/on_backend/array`), so nothing is said that is not tested.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MODULE = ROOT / "core/src/tenferro/arrays/numpy_protocols/numpy_table.py"
TESTS = ROOT / "core/tests/on_backend"
HEAD = '''"""Covered functions of NumPy: the primitives that they record, whether they vary.

Written by ``python docs/_gen/numpy_functions.py`` from the rows of the tests; do not edit.
"""

from __future__ import annotations

TABLE: dict[str, tuple[tuple[str, ...], bool]] = {
'''


def module() -> str:
    """The text of the module."""
    sys.path[:0] = [str(TESTS), str(TESTS / "array")]
    import against_numpy_rows
    from numpy_rows import table_of

    found = table_of(against_numpy_rows.ROWS)
    lines = [f"    {name!r}: {entry!r},\n" for name, entry in found.items()]
    return formatted(HEAD + "".join(lines) + "}\n")


def formatted(text: str) -> str:
    """The text as ruff has it, where ruff is there."""
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(MODULE), "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else text


def main(arguments: list[str]) -> int:
    text = module()
    if arguments != ["--check"]:
        MODULE.write_text(text, "utf-8")
        return 0
    scope: dict[str, object] = {}
    exec(text, scope)
    current: dict[str, object] = {}
    exec(MODULE.read_text("utf-8"), current)
    if scope["TABLE"] == current["TABLE"]:
        print("_numpy_table.py is what the rows show.")
        return 0
    print("_numpy_table.py is stale; run: python docs/_gen/numpy_functions.py", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
