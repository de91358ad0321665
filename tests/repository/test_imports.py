"""What the import contracts cannot state.

The lowest layers use the standard library alone; plugins import nothing private of core.
"""

import ast
import re
import sys

import pytest

LOWEST = {
    "_runtime": {"_runtime"},
    "computegraph": {"computegraph", "_runtime"},
    "tidu": {"tidu", "computegraph", "_runtime"},
}


def imported_by(path):
    """Every module that a file imports, at any depth, absolute."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            yield node.module


def is_allowed(module, layers):
    first, *rest = module.split(".")
    if first == "tenferro":
        return bool(rest) and rest[0] in layers
    return first in sys.stdlib_module_names


@pytest.mark.parametrize("layer", LOWEST)
def test_the_lowest_layers_import_the_standard_library_alone(root, layer):
    files = sorted((root / "core/src/tenferro" / layer).rglob("*.py"))
    strangers = {
        f"{path.name}: {module}"
        for path in files
        for module in imported_by(path)
        if not is_allowed(module, LOWEST[layer])
    }
    assert files
    assert strangers == set()


def test_the_scanner_sees_a_stranger(tmp_path):
    (tmp_path / "a.py").write_text("import json\ndef f():\n    from numpy.linalg import svd\n")
    assert [is_allowed(name, {"tidu"}) for name in imported_by(tmp_path / "a.py")] == [True, False]


def test_named_tuples_of_core_are_its_own(root):
    """``typing.NamedTuple`` compiles source for each class, a millisecond of ``import tenferro``"""
    source = root / "core/src/tenferro"
    users = [
        path.relative_to(source).as_posix()
        for path in sorted(source.rglob("*.py"))
        if re.search(r"from typing import .*\bNamedTuple\b", path.read_text("utf-8"))
    ]
    assert users == ["_runtime/records.py"]


def private_of_core(path):
    """Every private name of core that a file imports, as a dotted path."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        for name in names:
            first, *rest = name.split(".")
            if first == "tenferro" and any(part.startswith("_") for part in rest):
                yield name


@pytest.mark.parametrize("plugin", ["numpy", "cupy", "xla"])
def test_a_plugin_imports_nothing_private_of_core(root, plugin):
    files = sorted((root / f"plugins/{plugin}_backend/src").rglob("*.py"))
    found = {f"{path.name}: {name}" for path in files for name in private_of_core(path)}
    assert files
    assert found == set(), "tenferro.backend.extend publishes what plugins need"


def test_the_scanner_sees_a_private_name(tmp_path):
    text = (
        "from tenferro.tidu import _pin\nfrom tenferro.tidu._pin import pin\nimport tenferro.tidu\n"
    )
    (tmp_path / "a.py").write_text(text)
    assert [*private_of_core(tmp_path / "a.py")] == ["tenferro.tidu._pin", "tenferro.tidu._pin.pin"]


def test_every_name_of_extend_is_there():
    from tenferro.backend import extend

    assert [name for name in extend.__all__ if not hasattr(extend, name)] == []
    with pytest.raises(AttributeError, match="extend"):
        extend.no_such_name  # noqa: B018 - the access is what is tested


HAS_NO_SUCH = {"numpy", "hypothesis"}  # the environment `core` of tox.ini


def imported_at_once(path):
    """Every package that a file imports when it is imported itself."""
    stack = list(ast.parse(path.read_text("utf-8")).body)
    while stack:
        node = stack.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").partition(".")[0]
        stack += ast.iter_child_nodes(node)


def test_the_tests_of_core_alone_need_neither_numpy_nor_hypothesis(root):
    folder = root / "core/tests"
    files = [path for path in folder.rglob("*.py") if folder / "on_backend" not in path.parents]
    assert files
    assert [str(path) for path in files if HAS_NO_SUCH.intersection(imported_at_once(path))] == []


def test_the_scanner_sees_an_import_in_a_class_and_not_in_a_function(tmp_path):
    text = "def f():\n    import numpy\nclass A:\n    from hypothesis.strategies import lists\n"
    (tmp_path / "a.py").write_text(text)
    assert [*imported_at_once(tmp_path / "a.py")] == ["hypothesis"]
