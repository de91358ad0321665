"""Write `docs/hook_reference.md` from the source of the plugin contract; `--check` only compares.

Reads the files of the contract as text, so nothing needs to be installed: `backend/spec.py` has the
hooks, `backend/records.py` the records, and the files of `CLASSES` the classes that plugins use or
extend. Everything that the page says stands in these files.
"""

from __future__ import annotations

import ast
import inspect
import sys
from pathlib import Path

import checked_page

LINE_LENGTH = 100
ROOT = Path(__file__).resolve().parents[2]
CONTRACT = ROOT / "core/src/tenferro/backend"
PAGE = ROOT / "docs/hook_reference.md"
CLASSES = {
    "lowering/record.py": ("Lowering", "Lowerings"),
    "base.py": ("Backend", "Executable"),
    "algebra.py": ("OperandAlgebra", "AlgebraBackend"),
}
INTRODUCTION = """\
# Hook reference

*Written by `python docs/_gen/hook_reference.py` from the files of `tenferro/backend` that define
the contract.*

A plugin is a distribution that publishes an entry point to a light module with the variable
`TENFERRO_PLUGIN` and some of the hooks below. The entry-point group is `tenferro.backends` (named
like the backend) or `tenferro.primitives` (named like the namespace). Hooks return data; none of
them changes the host. An implementation is marked with `tenferro.backend.spec.hookimpl`, takes the
arguments written here or fewer, and gives none of them a default. What may change between versions
of this interface, and how a plugin notices, is on the page
[Versions of the interface](plugin_versions.md).
"""
OF_CLASSES = """\
## Classes

All of them are names of `tenferro.backend`. A method that is marked *abstract* has no default.
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


def is_public(name: str) -> bool:
    return not name.startswith("_") or name == "__call__"


def method(node: ast.FunctionDef, owner: str) -> str:
    decorators = {ast.unparse(decorator) for decorator in node.decorator_list}
    mark = " (abstract)" if "abstractmethod" in decorators else ""
    text = f"#### `{owner}.{node.name}`{mark}\n\n```py\n{signature(node)}\n```\n"
    return f"{text}\n{documentation(node)}\n"


def signature(node: ast.FunctionDef) -> str:
    """The head of a method without `self`, in lines as ruff breaks them."""
    given = parameters(node.args)
    result = "" if node.returns is None else f" -> {ast.unparse(node.returns)}"
    line = f"def {node.name}({', '.join(given)}){result}: ..."
    if len(line) <= LINE_LENGTH:
        return line
    inner = f"    {', '.join(given)}"
    if len(inner) > LINE_LENGTH:
        inner = "\n".join(f"    {each}," for each in given)
    return f"def {node.name}(\n{inner}\n){result}: ..."


def parameters(given: ast.arguments) -> list[str]:
    defaults = [None] * (len(given.args) - len(given.defaults)) + given.defaults
    found = [one_parameter(*pair) for pair in zip(given.args, defaults, strict=True)][1:]
    if given.vararg:
        found.append(f"*{one_parameter(given.vararg, None)}")
    elif given.kwonlyargs:
        found.append("*")
    found += map(one_parameter, given.kwonlyargs, given.kw_defaults)
    return found + ([f"**{one_parameter(given.kwarg, None)}"] if given.kwarg else [])


def one_parameter(argument: ast.arg, default: ast.expr | None) -> str:
    text = ast.unparse(argument)
    return text if default is None else f"{text} = {ast.unparse(default)}"


def public_class(node: ast.ClassDef) -> str:
    own = [m for m in node.body if isinstance(m, ast.FunctionDef) and is_public(m.name)]
    head = record(node) if fields(node) else f"### `{node.name}`\n\n{text_and_example(node)}"
    return "\n".join([head, *[method(each, node.name) for each in own]])


def text_and_example(node: ast.ClassDef) -> str:
    text, _, example = documentation(node).partition(">>>")
    block = f"\n```pycon\n>>>{example.rstrip()}\n```\n" if example else ""
    return f"{text.rstrip()}\n{block}"


def public_classes() -> list[str]:
    found = []
    for file, names in CLASSES.items():
        there = {node.name: node for node in classes(CONTRACT / file)}
        found += [public_class(there[name]) for name in names]
    return found


def page() -> str:
    specs = next(node for node in classes(CONTRACT / "spec.py") if node.name == "Specs")
    hooks = [hook(node) for node in specs.body if isinstance(node, ast.FunctionDef)]
    records = [record(node) for node in classes(CONTRACT / "records.py") if fields(node)]
    parts = [INTRODUCTION, "## Hooks\n", *hooks, "## Records\n", *records, OF_CLASSES]
    return "\n".join([*parts, *public_classes()])


if __name__ == "__main__":
    sys.exit(checked_page.main(PAGE, page()))
