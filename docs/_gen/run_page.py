"""Run the snippets of one page, in order, in one namespace and in an empty folder.

```python                     is executed
```python title="mine/a.py"   is written to that file, which later snippets may import
```text                       right after one that ran: what it must have printed (`...`: any)
Blocks in other languages are for the reader. Each page has a process of its own, because plugins
are registered.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import sys
import tempfile
import types
from dataclasses import dataclass
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"  # pages import packages from there
FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<body>.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)
TITLE = re.compile(r'title="([^"]+)"')


@dataclass(frozen=True)
class Snippet:
    """A fenced block: its language and title, its text, the line it begins at."""

    language: str
    title: str
    body: str
    line: int
    follows: bool  # directly after the block before it


def snippets(text: str) -> list[Snippet]:
    found, end = [], 0
    for match in FENCE.finditer(text):
        info = match["info"].strip()
        title = TITLE.search(info)
        between = text[end : match.start()]
        line = text.count("\n", 0, match.start("body")) + 1
        found.append(
            Snippet(
                info.partition(" ")[0],
                title[1] if title else "",
                match["body"],
                line,
                not between.strip(),
            )
        )
        end = match.end()
    return found


def execute(snippet: Snippet, page: Path, namespace: dict[str, object]) -> str:
    """Run it with the page's own line numbers, so that a traceback points into the page."""
    source = "\n" * (snippet.line - 1) + snippet.body
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(source, str(page), "exec"), namespace)
    except BaseException:
        print(printed.getvalue())
        raise
    return printed.getvalue()


def expect(wanted: str, got: str, where: str) -> None:
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    if not doctest.OutputChecker().check_output(wanted, got, flags):
        raise SystemExit(f"{where}: the page says\n{wanted}\nbut the snippet printed\n{got}")


def run(page: Path, folder: Path) -> int:
    program = types.ModuleType("__main__")
    sys.modules["__main__"] = program  # so that what a page defines can be pickled
    namespace = vars(program)
    count, printed = 0, ""
    for snippet in snippets(page.read_text("utf-8")):
        if snippet.language == "python" and snippet.title:
            target = folder / snippet.title
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(snippet.body, "utf-8")
        elif snippet.language == "python":
            printed = execute(snippet, page, namespace)
            count += 1
        elif snippet.language == "text" and snippet.follows and count:
            expect(snippet.body, printed, f"{page.name}:{snippet.line}")
    return count


def main(argument: str, kept: str = "") -> int:
    """Run a page; what it writes stays in the folder ``kept``, if one is given."""
    page = Path(argument).resolve()
    with tempfile.TemporaryDirectory() as empty:
        folder = Path(kept or empty).resolve()
        with contextlib.chdir(folder):
            sys.path[:0] = [str(EXAMPLES), *map(str, EXAMPLES.glob("*/src"))]
            sys.path.insert(0, str(folder))
            count = run(page, folder)
    print(f"{page.name}: {count} snippets ran.")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
