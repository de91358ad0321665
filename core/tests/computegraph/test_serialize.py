"""What is written comes back exactly."""

import math
import struct

import pytest
from toy_documents import CODECS, Body, Cast, Kind, Shaped, nan, nested, reread, samples
from toy_graphs import (
    OPERATIONS,
    Add,
    Const,
    Exp,
    Mul,
    derive_one,
    exp,
    flat,
    input_key,
    program,
)

from tenferro.computegraph import (
    CompiledProgram,
    Graph,
    MaterializedNode,
    Operation,
    SerializationError,
    canonical,
)
from tenferro.computegraph._materialize import Structure
from tenferro.storage import (
    StoredArray,
    from_json,
    operation_name,
    read_npy,
    to_json,
    write_npy,
)

EXACT = [
    *(None, True, False, 0, 1, -1, 2**53, -(2**64), 10**5000),
    *(0.0, -0.0, 1.0, 0.1, 5e-324, 1e308, math.inf, -math.inf, math.nan),
    *(nan(0x7FF8000000000001), nan(0xFFF8000000000000), nan(0x7FF0000000000001)),
    *(1j, complex(-0.0, math.nan), complex(math.inf, -0.0)),
    *("", "text", 'Ω 🜁 \n " \\', "\ud800", b"", b"\x00\xff"),
    *((), (1,), (1, (True, (1.0, ("x", b"y")))), nested(60)),
    *(frozenset(), frozenset({1, (2, 3.0)}), (frozenset({"b", "a"}),)),
    StoredArray("<f8", (2,), bytes(16)),
]


@pytest.mark.parametrize("value", EXACT, ids=lambda value: type(value).__name__)
def test_parameters_come_back_exactly(value):
    arrays = {}
    graph = Graph.of([], [derive_one(Const(value), ())])
    again = reread(graph, arrays=arrays)
    assert again.output_keys[0] is graph.output_keys[0]
    assert canonical(again.nodes[0].operation.value) == canonical(value)


@pytest.mark.parametrize("name", samples())
def test_a_graph_comes_back_as_the_same_keys(name):
    graph = Graph.of(*samples()[name])
    again = reread(graph)
    assert again.input_keys == graph.input_keys
    assert again.output_keys == graph.output_keys
    assert str(again) == str(graph)


@pytest.mark.parametrize("name", samples())
def test_a_materialized_graph_comes_back(name):
    graph = flat(samples()[name][1], samples()[name][0])
    again = reread(graph)
    assert (again.inputs, again.nodes, again.outputs) == (graph.inputs, graph.nodes, graph.outputs)
    assert (again.avals, again.structure) == (graph.avals, graph.structure)


@pytest.mark.parametrize("name", samples())
def test_a_program_comes_back(name):
    made = program(samples()[name][1], samples()[name][0])
    again = reread(made)
    assert again.instructions == made.instructions
    assert (again.input_names, again.outputs) == (made.input_names, made.outputs)
    assert (again.avals, again.structure) == (made.avals, made.structure)


class Halves(Operation):
    """Two outputs whose avals tell them apart."""

    output_count = 2

    def abstract_eval(self, x):
        return f"{x}1", f"{x}2"


def test_a_program_with_slots_in_another_order_comes_back():
    rows = [(Exp(), (0,), (2,)), (Halves(), (2,), (3, 1))]
    avals = ("a", "a2", "a", "a1")
    role = samples()["chain"][1][0].role
    nodes = [MaterializedNode(*row, role, None) for row in rows]
    made = CompiledProgram(["x"], nodes, [3, 0], avals, Structure(1, nodes, [3, 0]))
    again = from_json(to_json(made), operations={**OPERATIONS, "halves": Halves})
    assert [(step[:3], step.frees) for step in again.instructions] == [
        (rows[0], ()),
        (rows[1], (1, 2)),
    ]
    assert (again.outputs, again.avals, again.structure) == ((3, 0), avals, made.structure)


def test_writing_twice_gives_the_same_text():
    for inputs, outputs in samples().values():
        text = to_json(Graph.of(inputs, outputs))
        assert to_json(from_json(text, operations=OPERATIONS)) == text


def test_the_text_is_golden(golden):
    golden("json_graph", to_json(Graph.of(*samples()["roles"])).rstrip())
    golden("json_program", to_json(program(*reversed(samples()["slots"]))).rstrip())


def test_an_operation_is_named_by_its_key_or_its_name():
    assert operation_name(Cast) == "toy::cast"
    assert operation_name(Mul) == "mul"


def test_types_of_upper_layers_travel_through_codecs():
    x = input_key("x", Shaped((2, 3), Kind.SINGLE))
    graph = Graph.of([x], [derive_one(Cast(Kind.DOUBLE), (x,))])
    again = from_json(to_json(graph, codecs=CODECS), operations={"toy::cast": Cast}, codecs=CODECS)
    assert again.output_keys == graph.output_keys
    assert again.keys[1].aval == Shaped((2, 3), Kind.DOUBLE)


def test_a_name_without_a_codec_is_text_where_it_is_for_readers_alone():
    x = input_key(Kind.SINGLE, "f64")
    graph = Graph.of([x], [exp(x)])
    assert reread(flat(graph.output_keys)).input_names == ("Kind.SINGLE",)
    assert reread(program(graph.output_keys)).input_names == ("Kind.SINGLE",)
    with pytest.raises(SerializationError, match="Codec"):
        to_json(graph)


@pytest.mark.parametrize("kind", [Graph, lambda graph: flat(graph.output_keys), None])
def test_graphs_are_parameters(kind):
    body = Graph.of(*samples()["sharing"])
    inner = flat(body.output_keys) if kind else program(body.output_keys)
    inner = body if kind is Graph else inner
    x = input_key("x")
    text = to_json(Graph.of([x], [derive_one(Body(inner), (x,))]))
    again = from_json(text, operations={**OPERATIONS, "body": Body})
    assert str(again.nodes[0].operation.body) == str(inner)


def test_arrays_lie_beside_the_text(tmp_path):
    array = StoredArray("<f8", (2, 1), struct.pack("<2d", 1.5, -0.0))
    key, arrays = derive_one(Const((array, array)), ()), {}
    text = to_json(Graph.of([], [key]), arrays=arrays)
    ((name, stored),) = arrays.items()
    with (tmp_path / f"{name}.npy").open("wb") as file:
        write_npy(file, stored)
    with (tmp_path / f"{name}.npy").open("rb") as file:
        arrays = {name: read_npy(file)}
    assert from_json(text, operations=OPERATIONS, arrays=arrays).output_keys == (key,)


def test_an_array_needs_a_place():
    graph = Graph.of([], [derive_one(Const(StoredArray("<f8", (), bytes(8))), ())])
    with pytest.raises(SerializationError, match="arrays="):
        to_json(graph)
    with pytest.raises(SerializationError, match="missing") as error:
        from_json(to_json(graph, arrays={}), operations=OPERATIONS)
    assert len(error.value.array) == 64


def test_the_caller_may_give_other_names():
    given = {"plus": Add, "times": Mul, "e": Exp}
    graph = Graph.of(*samples()["sharing"])
    text = to_json(graph, operations=given)
    assert '"plus"' in text
    assert from_json(text, operations=given).output_keys == graph.output_keys
    with pytest.raises(SerializationError) as error:
        to_json(graph, operations={"plus": Add})
    assert error.value.operation == "exp"
