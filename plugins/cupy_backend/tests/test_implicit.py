"""Solutions by loops, and their derivatives, on the stand-in: those of the direct solution."""

import numpy as np
import pytest

import tenferro as tn

MATRIX, RIGHT = np.array([[4.0, 1.0], [-1.0, 5.0]]), np.array([0.4, -0.3])


def jacobi(matvec, b):
    step = lambda s: (s[0] + (b - matvec(s[0])) / 5, s[1] + 1)  # noqa: E731
    return tn.while_loop(lambda s: s[1] < 80, step, (b, 0))[0]


def newton(f, x):
    return tn.while_loop(lambda x: np.sum(f(x) ** 2) > 1e-24, lambda x: x - f(x) / (3 * x * x), x)


def linear(w):
    return np.sum(tn.custom_linear_solve(lambda x: MATRIX @ x + w * x, RIGHT, jacobi, jacobi) ** 2)


def dense(w):
    return np.sum(np.linalg.solve(MATRIX + w * np.eye(2), RIGHT) ** 2)


def root(w):
    f = lambda x: x**3 - w * (2 + RIGHT)  # noqa: E731
    return np.sum(tn.custom_root(f, np.ones(2), newton, lambda g, y: y / g(np.ones(2))))


def closed(w):
    return np.sum(np.cbrt(w * (2 + RIGHT)))


TRANSFORMS = {
    "value": lambda f: f,
    "grad": tn.grad,
    "second": lambda f: tn.grad(tn.grad(f)),
    "vmap of grad": lambda f: lambda w: tn.vmap(tn.grad(f))(w * np.array([1.0, 0.5])),
}


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("solved, exact", [(linear, dense), (root, closed)])
def test_a_solution_and_its_derivatives(make_backend, solved, exact, transform):
    make, backend = TRANSFORMS[transform], make_backend()
    got, expected = (tn.jit(make(f), backend=backend)(0.7) for f in (solved, exact))
    np.testing.assert_allclose(np.array(got), np.array(expected), rtol=1e-8)
