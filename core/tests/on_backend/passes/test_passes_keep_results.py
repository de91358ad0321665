"""A program computes the same with its passes and without, on whatever numbers."""

import numpy as np
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


def same(found, wanted, passes):
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape), passes
    parts = [(found.real, wanted.real), (found.imag, wanted.imag)]
    for x, y in parts if wanted.dtype.kind == "c" else parts[:1]:
        np.testing.assert_array_equal(x, y, err_msg=str(passes))
        if x.dtype.kind == "f":
            signs = [np.signbit(part)[~np.isnan(part)] for part in (x, y)]
            np.testing.assert_array_equal(*signs, err_msg=str(passes))


def bits_agree(dag, every):
    """Each of the sets of passes changes no bit of what the program computes."""
    wanted = run(dag.graph, dag.operands)
    for passes in every:
        graph, _ = optimized(dag.graph, passes)
        assert graph.avals[: len(graph.inputs)] == dag.graph.avals[: len(graph.inputs)], passes
        for found, each in zip(run(graph, dag.operands), wanted, strict=True):
            same(found, each, passes)


@CHECKS
@given(dag=dags())
def test_exact_passes_change_no_bit(dag):
    bits_agree(dag, [*[(name,) for name in BITS], BITS])


@CHECKS
@example(dag=program(700237, 18, "plain"))  # the larger of -0.0 and 0.0
@given(dag=dags("plain"))
def test_a_number_is_rounded_like_an_array_of_them(dag):
    bits_agree(dag, [("broadcast",), (*BITS, "broadcast")])


@CHECKS
@given(dag=dags("tame"))
def test_no_pass_changes_more_than_the_rounding(dag):
    """Relative to the largest number that was met on the way"""
    every = flat(dag.graph, range(len(dag.graph.avals)))
    with np.errstate(all="ignore"):
        sizes = [np.max(np.abs(x), initial=1.0) for x in run(every, dag.operands)]
    scale = max([float(size) for size in sizes if np.isfinite(size)], default=1.0)
    wanted = run(dag.graph, dag.operands)
    for passes in [*[(name,) for name in NAMES], NAMES]:
        graph, _ = optimized(dag.graph, passes)
        for found, each in zip(run(graph, dag.operands), wanted, strict=True):
            assert (found.dtype, found.shape) == (each.dtype, each.shape), passes
            np.testing.assert_allclose(
                found, each, rtol=1e-6, atol=1e-10 * scale, err_msg=str(passes)
            )


def flat(graph, outputs):
    """The graph with other outputs."""
    return MaterializedGraph(graph.inputs, graph.nodes, list(outputs), graph.avals)
