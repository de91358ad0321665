"""Under a memory budget a program computes the same, and needs at most what was allowed.

jit(f, memory_budget=b)(x) = jit(f)(x),   predicted peak ≤ b
"""

import numpy as np
import pytest

import tenferro as tn
from tenferro.passes.budget.loops import capacity, partition
from tenferro.passes.budget.schedule import described

W = np.linspace(-0.3, 0.4, 36).reshape(6, 6)
X = np.linspace(-0.4, 0.5, 6)
ROWS = np.sin(np.arange(47.0 * 6)).reshape(47, 6)


def heat(u):
    return u + 0.1 * (np.roll(u, 1) - 2.0 * u + np.roll(u, -1)) - 0.01 * u**3


def diffused(w, x):
    return np.sum(tn.scan(lambda u, _: (heat(u), None), x, None, 100)[0] ** 2)


def recurrent(w, x):
    def step(h, row):
        h = np.tanh(w @ h + row)
        return h, h * row

    h, ys = tn.scan(step, x, ROWS)
    return np.sum(h) + np.sum(ys**2)


def backwards(w, x):
    def step(h, row):
        return np.sin(w @ h) + row, h**2

    h, ys = tn.scan(step, x, ROWS, reverse=True)
    return np.sum(h * ys[3])


def two_loops(w, x):
    h, ys = tn.scan(lambda h, r: (np.tanh(w @ h + r), h**2), x, ROWS)
    return np.sum(tn.scan(lambda h, y: (np.cos(h * y), None), h, ys)[0])


def nested(w, x):
    def outer(h, row):
        h = tn.scan(lambda c, _: (np.tanh(w @ c), None), h + row, None, 20)[0]
        return h, None

    return np.sum(tn.scan(outer, x, ROWS)[0] ** 2)


def counted(w, x):
    def step(carry, row):
        k, h, z = carry
        return (k + 1, np.tanh(h) * (k % 3), z * np.exp(1j * h)), None

    k, h, z = tn.scan(step, (0, x, x + 0j), ROWS)[0]
    return np.sum(h) + np.sum(np.abs(z) ** 2 * k)


def layers(w, x):
    h = x * np.ones((500, 1))
    for _ in range(20):
        h = np.tanh(h @ w)
    return np.sum(h**2)


def with_branches(w, x):
    def step(h, row):
        return tn.cond(row[0] > 0, lambda h: np.sin(w @ h), lambda h: h * row, h), None

    return np.sum(tn.scan(step, x, ROWS)[0] ** 2)


PROGRAMS = {
    f.__name__: f
    for f in (
        diffused, recurrent, backwards, two_loops, nested, counted, layers, with_branches,
    )
}  # fmt: skip


def hvp(f):
    return lambda w, x: tn.jvp(tn.grad(f, argnums=(0, 1)), (w, x), (np.cos(w), np.sin(x)))[1]


def second(f):
    def slope(w, x):
        a, b = tn.grad(f, argnums=(0, 1))(w, x)
        return np.sum(a**2) + np.sum(b**3)

    return tn.grad(slope, argnums=(0, 1))


TRANSFORMS = {
    "grad": lambda f: tn.grad(f, argnums=(0, 1)),
    "value_and_grad": lambda f: tn.value_and_grad(f, argnums=(0, 1)),
    "hvp": hvp,
    "second": second,
    "vmap": lambda f: (
        lambda w, x: tn.vmap(tn.grad(f, argnums=1), (None, 0))(w, np.stack([x, 2 * x, -x]))
    ),
    "jacrev": lambda f: tn.jacrev(lambda w, x: np.stack([f(w, x), f(2 * w, x)]), argnums=1),
}


def leaves(tree):
    return [x for part in tree for x in leaves(part)] if isinstance(tree, tuple) else [tree]


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_budget_changes_no_result(program, transform):
    """T(f) in less memory = T(f)"""
    function = TRANSFORMS[transform](PROGRAMS[program])
    whole = tn.jit(function)
    want = whole(W, X)
    needed = described(tn.passes.optimized(whole.lower(W, X))[0]).peak
    for share in (0.45, 0.7, 1.0, 2.0):  # what is as large as results and rows cannot be less
        try:
            found = tn.jit(function, memory_budget=int(share * needed))(W, X)
            break
        except tn.MemoryBudgetError:
            continue
    for a, b in zip(leaves(found), leaves(want), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "program, share", [("diffused", 0.3), ("recurrent", 0.75), ("layers", 0.4)]
)
def test_gradients_fit_where_they_can(program, share):
    graph = tn.jit(tn.grad(PROGRAMS[program], argnums=(0, 1))).lower(W, X)
    found, report = tn.passes.optimized(graph, budget=share)
    assert report.memory.again
    assert described(found).peak == report.memory.peak <= share * report.memory.without


