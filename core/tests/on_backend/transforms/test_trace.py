"""trace shows the graph of a function, of its derivatives too, and evaluates nothing."""

import numpy as np
import pytest

import tenferro as tn
from tenferro.arrays import PROGRAMS

SCALAR, VECTOR = tn.Aval((), "float64"), tn.Aval((3,), "float64")


def runs():
    return PROGRAMS.stats.hits + PROGRAMS.stats.misses


@pytest.mark.parametrize(
    "argument", [VECTOR, np.ones(3), tn.asarray(np.ones(3))], ids=["aval", "ndarray", "Array"]
)
def test_nothing_is_evaluated(argument):
    before = runs()
    text = str(tn.trace(lambda x: np.sum(np.sin(x) * 2), argument))
    assert "sin %0" in text
    assert text.startswith("graph(x: f64[3], 2.0: f64[])")
    assert runs() == before


def test_a_graph_does_not_depend_on_what_is_held_elsewhere():
    function = lambda x: np.sum(np.sin(x) * 2.5 + 1.5 * x)  # noqa: E731
    held = tn.asarray(np.ones(3)) * 2.5 + 1.5
    first = str(tn.trace(function, VECTOR))
    del held
    assert str(tn.trace(function, VECTOR)) == first


def test_inputs_carry_the_names_of_parameters():
    graph = tn.trace(lambda w, b: w["a"] * b, {"a": SCALAR}, SCALAR)
    assert "graph(w['a']: f64[], b: f64[])" in str(graph)


def test_equations_are_counted_by_the_part_that_they_belong_to():
    loss = lambda x: np.sum(np.sin(x) ** 2)  # noqa: E731
    counts = tn.trace(tn.grad(loss), VECTOR).counts()
    assert counts["linear"] == 0
    assert counts["transposed"] > 0
    assert sum(counts.values()) == len(tn.trace(tn.grad(loss), VECTOR))
    forward = tn.trace(lambda x, v: tn.jvp(loss, (x,), (v,))[1], VECTOR, VECTOR)
    assert forward.counts()["transposed"] == 0
    assert forward.counts()["linear"] > 0


def test_the_program_shows_slots_and_frees():
    found = tn.trace(tn.grad(lambda x: np.sum(np.exp(x) * x)), VECTOR)
    assert found.program.output_avals == (VECTOR,)
    assert str(found) == repr(found)
    pairs = zip(str(found).splitlines(), str(found.graph).splitlines(), strict=True)
    assert all(named.startswith(line) for named, line in pairs)


GRAPHS = {
    "loss": (lambda x: np.sum(np.tanh(x) ** 2), VECTOR),
    "grad": (tn.grad(lambda x: np.sum(np.tanh(x) ** 2)), VECTOR),
    "jvp": (lambda x, v: tn.jvp(lambda x: np.sum(np.tanh(x) ** 2), (x,), (v,)), VECTOR, VECTOR),
    "hvp": (tn.hvp(lambda x: np.sum(x**3)), VECTOR, VECTOR),
    "jit": (lambda x: tn.jit(lambda x: np.sin(x) + 1)(x) * 2, SCALAR),
    "complex": (tn.grad(lambda z: abs(z) ** 2), tn.Aval((), "complex128")),
    "index": (tn.grad(lambda x: x[1:][0] * x[-1]), VECTOR),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_printed_graphs_are_what_they_were(name, golden):
    golden(f"trace_{name}", tn.trace(*GRAPHS[name]))
