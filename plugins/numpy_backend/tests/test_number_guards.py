"""Masks behind a number that is False are not computed; results are those of NumPy, bit for bit."""

import numpy as np
import pytest

import tenferro as tn

X = np.array([[0.0, -0.0, 5e-324], [np.nan, np.inf, 2.0], [0.25, 1e300, 3.0]])
GUARDED = {  # programs of an array and a number whose masks only matter if the number is 0
    "mask": lambda x, n: np.where(np.logical_and(n == 0, np.abs(x) < 1), 2.0, x * 3) + 1,
    "number last": lambda x, n: np.where(np.logical_and(x > 1, n == 0), 2.0, x * 3) + 1,
    "both branches": lambda x, n: np.where(np.logical_and(n == 0, x < 1), x + 1, x * 3) + x,
    "mask of the number": lambda x, n: np.where(np.logical_and(n == 0, x < n + 1), 2.0, x * 3) + 1,
    "in place": lambda x, n: np.where(np.logical_and(n == 0, x < 1), 2.0, x) * x,
}
OTHERS = {  # programs whose conjunction or mask is read elsewhere, too, or that return the choice
    "mask read again": lambda x, n: (
        np.where(np.logical_and(n == 0, m := x < 1), 2.0, x * 3) + 1,
        m,
    ),
    "conjunction read again": lambda x, n: (
        np.where(m := np.logical_and(n == 0, x < 1), 2.0, x * 3) + 1,
        m,
    ),
    "returned": lambda x, n: np.where(np.logical_and(n == 0, x < 1), 2.0, x),
    "constant": lambda x, n: np.where(np.logical_and(n == 0, x < 1), x, 2.0) + 1,
    "rows": lambda x, n: (
        np.where(np.logical_and((n == np.arange(3.0))[:, None], x < 1), 2.0, x) + 1
    ),
}


def compiled(function):
    return tn.jit(function, backend="numpy")


def leaves(values):
    return values if isinstance(values, tuple) else (values,)


@pytest.mark.parametrize("number", [0.0, -0.0, 1.0, np.nan])
@pytest.mark.parametrize("name", [*GUARDED, *OTHERS])
def test_results_are_those_of_numpy(name, number):
    f = {**GUARDED, **OTHERS}[name]
    g, kept = compiled(f), X.copy()
    with np.errstate(all="ignore"):
        expected = leaves(f(X, np.float64(number)))
    for _ in range(2):
        for found, want in zip(leaves(g(X, number)), expected, strict=True):
            assert np.asarray(found).tobytes() == want.tobytes()
    assert X.tobytes() == kept.tobytes()


@pytest.mark.parametrize("name", GUARDED)
def test_a_mask_is_computed_only_behind_its_number(name):
    text = compiled(GUARDED[name]).explain(X, 1.0)
    lines = text[text.index("def program") :]
    assert " if not r" in lines
    assert "p2" not in lines or "p3" not in lines, "the mask is computed first"


@pytest.mark.parametrize("number", [0.0, 1.0])
@pytest.mark.parametrize("first", [True, False])
def test_selections_next_to_zeros_keep_their_lines(first, number):
    """Large ones read no zeros, so that they have no second branch to return"""
    x = np.random.default_rng(0).normal(size=(60, 60))

    def f(x, n):
        mask, zeros = np.logical_and(n == 0, x < 1), np.zeros_like(x)
        return (np.where(mask, x, zeros) if first else np.where(mask, zeros, x)) + x

    np.testing.assert_array_equal(compiled(f)(x, number), f(x, np.float64(number)))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.5, -2.5])
def test_the_derivative_of_a_power(dtype, exponent):
    """d x^y/dx = y x^(y-1), and 0 where y = 0; d²/dx dy at y = 0 is 1/x where that is finite"""
    x = np.linspace(0.5, 3.0, 18).reshape(3, 6).astype(dtype)
    slope = compiled(tn.grad(lambda x, y: np.sum(x**y)))
    y = np.asarray(exponent, dtype)
    expected = exponent * x.astype("float64") ** (exponent - 1)
    tolerance = 8 * np.finfo(dtype).eps
    np.testing.assert_allclose(slope(x, y), expected, rtol=tolerance)
    if not exponent:
        x[0, 0] = 0.0
        assert not np.any(slope(x, y))
        mixed = compiled(tn.grad(lambda y, x: np.sum(tn.grad(lambda x: np.sum(x**y))(x))))
        np.testing.assert_allclose(mixed(y, x[1:]), np.sum(1 / x[1:]), rtol=tolerance)


def test_square_roots_are_correctly_rounded():
    """x^½ of a positive x is the nearest number, as IEEE 754 asks of √x"""
    x = np.random.default_rng(0).uniform(0, 9, 5000)
    power = compiled(lambda x, y: x**y)
    np.testing.assert_array_equal(power(x, 0.5), np.sqrt(x))