@pytest.mark.parametrize("length", [3, 4, 5, 31, 64, 97, 1000])
def test_loops_of_every_length(length):
    """Segments, and what is left over, are the loop."""

    def loss(x):
        c, ys = tn.scan(lambda c, _: (np.sin(c) * 1.01, np.cos(c)), x, None, length)
        return np.sum(c) + np.sum(ys**2)

    x = np.linspace(0.1, 1.0, 300)
    want = tn.jit(tn.grad(loss))(x)
    for budget in (0.9, 0.77):
        try:
            found = tn.jit(tn.grad(loss), memory_budget=budget)(x)
        except tn.MemoryBudgetError:
            assert length < 64
            continue
        np.testing.assert_allclose(found, want, rtol=1e-12)


def test_rows_of_a_loop_without_a_carry():
    """A loop that only maps rows is run again from nothing."""

    def loss(x):
        ys = tn.scan(lambda _, row: (None, np.exp(np.sin(row) * x)), None, ROWS)[1]
        return tn.scan(lambda c, y: (c * 0.9 + np.sum(np.sin(y) * c), None), 1.0, ys)[0]

    want = tn.jit(tn.grad(loss))(X)
    for share in (0.9, 0.7, 0.5):
        try:
            found = tn.jit(tn.grad(loss), memory_budget=share)(X)
        except tn.MemoryBudgetError:
            continue
        np.testing.assert_allclose(found, want, rtol=1e-12)


def test_gradients_of_weights_do_not_wait_for_the_end_of_the_sweep():
    """Without a budget, too: 20 layers keep 20 activations, not as many cotangents as well."""
    x = np.linspace(-1.0, 1.0, 2000 * 6).reshape(2000, 6)

    def loss(weights):
        h = x
        for w in weights:
            h = np.tanh(h @ w)
        return np.sum(h * h)

    weights = [W + 0.01 * k for k in range(20)]
    graph, _ = tn.passes.optimized(tn.jit(tn.grad(loss)).lower(weights))
    assert described(graph).peak < 24 * x.nbytes


def test_a_program_that_fits_is_left_alone():
    graph = tn.jit(tn.grad(recurrent)).lower(W, X)
    plain, _ = tn.passes.optimized(graph)
    found, report = tn.passes.optimized(graph, budget=10**9)
    assert str(found) == str(plain)
    assert report.memory.again == ()


def test_a_budget_that_cannot_be_met_names_the_least_and_the_values():
    with pytest.raises(tn.MemoryBudgetError, match="memory_budget=1000") as caught:
        tn.jit(tn.grad(diffused, argnums=1), memory_budget=1000)(W, np.ones(10_000))
    error = caught.value
    assert error.budget == 1000 < error.least < 60 * 80_000
    assert error.values
    assert all("bytes" in value for value in error.values)


def test_explain_names_what_is_run_again():
    text = tn.jit(tn.grad(diffused, argnums=1), memory_budget="300 kB").explain(W, np.ones(1000))
    assert "budget 300,000" in text
    assert "a loop of 100 steps stores" in text


@pytest.mark.parametrize("budget", [0, -1, True, 1.5, 0.0, "2 parsecs", "", "GB", [1], 1j])
def test_what_is_no_budget_is_refused(budget):
    with pytest.raises(ValueError, match="memory_budget"):
        tn.jit(diffused, memory_budget=budget)


@pytest.mark.parametrize(
    "budget", ["1 GB", "1000MB", "0.5 GiB", "1000000 KB", 10**9, np.int64(10**9)]
)
def test_amounts(budget):
    """A budget is a number of bytes, or a text with a unit"""
    assert np.isfinite(tn.jit(diffused, memory_budget=budget)(W, X))


@pytest.mark.parametrize("length", [3, 10, 99, 1000, 12_345])
@pytest.mark.parametrize("carry", [1, 3, 20])
def test_partitions_hold_all_steps_and_fit(length, carry):
    """k c + max(capacity for m steps, r D) ≤ b,   n = k m + r"""
    row = 4
    for budget in (length * row // 2, length * row // 5, 40 * row, 12 * carry + 12 * row):
        parts = partition(length, row, carry, budget)
        if parts is None:
            continue
        assert parts.segments * parts.steps + parts.rest == length
        assert min(parts) >= 1
        left = budget - parts.segments * carry
        assert parts.rest * row <= left
        assert any(capacity(left, row, carry, levels) >= parts.steps for levels in range(9))
