"""Write `docs/hook_reference.md` from the source of the plugin contract; `--check` only compares.

Reads `backend/spec.py` and `backend/records.py` as text, so nothing needs to be installed.
Everything that the page says stands in those two files.
"""

from __future__ import annotations

import ast
import inspect
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CONTRACT = ROOT / "core/src/tenferro/backend"
PAGE = ROOT / "docs/hook_reference.md"
INTRODUCTION = """\
# Hook reference

*Written by `python docs/_gen/hook_reference.py` from `tenferro/backend/spec.py` and `records.py`.*

A plugin is a distribution that publishes an entry point to a light module with the variable
`TENFERRO_PLUGIN` and some of the hooks below. The entry-point group is `tenferro.backends` (named
like the backend) or `tenferro.primitives` (named like the namespace). Hooks return data; none of
them changes the host. An implementation is marked with `tenferro.backend.spec.hookimpl`, takes the
arguments written here or fewer, and gives none of them a default.
"""


def classes(path: Path) -> list[ast.ClassDef]:
    return [
        node for node in ast.parse(path.read_text("utf-8")).body if isinstance(node, ast.ClassDef)
    ]


def documentation(node: ast.ClassDef | ast.FunctionDef) -> str:
    return inspect.cleandoc(ast.get_docstring(node) or "").replace("``", "`")


def hook(node: ast.FunctionDef) -> str:
    signature = f"def {node.name}({ast.unparse(node.args)}) -> {ast.unparse(node.returns)}: ..."
    return f"### `{node.name}`\n\n```py\n{signature}\n```\n\n{documentation(node)}\n"


def written(value: ast.expr) -> str:
    """A default as a reader would write it: what is made anew for each record, as what it is."""
    if isinstance(value, ast.Call) and ast.unparse(value.func) == "made":
        return f"{ast.unparse(value.keywords[0].value)}()"
    return ast.unparse(value)


def fields(node: ast.ClassDef) -> list[str]:
    rows = []
    for item in node.body:
        if isinstance(item, ast.AnnAssign) and not ast.unparse(item.target).startswith("_"):
            default = f"`{written(item.value)}`" if item.value else "required"
            annotation = ast.unparse(item.annotation).replace("|", "\\|")
            rows.append(f"| `{ast.unparse(item.target)}` | `{annotation}` | {default} |")
    return rows


def record(node: ast.ClassDef) -> str:
    text, _, example = documentation(node).partition(">>>")
    block = f"\n```pycon\n>>>{example.rstrip()}\n```\n" if example else ""
    table = "\n".join(["| field | type | default |", "|---|---|---|", *fields(node)])
    return f"### `{node.name}`\n\n{text.rstrip()}\n\n{table}\n{block}"


def page() -> str:
    specs = next(node for node in classes(CONTRACT / "spec.py") if node.name == "Specs")
    hooks = [hook(node) for node in specs.body if isinstance(node, ast.FunctionDef)]
    records = [record(node) for node in classes(CONTRACT / "records.py") if fields(node)]
    return "\n".join([INTRODUCTION, "## Hooks\n", *hooks, "## Records\n", *records])


def main(arguments: list[str]) -> int:
    if arguments != ["--check"]:
        PAGE.write_text(page(), "utf-8")
        return 0
    if PAGE.exists() and PAGE.read_text("utf-8") == page():
        print("hook_reference.md is what the source says.")
        return 0
    print("hook_reference.md is stale; run: python docs/_gen/hook_reference.py", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
