"""A graph owns its nodes, declares inputs and outputs in order, and names other graphs' values."""

import pickle

import pytest
from toy_graphs import (
    Add,
    Alias,
    Dup,
    Exp,
    Mul,
    Sub,
    add,
    chain,
    dup,
    exp,
    flat,
    mul,
    names,
    neg,
    sub,
)

from tenferro.computegraph import (
    PRIMARY,
    DuplicateInputError,
    External,
    Graph,
    GraphBuilder,
    GraphError,
    Linearized,
    Local,
    OperationKey,
    derive,
    derive_one,
    input_key,
    retire,
)


def test_a_builder_of_one_input():
    builder = GraphBuilder()
    x = builder.input("x", "f64")
    graph = builder.build()
    assert (x, graph.inputs, graph.nodes) == (Local(0), (Local(0),), ())
    assert graph.input_keys == (input_key("x", "f64"),)


def test_a_builder_gives_one_operation_its_key():
    builder = GraphBuilder()
    x, y = builder.input("x"), builder.input("y")
    (z,) = builder.apply(Add(), x, y)
    assert builder.key(z) is add(*(input_key(name) for name in "xy"))
    operation, inputs, outputs, role = builder.build().nodes[0]
    assert (operation, inputs, outputs, role) == (Add(), (x, y), (z,), PRIMARY)
    assert derive(*OperationKey(Add(), (builder.key(x), builder.key(y)))) == (builder.key(z),)


def test_a_chain_has_four_values_and_two_operations():
    builder = GraphBuilder()
    x, a = builder.input("x"), builder.input("a")
    (ax,) = builder.apply(Mul(), x, a)
    (y,) = builder.apply(Exp(), ax)
    builder.output(y)
    graph = builder.build()
    assert (len(graph.keys), len(graph)) == (4, 2)
    assert graph.output_keys == (exp(mul(input_key("x"), input_key("a"))),)


def test_dup_has_slots_0_and_1():
    builder = GraphBuilder()
    first, second = builder.apply(Dup(), builder.input("x"))
    assert [builder.key(local).slot for local in (first, second)] == [0, 1]
    assert len(builder.build()) == 1


def test_a_node_added_twice_is_one_node():
    builder = GraphBuilder()
    x = builder.input("x")
    assert builder.apply(Exp(), x) == builder.apply(Exp(), x)
    assert builder.apply(Dup(), x) == builder.apply(Dup(), x)
    assert len(builder.build()) == 2


def test_the_role_tells_nodes_apart():
    builder = GraphBuilder()
    x, y = builder.input("x"), builder.input("y")
    builder.apply(Mul(), x, y)
    builder.apply(Mul(), x, y, role=Linearized((False, True)))
    assert len(builder.build()) == 2


def test_an_input_declared_twice_is_refused():
    builder = GraphBuilder()
    builder.input("x")
    with pytest.raises(DuplicateInputError) as error:
        builder.input("x")
    assert error.value.input is input_key("x")
    with pytest.raises(DuplicateInputError):
        Graph.of([input_key("x"), input_key("x")], [input_key("x")])


def test_outputs_may_repeat_and_may_be_inputs():
    x = input_key("x")
    graph = Graph.of([x], [exp(x), x, exp(x)])
    assert graph.output_keys == (exp(x), x, exp(x))
    assert graph.outputs == (Local(1), Local(0), Local(1))


def test_a_graph_is_collected_from_its_outputs():
    x, a, unused = names("x", "a", "unused")
    graph = Graph.of([a, unused], [exp(mul(a, x))])
    assert graph.input_keys == (a, unused, x)
    assert [node.operation for node in graph.nodes] == [Mul(), Exp()]


def test_a_derived_value_may_be_an_input():
    x = input_key("x")
    y = exp(x)
    graph = Graph.of([y], [mul(y, y)])
    assert graph.input_keys == (y,)
    assert len(graph) == 1


def test_a_graph_refers_to_values_of_its_parents():
    x = input_key("x")
    parent = Graph.of([x], [exp(x)])
    child = Graph.of([], [mul(exp(x), x)], parents=[parent])
    assert child.input_keys == ()
    assert child.nodes[0].inputs == (External(exp(x)), External(x))
    assert child.parents == (parent,)


def test_an_output_may_be_a_value_of_a_parent():
    x = input_key("x")
    child = Graph.of([], [exp(x)], parents=[Graph.of([x], [exp(x)])])
    assert child.outputs == (External(exp(x)),)
    assert child.output_keys == (exp(x),)


