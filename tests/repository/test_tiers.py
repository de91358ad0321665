"""Tiers: what is named exists, and `quick` with `rest` is `full`."""

import re
import runpy

import pytest

NAMES = [
    "core/tests/on_backend/transforms/test_vmap.py::test_one",
    *[f"core/tests/on_backend/array/test_indexing.py::test_many[{i}]" for i in range(20)],
    *[f"plugins/numpy_backend/tests/test_regions.py::test_some[{i}]" for i in range(20)],
    "plugins/xla_backend/tests/test_processes.py::test_four_processes_compute_what_one_computes",
]


@pytest.fixture
def tiers(root):
    return runpy.run_path(str(root / "tests/tiers.py"))


def test_what_is_named_exists(root, tiers):
    rows = [row.tests for row in (*tiers["SLOW"], *tiers["SAMPLED"])]
    for place in (*rows, *tiers["XLA_FULL"], *tiers["XLA_DEEP"], *tiers["DEEP"]):
        path, *names = place.split("::")
        assert (root / path).exists(), place
        text = (root / path).read_text("utf-8") if names else ""
        assert all(re.search(rf"^ *(def|class) {name}\b", text, re.M) for name in names), place


def test_every_row_says_why(tiers):
    for rows in (tiers["SLOW"], tiers["SAMPLED"]):
        assert all(row.why and row.keep >= 0 for row in rows)
        assert len({(row.tests, row.over) for row in rows}) == len(rows)


@pytest.mark.parametrize("over", ["", "numpy", "xla"])
def test_quick_and_rest_are_full(tiers, over):
    """quick + rest = full, and no test is in both; deep is all"""
    chosen = {tier: tiers["in_tier"](NAMES, tier, over) for tier in tiers["TIERS"]}
    pairs = zip(chosen["quick"], chosen["rest"], chosen["full"], strict=True)
    assert all((q + r, q or r) == (f, f) for q, r, f in pairs)
    assert all(chosen["deep"])
    assert not chosen["full"][-1]


@pytest.mark.parametrize("over", ["", "numpy", "xla"])
def test_a_file_is_left_out_where_all_its_tests_are(tiers, over):
    """a file is in a tier if any test of it is, whether a row names the test or not"""
    rows = [row.tests for row in (*tiers["SLOW"], *tiers["SAMPLED"])]
    rows += [*tiers["XLA_FULL"], *tiers["XLA_DEEP"], *tiers["DEEP"]]
    files = {row.partition("::")[0] for row in rows if ".py" in row}
    files |= {name.partition("::")[0] for name in NAMES}
    tests = [f"{file}::test_any[{i}]" for file in files for i in range(20)]
    tests += [row for row in rows if "::" in row]
    for tier in tiers["TIERS"]:
        chosen = zip(tests, tiers["in_tier"](tests, tier, over), strict=True)
        needed = {test.partition("::")[0] for test, is_in in chosen if is_in}
        found = {file for file in files if tiers["file_in_tier"](file, tier, over)}
        assert needed <= found
        assert tier == "rest" or found == needed


def test_of_parameters_the_first_is_kept(tiers):
    """keep = n: every n-th parameter of a function, the first included"""
    scope = tiers["in_tier"].__globals__
    before = scope["SLOW"]
    scope["SLOW"] = (tiers["Slow"]("plugins/numpy_backend/tests", 10, "a law"),)
    try:
        quick = tiers["in_tier"](NAMES, "quick", "")
    finally:
        scope["SLOW"] = before
    assert [name for name, q in zip(NAMES, quick, strict=True) if q and "plugins" in name] == [
        "plugins/numpy_backend/tests/test_regions.py::test_some[0]",
        "plugins/numpy_backend/tests/test_regions.py::test_some[19]",
    ]
