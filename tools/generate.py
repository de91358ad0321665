"""Write the lists of names that follow from the code; ``--check`` only compares.

A name is written by hand once, where its thing is defined: a primitive in ``__all__`` of its
family, a function on arrays in ``@covers(...)``, a lowering in ``register``, a name of a package
in its import. What lists it again, so that a file loads when one of its names is first used, is
written here:

* ``primitives/__init__.py``: imports, lazy names and ``__all__``, from ``__all__`` of the families;
* the other packages with lazy names: these and ``__all__``, from their imports;
* ``arrays/families.py`` and the functions in ``tenferro/__init__.py``, ``linalg.py``, ``fft.py``:
  from ``@covers``;
* ``numpy_like.FAMILIES`` and ``_OWN`` of the NumPy backend, from what ``register`` registers;
* ``arrays/numpy_protocols/numpy_table.txt``, from the rows by which the tests compare functions
  with NumPy.

Only text between ``# generated:`` and ``# end generated`` is replaced. Run it after adding a name.
"""

from __future__ import annotations

import ast
import os
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules, walk_packages
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
CORE = ROOT / "core/src/tenferro"
NUMPY = ROOT / "plugins/numpy_backend/src/tenferro_numpy"
LINE_LENGTH = 100
PACKAGES = (
    "arrays",
    "backend",
    "computegraph",
    "passes",
    "primitives",
    "storage",
    "tidu",
    "transforms",
)
#: Families of primitives that every program needs; the others load at the first use of a name.
EAGER = (
    "arithmetic", "comparison", "complex", "constants", "elementwise", "reduction", "structural",
)  # fmt: skip
#: Forms of methods, which have no public function.
METHODS = {"getitem", "flatten"}
#: Families of functions that only SciPy has, and the one of them that NumPy has, too.
OF_SCIPY = (
    "bessel",
    "faddeeva",
    "integrals",
    "logsumexp",
    "power_transforms",
    "probabilities",
    "special",
    "student",
)
ALSO_OF_NUMPY = {"i0"}


# --- text -----------------------------------------------------------------------------------------


def replaced(text: str, part: str, lines: Iterable[str]) -> str:
    """Return the text with other lines between the marks of a generated part."""
    found = re.search(
        rf"^( *)# generated: {re.escape(part)}.*\n((?:.*\n)*?) *# end generated\n", text, re.M
    )
    if found is None:
        raise SystemExit(f"no line `# generated: {part}`, or none `# end generated` after it")
    block = "".join(f"{line}\n" for line in lines)
    return text[: found.start(2)] + textwrap.indent(block, found[1]) + text[found.end(2) :]


def packed(items: Iterable[str], indent: int) -> list[str]:
    """Return lines of items with commas between them, as many on each line as fit."""
    margin = " " * 4
    text = "".join(f"{item.replace(' ', chr(160))}, " for item in items).rstrip()
    width = LINE_LENGTH - indent
    return [
        line.replace("\N{NO-BREAK SPACE}", " ")
        for line in textwrap.wrap(
            text, width, initial_indent=margin, subsequent_indent=margin, break_on_hyphens=False
        )
    ]


def listed(name: str, items: Iterable[str]) -> list[str]:
    """Return the lines of a sorted list of strings."""
    return [f"{name} = [", *packed((f'"{item}"' for item in in_order(items)), 0), "]"]


def imported(module: str, names: Iterable[str], indent: int) -> list[str]:
    """Return the lines of an import."""
    line = f"from {module} import {', '.join(names)}"
    if len(line) <= LINE_LENGTH - indent:
        return [line]
    return [f"from {module} import (", *packed(names, indent), ")"]


def entry(key: str, names: Iterable[str], indent: int) -> list[str]:
    """Return the lines of an entry of a dict: a key and a string of names."""
    text = " ".join(names)
    line = f'"{key}": "{text}",'
    if len(line) <= LINE_LENGTH - indent:
        return [line]
    parts = textwrap.wrap(text, LINE_LENGTH - indent - 7, break_on_hyphens=False)
    spaced = [*(f"{part} " for part in parts[:-1]), parts[-1]]
    return [f'"{key}": (', *(f'    "{part}"' for part in spaced), "),"]


