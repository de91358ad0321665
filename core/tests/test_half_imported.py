"""A function is found while its family is half imported, as below a signal handler."""

import importlib.util
import sys
from types import ModuleType

import pytest

from tenferro.arrays.registry import FUNCTIONS


@pytest.fixture
def registrations():
    """Undo what a test registers: executing a family's file again replaces all its functions."""
    FUNCTIONS.load()
    before = dict(FUNCTIONS.items())
    yield
    FUNCTIONS.update(before)


@pytest.mark.usefixtures("registrations")
@pytest.mark.parametrize("family, name", [("sets", "unique"), ("trigonometric", "sin")])
def test_a_function_of_a_half_imported_family_is_found(monkeypatch, family, name):
    path = f"tenferro.arrays.functions.{family}"
    spec = importlib.util.find_spec(path)
    half = ModuleType(path)
    half.__spec__ = spec
    assert name in FUNCTIONS
    monkeypatch.setitem(sys.modules, path, half)
    monkeypatch.delitem(FUNCTIONS, name)
    assert FUNCTIONS.find(name).__module__ == path
