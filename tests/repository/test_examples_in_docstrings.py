"""Examples in docstrings of public names say where each name that they use comes from.

`help(tn.reshape)` shows an example that a reader can paste. Doctest itself would find more names:
those of the module where the function is defined.
"""

import ast
import builtins
import doctest
import importlib

import pytest

MODULES = """tenferro tenferro.fft tenferro.linalg tenferro.random tenferro.special tenferro.stats
tenferro.integrate tenferro.interpolate tenferro.ndimage tenferro.signal tenferro.distributed
tenferro.arrays tenferro.transforms tenferro.backend tenferro.passes tenferro.primitives
tenferro.tidu tenferro.storage tenferro.computegraph""".split()


def unknown(docstring):
    """The names that examples use, and neither define nor import."""
    source = "".join(part.source for part in doctest.DocTestParser().get_examples(docstring))
    known, used = set(dir(builtins)), set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                used.add(name)
            case ast.Name(id=name) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                known.add(name)
            case ast.arg(arg=name):
                known.add(name)
            case ast.ExceptHandler(name=str(name)):
                known.add(name)
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                known |= {(name.asname or name.name).partition(".")[0] for name in names}
    return used - known


def documented(module):
    """(name, docstring) of each public name of a module, and of the members of its classes."""
    for name in module.__all__:
        value = getattr(module, name)
        members = vars(value).items() if isinstance(value, type) else ()
        for path, thing in [(name, value), *((f"{name}.{key}", member) for key, member in members)]:
            text = getattr(thing, "__doc__", None)
            if isinstance(text, str) and ">>>" in text:
                yield path, text


@pytest.mark.parametrize("name", MODULES)
def test_an_example_imports_what_it_uses(name):
    found = {path: unknown(text) for path, text in documented(importlib.import_module(name))}
    assert {path: names for path, names in found.items() if names} == {}


def test_a_name_from_nowhere_is_noticed():
    assert unknown(">>> x = as_array(1)\n>>> [y for y in x]\n") == {"as_array"}
