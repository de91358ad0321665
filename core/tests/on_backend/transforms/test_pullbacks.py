"""Pullbacks and linear maps of functions that were recorded like earlier ones."""

import numpy as np
import pytest

import tenferro as tn
from tenferro.transforms.derivatives import linear_map

X, W = np.array([0.1, 0.5, 1.2]), np.array([1.0, -2.0, 3.0])


@pytest.fixture
def sweeps(monkeypatch):
    """Counts the sweeps over recorded functions."""
    found = []
    sweep = linear_map.linearize_keys
    monkeypatch.setattr(
        linear_map, "linearize_keys", lambda *a, **k: found.append(1) or sweep(*a, **k)
    )
    return found


USES = {
    "vjp": lambda f, x, w: tn.vjp(f, x)[1](w)[0],
    "linearize": lambda f, x, w: tn.linearize(f, x)[1](w),
    "arrays": lambda f, x, w: tn.vjp(f, tn.asarray(x))[1](tn.asarray(w))[0],
    "aux": lambda f, x, w: tn.vjp(lambda x: (f(x), {"a": x * 2}), x, has_aux=True)[1](w)[0],
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_the_second_call_sweeps_nothing_and_reads_the_new_values(use, sweeps):
    def run(x, w, c):
        return use(lambda x: np.exp(np.sin(x) * c) * np.tanh(x), x, w)

    def need(x, w, c):
        y = np.exp(np.sin(x) * c)
        return (y * c * np.cos(x) * np.tanh(x) + y / np.cosh(x) ** 2) * w

    for c in (7.0, 3.0, 5.0):
        for x in (X, X + 1):
            np.testing.assert_allclose(np.asarray(run(x, c * W, c)), need(x, c * W, c))
    assert len(sweeps) <= 1


def test_values_leave_in_the_form_of_the_arguments():
    for _ in range(2):
        y, pull = tn.vjp(lambda x: (np.sum(x), x * 2), X)
        assert (type(y[0]), type(y[1])) == (np.float64, np.ndarray)
        assert type(pull((1.0, W))[0]) is np.ndarray
        assert isinstance(pull((1.0, tn.asarray(W)))[0], tn.Array)
        y, pull = tn.vjp(lambda x: x * 2, tn.asarray(X))
        assert isinstance(y, tn.Array)
        assert isinstance(pull(W)[0], tn.Array)


def test_nothing_that_is_written_later_changes_a_pullback():
    for _ in range(2):
        x = X.copy()
        y, pull = tn.vjp(lambda x: x * x * np.exp(x), x)
        need = pull(W)[0]
        x += 1
        y *= 0
        np.testing.assert_array_equal(pull(W)[0], need)
        need += 1
        np.testing.assert_allclose(pull(W)[0], need - 1)


def test_a_pullback_on_what_is_followed_stays_in_the_graph():
    for _ in range(2):
        pull = tn.vjp(lambda x: x * x, X)[1]
        push = tn.linearize(lambda x: x * x, X)[1]
        for linear in (lambda w: pull(w)[0], push):  # noqa: B023
            assert tn.jvp(linear, (W,), (X,))[1].tolist() == pytest.approx(2 * X * X)
            assert tn.jit(linear)(W).tolist() == pytest.approx(2 * X * W)
        assert push.transpose(W)[0].tolist() == pytest.approx(2 * X * W)
