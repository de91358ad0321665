"""A loop that Python unrolled, and that becomes a loop of the graph, is the same function.

T(f) with `roll` = T(f) without      for transforms T of order 0 to 2, eager and under `jit`
"""

import numpy as np
import optree
import pytest
from unrolled_loops import (
    AT_ONCE,
    DATA,
    KEPT,
    ROLLED,
    filled_from_the_end,
    nested,
    recurrence,
    singles,
    stacked,
    stopped,
    table,
)  # fmt: skip

import tenferro as tn
from tenferro.backend import select_backend
from tenferro.passes import optimized
from tenferro.transforms.recording.rolling import rolling

STEPS = 70
X, V = np.array([0.4, -0.3, 0.2]), np.array([1.0, 0.5, -0.7])
PROGRAMS = [*ROLLED, *AT_ONCE, *KEPT]
#: what is compared with the program as Python unrolled it, which others compile for minutes
interpreted = pytest.mark.skipif(
    select_backend().name != "numpy", reason="an unrolled program is slow to compile"
)
OFF = {"passes": {"roll": False}}


def vjp(f):
    """Return value and pullback together."""

    def both(x):
        value, pullback = tn.vjp(f, x)
        return value, pullback(1.0)

    return both


TRANSFORMS = {
    "value": lambda f: f,
    "grad": tn.grad,
    "value_and_grad": tn.value_and_grad,
    "vjp": vjp,
    "jvp": lambda f: lambda x: tn.jvp(f, (x,), (V,)),
    "linearize": lambda f: lambda x: tn.linearize(f, x)[1](V),
    "hvp": lambda f: lambda x: tn.hvp(f)(x, V),
    "grad of grad": lambda f: tn.grad(lambda x: np.sum(tn.grad(f)(x) * V)),
    "vmap": lambda f: lambda x: tn.vmap(f)(np.stack([x, 0.5 * x])),
    "vmap of grad": lambda f: lambda x: tn.vmap(tn.grad(f))(np.stack([x, 0.5 * x])),
    "grad of vmap": lambda f: tn.grad(lambda x: np.sum(tn.vmap(f)(np.stack([x, 0.5 * x])))),
    "jacobian": tn.jacobian,
}


def steps(program, count=STEPS):
    """Return the program as a function of the vector alone."""
    return lambda x: program(x, count)


def loops_in(graph):
    return [node.operation for node in graph.nodes if node.operation.name == "scan"]


def compare(found, wanted):
    for a, b in zip(optree.tree_leaves(found), optree.tree_leaves(wanted), strict=True):
        assert np.asarray(a).dtype == np.asarray(b).dtype
        np.testing.assert_allclose(a, b, rtol=2e-11, atol=1e-13)


@interpreted
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("transform", TRANSFORMS)
def test_a_rolled_loop_is_the_program(program, transform):
    same(program, transform)


def same(program, transform):
    f = TRANSFORMS[transform](steps(program))
    with rolling(False):
        wanted = f(X)
    compare(f(X), wanted)


@pytest.mark.parametrize("program", [f for f in (*ROLLED, *AT_ONCE) if f not in (singles, stopped)])
def test_a_rolled_loop_is_a_loop_of_any_backend(program):
    """A short loop, beside NumPy's own value and central differences"""
    f = steps(program, 25)
    value, gradient = tn.value_and_grad(f)(X)
    np.testing.assert_allclose(value, f(X), rtol=1e-6)
    h = 1e-6 * V
    np.testing.assert_allclose(gradient @ V, (f(X + h) - f(X - h)) / 2e-6, rtol=1e-4, atol=1e-6)


@interpreted
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_rolled_loop_under_jit_is_the_program(program):
    f = tn.value_and_grad(steps(program))
    compare(tn.jit(f)(X), tn.jit(f, options=OFF)(X))


