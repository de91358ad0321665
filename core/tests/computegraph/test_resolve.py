"""A view finds the definition of a value across graphs, and never guesses."""

import pytest
from toy_graphs import Exp, Mul, exp, mul, names, neg

from tenferro.computegraph import (
    PRIMARY,
    External,
    Graph,
    GraphBuilder,
    InputDef,
    KeyView,
    Produced,
    UnresolvedValueError,
    input_key,
    materialize_merge,
    resolve,
)


def across(x):
    """Three graphs: each names the one before as its parent."""
    first = Graph.of([x], [exp(x)])
    second = Graph.of([], [neg(exp(x))], parents=[first])
    return first, second, Graph.of([], [mul(neg(exp(x)), x)], parents=[second, first])


def test_one_graph_defines_its_values():
    x, a = names("x", "a")
    view = resolve([Graph.of([x, a], [exp(mul(a, x))])])
    assert view.resolve_value(x) == InputDef(x)
    assert view.resolve_value(mul(a, x)) == Produced(Mul(), (a, x), PRIMARY, 0)
    assert view.resolve_value(exp(mul(a, x))) == Produced(Exp(), (mul(a, x),), PRIMARY, 0)


def test_parents_are_searched_recursively():
    x = input_key("x")
    first, second, third = across(x)
    view = resolve([third])
    assert set(view.graphs) == {first, second, third}
    assert view.resolve_value(exp(x)) == Produced(Exp(), (x,), PRIMARY, 0)
    assert view.resolve_value(x) == InputDef(x)


def test_a_shared_parent_is_in_the_view_once():
    x = input_key("x")
    parent = Graph.of([x], [exp(x)])
    children = [Graph.of([], [op(exp(x))], parents=[parent]) for op in (neg, exp)]
    assert len(resolve(children).graphs) == 3


def test_an_unknown_value_is_none():
    x, y = names("x", "y")
    assert resolve([Graph.of([x], [exp(x)])]).resolve_value(y) is None
    assert resolve([Graph.of([x], [exp(x)])]).resolve_value(neg(x)) is None
    assert resolve([]).resolve_value(x) is None


def test_a_value_that_another_graph_produces_is_no_input():
    x = input_key("x")
    consumer = Graph.of([exp(x)], [neg(exp(x))])
    producer = Graph.of([x], [exp(x)])
    assert resolve([consumer]).resolve_value(exp(x)) == InputDef(exp(x))
    assert isinstance(resolve([consumer, producer]).resolve_value(exp(x)), Produced)


def test_an_unresolved_external_value_is_an_error():
    stranger = exp(input_key("stranger", "f64"))
    builder = GraphBuilder()
    builder.output(*builder.apply(Mul(), builder.input("x", "f64"), External(stranger)))
    graph = builder.build()
    with pytest.raises(UnresolvedValueError) as error:
        materialize_merge(resolve([graph]), graph.output_keys)
    assert error.value.value is stranger
    assert error.value.graphs == (graph,)


def test_the_error_names_value_and_graphs_on_a_line_each(golden):
    with pytest.raises(UnresolvedValueError) as error:
        resolve([Graph.of([input_key("x")], [])]).definition(exp(input_key("y", "f64")))
    golden("error_unresolved_value", error.value)


def test_an_empty_view_is_named_too():
    with pytest.raises(UnresolvedValueError, match="no graph"):
        resolve([]).definition(input_key("x"))


def test_resolving_copies_nothing():
    x = input_key("x")
    first, _, third = across(x)
    assert resolve([third]).graphs[0] is third
    assert first.index is first.index


def test_the_key_view_defines_every_key_by_itself():
    x = input_key("x")
    assert KeyView().resolve_value(exp(x)) == Produced(Exp(), (x,), PRIMARY, 0)
    assert KeyView().resolve_value(x) == InputDef(x)
    assert materialize_merge(KeyView(), [exp(x)]).inputs == (x,)
