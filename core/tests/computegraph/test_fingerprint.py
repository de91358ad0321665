"""A fingerprint is of what is computed, and the same in every process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from toy_graphs import (
    Add,
    Alias,
    Const,
    Mul,
    Repeat,
    Scale,
    add,
    derive_one,
    dup,
    exp,
    flat,
    input_key,
    mul,
    names,
    program,
    sub,
)

from tenferro.computegraph import (
    Fragment,
    Graph,
    GraphError,
    Linearized,
    Operation,
    SerializationError,
)
from tenferro.storage import Codec, StoredArray, fingerprint

HERE = Path(__file__).parent


class Keyed(Operation):
    key = "toy::keyed"
    value: object


class Body(Operation):
    key = "toy::body"
    body: object


def of(*outputs, inputs=None):
    return fingerprint(Graph.of(inputs or (), outputs))


def mixture():
    """A graph of keyed operations, so that the place of a class does not matter."""
    x = input_key("x", "f64")
    values = (1, 1.0, True, -0.0, float("nan"), 1j, "text", b"bytes", (1, (2,)), None, 2**100)
    values += (frozenset({"a", "b", "c", 1, 2.5}), StoredArray("<f8", (), bytes(8)))
    outputs = [derive_one(Keyed(value), (x,)) for value in values]
    return Graph.of([x], [*outputs, outputs[0]])


def test_graph_materialized_graph_and_program_agree():
    x, a = names("x", "a")
    outputs = [exp(mul(a, x)), x, dup(a)[1]]
    made = {fingerprint(make(outputs, [x, a])) for make in (flat, program)}
    assert made == {of(*outputs, inputs=[x, a])}


def test_names_of_inputs_do_not_matter():
    assert of(exp(mul(*names("x", "a")))) == of(exp(mul(*names("p", "q"))))


def test_roles_pins_and_merged_operations_do_not_matter():
    x, a = names("x", "a")
    linear = derive_one(Mul(), (x, a), Linearized((False, True)))
    pinned = mul(derive_one(Alias(9), (x,)), a)
    assert len({of(value, inputs=[x, a]) for value in (mul(x, a), linear, pinned)}) == 1


def test_known_operands_do_not_matter():
    x = input_key("known", "f64")
    before = of(exp(exp(x)))
    y = exp(x)
    y.operand = 1.0
    assert of(exp(y)) == before


def test_everything_else_matters():
    x, a = names("x", "a")
    single = input_key("x", "f32")
    made = [
        *(of(sub(x, a), inputs=pair) for pair in ([x, a], [a, x])),
        *(of(*outputs, inputs=[x, a]) for outputs in ([], [x], [a], [x, a], [x, x])),
        *(of(op(x, a), inputs=[x, a]) for op in (add, mul)),
        *(of(slot) for slot in dup(x)),
        *(of(derive_one(Scale(by), (x,))) for by in (1.0, 1, True, 0.0, -0.0, float("nan"))),
        *(of(exp(y)) for y in (x, single)),
        of(derive_one(Const(StoredArray("<i2", (1,), b"ab")), ())),
        of(derive_one(Const(StoredArray("<i2", (1,), b"ac")), ())),
    ]
    assert len(set(made)) == len(made)


def test_the_version_of_an_operation_matters():
    x = input_key("x", "f64")
    classes = [type("Same", (Operation,), {"key": "toy::same", "version": v}) for v in (1, 2, 1)]
    first, second, third = (of(derive_one(cls(), (x,))) for cls in classes)
    assert first != second
    assert first == third


def test_classes_of_one_name_differ_by_their_place():
    x, a = names("x", "a")
    other = type("Add", (Operation,), {"input_count": 2, "commutative": True})
    assert of(derive_one(other(), (x, a))) != of(derive_one(Add(), (x, a)))


def test_nested_graphs_count_by_their_structure():
    x = input_key("x", "f64")
    made = [
        of(derive_one(Body(Graph.of([], [exp(mul(*names(*pair)))])), (x,)))
        for pair in ("xa", "pq", "xx")
    ]
    assert made[0] == made[1] != made[2]


def test_codecs_are_needed_and_used():
    shape = type("Shape", (), {"size": 3})
    graph = Graph.of([input_key("x", shape())], [])
    with pytest.raises(SerializationError, match="Codec"):
        fingerprint(graph)
    made = [
        fingerprint(graph, codecs={tag: Codec(shape, lambda s, by=by: s.size * by, None)})
        for tag, by in (("a", 1), ("a", 1), ("b", 1), ("a", 2))
    ]
    assert made[0] == made[1]
    assert len(set(made)) == 3


def test_only_a_closed_graph_has_a_fingerprint():
    x = input_key("x")
    with pytest.raises(GraphError):
        fingerprint(Graph.of([], [sub(exp(x), x)], parents=[Graph.of([x], [exp(x)])]))


def test_the_digest_is_the_stored_one(golden):
    golden("fingerprint", fingerprint(mixture()))


@pytest.mark.parametrize("seed", ["0", "1", "4242"])
def test_the_digest_is_the_same_in_every_process(seed, golden):
    code = "import test_fingerprint as t; print(t.fingerprint(t.mixture()))"
    path = os.pathsep.join([str(HERE), *filter(None, sys.path)])
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    golden("fingerprint", done.stdout.strip())


def test_a_fingerprint_is_of_what_a_body_computes():
    """A change inside a loop in a loop counts; an operation that is removed or merged does not"""
    x = input_key("x", "f64")

    def looped(*outputs):
        inner = derive_one(Repeat(2, Fragment.of([x], outputs)), (x,))
        return of(derive_one(Repeat(2, Fragment.of([x], [exp(inner)])), (x,)), inputs=[x])

    same = looped(add(exp(x), x))
    assert same == looped(add(derive_one(Alias(3), (exp(x),)), x))
    assert len({same, looped(add(exp(x), exp(x))), looped(exp(x))}) == 3
