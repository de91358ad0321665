"""Printed graphs name tangents and cotangents: dx, ct_x, and at higher orders d2x, dct_x, ct2_x."""

import numpy as np
import pytest

import tenferro as tn
from tenferro.computegraph import MaterializedGraph

S = tn.Aval((), "float64")
X, V = 0.7, 1.3


def f(x):
    return np.exp(np.sin(x))


def forward(f):
    return lambda x, v: tn.jvp(lambda x: f(x), (x,), (v,))[1]


def along(f):
    """The derivative along a fixed direction."""
    return lambda x: tn.jvp(f, (x,), (V,))[1]


SIN, COS, EXP = np.sin(X), np.cos(X), np.exp(np.sin(X))
SECOND = EXP * (COS**2 - SIN)  # f″
#: transform, arguments, and what values of these names are, by the rules of calculus
NAMED = {
    "F": (forward(f), (X, V), {"d%2": COS * V, "d%3": EXP * COS * V}),
    "R": (tn.grad(f), (X,), {"ct_x": EXP * COS}),
    "FF": (lambda x, v: forward(along(f))(x, v), (X, V), {"d2%6": SECOND * V * V}),
    "FR": (forward(tn.grad(f)), (X, V), {"dct_x": SECOND * V}),
    "RF": (tn.grad(along(f)), (X,), {"ct2_x": SECOND * V}),
    "RR": (tn.grad(tn.grad(f)), (X,), {"ct2_x": SECOND}),
}


def values_of(graph, args):
    """The values that have a name, computed by their graph."""
    flat = graph.graph
    places = [*graph.labels]
    whole = MaterializedGraph(flat.inputs, flat.nodes, places, flat.avals)
    known = iter(args)
    given = [key.operand if i >= len(args) else next(known) for i, key in enumerate(flat.inputs)]
    slots = dict(enumerate(map(tn.asarray, given)))
    for node in whole.nodes:
        found = tn.primitives.bind_all(node.operation, *[slots[i] for i in node.inputs])
        slots.update(zip(node.outputs, found, strict=True))
    return {graph.labels[i]: float(np.asarray(slots[i])) for i in places}


@pytest.mark.parametrize("modes", NAMED)
def test_a_name_says_what_the_value_is(modes):
    """f = exp ∘ sin,   f′ = f cos,   f″ = f (cos² - sin)"""
    transform, args, need = NAMED[modes]
    found = values_of(tn.trace(transform, *args), args)
    assert {name: found[name] for name in need} == pytest.approx(need)


GRAPHS = {
    "two directions": lambda x: [tn.jvp(f, (x,), (v,))[1] for v in (2.0, 3.0)],
    "third order": tn.grad(tn.grad(tn.grad(lambda x: np.sin(x) * np.exp(x)))),
    "hessian": lambda x: tn.hessian(lambda x: np.sum(np.tanh(x) ** 2))(x * np.ones(2)),
    "loop": tn.grad(lambda x: tn.scan(lambda c, _: (np.sin(c), None), x, None, 3)[0]),
    "batch": tn.vmap(tn.grad(f)),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_names_are_unique_and_no_input_or_literal_has_one(name):
    aval = tn.Aval((3,), "f8") if name == "batch" else S
    graph = tn.trace(GRAPHS[name], aval)
    labels = graph.labels
    assert labels
    assert len(set(labels.values())) == len(labels)
    made = {i for node in graph.graph.nodes if node.inputs for i in node.outputs}
    assert made >= labels.keys()


def test_a_second_sweep_with_the_same_name_is_counted():
    names = [*tn.trace(GRAPHS["two directions"], S).labels.values()]
    assert names == ["d%3", "d%4", "d%3.2", "d%4.2"]


def test_long_chains_have_names_and_short_ones():
    """A name depends on the value it is of, and on no other."""

    functions = np.sin, np.cos, np.tanh, np.exp, np.arctan

    def chain(x):
        for digit in str(7**600):  # nothing repeats
            x = functions[int(digit) % 5](x)
        return x

    graph = tn.trace(tn.grad(chain), S)
    assert len(graph.labels) > 400
    assert max(map(len, graph.labels.values())) < 12


def test_parts_of_a_graph_with_loops_keep_lines_and_names():
    graph = tn.trace(GRAPHS["loop"], S)
    for i in range(len(graph)):
        part = str(graph[i : i + 1]).splitlines()
        own = [line for line in part if line.startswith(f"  %{graph.graph.nodes[i].outputs[0]}")]
        assert len(own) == 1
        assert own[0] in str(graph)