def in_order(names: Iterable[str]) -> list[str]:
    """Sort as ruff does: constants, classes, then the others; numbers by their value."""

    def place(name: str) -> tuple[int, list[Any]]:
        kind = 0 if name.isupper() and len(name) > 1 else 1 if name[0].isupper() else 2
        parts = re.split(r"(\d+)", name)
        return kind, [int(part) if part.isdigit() else part for part in parts]

    return sorted(set(names), key=place)


# --- packages with lazy names: from their imports -------------------------------------------------


def bindings(body: Iterable[ast.stmt]) -> Iterator[tuple[str, str, str]]:
    """Yield (module, name there, name here) of each import of our own packages."""
    for node in body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tenferro"):
            for alias in node.names:
                yield node.module or "", alias.name, alias.asname or alias.name


def lazy_block(tree: ast.Module) -> ast.If | None:
    """Return ``if TYPE_CHECKING``, the imports that only type checkers execute."""
    blocks = (node for node in tree.body if isinstance(node, ast.If))
    return next((b for b in blocks if ast.unparse(b.test) == "TYPE_CHECKING"), None)


def lazy_files(package: str, block: ast.If) -> dict[str, list[str]]:
    """Return the lazy names of a package by file, from the imports for type checkers."""
    files: dict[str, list[str]] = {}
    for module, name, here in bindings(block.body):
        if module != package and name == here:
            files.setdefault(module.removeprefix(f"{package}."), []).append(name)
    return files


def later(files: dict[str, list[str]], rest: str = "") -> list[str]:
    """Return the lines of the call of ``later``."""
    rows = [line for file in sorted(files) for line in entry(file, in_order(files[file]), 12)]
    rest_lines = [f"    {argument}," for argument in rest.split()]
    return [
        "__getattr__, __dir__ = later(",
        "    __name__,",
        "    {",
        *(f"        {row}" for row in rows),
        "    },",
        *rest_lines,
        ")",
    ]


def public_names(tree: ast.Module) -> list[str]:
    """Return the names that a package publishes: its imports, except those with an underscore."""
    block = lazy_block(tree)
    body = [*tree.body, *(block.body if block else ())]
    names = [here for module, _, here in bindings(body) if module != "tenferro._runtime"]
    return [name for name in names if not name.startswith("_")]


def package_text(name: str) -> str:
    """Return ``__init__.py`` of a package with its lazy names and ``__all__``."""
    path = CORE / name / "__init__.py"
    text = path.read_text("utf-8")
    if name == "primitives":
        text = with_families(text)
    tree = ast.parse(text)
    block = lazy_block(tree)
    if block is not None:
        text = replaced(text, "lazy names", later(lazy_files(f"tenferro.{name}", block)))
    return replaced(text, "public names", listed("__all__", public_names(tree)))


# --- primitives: from ``__all__`` of the families -------------------------------------------------


def families() -> dict[str, list[str]]:
    """Return the public names of each family of primitives, by module."""
    found = {}
    for path in sorted((CORE / "primitives").rglob("[a-z]*.py")):
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
                module = ".".join(path.relative_to(CORE / "primitives").with_suffix("").parts)
                found[module] = in_order(ast.literal_eval(node.value))
    return found


def with_families(text: str) -> str:
    """Return the text with an import of each family: now, or by type checkers alone."""
    for part, indent, is_eager in (("eager families", 0, True), ("lazy families", 4, False)):
        lines = [
            line
            for module, names in families().items()
            if (module in EAGER) == is_eager
            for line in imported(f"tenferro.primitives.{module}", names, indent)
        ]
        text = replaced(text, part, lines)
    return text


# --- functions on arrays: from ``@covers`` --------------------------------------------------------