@interpreted
@pytest.mark.parametrize("program", ROLLED)
def test_values_keep_every_bit(program):
    # fission takes sums over all steps in another order, numbers of short arrays other functions
    whole = {"passes": {"fission": False, "product_fission": False}}
    by_arrays = {"without": ("short_arrays",)}
    found, wanted = (tn.jit(steps(program), options=o | by_arrays)(X) for o in (whole, OFF))
    np.testing.assert_array_equal(found, wanted)


#: under `jit`, an integer of Python is a place that is known, and each step reads another one
UNDER_JIT = [program for program in ROLLED if program is not table]


@pytest.mark.parametrize("program", UNDER_JIT)
def test_a_long_loop_is_differentiated_as_a_loop(program):
    graph = tn.jit(tn.grad(steps(program))).lower(X)
    loops = loops_in(graph)
    assert loops
    assert sum([loop.length for loop in loops]) >= 2 * (STEPS - 3)  # forward and backward
    without = tn.jit(tn.grad(steps(program)), options=OFF).lower(X)
    assert not loops_in(without)
    assert 3 * len(graph) < len(without)


@pytest.mark.parametrize("program", KEPT)
def test_what_is_no_loop_stays(program):
    assert not loops_in(tn.jit(tn.grad(steps(program))).lower(X))


@pytest.mark.parametrize("program", AT_ONCE)
def test_steps_that_read_no_other_step_need_no_loop(program):
    """Neither they nor their derivatives; the number of products and sines is the same for all"""
    counts = set()
    for n in (30, 60):
        graph, _ = optimized(tn.jit(tn.grad(steps(program, n))).lower(X))
        names = [node.operation.name for node in graph.nodes]
        assert "scan" not in names
        assert "dynamic_update_slice" not in names or program is filled_from_the_end
        counts.add(tuple([names.count(name) for name in ("dot_general", "sin", "cos", "exp")]))
    assert len(counts) == 1
    assert sum(*counts) < 12


@pytest.mark.parametrize("size, is_loop", [(20, False), (1 << 15, True)])
def test_steps_whose_values_are_large_stay_a_loop(size, is_loop):
    """A value of a step has 160 bytes, or 256 KiB, which no array has that all steps read"""

    def f(x):
        table = np.outer(np.arange(24.0), np.linspace(0.0, 1.0, size)) * x[2]
        terms = [np.sum(np.sin(table[k] * x[0]) * np.exp(-table[k] * x[1])) for k in range(24)]
        return np.sum(np.stack(terms) ** 2)

    assert bool(loops_in(tn.jit(tn.grad(f)).lower(X))) is is_loop


def test_places_that_overlap_or_leave_gaps_are_written_in_their_order():
    """Of two values for one place the later stays"""

    def f(x, places):
        buffer = tn.zeros((64, 3))
        for k in places:
            buffer[k] = np.sin(x + k) * np.exp(-x * k) + x[0] * x**2
        return np.sum(buffer * buffer)

    for places in ([k % 20 for k in range(40)], range(0, 60, 2)):
        g = tn.jit(tn.value_and_grad(lambda x, places=places: f(x, places)))
        with rolling(False):
            wanted = tn.value_and_grad(lambda x, places=places: f(x, places))(X)
        compare(g(X), wanted)


def test_a_buffer_that_is_read_while_it_is_filled_is_a_loop():
    """Each step reads the sum of what was written before"""

    def f(x):
        buffer = tn.zeros((40, 3))
        for k in range(40):
            buffer[k] = np.sin(x + 0.1 * np.sum(buffer, axis=0)) * x * 0.5
        return np.sum(buffer**2)

    with rolling(False):
        wanted = tn.value_and_grad(f)(X)
    compare(tn.jit(tn.value_and_grad(f))(X), wanted)


@pytest.mark.parametrize("elements, is_loop", [(4, True), (128 * 128, False)])
def test_large_arrays_of_a_list_are_not_copied_into_a_stack(elements, is_loop):
    """A carried product by each matrix of a list: copies of large ones cost what the loop saves"""
    side = int(elements**0.5)
    matrices = [np.eye(side) * (1 + 0.001 * k) for k in range(60)]

    def f(matrices):
        state = np.ones((side, side))
        for m in matrices:
            state = np.tanh(m @ state) + 0.5 * state
        return np.sum(state)

    graph = tn.jit(tn.grad(f)).lower(matrices)
    assert bool(loops_in(graph)) is is_loop


