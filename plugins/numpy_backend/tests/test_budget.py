"""A memory budget is kept by a run, and what `explain` predicts is what a run takes.

measured peak ≤ budget,   measured peak ≤ predicted ≤ 1.15 · measured peak
"""

import tracemalloc

import numpy as np
import pytest

import tenferro as tn


def heat(u):
    return u + 0.1 * (np.roll(u, 1) - 2.0 * u + np.roll(u, -1)) - 0.01 * u**3


def diffused(u):
    return np.sum(tn.scan(lambda u, _: (heat(u), None), u, None, 300)[0] ** 2)


def layers(h):
    for _ in range(24):
        h = np.tanh(h @ WEIGHTS)
    return np.sum(h * h)


def measured(function, x):
    """Return the result of a call, and its peak in bytes."""
    function(x)
    tracemalloc.start()
    try:
        found = function(x)
        return found, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def predicted(function, x):
    (row,) = [line for line in function.explain(x).splitlines() if line.startswith("  memory")]
    return int(row.split()[1].replace(",", ""))


LOOP = np.sin(np.linspace(0.0, 6.0, 20_000))
WEIGHTS = np.linspace(-0.5, 0.5, 128 * 128).reshape(128, 128)
INPUTS = np.linspace(-1.0, 1.0, 200 * 128).reshape(200, 128)


@pytest.mark.parametrize("budget", [1.0, 0.4, 0.2, 50 * LOOP.nbytes])
def test_a_loop_takes_what_is_predicted_and_gives_the_same_bits(budget):
    want = tn.jit(tn.grad(diffused))(LOOP)
    gradient = tn.jit(tn.grad(diffused), memory_budget=budget)
    found, peak = measured(gradient, LOOP)
    assert peak <= 1.01 * predicted(gradient, LOOP) <= 1.15 * peak
    np.testing.assert_array_equal(found, want)


def gated(x):
    def step(state, _):
        c, h = state
        gate = (np.tanh(h / 2.0) + 1.0) * 0.5
        c = c * gate - np.tanh(h) * 0.5 / (1.0 + c * c)
        return (c, gate * np.tanh(c) + 0.1 * np.sin(-h)), None

    c, h = tn.scan(step, (x, x * x), None, 300)[0]
    return np.sum(c * h)


def repeated(step, x):
    return tn.scan(lambda c, _: (step(c), None), x, None, 300)[0]


LOOPS = {
    "one product": lambda x: repeated(lambda c: c + 0.01 * np.tanh(np.sin(c)), x),
    "products of primals": lambda x: repeated(lambda c: c - 0.02 * c * c, x),
    "two unbounded factors": lambda x: repeated(lambda c: 3.1 * c * (1.0 - c), x),
    "two carries": gated,
}


@pytest.mark.parametrize("derivative", [tn.grad, lambda f: tn.hvp(f)], ids=["grad", "hvp"])
@pytest.mark.parametrize("function", LOOPS.values(), ids=LOOPS)
def test_joined_products_are_the_same_bits_within_a_budget(function, derivative):
    """A budget leaves no room for factors of all steps, which each step then computes"""
    x = np.linspace(0.1, 0.7, 10)
    given = (x,) if derivative is tn.grad else (x, np.cos(x))
    found = derivative(lambda x: np.sum(function(x)))
    by_arrays = {"without": ("short_arrays",)}  # which numbers are rounded otherwise, differs
    want = tn.jit(found, options=by_arrays)(*given)
    for budget in (0.6, 0.3):
        bounded = tn.jit(found, memory_budget=budget, options=by_arrays)
        np.testing.assert_array_equal(bounded(*given), want)


@pytest.mark.parametrize("budget", [1.0, 0.4, 0.25])
def test_layers_take_what_is_predicted(budget):
    """Without blocks of rows: how much these save depends on threads and on the cache."""
    want = tn.jit(tn.grad(layers))(INPUTS)
    whole = {"without": ("row_blocks",)}
    gradient = tn.jit(tn.grad(layers), memory_budget=budget, options=whole)
    found, peak = measured(gradient, INPUTS)
    assert peak <= 1.05 * predicted(gradient, INPUTS) <= 1.15 * peak
    np.testing.assert_allclose(found, want, rtol=1e-10, atol=1e-12)


def test_what_blocks_of_rows_save_is_known():
    """A program that fits because of its blocks is left as it is."""
    x = np.linspace(-1.0, 1.0, 4096 * 64).reshape(4096, 64)

    def loss(w):
        h = x
        for _ in range(8):
            h = np.tanh(h @ w)
        return np.sum(h * h)

    w = np.linspace(-0.3, 0.3, 64 * 64).reshape(64, 64)
    gradient = tn.jit(tn.grad(loss), memory_budget=12 * x.nbytes)
    _, peak = measured(gradient, w)
    assert peak <= 12 * x.nbytes
    assert "row block of" in gradient.explain(w)
    assert "again" not in gradient.explain(w).partition("numpy:")[0]
