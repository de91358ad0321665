"""Levels and features: which cases a backend is asked, by what it claims and by its dtypes."""

import json

import pytest

from tenferro.primitives import STANDARD
from tenferro_conformance.cli import main
from tenferro_conformance.profile import Profile
from tenferro_conformance.reporting.report import BackendReport
from tenferro_conformance.running.selection import Selection
from tenferro_conformance.samples import load_cases
from tenferro_conformance.samples.rows import SPECIAL

CASES = {case.id: case for case in load_cases()}
ALL = ["bool", "float32", "float64", "int32", "int64", "uint8"]


@pytest.mark.parametrize(
    "case, features, dtypes, closed",
    [
        ("std::add/scalar/float32", {}, ALL, ()),
        ("std::add/scalar/float64", {}, ALL, ("f64",)),
        ("std::add/scalar/float64", {"f64"}, ["float32"], ("float64",)),
        ("std::add/unsigned/uint8", {}, ALL, ()),
        ("std::add/unsigned/uint8", {}, [], ("ints",)),
        ("std::add/unsigned/uint8", {"ints"}, [], ()),
        ("std::add/unsigned/uint16", {"ints"}, ALL, ("uint16",)),
        ("std::lt/wide/float32", {}, ["float32"], ("bool",)),
        ("std::add/half/float16", {}, [*ALL, "float16"], ("f16",)),
        ("std::erf/scalar/float32", {}, ALL, ("special",)),
        ("std::erf/scalar/float32", {"special"}, ALL, ()),
        ("std::erf/scalar/float32", {"std::erf"}, ALL, ()),
        ("std::erfc/scalar/float32", {"std::erf"}, ALL, ("special",)),
    ],
)
def test_what_is_closed_to_a_backend(case, features, dtypes, closed):
    """A dtype is closed if it is not stated, a special function unless it is claimed."""
    profile = Profile(features=set(features))
    about = BackendReport(name="mine", dtypes=dtypes)
    selection = Selection(profile, profile.features, 1, about)
    assert selection.closed(CASES[case]) == set(closed)
    assert selection.is_unsupported(CASES[case]) == bool(closed)


def test_every_primitive_is_on_one_list(capsys):
    assert main(["levels", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["schema"] == 1
    listed = [key for keys in [*found["levels"].values(), found["special"]] for key in keys]
    assert sorted(listed) == sorted({cls.key for cls in STANDARD})


def test_a_first_gradient_needs_level_1():
    """d/dw Σ tanh(x·w) reads a contraction, a sum, elementwise functions and moves."""
    levels = {case.primitive: case.level for case in CASES.values()}
    needed = "dot_general tanh reduce_sum mul sub broadcast_in_dim transpose reshape".split()
    assert {levels[f"std::{name}"] for name in needed} == {1}


def test_special_functions_are_guarded_in_every_case():
    assert {c.primitive for c in CASES.values() if "special" in c.features} == SPECIAL
    assert all("special" in c.features for c in CASES.values() if c.primitive in SPECIAL)


def test_the_list_for_people_names_the_same(capsys):
    assert main(["levels"]) == 0
    words = capsys.readouterr().out.split()
    assert {f"std::{word}" for word in words} >= {cls.key for cls in STANDARD}


def test_what_a_backend_has_to_lower_is_listed(capsys):
    """`levels --required 1`: `pad` has no decomposition, `softmax` has one."""
    assert main(["levels", "--required", "1"]) == 0
    names = {line.split()[0] for line in capsys.readouterr().out.splitlines()}
    assert "pad" in names
    assert "softmax" not in names
    assert "gather" not in names, "it belongs to level 2"
