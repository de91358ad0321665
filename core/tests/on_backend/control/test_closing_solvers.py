"""Solvers that close over arguments: T(solve(A, b)) = T(custom_linear_solve(…)), T outside `jit`.

Derivatives of a jitted function are taken when it has returned, and what its solvers close over is
gone.
"""

import numpy as np
import pytest

import tenferro as tn

A = np.array([[3.1, 0.4], [-0.2, 2.7]])
B = np.array([1.0, 2.0])


def by_columns(matvec, b):
    return np.linalg.solve(np.stack([matvec(x) for x in np.eye(2)], 1), b)


def custom(closing):
    """Return a loss of b and A whose solvers close over A, or read it through their argument."""

    def loss(b, a):
        solve = (lambda _, b: np.linalg.solve(a, b)) if "solve" in closing else by_columns
        back = (lambda _, b: np.linalg.solve(a.T, b)) if "transpose" in closing else by_columns
        return np.sum(tn.custom_linear_solve(lambda x: a @ x, b, solve, back) ** 2)

    return loss


def symmetric(b, a):
    a = a + a.T
    solve = lambda _, b: np.linalg.solve(a, b)  # noqa: E731
    return np.sum(tn.custom_linear_solve(lambda x: a @ x, b, solve, symmetric=True) ** 2)


def loop(b, a):
    def step(c, _):
        solve, back = (lambda _, b: np.linalg.solve(a, b)), (lambda _, b: np.linalg.solve(a.T, b))
        return tn.custom_linear_solve(lambda x: a @ x, c, solve, back), None

    return np.sum(tn.scan(step, b, None, 3)[0] ** 2)


def direct(b, a):
    return np.sum(np.linalg.solve(a, b) ** 2)


def repeated(b, a):
    for _ in range(3):
        b = np.linalg.solve(a, b)
    return np.sum(b**2)


LOSSES = {
    "neither closes": (custom(()), direct),
    "solve closes": (custom(("solve",)), direct),
    "transpose_solve closes": (custom(("transpose",)), direct),
    "both close": (custom(("solve", "transpose")), direct),
    "symmetric": (symmetric, lambda b, a: direct(b, a + a.T)),
    "in a loop": (loop, repeated),
}
TRANSFORMS = {
    "value": lambda f: f,
    "jvp": lambda f: lambda b, a: tn.jvp(f, (b, a), (b + 1.0, a * a))[1],
    "grad": lambda f: tn.grad(f, (0, 1)),
    "hvp": lambda f: lambda b, a: tn.hvp(lambda a: f(b, a))(a, a * a),
    "hessian": lambda f: tn.hessian(f, argnums=1),
    "vmap of grad": lambda f: (
        lambda b, a: tn.vmap(tn.grad(f, (0, 1)), in_axes=(0, None))(np.stack([b, b + 1.0]), a)
    ),
}
COMPILED = {
    "not compiled": lambda transform, f: transform(f),
    "inside": lambda transform, f: transform(tn.jit(f)),
    "outside": lambda transform, f: tn.jit(transform(f)),
}


@pytest.mark.parametrize("compiled", COMPILED)
@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("name", LOSSES)
def test_a_derivative_of_a_solution_is_that_of_the_direct_solution(name, transform, compiled):
    loss, exact = LOSSES[name]
    make = TRANSFORMS[transform]
    found = COMPILED[compiled](make, loss)(B, A)
    for x, y in zip(leaves(found), leaves(make(exact)(B, A)), strict=True):
        np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=1e-9)


def leaves(tree):
    return list(tree) if isinstance(tree, tuple) else [tree]


def test_a_solver_that_looks_at_known_values_runs_as_it_is():
    """The map is traced, the right side is known: the solver may look at it"""

    def solve(matvec, b):
        scale = 2.0 if b[0] > 0 else 1.0
        return by_columns(lambda x: matvec(x) * scale, b * scale)

    f = lambda a: np.sum(tn.custom_linear_solve(lambda x: a @ x, B, solve, by_columns))  # noqa: E731
    np.testing.assert_allclose(tn.jit(f)(A), np.sum(np.linalg.solve(A, B)))


def test_a_solver_that_cannot_be_recorded_and_closes_over_an_argument_says_why():
    """The error of the derivative holds the error that recording the solver raised"""

    def loss(a):
        def solve(_, b):
            return np.linalg.solve(a, b) if b[0] > 0 else np.zeros(2)

        return np.sum(tn.custom_linear_solve(lambda x: a @ x, B, solve, by_columns))

    with pytest.raises(tn.BodyError, match="arguments of a function that has returned") as caught:
        tn.grad(tn.jit(loss))(A)
    assert "if b[0] > 0" in str(caught.value)
