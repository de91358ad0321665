"""What is written comes back exactly, and what cannot be trusted is refused with fields."""

import json
import math
import struct
from enum import Enum

import pytest
from toy_graphs import (
    OPERATIONS,
    RULES,
    Add,
    Alias,
    Const,
    Exp,
    Mul,
    Neg,
    Repeat,
    Scale,
    add,
    chain,
    derive_one,
    dup,
    exp,
    flat,
    input_key,
    loops,
    mul,
    names,
    program,
    sub,
)

from tenferro.computegraph import (
    CompiledProgram,
    Fragment,
    Graph,
    GraphError,
    Instruction,
    Linearized,
    MaterializedNode,
    Operation,
    SerializationError,
    canonical,
    inputs_of,
)
from tenferro.computegraph._materialize import Structure
from tenferro.storage import (
    SCHEMA,
    Codec,
    StoredArray,
    from_json,
    operation_name,
    read_npy,
    to_json,
    write_npy,
)


class Kind(Enum):
    SINGLE = 4
    DOUBLE = 8


class Shaped:
    """A stand-in for the aval of an upper layer."""

    def __init__(self, shape, kind):
        self.shape, self.kind = shape, kind

    def __eq__(self, other):
        return (self.shape, self.kind) == (other.shape, other.kind)

    def __hash__(self):
        return hash((self.shape, self.kind))


class Cast(Operation):
    key = "toy::cast"
    version = 3
    to: Kind

    def abstract_eval(self, x):
        return Shaped(x.shape, self.to)


class Body(Operation):
    body: object


CODECS = {
    "kind": Codec(Kind, lambda kind: kind.name, lambda name: Kind[name]),
    "aval": Codec(Shaped, lambda a: (a.shape, a.kind), lambda parts: Shaped(*parts)),
}


def nan(pattern):
    return struct.unpack("<d", struct.pack("<Q", pattern))[0]


def nested(depth):
    value = ()
    for _ in range(depth):
        value = (value,)
    return value


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


def samples():
    x, y = names("x", "y")
    first, second = dup(exp(x))
    linear = derive_one(Mul(), (x, y), Linearized((False, True), transposed=True))
    return {
        "chain": ([x], [exp(chain(x, 3))]),
        "sharing": ([y, x], [add(exp(x), mul(exp(x), y)), x]),
        "slots": ([x, y], [mul(first, y), second, second]),
        "roles": ([x, y], [linear, mul(x, y)]),
        "parameters": ([x], [derive_one(Scale(-0.0), (x,)), derive_one(Const((1, 1.0)), ())]),
        "names": ([input_key(("x", 1)), input_key(("x", True)), input_key(2.5)], []),
        "pin": ([x], [derive_one(Alias(3), (x,))]),
        "empty": ([], []),
    }


def reread(graph, **options):
    return from_json(to_json(graph, **options), operations=OPERATIONS, **options)


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
    steps = [Instruction(*rows[0], (), role, None), Instruction(*rows[1], (1, 2), role, None)]
    made = CompiledProgram(["x"], steps, [3, 0], avals, Structure(1, nodes, [3, 0]))
    again = from_json(to_json(made), operations={**OPERATIONS, "halves": Halves})
    assert [step[:3] for step in again.instructions] == rows
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


def test_a_type_without_a_codec_is_refused():
    x = input_key("x", Shaped((2, 3), Kind.SINGLE))
    with pytest.raises(SerializationError, match="Codec") as error:
        to_json(Graph.of([x], []))
    assert (error.value.type, error.value.value) == (Shaped, x.aval)


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


def test_two_classes_of_one_name_are_refused():
    other = type("Neg", (Operation,), {})
    x = input_key("x", "f64")
    with pytest.raises(SerializationError, match="both named 'neg'") as error:
        to_json(Graph.of([x], [derive_one(other(), (chain(x, 1),))]))
    assert error.value.operation == "neg"


def test_only_a_closed_graph_is_written():
    x = input_key("x")
    child = Graph.of([], [sub(exp(x), x)], parents=[Graph.of([x], [exp(x)])])
    with pytest.raises(GraphError, match="materialize"):
        to_json(child)


