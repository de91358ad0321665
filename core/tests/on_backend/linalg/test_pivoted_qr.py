"""QR decompositions with columns exchanged: SciPy's order, derivatives for a fixed order."""

import numpy as np
import pytest
from scipy import linalg as theirs

import tenferro as tn

RNG = np.random.default_rng(21)
SHAPES = {"square": (4, 4), "tall": (5, 3), "wide": (3, 5)}
DTYPES = ["float64", "complex128", "float32", "complex64"]


def numbers(dtype, *shape):
    re, im = RNG.normal(size=(2, *shape))
    return (re + 1j * im if dtype.startswith("complex") else re).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_the_order_is_that_of_scipy(dtype, shape):
    """a[:, P] = Q R, with SciPy's P and the moduli of SciPy's R"""
    a = numbers(dtype, *SHAPES[shape])
    q, r, p = map(np.asarray, tn.linalg.qr(a, pivoting=True))
    _, want, order = theirs.qr(a, mode="economic", pivoting=True)
    atol = 1e-5 if dtype in ("float32", "complex64") else 1e-13
    assert q.dtype == r.dtype == dtype
    np.testing.assert_array_equal(p, order)
    np.testing.assert_allclose(abs(r), abs(want), atol=atol)
    np.testing.assert_allclose(q @ r, a[:, order], atol=atol)


@pytest.mark.parametrize("kind, shape", [("complex128", "tall"), ("float64", "wide")])
def test_derivatives_to_second_order(kind, shape):
    a = numbers(kind, *SHAPES[shape])
    factors = lambda a: tuple(tn.linalg.qr(a, pivoting=True, canonical=True)[:2])  # noqa: E731
    tn.check_grads(factors, (a,), order=2)


def test_the_last_diagonal_tells_the_rank():
    """of a matrix of rank 2, also where columns are 0 or of lengths that squares do not hold"""
    a = numbers("float64", 5, 2) @ numbers("float64", 2, 4)
    for x in (a, a * 1e200, np.eye(4) * [0.0, 1.0, 0.0, 2.0]):
        r = np.asarray(tn.linalg.qr(x, "r", pivoting=True)[0]).diagonal()
        assert (abs(r[2:]) <= 1e-14 * abs(r[0])).all()
        assert (abs(r[:2]) > 0.01 * abs(r[0])).all()


def test_each_matrix_of_a_stack_has_its_order():
    a = numbers("float64", 2, 3, 4, 3)
    q, r, p = map(np.asarray, tn.linalg.qr(a, pivoting=True))
    np.testing.assert_allclose(q @ r, np.take_along_axis(a, p[..., None, :], -1), atol=1e-14)
    mapped = tn.jit(tn.vmap(lambda a: tn.linalg.qr(a, pivoting=True).P))(a)
    np.testing.assert_array_equal(mapped, p)


def test_complete_factors_have_values_and_no_derivative():
    a = numbers("float64", 4, 2)
    q, r, _ = tn.linalg.qr(a, "complete", pivoting=True)
    assert (q.shape, r.shape) == ((4, 4), (4, 2))
    with pytest.raises(tn.MissingRuleError, match="mode='reduced'"):
        tn.grad(lambda a: np.sum(tn.linalg.qr(a, "complete", pivoting=True).R))(a)
