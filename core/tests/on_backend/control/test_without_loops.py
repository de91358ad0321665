"""Where a backend has no loops, a loop is its steps and a checkpoint is its body."""

import numpy as np
import pytest

import tenferro as tn
import tenferro.computegraph
from tenferro.backend import select_backend
from tenferro.backend.lowering.decompose import decomposition
from tenferro.computegraph import compile_program

ROWS = np.array([[0.3, -0.2], [0.5, 0.1], [0.2, 0.4]])
X = np.array([0.4, -0.3])


def scanned(x, rows, reverse):
    def body(c, r):
        a, b = c
        a = np.sin(a) * r + x
        return (a, b + np.sum(a)), (a * b, r)

    return tn.scan(body, (x, 0.0), rows, reverse=reverse)


PROGRAMS = {
    "forward": lambda x: scanned(x, ROWS, False),
    "backward": lambda x: scanned(x, ROWS, True),
    "gradient": tn.grad(lambda x: np.sum(scanned(x, ROWS, False)[1][0])),
    "checkpoint": tn.grad(lambda x: np.sum(tn.checkpoint(lambda x: np.sin(np.cos(x) * x))(x))),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_decomposition_gives_what_the_equation_gives(name):
    program = tn.jit(PROGRAMS[name])
    found = 0
    backend = select_backend()
    for node in program.lower(X).nodes:
        if node.operation.name not in ("scan", "checkpoint"):
            continue
        found += 1
        avals = avals_of(program, node)
        graph = decomposition(node.operation, avals)
        assert not any(n.operation.name == "scan" for n in graph.nodes)
        inputs = [backend.asoperand(np.full(a.shape, 0.3 + k), a) for k, a in enumerate(avals)]
        steps = backend.compile(compile_program(graph), avals)(*inputs)
        one = backend.compile(compile_program(alone(node.operation, avals)), avals)(*inputs)
        for a, b in zip(steps, one, strict=True):
            np.testing.assert_allclose(backend.to_numpy(a), backend.to_numpy(b), rtol=1e-13)
    assert found


def avals_of(program, node):
    graph = program.lower(X)
    return tuple(graph.avals[i] for i in node.inputs)


def alone(operation, avals):
    """Return the graph of one equation."""
    leaves = [tn.computegraph.new_leaf(f"x{i}", aval) for i, aval in enumerate(avals)]
    outputs = tn.computegraph.derive(operation, leaves)
    return tn.computegraph.flatten(leaves, outputs, lambda key: key.definition)


@pytest.mark.parametrize("index", [0, 3, -1])
def test_a_choice_of_one_branch_is_that_branch(index):
    function = tn.jit(lambda i, x: tn.switch(i, [lambda x: x * x], x))
    np.testing.assert_allclose(function(index, X), X * X)
