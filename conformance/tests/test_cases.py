"""The tables: every primitive, every convention, every edge has a named case, and none is
unguarded.
"""

import re
from collections import Counter
from functools import partial

import pytest

from tenferro.primitives import STANDARD
from tenferro_conformance.cases.case import draw
from tenferro_conformance.errors import ProfileError
from tenferro_conformance.running import selection
from tenferro_conformance.running.operations import check_case, operation_of
from tenferro_conformance.running.selection import cases_in
from tenferro_conformance.samples import FAMILIES, load_cases, load_error_cases, tables
from tenferro_conformance.samples.stored_inputs import stale_inputs
from tenferro_conformance.samples.table import COMPLEX, Row, elementwise_rows, grid, table

CASES = load_cases()
#: linear algebra (8) is not in the first set
CONVENTIONS = {1, 2, 3, 4, 5, 6, 7, 9, 10, 11}


def test_every_primitive_has_a_table():
    assert {case.primitive for case in CASES} == {cls.key for cls in STANDARD}


def test_a_primitive_stands_in_one_family():
    keys = Counter(table.primitive for family in FAMILIES for table in tables(family))
    assert set(keys.values()) == {1}


def test_ids_are_unique():
    assert max(Counter(case.id for case in [*CASES, *load_error_cases()]).values()) == 1


@pytest.mark.parametrize("number", sorted(CONVENTIONS))
def test_every_convention_has_a_named_case(number):
    assert [
        case.id
        for case in CASES
        if case.note.startswith(f"convention {number}:") or f"convention {number}:" in case.note
    ]


def test_conventions_are_known():
    named = {int(n) for case in CASES for n in re.findall(r"convention (\d+)", case.note)}
    assert named == CONVENTIONS


@pytest.mark.parametrize(
    "edge", ["empty", "scalar", "size1_axis", "wide", "tall", "non_contiguous", "nan", "inf",
        "negative_zero", "complex",
             "broadcast", "large"],
)  # fmt: skip
def test_named_edges_exist(edge):
    assert any(case.edge == edge for case in CASES)


@pytest.mark.parametrize("primitive", sorted({case.primitive for case in CASES}))
def test_every_primitive_has_a_value_and_an_edge(primitive):
    mine = [case for case in CASES if case.primitive == primitive]
    assert any(case.expected is not None for case in mine)
    assert any("empty" in case.edge for case in mine) or primitive in (
        "std::convert",
        "std::debug_callback",  # its value is a token
        "std::stop_gradient",
    )


def test_every_case_is_guarded():
    for case in CASES:
        dtypes = {x.dtype for x in [*case.inputs, *(case.expected or ())]}
        assert ("f64" in case.features) == bool(dtypes & {"float64", "complex128"}), case.id
        is_complex = bool(dtypes & {"complex64", "complex128"})
        assert ("complex" in case.features) == is_complex or case.observe, case.id


def test_every_derivative_that_is_smooth_is_stored():
    """Differences serve where positions come out too, as of ``top_k``, for linear maps, and where
    the order of eigenvalues is the backend's"""
    smooth = [c for c in CASES if c.grad and c.grad.smooth and c.edge != "large"]
    smooth = [c for c in smooth if all("int" not in y.dtype for y in c.expected or ())]
    smooth = [c for c in smooth if c.edge not in ("key_of_another_dtype", "complex_moduli")]
    assert [c.id for c in smooth if not c.grad.derivatives and not _is_linear(c)] == []


def _is_linear(case):
    groups = operation_of(case).groups(len(case.inputs))
    return set(case.grad.wrt) <= {i for group in groups for i in group}


def test_law_inputs_depend_on_the_id_alone():
    assert (
        draw("std::sin/scalar/float64", (2,), "float64").data
        == draw("std::sin/scalar/float64", (2,), "float32").data
    )
    assert draw("a", (3,), "float64") != draw("b", (3,), "float64")
    assert draw("std::sin/scalar/float64", (2,), "float64").data == (1.0625, -2.0)


