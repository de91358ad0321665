"""Entry points are read as `importlib.metadata` reads them, and by it where the place is odd."""

import sys
import zipfile
from importlib import metadata

import pytest

from tenferro.backend.discovery import installed
from tenferro.backend.discovery.installed import entries, is_ordinary, parse, version_of

GROUPS = ("console_scripts", "pytest11", "tenferro.backends", "tenferro.primitives")


def by_library(group):
    return {
        (e.name, e.value, e.dist.name, e.dist.version) for e in metadata.entry_points(group=group)
    }


@pytest.mark.parametrize("group", GROUPS)
def test_this_environment_is_read_as_the_library_reads_it(group):
    assert {(e.name, e.value, e.dist, e.version) for e in entries([group])} == by_library(group)


def test_requirements_and_versions_are_read_as_the_library_reads_them():
    for entry in entries(GROUPS):
        assert list(entry.requires) == (metadata.distribution(entry.dist).requires or [])
        assert version_of(entry.dist.lower().replace("_", "-")) == entry.version


def test_the_library_gives_the_same_where_it_is_asked(monkeypatch):
    ordinary = entries(GROUPS)
    monkeypatch.setattr(installed, "is_ordinary", lambda places: False)
    assert set(entries(GROUPS)) == set(ordinary)
    assert version_of("pytest") == metadata.version("pytest")
    assert version_of("no-such-distribution") == ""


@pytest.mark.parametrize("name", ["x.zip", "x.egg"])
def test_files_and_eggs_on_the_path_are_odd(name, tmp_path, monkeypatch):
    assert is_ordinary(installed._places())
    (tmp_path / name).touch()
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path / name)])
    assert not is_ordinary(installed._places())


def test_an_egg_info_with_entry_points_is_odd(tmp_path, monkeypatch):
    (tmp_path / "x.egg-info").mkdir()
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    assert is_ordinary(installed._places())
    (tmp_path / "x.egg-info" / "entry_points.txt").touch()
    assert not is_ordinary(installed._places())


def test_another_finder_of_distributions_is_odd(monkeypatch):
    class Finder:
        find_spec = find_distributions = staticmethod(lambda *arguments: None)

    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Finder])
    assert not is_ordinary(installed._places())


def test_places_that_do_not_exist_are_skipped(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [str(tmp_path / "nothing")])
    assert entries(GROUPS) == []


def test_a_plugin_in_a_zip_file_is_found(site, tmp_path):
    archive = tmp_path / "plugins.zip"
    with zipfile.ZipFile(archive, "w") as file:
        info = "zipped-1.0.dist-info"
        file.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: zipped\nVersion: 1.0\n")
        file.writestr(f"{info}/entry_points.txt", "[tenferro.backends]\nzipped = zipped_plugin\n")
    said = site.run("say(s=states())", path=[str(archive)])
    assert said["s"] == {"zipped@zipped": "discovered"}


@pytest.mark.parametrize(
    "value, wanted",
    [("json:dumps", "dumps"), ("json : decoder.JSONDecoder", "JSONDecoder"), ("json [x]", "json")],
)
def test_what_an_entry_points_at_is_loaded_as_the_library_loads_it(value, wanted):
    entry = installed.Entry("g", "n", value, "d", "1", ())
    assert entry.load() is metadata.EntryPoint("n", value, "g").load()
    assert entry.load().__name__ == wanted


def test_lines_that_are_no_entries_are_skipped():
    assert list(parse("\n# [a]\n[a]\n\n x = m \n;\n")) == [("a", "x", "m"), ("a", ";", "")]
