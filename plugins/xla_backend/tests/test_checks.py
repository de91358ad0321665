"""``check_errors``: what raises on NumPy raises in compiled programs, too."""

import numpy as np
import pytest

import tenferro as tn
from tenferro.backend import UnsupportedError
from tenferro_xla._errors import IntegerError, MatrixError

BAD = np.array([[1.0, 2.0], [2.0, 1.0]])  # symmetric, not positive definite
SINGULAR = np.array([[1.0, 2.0], [2.0, 4.0]])
GOOD = np.array([[2.0, 1.0], [1.0, 2.0]])
ONES = np.ones(2)


def checked(function, **options):
    return tn.jit(function, backend="xla", options={"check_errors": True, **options})


MATRICES = {
    "cholesky": (np.linalg.cholesky, (BAD,), (GOOD,), "std::cholesky"),
    "solve": (np.linalg.solve, (SINGULAR, ONES), (GOOD, ONES), "std::triangular_solve"),
    "inv": (np.linalg.inv, (np.zeros((2, 2)),), (GOOD,), "std::triangular_solve"),
    "triangular": (
        tn.linalg.solve_triangular, (np.diag([1.0, 0.0]), ONES), (GOOD, ONES),
        "std::triangular_solve",
    ),
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
@pytest.mark.parametrize("name", MATRICES)
def test_a_matrix_without_factors_or_inverse_raises(name, dtype):
    function, bad, good, key = MATRICES[name]
    run, unchecked = checked(function), tn.jit(function, backend="xla")
    bad, good = [[x.astype(dtype) for x in given] for given in (bad, good)]
    for _ in range(2):  # an error leaves the program usable
        np.testing.assert_array_equal(run(*good), unchecked(*good))
        with pytest.raises(MatrixError) as caught:
            run(*bad)
    assert isinstance(caught.value, np.linalg.LinAlgError)
    assert caught.value.primitive == key
    assert key.removeprefix("std::") in caught.value.equation


INTEGERS = {
    "floor_divide": (lambda x, y: x // y, ([7, 8], [2, 0]), ([7, 8], [2, 3])),
    "remainder": (lambda x, y: x % y, ([7, 8], [2, 0]), ([7, 8], [2, 3])),
    "power": (lambda x, y: x**y, ([7, 8], [2, -1]), ([7, 8], [2, 3])),
}


@pytest.mark.parametrize("name", INTEGERS)
def test_an_integer_that_does_not_exist_raises(name):
    function, bad, good = INTEGERS[name]
    run = checked(function)
    bad, good = [[np.array(x) for x in pair] for pair in (bad, good)]
    np.testing.assert_array_equal(run(*good), function(*good))
    with pytest.raises(IntegerError) as caught:
        run(*bad)
    assert isinstance(caught.value, ArithmeticError)


def test_a_float_divided_by_zero_is_no_error():
    np.testing.assert_array_equal(checked(lambda x, y: x / y)(ONES, 0 * ONES), [np.inf, np.inf])


def test_a_nan_among_the_operands_is_no_error():
    assert np.isnan(checked(np.linalg.cholesky)(np.full((2, 2), np.nan))).any()


def test_one_matrix_of_a_batch_is_enough():
    run = checked(tn.vmap(np.linalg.cholesky))
    run(np.stack([GOOD, GOOD]))
    with pytest.raises(MatrixError):
        run(np.stack([GOOD, BAD]))


def test_a_gradient_is_checked():
    run = checked(tn.value_and_grad(lambda a: np.sum(np.linalg.cholesky(a @ a.T - 3 * np.eye(2)))))
    with pytest.raises(MatrixError):
        run(np.eye(2))
    value, gradient = run(5 * GOOD)
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()


@pytest.mark.parametrize("size", [0, 1])
def test_the_equation_that_failed_is_named(size):
    """whether the program is one segment or many"""

    def both(a, b):
        return np.linalg.cholesky(a), np.linalg.solve(b, np.ones(2))

    run = checked(both, segment_size=size)
    run(GOOD, GOOD)
    for a, b, key in ((BAD, GOOD, "std::cholesky"), (GOOD, SINGULAR, "std::triangular_solve")):
        with pytest.raises(MatrixError) as caught:
            run(a, b)
        assert caught.value.primitive == key
        assert "test_checks.py" in str(caught.value)


def test_loops_are_not_checked():
    run = checked(lambda a: tn.scan(lambda c, _: (np.linalg.cholesky(c), None), a, length=2)[0])
    assert np.isnan(run(BAD)).any()


def test_a_mesh_is_refused():
    mesh = tn.mesh({"data": 1})
    run = tn.jit(np.linalg.cholesky, backend="xla", mesh=mesh, options={"check_errors": True})
    with pytest.raises(UnsupportedError, match="check_errors"):
        run(GOOD)