def test_an_unknown_operation_is_refused():
    text = to_json(Graph.of(*samples()["chain"]))
    with pytest.raises(SerializationError, match="unknown") as error:
        from_json(text, operations={"neg": Neg})
    assert error.value.operation == "exp"


@pytest.mark.parametrize("schema", [SCHEMA + 1, 0, "1", True, None])
def test_another_schema_is_refused(schema):
    document = json.loads(to_json(Graph.of(*samples()["chain"])))
    with pytest.raises(SerializationError, match="schema") as error:
        from_json(json.dumps({**document, "schema": schema}), operations=OPERATIONS)
    assert (error.value.schema, error.value.need) == (schema, SCHEMA)


def test_another_version_of_an_operation_is_refused():
    x = input_key("x", Shaped((), Kind.SINGLE))
    text = to_json(Graph.of([x], [derive_one(Cast(Kind.DOUBLE), (x,))]), codecs=CODECS)
    newer = type("Newer", (Cast,), {"version": 4})
    with pytest.raises(SerializationError, match="version") as error:
        from_json(text, operations={"toy::cast": newer}, codecs=CODECS)
    assert (error.value.operation, error.value.version, error.value.need) == ("toy::cast", 3, 4)


def test_avals_that_changed_their_meaning_are_refused():
    other = type("Exp", (Operation,), {"abstract_eval": lambda self, x: "f32"})
    text = to_json(Graph.of(*samples()["chain"]))
    with pytest.raises(SerializationError, match="avals"):
        from_json(text, operations={**OPERATIONS, "exp": other})


