"""Graphs of loops and branches, and of their derivatives, are written as text and come back."""

import json

import numpy as np
import pytest

import tenferro as tn
from tenferro.primitives import STANDARD, Aval, DType
from tenferro.storage import Codec, StoredArray, fingerprint, from_json, to_json

CODECS = {
    "aval": Codec(Aval, lambda x: (x.shape, x.dtype), lambda parts: Aval(*parts)),
    "dtype": Codec(DType, lambda x: x.name, DType.of),
}
OPERATIONS = {cls.key: cls for cls in STANDARD}
ROWS = np.array([0.3, -0.2, 0.5])


def nested(w):
    def outer(c, r):
        def inner(d, q):
            return tn.cond(q > 0, lambda d: d * np.sin(w * q), lambda d: d * r, d), None

        d = tn.scan(inner, c, ROWS)[0]
        return tn.while_loop(lambda d: d > 4.0, lambda d: d / 2, d, max_steps=9), d

    c, ys = tn.scan(outer, 1.0 + w, ROWS)
    return c + np.sum(ys)


def in_a_file(w):
    return tn.scan(lambda c, r: (np.sin(c * r), None), w, ROWS, checkpoint=tn.offload())[0]


GRAPHS = {
    "value": nested,
    "grad": tn.grad(nested),
    "second": tn.grad(tn.grad(nested)),
    "jvp": lambda w: tn.jvp(nested, (w,), (1.0,))[1],
    "in a file": tn.grad(in_a_file),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_a_graph_with_loops_comes_back(name):
    """from_json(to_json(g)) has the text, the printed form and the fingerprint of g"""
    graph = tn.jit(GRAPHS[name]).lower(0.7)
    arrays: dict[str, StoredArray] = {}
    text = to_json(graph, codecs=CODECS, arrays=arrays)
    again = from_json(text, operations=OPERATIONS, codecs=CODECS, arrays=arrays)
    assert json.loads(text)["schema"] == 2
    assert to_json(again, codecs=CODECS, arrays={}) == text
    assert fingerprint(again, codecs=CODECS) == fingerprint(graph, codecs=CODECS)
    for node, other in zip(graph.nodes, again.nodes, strict=True):
        assert node.operation is other.operation


def test_a_loop_over_a_rule_of_the_user_is_refused_as_text_and_has_a_fingerprint():
    """A text would lose the rule; the fingerprint is of the values, which do not depend on it"""
    tripled = tn.custom_vjp(np.sin)
    tripled.defvjp(lambda x: (np.sin(x), x), lambda x, g: (3 * g * np.cos(x),))

    def graph(f):
        return tn.jit(lambda x: tn.scan(lambda c, r: (f(c) * r, None), x, ROWS)[0]).lower(0.5)

    with pytest.raises(tn.SerializationError, match="cannot be written"):
        to_json(graph(tripled), codecs=CODECS, arrays={})
    found = fingerprint(graph(tripled), codecs=CODECS)
    assert found == fingerprint(graph(np.sin), codecs=CODECS)
    assert found != fingerprint(graph(np.cos), codecs=CODECS)