def covered() -> dict[str, tuple[str, str]]:
    """Return (module, name there) of each covered function."""
    registry = import_module("tenferro.arrays.registry")
    package = "tenferro.arrays.functions"
    for module in walk_packages(import_module(package).__path__, f"{package}."):
        import_module(module.name)
    return {name: place(name, function) for name, function in dict.items(registry.FUNCTIONS)}


def place(name: str, function: Callable[..., Any]) -> tuple[str, str]:
    """Return the module of a function and its name there, of several the one that is asked for."""
    module = sys.modules[function.__module__]
    names = [bound for bound, value in vars(module).items() if value is function]
    short = name.rpartition(".")[2]
    known = (bound for bound in (short, function.__name__) if bound in names)
    return module.__name__, next(known, names[0] if names else function.__name__)


def registered_in() -> dict[str, str]:
    """Return the family of each name that stands as a string in a call of ``covers``.

    A family may cover one more name by a function of another family.
    """
    folder = CORE / "arrays/functions"
    found = {}
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder).with_suffix("").parts
        family = ".".join(part for part in parts if part != "__init__")
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "covers":
                names = [str(x.value) for x in node.args if isinstance(x, ast.Constant)]
                found.update(dict.fromkeys(names, family))
    return found


def families_text(functions: dict[str, tuple[str, str]]) -> str:
    """Return ``arrays/families.py``: the names that each family registers."""
    path = CORE / "arrays/families.py"
    here = "tenferro.arrays.functions."
    stated = registered_in()
    names: dict[str, list[str]] = {}
    for name, (module, _) in functions.items():
        if module.startswith(here):
            family = stated.get(name, module.removeprefix(here))
            names.setdefault(family, []).append(name)
    lines = [line for family in sorted(names) for line in entry(family, sorted(names[family]), 4)]
    table = ["FAMILIES = {", *(f"    {line}" for line in lines), "}"]
    return replaced(path.read_text("utf-8"), "families", table)


def is_public(name: str, module: str) -> bool:
    """Return True if a covered function is a name of ``tenferro`` itself."""
    if "." in name or name.startswith("_") or name in METHODS:
        return False
    return module.rpartition(".")[2] not in OF_SCIPY or name in ALSO_OF_NUMPY


def tenferro_text(functions: dict[str, tuple[str, str]]) -> str:
    """Return ``tenferro/__init__.py`` with its functions, its lazy names and ``__all__``."""
    path = CORE / "__init__.py"
    text = replaced(path.read_text("utf-8"), "functions", ())
    tree = ast.parse(text)
    block = lazy_block(tree)
    assert block is not None
    by_hand = {here for _, _, here in bindings([*tree.body, *block.body])}
    modules: dict[str, list[str]] = {}
    for name, (module, there) in functions.items():
        if is_public(name, module) and name not in by_hand:
            alias = there if there == name else f"{there} as {name}"
            modules.setdefault(module, []).append(alias)
    lines = [
        line for module in sorted(modules) for line in imported(module, sorted(modules[module]), 4)
    ]
    text = replaced(text, "functions", lines)
    text = replaced(text, "lazy names", later(lazy_files("tenferro", block), "_other _public"))
    text = text.replace("__dir__ = later(", "__dir__ = _later(")
    return replaced(text, "public names", listed("__all__", tenferro_names(ast.parse(text))))


def namespace_text(space: str, functions: dict[str, tuple[str, str]]) -> str:
    """Return ``tenferro/linalg.py`` or its like with the covered functions and ``__all__``."""
    path = CORE / f"{space}.py"
    modules: dict[str, list[str]] = {}
    for name, (module, there) in functions.items():
        here = name.removeprefix(f"{space}.")
        if here != name:
            modules.setdefault(module, []).append(there if there == here else f"{there} as {here}")
    lines = [
        line for module in sorted(modules) for line in imported(module, sorted(modules[module]), 0)
    ]
    text = replaced(path.read_text("utf-8"), "functions", lines)
    return replaced(text, "public names", listed("__all__", public_names(ast.parse(text))))


