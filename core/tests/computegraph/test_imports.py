"""The graph engine and the derivatives stand on the standard library alone; their examples run."""

import ast
import doctest
import importlib
import pkgutil
import subprocess
import sys

import pytest

import tenferro._runtime
import tenferro.computegraph
import tenferro.storage
import tenferro.tidu
from tenferro.computegraph import GraphError, OperandError, TenferroError

PACKAGES = [tenferro._runtime, tenferro.computegraph, tenferro.storage, tenferro.tidu]
MODULES = [
    importlib.import_module(f"{package.__name__}.{module.name}")
    for package in PACKAGES
    for module in pkgutil.iter_modules(package.__path__)
]
ORDER = ["tenferro._runtime", "tenferro.computegraph", "tenferro.storage", "tenferro.tidu"]


def imported(module):
    with open(module.__file__, encoding="utf-8") as file:
        for node in ast.walk(ast.parse(file.read())):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            if isinstance(node, ast.ImportFrom):
                yield node.module


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_only_the_standard_library_and_lower_layers_are_imported(module):
    package = ".".join(module.__name__.split(".")[:2])
    allowed = set(ORDER[: ORDER.index(package) + 1])
    names = {name for name in imported(module) if name.split(".")[0] not in sys.stdlib_module_names}
    assert {".".join(name.split(".")[:2]) for name in names} <= allowed


@pytest.mark.parametrize("module", [*PACKAGES, *MODULES], ids=lambda module: module.__name__)
def test_the_examples_of_the_documentation_run(module):
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("module", [*PACKAGES, *MODULES], ids=lambda module: module.__name__)
def test_every_module_says_what_it_is(module):
    assert 3 <= len(module.__doc__.strip().splitlines()) <= 10


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_public_names_are_listed_once_and_exist(package):
    assert len(set(package.__all__)) == len(package.__all__)
    assert all(getattr(package, name) is not None for name in package.__all__)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no_such_name"):
        tenferro.computegraph.no_such_name  # noqa: B018


def test_what_reads_and_writes_files_is_imported_on_demand():
    code = "import sys, tenferro.tidu; print([m for m in ('json', 'hashlib') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_errors_carry_fields_through_pickles():
    error = OperandError("text", input="x", got=1, need=2)
    again = error.__reduce__()[0](*error.__reduce__()[1])
    assert (str(again), again.fields, again.input) == ("text", error.fields, "x")
    assert isinstance(again, OperandError)


def test_errors_of_the_engine_are_value_errors_of_tenferro():
    assert issubclass(GraphError, TenferroError)
    assert issubclass(GraphError, ValueError)
