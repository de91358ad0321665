"""A program computes the same with its passes and without, on whatever numbers."""

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings

from tenferro.backend import select_backend
from tenferro.computegraph import MaterializedGraph, compile_program
from tenferro.passes import NAMES, optimized
from tenferro_conformance.strategies import dag as program
from tenferro_conformance.strategies import dags

ROUNDING = {
    "packs",
    "sums",
    "diagonals",
    "broadcast",
    "factors",
    "reduce",
    "contract",
    "outputs",
    "layout",
}  # as each of them says
BITS = [name for name in NAMES if name not in ROUNDING]
CHECKS = settings(
    max_examples=120,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def run(graph, operands):
    backend = select_backend()
    avals = graph.avals[: len(graph.inputs)]
    taken = [backend.asoperand(x, aval) for x, aval in zip(operands, avals, strict=True)]
    with np.errstate(all="ignore"):  # a constant may be too large for its dtype
        results = backend.compile(compile_program(graph), avals)(*taken)
    return [backend.to_numpy(x) for x in results]


def same(found, wanted):
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    parts = [(found.real, wanted.real), (found.imag, wanted.imag)]
    for x, y in parts if wanted.dtype.kind == "c" else parts[:1]:
        np.testing.assert_array_equal(x, y)
        if x.dtype.kind == "f":
            np.testing.assert_array_equal(np.signbit(x)[~np.isnan(x)], np.signbit(y)[~np.isnan(y)])


def bits_agree(dag, passes):
    graph, _ = optimized(dag.graph, passes)
    assert graph.avals[: len(graph.inputs)] == dag.graph.avals[: len(graph.inputs)]
    for found, wanted in zip(run(graph, dag.operands), run(dag.graph, dag.operands), strict=True):
        same(found, wanted)


@pytest.mark.parametrize("passes", [*[(name,) for name in BITS], BITS], ids=str)
@CHECKS
@given(dag=dags())
def test_exact_passes_change_no_bit(dag, passes):
    bits_agree(dag, passes)


@pytest.mark.parametrize("passes", [("broadcast",), (*BITS, "broadcast")], ids=str)
@CHECKS
@example(dag=program(700237, 18, "plain"))  # the larger of -0.0 and 0.0
@given(dag=dags("plain"))
def test_a_number_is_rounded_like_an_array_of_them(dag, passes):
    bits_agree(dag, passes)


@pytest.mark.parametrize("passes", [*[(name,) for name in NAMES], NAMES], ids=str)
@CHECKS
@given(dag=dags("tame"))
def test_no_pass_changes_more_than_the_rounding(dag, passes):
    """Relative to the largest number that was met on the way"""
    graph, _ = optimized(dag.graph, passes)
    every = flat(dag.graph, range(len(dag.graph.avals)))
    with np.errstate(all="ignore"):
        sizes = [np.max(np.abs(x), initial=1.0) for x in run(every, dag.operands)]
    scale = max([float(size) for size in sizes if np.isfinite(size)], default=1.0)
    for found, wanted in zip(run(graph, dag.operands), run(dag.graph, dag.operands), strict=True):
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
        np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-10 * scale)


def flat(graph, outputs):
    """The graph with other outputs."""
    return MaterializedGraph(graph.inputs, graph.nodes, list(outputs), graph.avals)
