"""exp(x - ln Σ exp x) is a quotient of the terms of the sum, however the logarithm is written."""

import numpy as np
import pytest

import tenferro as tn

INF, NAN = float("inf"), float("nan")
RNG = np.random.default_rng(5)
#: ordinary rows; ties; infinite, large and missing numbers; rows without a limit
ROWS = (
    (0.3, -1.2, 2.0), (1.0, 1.0, 1.0), (-INF, 0.0, -INF), (80.0, -80.0, 79.0), (3e38, -3e38, 0.0),
    (INF, 1.0, 2.0), (INF, INF, -INF), (-INF, -INF, -INF), (NAN, 1.0, INF),
)  # fmt: skip


def summed(x, axis):
    y = tn.special.logsumexp(x, axis=axis)
    return y, np.exp(x - np.expand_dims(y, axis))


def kept(x, axis):
    y = tn.special.logsumexp(x, axis=axis, keepdims=True)
    return y, np.exp(x - y)


def without_maximum(x, axis):
    top = np.max(x, axis=axis)
    y = top + np.log(np.sum(np.exp(x - np.expand_dims(top, axis)), axis=axis))
    return y, np.exp(x - np.expand_dims(y, axis))


def with_maximum_last(x, axis):
    top = np.max(x, axis=axis, keepdims=True)
    y = np.log(np.sum(np.exp(x - top), axis=axis, keepdims=True)) + top
    return y, np.exp(x - y)


def of_logarithms(x, axis):
    z = x - np.max(x, axis=axis, keepdims=True)
    logs = z - np.log(np.sum(np.exp(z), axis=axis, keepdims=True))
    return logs, np.exp(logs)


FORMS = [summed, kept, without_maximum, with_maximum_last, of_logarithms]


def plain(function):
    return tn.jit(function, options={"passes": {"factors": False}})


def close(found, expected, dtype="float64"):
    """The difference x - y is rounded, and its exponential magnifies that as y is large."""
    eps = np.finfo(dtype).eps
    np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=160 * eps, atol=eps)


@pytest.mark.parametrize("form", FORMS)
def test_each_form_is_rewritten(form):
    assert "factors: 1" in str(tn.jit(lambda x: form(x, -1)).explain(np.ones((2, 3))))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("form", FORMS)
def test_shares_of_edge_values(form, dtype):
    """nan, zeros and ones stand where they stand without the pass, for every kind of row."""
    rows = np.array(ROWS, dtype)
    for x, axis in ((rows, -1), (rows.T, 0), (rows[:2], (0, 1)), (rows[:1], 0), (rows[1:2].T, 1)):
        results = [
            f(x) for f in (jit(lambda x, axis=axis: form(x, axis)) for jit in (tn.jit, plain))
        ]
        for found, expected in zip(*results, strict=True):
            close(found, expected, dtype)


@pytest.mark.parametrize("form", FORMS)
def test_derivatives_of_shares(form):
    """Of first and second order, and of each row in a batch."""
    x, v = RNG.standard_normal((2, 5, 4))

    def total(x):
        y, shares = form(x, -1)
        return np.sum(np.sin(y)) + np.sum(shares**3)

    batch = tn.vmap(tn.grad(lambda x: total(x[None])))
    for function in (tn.grad(total), lambda x: tn.hvp(total)(x, v), batch):
        close(tn.jit(function)(x), plain(function)(x))


def less_than_another_maximum(x):
    z = x - np.max(x, axis=0)[:, None]
    return np.exp(z - np.log(np.sum(np.exp(z), axis=1))[:, None])


def test_other_exponentials_stay():
    """Another operand, another axis, no maximum, that of another axis."""
    x, w = RNG.standard_normal((2, 3, 3))
    lse = tn.special.logsumexp
    others = [
        less_than_another_maximum,
        lambda x: np.exp(w - lse(x, axis=1)[:, None]),
        lambda x: np.exp(x - lse(x, axis=1)),
        lambda x: np.exp(x - lse(x.T, axis=1)),
        lambda x: np.exp(x - np.log(np.sum(np.exp(x), axis=1))[:, None]),
        lambda x: np.exp(x - np.max(x) - np.log(np.sum(np.exp(x - np.max(x)), axis=0))),
    ]
    for function in others:
        assert "factors" not in str(tn.jit(function).explain(x))
        close(tn.jit(function)(x), plain(function)(x))
