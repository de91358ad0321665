"""Modules of tenferro are found and loaded as Python itself finds and loads them."""

import importlib
import os
import py_compile
import sys
from importlib.machinery import BuiltinImporter, PathFinder, SourceFileLoader
from importlib.util import module_from_spec

import pytest

import tenferro
from tenferro._runtime.finder import OwnModules, find_own_modules

LOOKED_AT = ("name", "origin", "cached", "has_location", "parent", "submodule_search_locations")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A package ``tenferro_found`` with a module, imported while the finder is asked first."""
    package = tmp_path / "tenferro_found"
    (package / "inner").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "inner" / "__init__.py").write_text("VALUE = 'package'\n")
    (package / "value.py").write_text("VALUE = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "meta_path", [OwnModules(), *sys.meta_path])
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    yield package
    for name in [name for name in sys.modules if name.startswith("tenferro_found")]:
        del sys.modules[name]


def test_without_bytecode_it_is_not_asked(monkeypatch):
    monkeypatch.setattr(sys, "meta_path", [BuiltinImporter])
    monkeypatch.setattr(sys.implementation, "cache_tag", None)
    find_own_modules()
    assert sys.meta_path == [BuiltinImporter]


def imported(name="tenferro_found.value"):
    """Import a module anew."""
    sys.modules.pop(name, None)
    return importlib.import_module(name)


def names_in(spec):
    """Return what a new module holds, apart from its spec and loader."""
    names = vars(module_from_spec(spec))
    return {name: value for name, value in names.items() if name not in ("__spec__", "__loader__")}


def test_it_is_asked_once_before_the_finders_of_python():
    kinds = [getattr(finder, "__name__", type(finder).__name__) for finder in sys.meta_path]
    assert kinds.count("OwnModules") == 1
    assert kinds[kinds.index("OwnModules") + 1] == "BuiltinImporter"


def test_finders_of_others_are_asked_before(monkeypatch):
    """as that of pytest, which rewrites assertions"""
    other = object()
    monkeypatch.setattr(sys, "meta_path", [other, BuiltinImporter, PathFinder])
    find_own_modules()
    assert [sys.meta_path.index(x) for x in (other, BuiltinImporter, PathFinder)] == [0, 2, 3]


@pytest.mark.parametrize("finders", [[], [PathFinder]])
def test_unusual_finders_are_left_alone(monkeypatch, finders):
    monkeypatch.setattr(sys, "meta_path", [*finders])
    find_own_modules()
    assert sys.meta_path == finders


@pytest.mark.parametrize("name", ["_runtime", "_runtime.fork", "tidu", "tidu._push", "fft"])
def test_a_spec_is_the_one_of_the_path(name):
    """spec(name) = PathFinder's"""
    full = f"tenferro.{name}"
    place = sys.modules[full.rpartition(".")[0]].__path__
    got, want = OwnModules().find_spec(full, place), PathFinder.find_spec(full, place)
    assert [getattr(got, field) for field in LOOKED_AT] == [getattr(want, f) for f in LOOKED_AT]
    assert isinstance(got.loader, SourceFileLoader)
    assert names_in(got) == names_in(want)
    assert got.loader.get_code(full) == want.loader.get_code(full)
    assert got.loader.get_source(full) == want.loader.get_source(full)


@pytest.mark.parametrize("name", ["tenferro", "json.decoder", "tenferro.absent"])
def test_other_modules_are_left_to_others(name):
    """spec(name) is None: a top-level package, another library's, none"""
    path = {"tenferro": None, "json.decoder": importlib.import_module("json").__path__}
    assert OwnModules().find_spec(name, path.get(name, tenferro.__path__)) is None


def test_several_folders_are_left_to_others(folder):
    assert OwnModules().find_spec("tenferro_found.value", [str(folder), str(folder)]) is None


def test_a_folder_that_is_not_there_is_left_to_others(tmp_path):
    assert OwnModules().find_spec("tenferro_found.value", [str(tmp_path / "zip")]) is None


def test_a_package_wins_over_a_module_of_its_name(folder):
    (folder / "inner.py").write_text("VALUE = 'module'\n")
    assert imported("tenferro_found.inner").VALUE == "package"
    (folder / "bare").mkdir()
    (folder / "bare.py").write_text("VALUE = 'module'\n")
    importlib.invalidate_caches()
    assert imported("tenferro_found.bare").VALUE == "module"


def test_a_file_that_is_written_later_is_found(folder):
    assert imported().VALUE == 1
    (folder / "late.py").write_text("VALUE = 2\n")
    importlib.invalidate_caches()
    assert imported("tenferro_found.late").VALUE == 2


def test_a_file_that_was_deleted_is_not_found(folder):
    assert imported().VALUE == 1
    (folder / "value.py").unlink()
    importlib.invalidate_caches()
    with pytest.raises(ModuleNotFoundError):
        imported()


@pytest.mark.parametrize("text", ["VALUE = 234\n", "VALUE = 2\n"], ids=["size", "time"])
def test_an_edited_source_is_compiled_anew(folder, text):
    """age or size of the source ≠ those in the bytecode  ⇒  the source counts"""
    assert imported().VALUE == imported().VALUE == 1
    source = folder / "value.py"
    source.write_text(text)
    os.utime(source, (1e9, 1e9))
    assert str(imported().VALUE) == text.split()[-1]


def test_moved_bytecode_names_the_file_that_it_is_of(folder):
    assert imported().VALUE == 1
    moved = folder.with_name("tenferro_found_moved")
    folder.rename(moved)
    spec = OwnModules().find_spec("tenferro_found_moved.value", [str(moved)])
    assert spec.loader.get_code(spec.name).co_filename == str(moved / "value.py")


def test_bytecode_that_is_valid_by_its_hash_is_read(folder):
    mode = py_compile.PycInvalidationMode.CHECKED_HASH
    source = folder / "value.py"
    py_compile.compile(str(source), invalidation_mode=mode)
    source.write_text("VALUE = 3\n")
    assert imported().VALUE == 3


def test_without_bytecode_the_source_is_compiled(folder, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert imported().VALUE == 1
    assert not (folder / "__pycache__" / "value.pyc").exists()
