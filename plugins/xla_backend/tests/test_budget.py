"""Memory budgets: what XLA says of the compiled program is what `explain` predicts."""

import numpy as np
import pytest

import tenferro as tn

U = np.sin(np.linspace(0.0, 6.0, 5000))


def diffused(u):
    def step(u, _):
        return u + 0.1 * (np.roll(u, 1) - 2.0 * u + np.roll(u, -1)) - 0.01 * u**3, None

    return np.sum(tn.scan(step, u, None, 300)[0] ** 2)


def temporary_bytes(report):
    (row,) = [line for line in report.splitlines() if "temporary bytes" in line]
    return int(row.split()[-1])


def predicted(report):
    (row,) = [line for line in report.splitlines() if line.startswith("  memory")]
    return int(row.split()[1].replace(",", ""))


@pytest.mark.parametrize("budget", [0.5, 0.2, 0.15])
def test_a_loop_keeps_its_budget(budget):
    whole = tn.jit(tn.grad(diffused), backend="xla")
    limited = tn.jit(tn.grad(diffused), memory_budget=budget, backend="xla")
    np.testing.assert_allclose(limited(U), whole(U), rtol=1e-12)
    stored = temporary_bytes(whole.explain(U))
    report = limited.explain(U)
    assert temporary_bytes(report) + U.nbytes == predicted(report)
    assert temporary_bytes(report) <= budget * stored * 1.02


def test_without_a_budget_the_memory_is_what_xla_says_too():
    """Blocks of rows in bodies of loops, and fused kernels, need less than the graph would"""

    def loss(x):
        def step(x, _):
            e = np.exp(x - np.max(x, axis=1, keepdims=True))
            return e / np.sum(e, axis=1, keepdims=True), None

        return np.sum(tn.scan(step, x, None, 5)[0] ** 2)

    x = np.sin(np.arange(5000.0)).reshape(500, 10)
    report = tn.jit(tn.grad(loss), backend="xla").explain(x)
    assert temporary_bytes(report) + x.nbytes == predicted(report)
    assert "if each equation ran on its own" in report


def test_what_xla_undoes_is_not_called_done():
    """Outside of loops XLA for the CPU merges both evaluations: then the budget is not met."""
    x = np.linspace(-1.0, 1.0, 500 * 40).reshape(500, 40)
    w = np.linspace(-0.3, 0.3, 40 * 40).reshape(40, 40)

    def loss(w):
        h = x
        for _ in range(12):
            h = np.tanh(h @ w)
        return np.sum(h * h)

    needed = predicted(tn.jit(tn.grad(loss), memory_budget=1.0, backend="xla").explain(w))
    with pytest.raises(tn.MemoryBudgetError) as caught:
        tn.jit(tn.grad(loss), memory_budget=needed // 2, backend="xla")(w)
    assert caught.value.least > needed // 2
