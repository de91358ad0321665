"""Lyapunov's and Riccati's equations: residuals, closed forms, derivatives, refusals."""

import mpmath as mp
import numpy as np
import pytest
from scipy import linalg as theirs

import tenferro as tn

ours = tn.linalg
RNG = np.random.default_rng(0)
N, M = 3, 2
DTYPES = ["float64", "complex128", "float32"]
TOLERANCE = {"float64": 1e-12, "complex128": 1e-12, "float32": 1e-4}


def draw(dtype, *shape):
    """Random numbers, complex ones for a complex dtype."""
    x = RNG.normal(size=shape) + (1j * RNG.normal(size=shape) if dtype == "complex128" else 0)
    return x.astype(dtype)


def adjoint(x):
    return np.conj(np.swapaxes(x, -1, -2))


def hermitian(x):
    return (x + adjoint(x)) / 2


def problem(dtype, *batch):
    """a, b, q, r of a control problem, q and r positive definite; then e and s."""
    a, b, c, d, e, s = (
        draw(dtype, *batch, *shape) for shape in [(N, N), (N, M), (N, N), (M, M), (N, N), (N, M)]
    )
    one = np.eye(N, dtype=dtype)
    costs = hermitian(c @ adjoint(c)) + one, hermitian(d @ adjoint(d)) + one[:M, :M]
    return a, b, *costs, e + 4 * one, 0.1 * s


# ---- Lyapunov's equations ------------------------------------------------------------------------


def residual_of_continuous_lyapunov(a, q, x):
    return a @ x + x @ adjoint(a) - q


def residual_of_discrete_lyapunov(a, q, x):
    return a @ x @ adjoint(a) - x + q


LYAPUNOV = {
    "continuous": (ours.solve_continuous_lyapunov, residual_of_continuous_lyapunov),
    "discrete": (ours.solve_discrete_lyapunov, residual_of_discrete_lyapunov),
}
over_time = pytest.mark.parametrize("time", ["continuous", "discrete"])


@pytest.mark.parametrize("dtype", DTYPES)
@over_time
def test_a_solution_of_lyapunovs_equation(time, dtype):
    """a x + x aᴴ = q and a x aᴴ - x + q = 0; matrices of a stack, one right-hand side for all"""
    solve, residual = LYAPUNOV[time]
    a, q = draw(dtype, 2, N, N), draw(dtype, N, N)
    x = solve(a, q)
    assert x.dtype == dtype
    scale = np.abs(x).max() * np.abs(a).max() ** 2
    np.testing.assert_allclose(residual(a, q, x) / scale, 0, atol=TOLERANCE[dtype])


@pytest.mark.parametrize("dtype", DTYPES[:2])
@over_time
def test_derivatives_of_a_solution_of_lyapunovs_equation(time, dtype):
    """by both, twice; where eigenvalues are equal, and there is one eigenvector"""
    solve, _ = LYAPUNOV[time]
    q = draw(dtype, 2, 2)
    for a in (draw(dtype, 2, 2), np.array([[0.5, 1.0], [0.0, 0.5]], dtype)):
        tn.check_grads(solve, (a, q), order=2)


@pytest.mark.parametrize("values", [[0.9999, -0.9999, 0.1], [-0.999999, 0.5, 0.5], [5.0, -0.7, 0]])
def test_eigenvalues_near_the_ends_of_the_circle_cost_no_digits(values):
    """each entry of x, of a normal matrix a, by the system for all entries in 40 digits"""
    basis = np.linalg.qr(RNG.normal(size=(N, N)))[0]
    a, q = basis @ np.diag(values) @ basis.T, np.eye(N) + 0.5
    with mp.workdps(40):
        whole = mp.eye(N * N)
        for i, j, k, m in np.ndindex(N, N, N, N):
            whole[N * i + j, N * k + m] -= mp.mpf(a[i, k]) * mp.mpf(a[j, m])
        want = np.array(list(mp.lu_solve(whole, mp.matrix(q.ravel().tolist()))), float)
    error = np.abs(ours.solve_discrete_lyapunov(a, q) - want.reshape(N, N)).max()
    condition = 1 / np.abs(1 - np.multiply.outer(values, values)).min()
    assert error < 1e-14 * condition * np.abs(want).max()


@over_time
def test_lyapunovs_equation_in_jit_and_vmap(time):
    solve, _ = LYAPUNOV[time]
    a, q = draw("float64", 2, N, N), draw("float64", N, N)
    x = tn.jit(tn.vmap(solve, in_axes=(0, None)))(a, q)
    np.testing.assert_allclose(x, solve(a, q), rtol=1e-10)
    assert solve(np.zeros((0, 0)), np.zeros((2, 0, 0))).shape == (2, 0, 0)


@pytest.mark.parametrize("a", [np.eye(2), np.diag([2.0, 0.5])], ids=["on the circle", "a pair"])
def test_a_singular_equation_of_discrete_time(a):
    """an error where a is known, nan in a program"""
    with pytest.raises(tn.InvalidParameterError, match="no unique solution"):
        ours.solve_discrete_lyapunov(a, np.eye(2))
    assert np.isnan(tn.jit(ours.solve_discrete_lyapunov)(a, np.eye(2))).all()