FORMS = {
    "graph": lambda inputs, outputs: Graph.of(inputs, outputs),
    "materialized": lambda inputs, outputs: flat(outputs, inputs),
    "program": lambda inputs, outputs: program(outputs, inputs),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize(
    "gives",
    [lambda self, x: "f32", lambda self, x: 1 / 0, lambda self, x: x.shape, lambda self: None],
    ids=["another", "division", "attribute", "arguments"],
)
def test_avals_are_inferred_anew_in_every_form(form, gives):
    other = type("Exp", (Operation,), {"abstract_eval": gives})
    text = to_json(form(*samples()["chain"]))
    with pytest.raises(SerializationError):
        from_json(text, operations={**OPERATIONS, "exp": other})


@pytest.mark.parametrize("text", [None, 5, [], {}, object(), b"\xff", "", "null", "[]", "5"])
def test_what_is_no_text_of_a_graph_is_refused(text):
    with pytest.raises(SerializationError):
        from_json(text, operations=OPERATIONS)


def test_a_decoder_that_fails_is_named():
    text = to_json(Graph.of([input_key("x", Shaped((), Kind.SINGLE))], []), codecs=CODECS)
    refusing = {**CODECS, "kind": Codec(Kind, str, lambda name: 1 // 0)}
    with pytest.raises(SerializationError, match="division") as error:
        from_json(text, operations={}, codecs=refusing)
    assert error.value.codec == "kind"
    with pytest.raises(SerializationError, match="no codec") as error:
        from_json(text, operations={})
    assert error.value.codec == "kind"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "not json",
        "[]",
        "{}",
        '"text"',
        "[" * 100_000,
        '{"format": "something else"}',
        '{"format": "tenferro.computegraph", "schema": NaN}',
        '{"format": "tenferro.computegraph", "schema": 1.0}',
        b"\xff\xfe\xff",
        "9" * 5000,
    ],
)
def test_a_text_that_is_no_graph_is_refused(text):
    with pytest.raises(SerializationError):
        from_json(text, operations=OPERATIONS)


@pytest.mark.parametrize(
    "part, value",
    [
        ("kind", "other"),
        ("kind", None),
        ("nodes", None),
        ("nodes", [[0, 0, 0]]),
        ("nodes", [[0]]),
        ("nodes", [0]),
        ("nodes", [[9, 0, 0]]),
        ("nodes", [[0, 9, 0]]),
        ("nodes", [[0, 0, 0, 0]]),
        ("nodes", [[0, 0, 1]]),
        ("nodes", [[0, 0, -1]]),
        ("nodes", [[0, 0, True]]),
        ("nodes", [[0, 0, "0"]]),
        ("values", [0]),
        ("values", [0] * 9),
        ("values", [7] * 5),
        ("outputs", [99]),
        ("outputs", [-1]),
        ("outputs", {}),
        ("inputs", ["x", "x"]),
        ("inputs", [[["x"], {"list": []}]]),
        ("avals", [{"float": 1.5}]),
        ("avals", [{"float": "no number"}]),
        ("avals", [{"float": 1}]),
        ("avals", [{"complex": ["0x0p+0"]}]),
        ("avals", [{"int": "12z"}]),
        ("avals", [{"bytes": "0"}]),
        ("avals", [{"object": "os.system"}]),
        ("avals", [{"as": 1, "value": 2}]),
        ("avals", [{"as": "x"}]),
        ("avals", [{}]),
        ("avals", [{"graph": {"format": 1}}]),
        ("avals", [{"array": ["x"]}]),
        ("roles", [{"active": [1], "transposed": False}]),
        ("roles", [{"active": [True]}]),
        ("roles", ["primary"]),
        ("roles", [{"active": [True, True], "transposed": False}]),
        ("operations", [["neg", 1]]),
        ("operations", [["neg", 1, {"by": 2}]]),
        ("operations", [["scale", 1, {}]]),
        ("operations", [[["neg"], 1, {}]]),
        ("operations", [["neg", True, {"x": 1}]]),
        ("operations", [["const", 1, {"value": [[[]]]}]]),
    ],
)
@pytest.mark.parametrize("form", [lambda graph: graph, lambda graph: program(graph.output_keys)])
def test_a_malformed_part_is_refused(form, part, value):
    document = json.loads(to_json(form(Graph.of(*samples()["chain"]))))
    with pytest.raises(SerializationError):
        from_json(json.dumps({**document, part: value}), operations=OPERATIONS)


@pytest.mark.parametrize("slots", [[0, 1, 2, 3, 3], [0, 1, 2, 3], [1, 0, 2, 3, 4], 5])
def test_malformed_slots_are_refused(slots):
    document = json.loads(to_json(program(samples()["chain"][1])))
    with pytest.raises(SerializationError):
        from_json(json.dumps({**document, "slots": slots}), operations=OPERATIONS)


def test_a_parameter_that_the_class_refuses_is_named():
    picky = type("Neg", (Operation,), {"__post_init__": lambda self: 1 // 0})
    with pytest.raises(SerializationError, match="division") as error:
        from_json(to_json(Graph.of(*samples()["chain"])), operations={**OPERATIONS, "neg": picky})
    assert error.value.operation == "neg"


def loops_of(depth, aval="f64"):
    x, y = loops(depth, aval)
    return Graph.of([x], [y])


@pytest.mark.parametrize("make", FORMS.values(), ids=FORMS)
def test_fragments_come_back_as_the_same_objects(make):
    """from_json(to_json(g)) = g with loops in loops, each fragment written once"""
    x, y = loops(3)
    both = add(y, derive_one(Repeat(7, inputs_of(y.definition)[0].definition[0].body), (x,)))
    text = to_json(make([x], [both]))
    document = json.loads(text)
    assert (document["schema"], len(document["fragments"])) == (2, 3)
    again = from_json(text, operations=OPERATIONS)
    assert to_json(again) == text
    if isinstance(again, Graph):
        assert again.output_keys == (both,)


def test_a_graph_without_fragments_is_of_the_first_schema():
    """Files of earlier versions load, and earlier versions load what has no loop"""
    text = to_json(Graph.of(*samples()["chain"]))
    assert json.loads(text)["schema"] == 1
    assert "fragments" not in text
    both = json.dumps({**json.loads(text), "schema": 2, "fragments": []})
    assert to_json(from_json(both, operations=OPERATIONS)) == text


def test_a_fragment_in_a_parameter_of_an_upper_layer():
    """Behind a codec, and inside a graph among the parameters, which has a table of its own"""
    x, y = loops(2)
    body = inputs_of(y.definition)[0].definition[0].body
    inner = Graph.of([x], [y])
    outer = derive_one(Body((inner, Opaque(body))), (derive_one(Body(Opaque((body, 1))), (x,)),))
    graph = Graph.of([x], [outer])
    text = to_json(graph, codecs=DEEP)
    again = from_json(text, operations={**OPERATIONS, "body": Body}, codecs=DEEP)
    assert again.output_keys[0].definition[0].body[1].inside is body


def test_avals_inside_a_fragment_are_inferred_anew():
    other = type("Neg", (Operation,), {"abstract_eval": lambda self, x: "f32"})
    with pytest.raises(SerializationError, match="f32"):
        from_json(to_json(loops_of(2)), operations={**OPERATIONS, "neg": other})


def test_a_fragment_with_what_no_codec_knows_is_refused():
    x = input_key("x", "f64")
    body = Fragment.of([x], [derive_one(Body(Opaque(1)), (x,))])
    with pytest.raises(SerializationError, match="Opaque cannot be written"):
        to_json(Graph.of([x], [derive_one(Repeat(1, body), (x,))]))


@pytest.mark.parametrize(
    "part, value",
    [
        ("operations", [["toy::repeat", 1, {"times": 1, "body": {"fragment": 1}}]]),
        ("operations", [["toy::repeat", 1, {"times": 1, "body": {"fragment": -1}}]]),
        ("operations", [["toy::repeat", 1, {"times": 1, "body": {"fragment": True}}]]),
        ("operations", [["toy::repeat", 1, {"times": 1, "body": {"fragment": [0]}}]]),
        ("operations", {}),
        ("avals", ["f64", {"float": 1}]),
        ("avals", None),
        ("inputs", 99),
        ("inputs", -1),
        ("inputs", ["x"]),
        ("nodes", [0]),
        ("nodes", [[]]),
        ("nodes", [[0, 7]]),
        ("nodes", [[5, 0]]),
        ("values", [0]),
        ("values", [1] * 3),
        ("outputs", [9]),
        ("outputs", 0),
    ],
)
def test_a_malformed_fragment_is_refused(part, value):
    document = json.loads(to_json(loops_of(2)))
    row = {**document["fragments"][1], part: value}
    for rows in ([document["fragments"][0], row], [row, row]):
        with pytest.raises(SerializationError):
            from_json(json.dumps({**document, "fragments": rows}), operations=OPERATIONS)


@pytest.mark.parametrize("rows", [None, 5, [5], [[]], [{}]])
def test_a_malformed_table_of_fragments_is_refused(rows):
    document = json.loads(to_json(loops_of(1)))
    with pytest.raises(SerializationError):
        from_json(json.dumps({**document, "fragments": rows}), operations=OPERATIONS)
    without = {**document, "schema": 1}
    with pytest.raises(SerializationError):
        from_json(json.dumps(without), operations=OPERATIONS)


class Opaque:
    def __init__(self, inside):
        self.inside = inside


DEEP = {"opaque": Codec(Opaque, lambda value: value.inside, Opaque)}


def test_values_nested_too_deeply_are_not_written():
    with pytest.raises(SerializationError, match="nested"):
        to_json(Graph.of([input_key("x", Opaque(nested(500)))], []), codecs=DEEP)


@pytest.mark.parametrize("depth", [65, 500, 100_000])
def test_values_nested_too_deeply_are_not_read(depth):
    text = to_json(Graph.of([input_key("x", "f64")], []))
    with pytest.raises(SerializationError, match="nested"):
        from_json(text.replace('"f64"', "[" * depth + "]" * depth), operations=OPERATIONS)


def test_a_false_count_of_outputs_costs_no_memory():
    many = type("Many", (Operation,), {"output_count": property(lambda self: 10**12)})
    document = json.loads(to_json(Graph.of(*samples()["chain"])))
    with pytest.raises(SerializationError, match="values"):
        from_json(json.dumps(document), operations={**OPERATIONS, "neg": many})


def test_only_the_classes_given_are_called():
    called = []
    watch = {
        n: type(n, (c,), {"__post_init__": lambda s: called.append(s)})
        for n, c in OPERATIONS.items()
    }
    from_json(to_json(Graph.of(*samples()["sharing"])), operations=watch)
    assert {type(operation).__name__ for operation in called} == {"exp", "mul", "add"}
    assert len(RULES) == len(OPERATIONS) - 2
