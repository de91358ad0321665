"""Timings as text, as a Chrome trace, and for notebooks."""

import json
import re
import xml.etree.ElementTree as ET

import pytest

from tenferro.backend import Timing, Timings
from tenferro.backend.bars import Bar, html

ODD = """<a & "b"> ]]> 'c' é\x00\ud800"""
ROWS = Timings(
    [
        Timing("  %1 = sin %0     : f64[3]", 2e-6, "model.py:3   y = np.sin(x)"),
        Timing("%2 = mul %1 %1", 5e-7, "", ("%3 = add %2 %1", "%4 = neg %3")),
        Timing(ODD, 0.0, ODD),
    ]
)


def test_the_text_has_a_row_for_each_step_and_the_total():
    first, second, _, total = str(Timings(ROWS)).splitlines()
    assert first.split(None, 2) == ["2.0", "µs", "%1 = sin %0 : f64[3]    # " + ROWS[0].line]
    assert second.endswith("%2 = mul %1 %1   and 2 more")
    assert total.split() == ["2.5", "µs", "total"]


def test_events_are_complete_events_that_follow_each_other(tmp_path):
    """The Trace Event Format: name, cat, ph, ts, dur (µs), pid, tid, args."""
    ROWS.save(tmp_path / "trace.json")
    trace = json.loads((tmp_path / "trace.json").read_text("utf-8"))
    assert trace["displayTimeUnit"] in ("ms", "ns")
    names = [e["args"]["name"] for e in trace["traceEvents"] if e["ph"] == "M"]
    assert names == ["tenferro", "equations"]
    events = [e for e in trace["traceEvents"] if e["ph"] == "X"]
    fields = {"name", "cat", "ph", "ts", "dur", "pid", "tid", "args"}
    assert [set(e) for e in events] == [fields] * 3
    assert [(e["ts"], e["dur"]) for e in events] == [(0.0, 2.0), (2.0, 0.5), (2.5, 0.0)]
    assert events[0]["args"] == {"equation": "%1 = sin %0     : f64[3]", "line": ROWS[0].line}
    assert events[1]["args"]["others"] == ["%3 = add %2 %1", "%4 = neg %3"]
    assert len({(e["pid"], e["tid"]) for e in trace["traceEvents"]}) == 1


@pytest.mark.parametrize("rows", [(), ROWS, ROWS * 500], ids=["none", "three", "many"])
def test_the_notebook_form_is_well_formed_and_needs_nothing_else(rows):
    text = Timings(rows)._repr_html_()
    root = ET.fromstring(text)
    assert not re.search(r"<script|<style|<link|http|url\(|src=|on\w+=", text)
    assert len(root.findall(".//tr")) == min(len(rows), 300)
    assert len(root.findall(".//span[@title]")) <= 400
    assert len(text) < 500_000


def test_the_notebook_form_shows_equations_lines_and_shares():
    root = ET.fromstring(ROWS._repr_html_())
    cells = [["".join(cell.itertext()) for cell in row] for row in root.iter("tr")]
    assert cells[0] == ["2.0 µs", "", "%1 = sin %0 : f64[3]", ROWS[0].line]
    assert cells[2][2:] == [" ".join(ODD[:-2].split()), ODD[:-2]]
    bars = [row.find(".//div/div").get("style") for row in root.iter("tr")]
    assert [re.search(r"width:([\d.]+)%", bar)[1] for bar in bars] == ["100.00", "25.00", "0.00"]
    pieces = root.findall(".//span[@title]")
    shares = [re.search(r"flex:([^ ]+) ", piece.get("style"))[1] for piece in pieces]
    assert list(map(float, shares)) == [2e-6, 5e-7, 0.0]


def test_of_many_equations_the_largest_are_shown_in_order():
    text = html([], [Bar(float(i % 1000), str(i), f"number {i}") for i in range(1500)])
    shown = [row[2].text for row in ET.fromstring(text).iter("tr")]
    assert shown[:2] == ["number 700", "number 701"]
    assert "1200 smaller equations are not shown" in text


def test_pages_may_be_light_or_dark():
    """No colour of text or paper is set: those of the page hold."""
    styles = " ".join(re.findall(r'style="([^"]*)"', ROWS._repr_html_()))
    assert set(re.findall(r"(?<![-\w])color:(\w+)", styles)) == {"inherit"}
    assert all(x == "none" or x in "#0072b2 #d55e00 #00805c" for x in
               re.findall(r"background:([^;]+)", styles))  # fmt: skip