def test_methods_of_scipy_are_taken_and_others_refused():
    a, q = draw("float64", N, N), draw("float64", N, N)
    want = theirs.solve_discrete_lyapunov(a, q)
    for method in ("direct", "bilinear", None):
        found = ours.solve_discrete_lyapunov(a, q, method=method)
        np.testing.assert_allclose(found, want, rtol=1e-9)
    with pytest.raises(tn.InvalidParameterError, match="method"):
        ours.solve_discrete_lyapunov(a, q, "Direct")


# ---- Riccati's equations -------------------------------------------------------------------------


def residual_of_continuous(x, a, b, q, r, e, s):
    cross = adjoint(e) @ x @ b + s
    drift = adjoint(a) @ x @ e
    return drift + adjoint(drift) - cross @ np.linalg.solve(r, adjoint(cross)) + q


def residual_of_discrete(x, a, b, q, r, e, s):
    cross = adjoint(a) @ x @ b + s
    rest = adjoint(a) @ x @ a - adjoint(e) @ x @ e + q
    return rest - cross @ np.linalg.solve(r + adjoint(b) @ x @ b, adjoint(cross))


RICCATI = {
    "continuous": (ours.solve_continuous_are, residual_of_continuous),
    "discrete": (ours.solve_discrete_are, residual_of_discrete),
}


def spectrum_of_closed_loop(time, x, a, b, q, r, e, s):
    """Real parts of eigenvalues, or their moduli less 1: negative if the loop is stable."""
    if time == "continuous":
        gain = np.linalg.solve(r, adjoint(b) @ x @ e + adjoint(s))
        return np.linalg.eigvals(np.linalg.solve(e, a - b @ gain)).real
    gain = np.linalg.solve(r + adjoint(b) @ x @ b, adjoint(b) @ x @ a + adjoint(s))
    return np.abs(np.linalg.eigvals(np.linalg.solve(e, a - b @ gain))) - 1


@pytest.mark.parametrize("dtype", DTYPES)
@over_time
def test_a_stabilizing_solution(time, dtype):
    """the residual is 0, the closed loop is stable, x is Hermitian; all operands, in a stack"""
    solve, residual = RICCATI[time]
    given = problem(dtype, 2)
    x = np.asarray(solve(*given))
    assert x.dtype == dtype
    scale = np.abs(x).max() * np.abs(given[4]).max() ** 2
    np.testing.assert_allclose(residual(x, *given) / scale, 0, atol=TOLERANCE[dtype])
    np.testing.assert_array_equal(x, adjoint(x))
    assert spectrum_of_closed_loop(time, x, *given).max() < 0


def root_of_continuous(a, b, q, r):
    return r / b**2 * (a + mp.sqrt(a**2 + q * b**2 / r))


def root_of_discrete(a, b, q, r):
    half = (a**2 * r + b**2 * q - r) / (2 * b**2)
    return half + mp.sqrt(half**2 + q * r / b**2)


@pytest.mark.parametrize("place", range(4))
@over_time
def test_three_derivatives_of_the_solution_for_numbers(time, place):
    """x = r/b² (a + √(a² + q b²/r)), and the root of a quadratic equation"""
    solve, _ = RICCATI[time]
    root = {"continuous": root_of_continuous, "discrete": root_of_discrete}[time]
    numbers = [1.25, 0.5, 2.0, 0.75]

    def replaced(x):
        return [x if i == place else y for i, y in enumerate(numbers)]

    def value(x):
        return solve(*[np.reshape(y, (1, 1)) for y in replaced(x)])[0, 0]

    third = tn.grad(tn.grad(tn.grad(value)))
    with mp.workdps(40):
        want = [mp.diff(lambda x: root(*replaced(x)), numbers[place], n) for n in (0, 1, 3)]
    got = [f(numbers[place]) for f in (value, tn.grad(value), third)]
    np.testing.assert_allclose(np.array(got, float), np.array(want, float), rtol=1e-12)


@pytest.mark.parametrize("dtype, order", [("float64", 2), ("complex128", 1)])
@over_time
def test_derivatives_of_a_stabilizing_solution(time, dtype, order):
    """by all six operands"""
    solve, _ = RICCATI[time]

    def solution(a, b, q, r, e, s):
        return solve(a, b, hermitian(q), hermitian(r), e, s)

    tn.check_grads(solution, problem(dtype), order=order)


@over_time
def test_riccatis_equation_in_jit_and_vmap(time):
    """values and gradients, over one operand"""
    solve, _ = RICCATI[time]
    a, b, q, r, _, _ = problem("float64")
    stack = np.stack([a, -a])
    x = tn.jit(tn.vmap(solve, in_axes=(0, None, None, None)))(stack, b, q, r)
    np.testing.assert_allclose(x, [solve(each, b, q, r) for each in stack], rtol=1e-11)

    def cost(a):
        return np.trace(solve(a, b, q, r))

    slopes = tn.jit(tn.vmap(tn.grad(cost)))(stack)
    np.testing.assert_allclose(slopes, [tn.grad(cost)(each) for each in stack], rtol=1e-10)
    empty = np.zeros((0, N, N)), np.zeros((0, N, M)), np.zeros((0, N, N)), np.eye(M)
    assert solve(*empty).shape == (0, N, N)


