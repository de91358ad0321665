"""What transforms cost: one program per structure, nothing twice, depth without recursion."""

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from modes import MODES

import tenferro as tn
from tenferro.arrays import PROGRAMS
from tenferro.computegraph._keys import table_size
from tenferro.transforms.recording.run_or_record import TRANSFORMS


def made():
    """Programs compiled so far, by evaluation and by transforms."""
    return PROGRAMS.stats.misses + TRANSFORMS.stats.misses


def runs():
    return sum(PROGRAMS.stats[:2]) + sum(TRANSFORMS.stats[:2])


def loss(w, x):
    return np.sum(np.tanh(x @ w) ** 2)


W, X = np.array([0.5, -0.25]), np.array([[1.0, 2.0], [3.0, -4.0]])


@pytest.mark.parametrize(
    "transform",
    [
        tn.grad(loss),
        tn.value_and_grad(loss),
        lambda w, x: tn.jvp(lambda w: loss(w, x), (w,), (w,)),
        lambda w, x: tn.hvp(loss)(w, w, x),
        lambda w, x: tn.vjp(lambda w: loss(w, x), w)[1](1.0),
        tn.grad(tn.jit(loss)),
        tn.jit(tn.grad(loss)),
        lambda w, x: tn.grad(lambda w: np.sum(tn.grad(loss)(w, x) ** 2))(w),
    ],
    ids=["grad", "value_and_grad", "jvp", "hvp", "vjp", "grad of jit", "jit of grad", "twice"],
)
def test_the_second_call_compiles_nothing(transform):
    transform(W, X)
    before = made()
    transform(W + 1, X * 2)
    assert made() == before


def test_captured_numbers_and_arrays_do_not_compile_anew():
    for step in range(4):
        rate, data = 0.5 + step, X + step
        tn.grad(lambda w: loss(w, data) * rate)(W)  # noqa: B023
        if step == 0:
            before = made()
    assert made() == before


def test_value_and_gradient_run_as_one_program():
    tn.value_and_grad(loss)(W, X)
    before = runs()
    tn.value_and_grad(loss)(W, X)
    assert runs() == before + 1


def test_a_pullback_recomputes_nothing():
    """Its program has no sine and no exponential in it: these were computed with the value."""
    function = lambda x: np.exp(np.sin(x))  # noqa: E731
    _, pull = tn.vjp(function, W)
    _, push = tn.linearize(function, W)
    before = runs()
    np.testing.assert_allclose(pull(np.ones(2))[0], np.cos(W) * np.exp(np.sin(W)))
    assert runs() <= before + 1  # a program that is known already is not looked up
    for linear in (pull, push):
        names = [node.operation.name for node in tn.trace(linear, np.ones(2)).graph.nodes]
        assert names
        assert not {"sin", "cos", "exp"} & set(names)


def test_gradient_descent_compiles_once_and_holds_nothing():
    gradient = tn.grad(loss)
    w = gradient(W, X) * 0.1
    start, before = table_size(), made()
    for _ in range(200):
        w = w - 0.1 * gradient(w, X)
    assert made() == before
    assert table_size() <= start + 50


# ---- depth ---------------------------------------------------------------------------------------


def doublings(x):
    for _ in range(60):
        x = x + x
    return x


@pytest.mark.parametrize("mode", MODES)
def test_sixty_doublings_are_exact_and_cheap(mode):
    assert MODES[mode](doublings)(1.0) == 2.0**60
    assert len(tn.trace(MODES[mode](doublings), tn.Aval((), "float64"))) <= 121


def test_a_long_chain_is_differentiated_under_the_default_recursion_limit():
    """Work that grew with the square of the length would not end: that is 10¹⁰ steps."""
    # XLA compiles such a chain in pieces; it is shorter there
    count = 100_000 if tn.backend.select_backend().name == "numpy" else 1_000

    def chain(x):
        for _ in range(count):
            x = -x
        return x

    assert sys.getrecursionlimit() <= 1000 + 500
    assert tn.grad(chain)(2.0) == 1
    assert tn.jvp(chain, (2.0,), (1.0,)) == (2, 1)


def test_a_chain_through_control_flow_and_vjp():
    def chain(x):
        for i in range(1500):
            x = x * 1.001 if i % 500 or x > 0 else x
        return x

    assert tn.vjp(chain, 1.0)[1](1.0)[0] == pytest.approx(1.001**1500)


# ---- threads and contexts ------------------------------------------------------------------------


def test_threads_differentiate_at_the_same_time():
    gradient, jitted = tn.grad(loss), tn.jit(tn.grad(loss))
    wants = [gradient(W * k, X) for k in range(12)]
    with ThreadPoolExecutor(4) as pool:
        for function in (gradient, jitted, tn.grad(tn.jit(loss))):
            found = list(pool.map(lambda k: function(W * k, X), range(12)))  # noqa: B023
            np.testing.assert_allclose(found, wants, rtol=1e-12)


def test_a_shared_argument_is_followed_by_each_thread_for_itself():
    shared = tn.asarray(W)
    with ThreadPoolExecutor(4) as pool:
        found = list(
            pool.map(lambda k: np.asarray(tn.grad(lambda w: loss(w, X) * k)(shared)), range(9))
        )
    want = np.asarray(tn.grad(loss)(shared, X))
    np.testing.assert_allclose(found, [want * k for k in range(9)], rtol=1e-12)


def repeated(derive, order):
    """A derivative of tanh(x sin x), by a transform that is applied to its own result."""
    function = lambda x: np.tanh(x * np.sin(x))  # noqa: E731
    for _ in range(order):
        function = derive(function)
    return function


def forward(function):
    return lambda x: tn.jvp(function, (x,), (1.0,))[1]


@pytest.mark.parametrize(
    "derive, limit", [(forward, 260), (tn.grad, 1700)], ids=["forward", "reverse"]
)
def test_the_eighth_derivative_collapses_while_it_is_made(derive, limit):
    """Factors of 1 vanish where they arise, and equal sums are one sum."""
    graph = tn.trace(repeated(derive, 8), tn.Aval((), "float64")).graph
    assert len(graph) <= limit


def test_both_ways_to_the_eighth_derivative_agree():
    found = [repeated(derive, 8)(0.7) for derive in (forward, tn.grad)]
    np.testing.assert_allclose(*found, rtol=1e-9)


@pytest.mark.parametrize("direction", [1, 1.0, True, 2.0, 0.0, -1.0, None])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_a_direction_that_is_a_number_scales_the_derivative(direction, dtype):
    """dy = y′ v: the number 1 is no special case for anybody but the program."""
    x = np.asarray(0.5, dtype)[()]
    _, tangent = tn.jvp(lambda x: np.exp(x * x), (x,), (direction,))
    assert tangent.dtype == dtype
    expected = 2 * x * np.exp(x * x) * (direction or 0)
    np.testing.assert_allclose(tangent, expected, rtol=1e-6)
