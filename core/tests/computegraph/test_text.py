"""Everything prints as text that a person reads and a test compares."""

import pytest
from toy_graphs import (
    Alias,
    Const,
    Mul,
    Scale,
    Sum,
    add,
    derive_one,
    dup,
    exp,
    flat,
    input_key,
    mul,
    names,
    neg,
    program,
)

from tenferro.computegraph import Graph, Linearized, Operation, clip, operation_text


class Axis(Operation):
    axes: tuple
    kind: object = None


class Kind:
    short = "f64"


def expression():
    x, a = names("x", "a", aval="f64[2]")
    return [x, a], [exp(mul(x, a))]


def test_a_graph_prints(golden):
    golden("graph_exp_of_product", Graph.of(*expression()))


def test_a_materialized_graph_prints_like_the_graph(golden):
    golden("graph_exp_of_product", flat(expression()[1], expression()[0]))


def test_a_program_prints(golden):
    golden("program_exp_of_product", program(expression()[1], expression()[0]))


def test_operations_of_many_forms_print(golden):
    x = input_key("x", "f64")
    first, second = dup(x)
    outputs = [derive_one(Sum(), (first, second, x)), derive_one(Const(-0.0), ())]
    outputs += [derive_one(Scale(0.5), (derive_one(Alias(7), (x,)),)), x]
    golden("graph_of_many_forms", Graph.of([x, input_key(("p", 1), None)], outputs))


def linear_graph():
    x, dx = input_key("x", "f64"), input_key("dx", "f64")
    parent = Graph.of([x], [exp(x)])
    flow = derive_one(Mul(), (exp(x), dx), Linearized((False, True)))
    back = derive_one(Mul(), (dx, x), Linearized((True, False), transposed=True))
    return Graph.of([dx], [flow, back, x], parents=[parent])


def test_a_linear_graph_marks_active_operands_and_external_values(golden):
    golden("linear_graph", linear_graph())


def test_an_unknown_aval_is_not_printed(golden):
    golden("graph_without_avals", Graph.of([], [neg(input_key("x"))]))


def test_an_empty_graph_prints(golden):
    golden("graph_empty", Graph.of([], []))


@pytest.mark.parametrize(
    "operation, text",
    [
        (Scale(2.0), "scale[by=2.0]"),
        (Axis((1,)), "axis[axes=(1,), kind=None]"),
        (Axis((1, (2, "f")), Kind()), "axis[axes=(1, (2, 'f')), kind=f64]"),
        (Axis(()), "axis[axes=(), kind=None]"),
        (Axis(tuple(range(100))), "axis[axes=(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 1…99), kind=None]"),
    ],
)
def test_an_operation_prints_its_parameters_briefly(operation, text):
    assert operation_text(operation) == text


def test_long_names_are_clipped_in_the_middle():
    assert clip("x" * 40) == "x" * 40
    assert clip("x" * 50 + "end") == "x" * 36 + "…end"


def test_text_is_linear_in_the_graph():
    def doublings(count):
        x = input_key("x", "f64")
        for _ in range(count):
            x = add(x, x)
        return len(str(Graph.of([], [x])))

    assert doublings(60) == doublings(30) + 30 * (doublings(31) - doublings(30))
    assert doublings(60) < 4000


def test_reprs_are_short():
    graph = Graph.of(*expression())
    assert repr(graph) == "<Graph of 2 nodes, 2 inputs>"
    assert repr(flat(graph.output_keys)) == "<MaterializedGraph of 2 nodes, 2 inputs>"
    assert len(repr(flat(graph.output_keys).structure)) < 30
