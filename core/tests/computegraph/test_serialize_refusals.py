"""What cannot be trusted is refused with fields, and calls nothing but the classes given."""

import json

import pytest
from toy_documents import (
    CODECS,
    DEEP,
    FORMS,
    Cast,
    Kind,
    Opaque,
    Shaped,
    nested,
    samples,
)
from toy_graphs import (
    OPERATIONS,
    RULES,
    Neg,
    chain,
    derive_one,
    exp,
    input_key,
    program,
    sub,
)

from tenferro.computegraph import Graph, GraphError, Operation, SerializationError
from tenferro.storage import SCHEMA, Codec, from_json, to_json


def test_a_type_without_a_codec_is_refused():
    x = input_key("x", Shaped((2, 3), Kind.SINGLE))
    with pytest.raises(SerializationError, match="Codec") as error:
        to_json(Graph.of([x], []))
    assert (error.value.type, error.value.value) == (Shaped, x.aval)


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
