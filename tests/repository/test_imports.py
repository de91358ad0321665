"""What the import contracts cannot state: the two lowest layers use the standard library alone."""

import ast
import sys

import pytest

LOWEST = {"computegraph": {"computegraph"}, "tidu": {"tidu", "computegraph"}}


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
