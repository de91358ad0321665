"""The public namespace: listed, sorted, and the same for readers of types as at run time."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

import tenferro as tn
from tenferro.array._registry import FUNCTIONS

HIDDEN = {"getitem", "flatten"}  # forms of methods


def test_every_name_is_there():
    assert [name for name in tn.__all__ if not hasattr(tn, name)] == []
    assert dir(tn) == sorted(tn.__all__)


def test_every_covered_function_is_public():
    """Those of SciPy alone are public in the namespace of special functions"""
    covered = {name for name in FUNCTIONS if not name.startswith("_") and "." not in name}
    assert covered - HIDDEN - set(tn.__all__) - set(tn.special.__all__) == set()


@pytest.mark.parametrize("name", ["fft", "linalg", "random", "special"])
def test_a_namespace_lists_what_it_has(name):
    namespace = getattr(tn, name)
    assert [n for n in namespace.__all__ if not hasattr(namespace, n)] == []
    assert [n for n in namespace.__all__ if not getattr(namespace, n).__doc__] == []


def test_what_types_see_is_what_a_name_finds():
    """The imports that only type checkers read lead to the functions that names find"""
    tree = ast.parse(Path(tn.__file__).read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    for node in block.body:
        for name in node.names:
            stated = getattr(import_module(node.module), name.name)
            assert getattr(tn, name.asname or name.name) is stated


def test_an_unknown_name_is_an_attribute_error():
    assert not hasattr(tn, "no_such_name")
    assert not hasattr(tn, "getitem")


def test_array_is_a_function_and_a_package():
    """``tn.array`` makes arrays; the package of that name is still imported from"""
    assert tn.array(1.5).dtype == "float64"
    assert import_module("tenferro.array").Array is tn.Array
