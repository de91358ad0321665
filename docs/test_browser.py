"""The check in a browser finds each kind of fault. It needs playwright: `tox -e site-check`."""

import sys
from pathlib import Path

import pytest

pytest.importorskip("playwright", reason="`tox -e site-check` installs it")
sys.path.insert(0, str(Path(__file__).parent / "_gen"))

import browser

CELLS = 9 * "<td style='min-width: 90px'>cell</td>"
TABLE = f"<table><tr>{CELLS}</table>"
#: The body of a page, and the fault that is reported of it at 360 and at 1280 pixels.
BODIES = {
    "narrow": ("<p>text</p>", "", ""),
    "wide": (TABLE, "wider than the window: <table> cellcell", ""),
    "wider": ("<pre style='width: 1500px'>x", "wider than the window: <pre>", "wider than"),
    "scrolls": (f"<div style='overflow-x: auto'>{TABLE}</div>", "", ""),
    "outside": ("<p style='position: absolute; left: -900px'>hidden", "", ""),
    "hidden": (f"<style>html {{overflow-x: hidden}}</style>{TABLE}", "wider than", ""),
    "console": ("<script>console.error('no data')</script>", *["console: no data"] * 2),
    "warning": ("<script>console.warn('slow')</script>", "", ""),
    "script": ("<script>missing()</script>", *["script: missing is not defined"] * 2),
    "picture": ("<img src='none.png'>", *["console: Failed to load resource"] * 2),
    "far": ("<img src='http://localhost:9/x.png'>", *["loads from another host: http://loc"] * 2),
}


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    site = tmp_path_factory.mktemp("site")
    for name, (body, *_) in BODIES.items():
        head = "<!doctype html><link rel=icon href='data:,'><body style='margin: 0'>"
        (site / f"{name}.html").write_text(head + body, "utf-8")
    return browser.problems(site)


@pytest.mark.parametrize("width", browser.WIDTHS)
@pytest.mark.parametrize("name", BODIES)
def test_a_fault_of_a_page_is_found_at_the_width_where_it_shows(found, name, width):
    expected = BODIES[name][1 + browser.WIDTHS.index(width)]
    prefix = f"{name}.html at {width} px: "
    faults = [line.removeprefix(prefix) for line in found if line.startswith(prefix)]
    assert bool(faults) == bool(expected)
    assert not expected or faults[0].startswith(expected)


def test_the_command_fails_where_a_page_has_a_fault(tmp_path, capsys):
    (tmp_path / "wide.html").write_text(f"<!doctype html>{TABLE}", "utf-8")
    assert browser.main(tmp_path) == 1
    assert "wide.html at 360 px: wider than the window: <table>" in capsys.readouterr().out
