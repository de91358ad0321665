"""Each distribution carries what it must, and the tools at the root know all of them."""

import re
import subprocess
import tomllib

import pytest

KINDS = ("feature", "change", "removal", "bugfix", "doc", "misc")
FRAGMENT = re.compile(rf"(\d+|\+[a-z0-9-]+)\.({'|'.join(KINDS)})\.md")

FILES_AT_THE_ROOT = {
    *(".gitignore", ".pre-commit-config.yaml", "conftest.py", "dev-requirements.txt"),
    *("mkdocs.yml", "pyproject.toml", "tox.ini", "LICENSE-APACHE", "LICENSE-MIT"),
    *("CONTRIBUTING.md", "GLOSSARY.md", "README.md", "RELEASING.md", "SECURITY.md"),
}


def read_toml(path):
    return tomllib.loads(path.read_text("utf-8"))


def package_of(folder):
    (package,) = read_toml(folder / "pyproject.toml")["tool"]["hatch"]["build"]["targets"]["wheel"][
        "packages"
    ]
    return package.removeprefix("src/")


def test_the_layers_know_every_distribution(root, folders):
    linter = read_toml(root / "pyproject.toml")["tool"]["importlinter"]
    assert sorted(linter["root_packages"]) == sorted(map(package_of, folders))


def test_the_root_is_no_distribution(root):
    assert "project" not in read_toml(root / "pyproject.toml")


def test_every_folder_with_a_project_is_known(root, folders):
    found = {path.parent for path in root.glob("*/pyproject.toml")} | {
        path.parent for path in root.glob("plugins/*/pyproject.toml")
    }
    assert found == set(folders)


def test_the_root_has_the_files_that_tools_look_for_there_and_no_others(root):
    """Profiles and reports that a tool leaves there are easily committed with the rest."""
    listed = subprocess.run(
        ["git", "ls-files", "--", ":(glob)*"], cwd=root, capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("not a checkout of git")
    assert set(listed.stdout.split()) <= FILES_AT_THE_ROOT


def test_the_package_is_typed(folder):
    assert (folder / "src" / package_of(folder) / "py.typed").is_file()


def test_the_package_stands_alone_under_src(folder):
    found = [
        path.name for path in (folder / "src").iterdir() if not path.name.startswith((".", "_"))
    ]
    assert found == [package_of(folder)]


@pytest.mark.parametrize("name", ["LICENSE-MIT", "LICENSE-APACHE"])
def test_the_licences_are_those_of_the_root(root, folder, name):
    assert (folder / name).read_bytes() == (root / name).read_bytes()


def test_the_changelog_has_an_entry_for_the_version(folder, metadata):
    text = (folder / "CHANGELOG.md").read_text("utf-8")
    assert re.search(rf"^## {re.escape(metadata['project']['version'])}\b", text, re.MULTILINE)


def test_the_fragments_have_names_that_towncrier_collects(folder):
    names = [path.name for path in (folder / "changes").iterdir() if path.name != ".gitignore"]
    assert [name for name in names if not FRAGMENT.fullmatch(name)] == []


def test_the_fragment_kinds_are_the_documented_ones(root, metadata):
    assert tuple(kind["directory"] for kind in metadata["tool"]["towncrier"]["type"]) == KINDS
    assert ", ".join(KINDS) in (root / "CONTRIBUTING.md").read_text("utf-8")


def test_what_depends_on_core_names_its_generation(root, metadata):
    major, minor, _ = read_toml(root / "core/pyproject.toml")["project"]["version"].split(".")
    project = metadata["project"]
    wanted = f"tenferro>={major}.{minor},<{major}.{int(minor) + 1}"
    assert project["name"] == "tenferro" or wanted in project["dependencies"]


def test_no_runtime_dependency_on_the_kit(metadata):
    assert not any(
        line.startswith("tenferro-conformance") for line in metadata["project"]["dependencies"]
    )


def test_the_configuration_of_the_root_is_extended(folder, metadata, root):
    assert (folder / metadata["tool"]["ruff"]["extend"]).resolve() == root / "pyproject.toml"


def floors_of(metadata):
    """What a distribution needs at least, CuPy apart: that floor is tested where a device is."""
    optional = metadata["project"].get("optional-dependencies", {})
    needed = [
        *metadata["project"]["dependencies"],
        *(line for lines in optional.values() for line in lines),
    ]
    found = (re.match(r"([\w-]+)(?:\[\w+\])?>=([\d.]+)", line) for line in needed)
    return {match[1]: match[2] for match in found if not match[1].startswith(("tenferro", "cupy"))}


def test_the_floors_are_those_that_are_tested(root, metadata):
    lines = (root / "tests/oldest.txt").read_text("utf-8").splitlines()
    tested = dict(line.split("==") for line in lines if not line.startswith("#"))
    floors = floors_of(metadata)
    assert {
        name: tested[name]
        for name in floors
        if not f"{tested[name]}.".startswith(f"{floors[name]}.")
    } == {}