def test_stored_inputs_are_those_of_the_tables():
    assert stale_inputs() == []


def test_non_contiguous_inputs_are_not_contiguous():
    strided = [
        c.inputs[0].array() for c in CASES if c.edge == "non_contiguous" and c.inputs[0].shape
    ]
    assert strided
    assert sum(x.flags.c_contiguous for x in strided) < len(strided) / 10


MINE = table(
    "mine::twice", Row(edge="one", inputs=([1.0],), expected=[2.0], dtypes=("float64",)), level=1
)
TWICE = tuple(MINE.cases({}))


@pytest.mark.parametrize(
    "published",
    [MINE, TWICE[0], [MINE], TWICE, (case for case in TWICE), [[MINE]]],
    ids=["table", "case", "tables", "cases", "iterator", "nested"],
)
def test_an_author_publishes_cases_or_tables(published):
    """No form is left out in silence."""
    assert tuple(cases_in(published, "mine")) == TWICE


@pytest.mark.parametrize("published", [None, 3, "mine", [MINE, "mine"]], ids=repr)
def test_anything_else_is_refused_by_the_name_of_the_entry_point(published):
    with pytest.raises(ProfileError, match=r"'mine' of tenferro\.conformance"):
        list(cases_in(published, "mine"))


@pytest.mark.parametrize(
    "key, row, text",
    [
        ("std::reduce_sum", {}, "params={}"),
        ("std::reduce_sum", {"params": {"axis": 0}}, "params={'axis': 0}"),
        ("std::slogdet", {"expected": [1.0, 0.0]}, "states 1 of 2 results"),
        ("std::add", {"inputs": ([1.0],)}, "takes 2 inputs, the row gives 1"),
    ],
)
def test_a_row_that_does_not_fit_its_primitive_is_refused_by_name(key, row, text):
    usual = {"inputs": ([[1.0, 0.0], [0.0, 1.0]],), "expected": None}
    made = table(key, Row(edge="mine", **{**usual, **row}), level=1)
    case = next(made.cases({}))
    with pytest.raises(ProfileError, match=f"{key}/mine/") as caught:
        check_case(case)
    assert text in str(caught.value)


def test_a_class_of_tolerance_that_does_not_exist_is_refused():
    with pytest.raises(ValueError, match=r"'linear'\n.*exact, rounded, elementary"):
        table("acme::mean", Row(edge="mine", inputs=(1.0,)), level=1, tol="linear")


@pytest.mark.parametrize("kinds", [None, ("float64", None)])
def test_complex_numbers_of_an_operand_that_is_real_are_refused(kinds):
    """a row says the dtypes of its operands"""
    row = Row(edge="both", inputs=([1 + 2j], [2.0]), kinds=kinds, expected=None)
    with pytest.raises(ValueError, match=r"acme::two/both: operand 0 .* complex.*(?s:.*)kinds"):
        table("acme::two", row, level=1)
    good = Row(edge="both", inputs=([1 + 2j], [2]), dtypes=COMPLEX, kinds=(None, "int32"))
    assert table("acme::two", good, level=1).rows == (good,)


def registered(monkeypatch, table):
    late = []
    monkeypatch.setattr(selection, "_late_cases", late)
    selection.register_cases(table)
    return late


def published(monkeypatch, table):
    monkeypatch.setattr(selection, "_loaded", lambda name: table)
    return selection._published_cases.__wrapped__("mine")


@pytest.mark.parametrize("door", [registered, published])
@pytest.mark.parametrize("closed", [frozenset(), frozenset({"bf16"})], ids=["with", "without"])
def test_bfloat16_cases_need_its_library_by_each_door(door, closed, monkeypatch):
    monkeypatch.setattr(selection, "closed_features", lambda: closed)
    mine = table("mine::double", *elementwise_rows(partial(grid, -2, 2)), level=1)
    dtypes = {x.dtype for case in door(monkeypatch, mine) for x in case.inputs}
    assert {"float32", "float64"} < dtypes
    assert ("bfloat16" in dtypes) == (not closed)
