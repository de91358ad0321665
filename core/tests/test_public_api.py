"""The public namespace: listed, sorted, and the same for readers of types as at run time."""

import ast
from importlib import import_module
from inspect import unwrap
from pathlib import Path

import pytest

import tenferro as tn
from tenferro.arrays.registry import FUNCTIONS

HIDDEN = {"getitem", "flatten"}  # forms of methods
LATER = ["tenferro"] + [
    f"tenferro.{name}"
    for name in (
        "arrays",
        "backend",
        "computegraph",
        "passes",
        "primitives",
        "storage",
        "transforms",
    )
]


def test_every_name_is_there():
    assert [name for name in tn.__all__ if not hasattr(tn, name)] == []
    assert dir(tn) == sorted(tn.__all__)


def test_every_covered_function_is_public():
    """Those of SciPy alone are public in the namespace of special functions"""
    covered = {name for name in FUNCTIONS if not name.startswith("_") and "." not in name}
    assert covered - HIDDEN - set(tn.__all__) - set(tn.special.__all__) == set()


@pytest.mark.parametrize("name", ["distributed", "fft", "linalg", "random", "special"])
def test_a_namespace_lists_what_it_has(name):
    namespace = getattr(tn, name)
    assert [n for n in namespace.__all__ if not hasattr(namespace, n)] == []
    assert [n for n in namespace.__all__ if not getattr(namespace, n).__doc__] == []


@pytest.mark.parametrize("name", LATER)
def test_what_types_see_is_what_a_name_finds(name):
    """The imports that only type checkers read lead to what names find, and to all of it"""
    package = import_module(name)
    tree = ast.parse(Path(package.__file__).read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    stated = set()
    for node in block.body:
        for found in node.names if isinstance(node, ast.ImportFrom) else ():
            stated.add(found.asname or found.name)
            there = getattr(import_module(node.module), found.name)
            public = getattr(package, found.asname or found.name)
            assert unwrap(public) is unwrap(there)
    files = ast.walk(ast.Module(block.orelse, []))
    dicts = [node for node in files if isinstance(node, ast.Dict)]
    listed = {name for names in ast.literal_eval(dicts[0]).values() for name in names.split()}
    assert listed <= stated <= set(package.__all__)
    if name != "tenferro":
        assert listed == stated


@pytest.mark.parametrize("name", LATER)
def test_a_package_lists_what_is_public(name):
    package = import_module(name)
    assert dir(package) == sorted(package.__all__)
    with pytest.raises(AttributeError, match=f"module '{name}' has no attribute 'no_such_name'"):
        package.no_such_name  # noqa: B018


def test_an_unknown_name_is_an_attribute_error():
    assert not hasattr(tn, "no_such_name")
    assert not hasattr(tn, "getitem")


def test_array_is_a_function_and_a_package():
    """``tn.array`` makes arrays; the package of that name is still imported from"""
    assert tn.array(1.5).dtype == "float64"
    assert import_module("tenferro.arrays").Array is tn.Array