def test_a_value_of_no_graph_is_refused_as_an_output():
    with pytest.raises(GraphError) as error:
        GraphBuilder().output(input_key("stranger"))
    assert error.value.value is input_key("stranger")


def test_local_ids_never_leave_their_graph():
    x, y = names("x", "y")
    assert Graph.of([x, y], [add(x, y)]).output_keys == Graph.of([y, x], [add(x, y)]).output_keys


def test_the_order_of_nodes_depends_on_the_structure_alone():
    x, y = names("x", "y")
    late = exp(y)
    early = exp(x)
    first = str(Graph.of([x, y], [sub(early, late)]))
    del late, early
    held = [exp(x), exp(y)]
    assert str(Graph.of([x, y], [sub(*held)])) == first


def test_pickling_keeps_identity():
    x, y = names("x", "y")
    first, second = dup(exp(x))
    graph = Graph.of([y, x], [mul(first, y), second, x])
    again = pickle.loads(pickle.dumps(graph))
    assert again.output_keys == graph.output_keys
    assert again.input_keys == graph.input_keys
    assert str(again) == str(graph)


def test_pickling_keeps_roles():
    x, y = names("x", "y")
    linear = derive_one(Mul(), (x, y), Linearized((False, True), transposed=True))
    graph = Graph.of([x, y], [linear])
    assert pickle.loads(pickle.dumps(graph)).output_keys == (linear,)


def test_pickling_keeps_identity_whenever_inputs_were_declared():
    builder = GraphBuilder()
    x = builder.input("x")
    (y,) = builder.apply(Exp(), x)
    z = builder.input("z")
    builder.output(*builder.apply(Sub(), z, y))
    graph = builder.build()
    assert pickle.loads(pickle.dumps(graph)).output_keys == graph.output_keys


def test_a_value_that_was_cut_is_an_input_of_the_pickled_graph():
    x = input_key("x", "f64")
    cut = pickle.loads(pickle.dumps(Graph.of([exp(x), dup(x)[0]], [mul(exp(x), dup(x)[0])])))
    assert [key.aval for key in cut.input_keys] == ["f64", "f64"]
    assert cut.output_keys == (mul(*cut.input_keys),)


@pytest.mark.parametrize("outputs", [lambda x: [mul(exp(x), x)], lambda x: [exp(x)]])
def test_only_a_closed_graph_is_pickled(outputs):
    x = input_key("x")
    child = Graph.of([], outputs(x), parents=[Graph.of([x], [exp(x)])])
    with pytest.raises(GraphError, match="materialize") as error:
        pickle.dumps(child)
    assert error.value.graph is child


def test_materialized_graphs_pickle():
    x, y = names("x", "y")
    graph = flat([mul(exp(x), y), x], [y, x])
    again = pickle.loads(pickle.dumps(graph))
    assert str(again) == str(graph)
    assert again.inputs == graph.inputs
    assert again.structure == graph.structure


def test_pickled_inputs_of_one_name_stay_apart():
    x = input_key("x", "f64")
    graph = flat([mul(exp(x), chain(x, 2))], [exp(x), chain(x, 2)])
    again = pickle.loads(pickle.dumps(graph))
    assert len(set(again.inputs)) == 2
    assert again.structure == graph.structure


def test_transparent_operations_are_nodes_of_a_graph():
    x = input_key("x")
    assert len(Graph.of([x], [exp(derive_one(Alias(1), (x,)))])) == 2


def test_a_collected_graph_stays_when_a_value_of_it_forgets_where_it_comes_from():
    x = input_key("x", "f64")
    y = exp(x)
    z = neg(y)
    read, unread = Graph.of([x], [z]), Graph.of([x], [z])
    text = str(read)
    y.operand = 2.0
    retire(y)
    assert str(unread) == str(read) == text


def test_a_collected_graph_has_all_outputs_of_its_equations():
    x = input_key("x")
    first, second = dup(neg(x))
    graph = Graph.of([x], [second])
    assert graph.keys == (x, neg(x), first, second)
    assert [node.outputs for node in graph.nodes] == [(1,), (2, 3)]
    assert graph.outputs == (3,)


def test_equations_of_a_collected_graph_read_parents_by_key():
    x = input_key("x")
    y = neg(x)
    child = Graph.of([], [exp(y), y], [Graph.of([x], [y])])
    assert child.keys == (exp(y),)
    assert child.nodes[0].inputs == (External(y),)
    assert child.outputs == (0, External(y))