def test_equations_do_not_depend_on_the_number_of_steps():
    sizes = {len(tn.jit(tn.grad(steps(recurrence, n))).lower(X)) for n in (50, 51, 400)}
    assert len(sizes) == 1


def test_a_body_is_one_object_whatever_the_number_of_steps():
    """What is compiled for one length serves all"""
    graphs = [tn.jit(tn.grad(steps(recurrence, n))).lower(X) for n in (50, 61)]
    bodies = [[loop.body for loop in loops_in(graph)] for graph in graphs]
    assert bodies[0] == bodies[1] != []


def test_a_graph_is_rolled_as_a_pass():
    """`optimized` rolls a graph that was recorded without derivatives"""
    graph = tn.jit(steps(recurrence, 200)).lower(X)
    assert len(graph) > 800
    found, report = optimized(graph)
    assert report.rewritten["roll"] == 1
    assert len(found) < 12
    assert len(optimized(graph, {"roll": False})[0]) > 800


def test_a_loop_in_a_loop_is_the_body_of_the_outer_one():
    (loop,) = loops_in(optimized(tn.jit(steps(nested)).lower(X))[0])
    assert loop.length in (STEPS, STEPS - 1)


def test_rows_of_a_stack_are_not_cut_and_joined_again():
    """What a program stacks is the loop's own stack"""
    graph = optimized(tn.jit(steps(stacked, 200)).lower(X), ("roll",))[0]
    names = [node.operation.name for node in graph.nodes]
    assert names.count("concatenate") + names.count("slice") <= 2
    assert len(graph) < 16


def test_an_array_that_changes_between_steps_is_read_as_it_was():
    buffer = np.zeros(2000)

    def f(x):
        s = x
        for k in range(20):
            buffer[:] = k
            s = np.sin(s) + 0.1 * np.mean(buffer) + 0.001 * np.sum(buffer * s[0])
        return np.sum(s)

    with rolling(False):
        wanted = tn.grad(f)(X)
    compare(tn.grad(f)(X), wanted)


def test_an_array_that_stays_is_read_once():
    """A captured array is one input of the graph, though every step reads it"""
    weights = np.linspace(0.0, 1.0, 3000)

    def f(x):
        s = x
        for _ in range(10):
            s = np.sin(s) + 1e-4 * np.sum(weights * s[0])
        return np.sum(s)

    graph = tn.jit(f).lower(X)
    assert [aval.size for aval in graph.avals[: len(graph.inputs)]].count(3000) == 1


def test_nan_is_found_at_the_equation_that_makes_it():
    """`debug_nans` looks at equations of the program, not at a loop in their place"""

    def f(x):
        s = x
        for _ in range(100):
            s = np.log(s) + 2.0 * s
        return np.sum(s)

    with tn.debug_nans(), pytest.raises(tn.NonFiniteError, match="log"):
        tn.grad(f)(X)


def test_prints_of_a_loop_come_in_their_order(capfd):
    @tn.jit
    def f(x):
        s = x
        for k in range(20):
            s = np.sin(s) + 0.1 * x * s - 0.2 * x + 0.1 * np.cos(s)
            if k > 17:
                tn.debug.print("step {k}: {s}", k=k, s=s[0])
        return tn.grad(lambda s: np.sum(s * s))(s)

    f(X)
    lines = capfd.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == ["step 18", "step 19"]


def test_other_data_run_the_same_program():
    """Rows that a program read are inputs of it"""
    data = DATA[:STEPS].copy()

    def f(x):
        s = x
        for row in data:
            s = np.tanh(s + row) * x
        return np.sum(s)

    first = tn.grad(f)(X)
    data *= 0.5
    with rolling(False):
        wanted = tn.grad(f)(X)
    compare(tn.grad(f)(X), wanted)
    assert not np.allclose(first, wanted)
