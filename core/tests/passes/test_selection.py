"""Which passes run: all, none, these, or all but those; a wrong name lists the names."""

import pytest
from graphs import apply, graph_of, value

from tenferro import UnknownPassError
from tenferro.passes import NAMES, optimized, selected
from tenferro.primitives.arithmetic import Add, Neg


@pytest.mark.parametrize(
    "choice, expected",
    [
        ("all", set(NAMES)),
        ("none", set()),
        ((), set()),
        (["fold"], {"fold"}),
        (("cse", "fold"), {"cse", "fold"}),
        ({"fold": False}, set(NAMES) - {"fold"}),
        ({"fold": True}, set(NAMES)),
        (None, set(NAMES)),
    ],
    ids=lambda names: str(sorted(names) if isinstance(names, set) else names),
)
def test_a_choice_is_a_set_of_names(choice, expected):
    assert selected(choice) == expected


def test_a_mapping_changes_the_default():
    assert selected({"fold": True}, "none") == {"fold"}
    assert selected({"fold": False}, ("fold", "cse")) == {"cse"}
    assert selected(None, ("cse",)) == {"cse"}


@pytest.mark.parametrize("choice", ["foldd", ["foldd"], {"foldd": True}, 3], ids=str)
def test_an_unknown_name_is_refused_with_the_names(choice):
    with pytest.raises(UnknownPassError) as caught:
        selected(choice)
    assert caught.value.names == NAMES
    assert all(name in str(caught.value) for name in NAMES)


def test_a_near_name_is_suggested():
    with pytest.raises(UnknownPassError, match="did you mean 'fold'"):
        selected(["foldd"])


def test_the_report_counts_what_each_pass_did():
    x = value("x")
    graph = graph_of(apply(Neg(), apply(Neg(), apply(Add(), x, x))))
    found, report = optimized(graph)
    assert report.rewritten["simplify"] == 1
    assert (report.before, report.after) == (3, 1) == (len(graph), len(found))
    assert str(report) == "simplify: 1 rewritten; 3 equations before, 1 after"
    assert str(optimized(found)[1]) == "nothing to rewrite"
    assert str(optimized(graph, "none")[1]) == "none ran"


def test_a_graph_without_anything_to_do_is_the_same_object():
    x = value("x")
    graph = graph_of(apply(Add(), x, x))
    assert optimized(graph)[0] is graph


def test_inputs_stay_even_if_nothing_reads_them_any_more():
    x, y = value("x"), value("y")
    graph = graph_of(apply(Neg(), apply(Neg(), x)), inputs=[y, x])
    found, _ = optimized(graph)
    assert found.inputs == (y, x)
    assert found.outputs == (1,)


def test_the_depth_of_a_graph_does_not_matter():
    key = value("x", shape=())
    for _ in range(30_001):
        key = apply(Neg(), key)
    found, report = optimized(graph_of(key), ["simplify"])
    assert (len(found), report.rewritten["simplify"]) == (1, 15_000)
