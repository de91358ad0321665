"""Bodies of loops and branches come back as the same objects, each written once."""

import json

import pytest
from toy_documents import DEEP, FORMS, Body, Opaque, samples
from toy_graphs import OPERATIONS, Repeat, add, derive_one, input_key, loops

from tenferro.computegraph import Fragment, Graph, Operation, SerializationError, inputs_of
from tenferro.storage import from_json, to_json


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
