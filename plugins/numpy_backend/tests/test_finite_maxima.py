"""Derivatives of `logsumexp` beside infinite maxima, which are looked at, not computed with."""

import numpy as np
import pytest

import tenferro as tn

INF, NAN, LARGEST = np.inf, np.nan, 1.7976931348623157e308  # the last is that of the dtype
FINITE = np.random.default_rng(3).normal(size=(5, 3))
SHARES = {  # rows, and how equal parts are shared in them
    "finite": ([0.0, 0.0, -800.0], [0.5, 0.5, 0.0]),
    "inf": ([INF, 1.0, INF], [0.5, 0.0, 0.5]),
    "one inf": ([-INF, INF, 1e30], [0.0, 1.0, 0.0]),
    "-inf": ([-INF, -INF, -INF], [1 / 3, 1 / 3, 1 / 3]),
    "beside -inf": ([-INF, 2.0, -INF], [0.0, 1.0, 0.0]),
    "nan": ([NAN, 0.0, INF], [NAN, NAN, NAN]),
    "largest": ([LARGEST, 0.0, -INF], [1.0, 0.0, 0.0]),
    "lowest": ([-LARGEST, -INF, -INF], [1.0, 0.0, 0.0]),
}


def last_axis(x):
    return tn.sum(tn.arange(1.0, len(x) + 1) * tn.special.logsumexp(x, axis=1))


def first_axis(x):
    return last_axis(x.T)


def two_axes(x):
    y = x.reshape(len(x), 1, 3)
    return tn.sum(tn.arange(1.0, len(x) + 1) * tn.special.logsumexp(y, axis=(1, 2)))


def compiled(function):
    return tn.jit(tn.value_and_grad(function), backend="numpy")


@pytest.mark.parametrize("name", SHARES)
@pytest.mark.parametrize(
    "function, dtype",
    [
        (last_axis, "float64"),
        (first_axis, "float64"),
        (two_axes, "float64"),
        (last_axis, "float32"),
    ],
)
def test_equal_infinities_share_equally(function, name, dtype):
    """One program sees rows with and without infinite maxima, before and after it is planned."""
    row, share = SHARES[name]
    largest = float(np.finfo(dtype).max)
    row = [np.sign(x) * largest if abs(x) == LARGEST else x for x in row]
    others = np.exp(FINITE - FINITE.max(axis=1, keepdims=True))
    others /= others.sum(axis=1, keepdims=True)
    program = compiled(function)
    turn = np.transpose if function is first_axis else np.array
    for place in [None, 0, 4] * 7:
        x, wanted = FINITE.copy(), others.copy()
        if place is not None:
            x[place], wanted[place] = row, share
        _, gradient = program(turn(x.astype(dtype)))
        wanted *= np.arange(1.0, 6.0)[:, None]
        tolerance = 1e-14 if dtype == "float64" else 1e-5
        np.testing.assert_allclose(turn(gradient), wanted, rtol=tolerance, atol=tolerance)
        assert gradient.dtype == dtype


def test_finite_maxima_keep_the_terms_and_their_sum():
    text = compiled(last_axis).explain(FINITE)
    assert "lowering 24," in text
    assert "finite_maxima 21," in text
    program = text[text.index("def make") :]
    assert program.count("argmax") == 1
    assert program.count(" is ") == 2  # the terms and their sum


def test_values_alone_do_not_look_at_maxima():
    text = tn.jit(last_axis, backend="numpy").explain(FINITE)
    assert "argmax" not in text