STEP = np.array([[1.0, 0.1], [0.0, 1.0]])
PUSH = np.array([[0.0], [0.1]])
HARD = {  # a, b, q, r
    "large r": (STEP, PUSH, np.eye(2), 1e10),
    "small r": (STEP, PUSH, np.eye(2), 1e-10),
    "unstable modes without a cost": (np.diag([2.0, 3.0]), np.ones((2, 1)), np.zeros((2, 2)), 1),
    "stable modes without a cost": (np.diag([-0.2, -0.3]), np.ones((2, 1)), np.zeros((2, 2)), 1),
    "a chain of integrators": (np.eye(8, k=1), np.eye(8)[:, 7:], np.eye(8), 1),
    "without a control": (-0.5 * np.eye(2), np.zeros((2, 1)), np.eye(2), 1),
    "units that differ": ([[1, 1e6], [0, 1]], [[0], [1e-6]], np.diag([1e-6, 1e6]), 1),
}


@pytest.mark.parametrize(
    "time, name", [("discrete", "r of 0"), *[(time, name) for time in RICCATI for name in HARD]]
)
def test_hard_problems_have_small_residuals(time, name):
    """relative to the terms of the equation, to 1e-13; and the closed loop is stable"""
    a, b, q, r = HARD.get(name, (STEP, PUSH, np.eye(2), 0))
    a, b, r = np.array(a, float), np.array(b, float), np.array([[r]], float)
    solve, residual = RICCATI[time]
    x = np.asarray(solve(a, b, q, r))
    rest = (np.eye(len(a)), np.zeros(b.shape))
    scale = max(np.abs(x).max(), 1e-9) * max(np.abs(a).max() ** (1 + (time == "discrete")), 1)
    np.testing.assert_allclose(residual(x, a, b, q, r, *rest) / scale, 0, atol=1e-13)
    assert spectrum_of_closed_loop(time, x, a, b, q, r, *rest).max() < 0


def test_derivatives_where_r_is_singular():
    """r + bᴴ x b is regular"""

    def solution(b, r):
        return ours.solve_discrete_are(STEP, b, np.eye(2), r)

    tn.check_grads(solution, (10 * PUSH, np.zeros((1, 1))), order=2)


@pytest.mark.parametrize(
    "a, b, q, r",
    [
        (np.array([[0.5, 1.0], [0.0, 0.8]]), PUSH, np.diag([1.0, 0.0]), np.zeros((1, 1))),
        (np.array([[1.1, 0.3], [0.2, 0.9]]), np.eye(2), np.diag([1.0, 0.0]), np.diag([1.0, 0.0])),
    ],
    ids=["one control", "two controls"],
)
def test_both_r_and_its_sum_with_the_costs_may_be_singular(a, b, q, r):
    """of r + bᴴ q b; r + bᴴ x b is regular"""
    x = ours.solve_discrete_are(a, b, q, r)
    np.testing.assert_allclose(x, theirs.solve_discrete_are(a, b, q, r), atol=1e-12)
    tn.check_grads(lambda b: ours.solve_discrete_are(a, b, q, r), (b,), order=1)


@over_time
def test_without_a_stabilizing_solution(time):
    """an error where the operands are known; in programs nan, beside what has a solution"""
    solve, _ = RICCATI[time]
    a, q, r = np.diag([2.0, 0.3]), np.eye(2), np.eye(1)
    pushes = np.array([[[0.0], [1.0]], [[1.0], [1.0]]])  # the first does not move the first mode
    with pytest.raises(tn.InvalidParameterError, match="no stabilizing solution"):
        solve(a, pushes[0], q, r)
    x = tn.jit(solve)(a, pushes, q, r)
    assert np.isnan(x[0]).all()
    np.testing.assert_allclose(x[1], solve(a, pushes[1], q, r), rtol=1e-12)
    slope = tn.jit(tn.grad(lambda b: np.sum(solve(a, b, q, r))))(pushes)
    np.testing.assert_array_equal(np.isnan(slope), [[[True]] * 2, [[False]] * 2])


@pytest.mark.parametrize("place, name", [(2, "q"), (3, "r")])
@over_time
def test_costs_that_are_not_hermitian_are_refused(time, place, name):
    given = [*problem("float64")]
    given[place] = given[place] + np.eye(len(given[place]), k=1)
    with pytest.raises(tn.InvalidParameterError, match=f"{name} is not Hermitian"):
        RICCATI[time][0](*given)


@pytest.mark.parametrize("place", range(6))
@over_time
def test_operands_that_do_not_fit_are_refused(time, place):
    given = [*problem("float64")]
    given[place] = given[place][..., :1]
    with pytest.raises(tn.ShapeMismatchError):
        RICCATI[time][0](*given)
    with pytest.raises(tn.ShapeMismatchError, match="fit together"):
        LYAPUNOV[time][0](given[0] if place else np.eye(5), np.eye(4))