def tenferro_names(tree: ast.Module) -> list[str]:
    """Return the public names of ``tenferro``: imports of ours, of constants, and assignments."""
    names = public_names(tree)
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == "math":
            names += [alias.name for alias in node.names]
        if isinstance(node, ast.Assign):
            names += [ast.unparse(target) for target in node.targets]
    block = lazy_block(tree)
    names += [here for _, _, here in bindings(block.body if block else ()) if "__" in here]
    return [name for name in names if name != "__all__"]


# --- lowerings: from what ``register`` registers --------------------------------------------------


class Anything:
    """A stand-in for an array library: has every attribute, and registering calls none of them."""

    def __getattr__(self, name: str) -> Anything:
        return self

    def __call__(self, *arguments: Any, **keywords: Any) -> Anything:
        return self


def lowered(register: Callable[..., object], *arguments: Any) -> list[str]:
    """Return the names of the primitives that a family of lowerings registers for any dtype."""
    collected = import_module("tenferro.backend.lowering").Lowerings()
    register(collected, *arguments)
    return sorted(
        record.primitive.removeprefix("std::") for record in collected if record.dtypes is None
    )


def lowerings_text(path: Path, package: str, name: str, *arguments: Any) -> str:
    """Return a package of lowerings with the table of what each of its modules registers."""
    lines = []
    for family in sorted(module.name for module in iter_modules([str(path.parent)])):
        register = getattr(import_module(f"{package}.{family}"), "register", None)
        if register is not None and register.__code__.co_argcount == 1 + len(arguments):
            lines += entry(family, lowered(register, *arguments), 4)
    table = [f"{name} = {{", *(f"    {line}" for line in lines), "}"]
    return replaced(path.read_text("utf-8"), "lowered primitives", table)


# --- NumPy's functions: from the rows of the tests ------------------------------------------------


def numpy_table_text() -> str:
    """Return the table of NumPy's functions: primitives that their examples record, variation."""
    tests = ROOT / "core/tests/on_backend"
    sys.path[:0] = [str(tests), str(tests / "array")]
    rows = import_module("against_numpy_rows").ROWS
    table = import_module("numpy_rows").table_of(rows)
    width = max(map(len, table))
    lines = [
        f"{name:{width}} | {'yes' if varies else 'no':7} | {' '.join(primitives)}".rstrip()
        for name, (primitives, varies) in table.items()
    ]
    head = f"# {'function':{width - 2}} | varies? | primitives that its examples record"
    return "\n".join([head, *lines]) + "\n"


# --- all of it ------------------------------------------------------------------------------------


def texts() -> Iterator[tuple[Path, str]]:
    """Yield each file with the text that it should have."""
    for name in PACKAGES:
        yield CORE / name / "__init__.py", package_text(name)
    functions = covered()
    yield CORE / "arrays/families.py", families_text(functions)
    yield CORE / "__init__.py", tenferro_text(functions)
    for space in ("fft", "linalg"):
        yield CORE / f"{space}.py", namespace_text(space, functions)
    shared = CORE / "backend/numpy_like/__init__.py"
    yield shared, lowerings_text(shared, "tenferro.backend.numpy_like", "FAMILIES", Anything())
    own = NUMPY / "lowerings/__init__.py"
    yield own, lowerings_text(own, "tenferro_numpy.lowerings", "_OWN")
    yield CORE / "arrays/numpy_protocols/numpy_table.txt", numpy_table_text()


def main(arguments: list[str]) -> int:
    """Write the files that are stale, or with ``--check`` list them and return 1."""
    is_check = arguments == ["--check"]
    os.environ.setdefault("TENFERRO_BACKEND", "numpy")
    sys.path[:0] = [str(CORE.parent), str(NUMPY.parent)]
    stale = 0
    for path, text in texts():
        if path.exists() and text == path.read_text("utf-8"):
            continue
        stale += 1
        print(f"{path.relative_to(ROOT)}: {'is stale' if is_check else 'written'}")
        if not is_check:
            path.write_text(text, "utf-8")
    if is_check and stale:
        print("run: python tools/generate.py", file=sys.stderr)
    return min(stale, 1) if is_check else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
