"""All that the documentation shows runs: each page, each program in a process of its own.

The programs of the gallery run when the pages are built; one that fails ends the build.
"""

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parent
PAGES = sorted(page for page in DOCS.rglob("*.md") if "```python" in page.read_text("utf-8"))
GALLERY = DOCS.parent / "examples/gallery"
PROGRAMS = sorted((DOCS / "tutorial").glob("*.py"))


def run(*command):
    finished = subprocess.run(
        [sys.executable, *map(str, command)], capture_output=True, text=True, encoding="utf-8"
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_snippets_of_a_page_run(page):
    run(DOCS / "_gen/run_page.py", page)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
def test_a_program_runs_and_finds_what_it_claims(program):
    run(program)


@pytest.mark.parametrize(
    "command", [["digits.py"], ["digits.py", "--processes", "2"], ["chain.py"]], ids=" ".join
)
def test_an_example_of_several_devices_finds_what_it_claims(command):
    run(DOCS.parent / "examples/scale_out" / command[0], *command[1:])


def test_the_reference_has_every_public_name_with_its_docstring(tmp_path):
    import tenferro

    run(DOCS / "_gen/reference.py", tmp_path)
    text = "\n".join(page.read_text("utf-8") for page in tmp_path.rglob("*.md"))
    entries = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    empty = [e.split("\n")[0] for e in entries if e.rstrip().endswith("```") and "pycon" not in e]
    assert [name for name in empty if callable(getattr(tenferro, name.strip("`"), None))] == []
    named = set(re.findall(r"`(\w+)`", text))
    classes = {n for n in tenferro.__all__ if isinstance(getattr(tenferro, n), type)}
    names = {n for n in tenferro.__all__ if not n.startswith("_")}
    assert names - classes - named == set()
    for module in ("linalg", "special", "fft", "random", "signal", "integrate", "distributed"):
        for name in getattr(tenferro, module).__all__:
            assert f"`{module}.{name}`" in text or name.endswith("Error")


def test_the_reference_is_written_into_a_folder_that_is_named(tmp_path):
    script = DOCS / "_gen/reference.py"
    command = [sys.executable, str(script), "--check"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "FOLDER" in done.stderr
    assert (done.returncode, list(tmp_path.iterdir())) == (2, [])


@pytest.mark.parametrize("program", sorted(GALLERY.glob("*.py")), ids=lambda program: program.stem)
def test_a_page_of_the_gallery_shows_all_of_its_program(program):
    hooks = load("mkdocs_hooks")
    page = hooks.page_of_cells(program.read_text("utf-8"), program.stem, "printed")
    code = "\n".join(re.findall(r"^```py\n(.*?)^```$", page, re.MULTILINE | re.DOTALL))
    compile(code, program.name, "exec")
    assert f"({program.stem}.svg)" in page
    assert "assert" in code  # it claims something
    assert "# %%" not in page


def test_the_first_page_of_the_gallery_shows_each_program_by_its_first_sentence():
    hooks = load("mkdocs_hooks")
    networks = DOCS.parent / "examples/tensor_networks"
    programs = {"Programs": sorted(GALLERY.glob("*.py")), "Networks": [networks / "tebd.py"]}
    page = hooks.page_of_pictures(programs)
    for program in [*programs["Programs"], *programs["Networks"]]:
        assert f"({program.stem}.svg)]({program.stem}.md)" in page
    assert "\n\n    Each step applies exp(-i H dt) bond by bond" in page  # not the formula before


def test_a_page_of_a_module_shows_its_docstring_and_all_of_its_code():
    source = '"""A title.\n\n    y = x²\n\nText.\n"""\n\nx = 1\n'
    page = load("mkdocs_hooks").page_of_module(source, "mine")
    assert page.startswith("# A title\n\n    y = x²\n\nText.\n\n![A title](mine.svg)")
    assert "```py\nx = 1\n```" in page


def test_pages_that_the_search_ranks_are_pages_of_the_site():
    hooks = load("mkdocs_hooks")
    listed = (DOCS.parent / "mkdocs.yml").read_text("utf-8")
    assert [name for name in hooks.BOOSTS if f": {name}\n" not in listed] == []


LINKS = {
    "page.html": None,
    "page.html#here": None,
    "folder/": None,
    "#top": None,
    "https://elsewhere.example/#x": None,
    "picture.svg#part": None,
    "page.html#there": "no such anchor",
    "#here": "no such anchor",
    "other.html": "no such file",
    "folder/page.html": "no such file",
    "/folder/../page.html#h%65re": None,
}


def site_of(folder, link="", places=()):
    """A site of three pages; the link is on the first, the search lists the places."""
    texts = {
        "index.html": f'<p id="top">{link}',
        "page.html": '<p id="here">',
        "folder/index.html": "",
        "picture.svg": "",
        "search/search_index.json": json.dumps({"docs": [{"location": at} for at in places]}),
    }
    for name, text in texts.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return folder


@pytest.mark.parametrize("tag", ['<a href="{}">', '<img src="{}"/>'])
@pytest.mark.parametrize("address", LINKS)
def test_a_link_that_leads_nowhere_is_found(tmp_path, tag, address):
    found = load("links").broken(site_of(tmp_path, tag.format(address)))
    why = LINKS[address]
    assert found == ([f"index.html: {address}: {why}"] if why else [])


def test_a_place_of_the_search_that_does_not_exist_is_found(tmp_path):
    places = ["", "folder/", "page.html#here", "page.html#there", "other/"]
    found = load("links").broken(site_of(tmp_path, places=places))
    assert [line.split(": ")[1:] for line in found] == [
        ["/page.html#there", "no such anchor"],
        ["/other/", "no such file"],
    ]


def load(name):
    spec = importlib.util.spec_from_file_location(name, DOCS / f"_gen/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
