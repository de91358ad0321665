"""Each solver of `examples/solvers` against an independent reference, values and gradients."""

import itertools

import numpy as np
import pytest
from solvers import (
    fixed_points,
    krylov,
    lbfgs,
    newton,
    nuts,
    runge_kutta,
    state_space,
    tensor_networks,
)

import tenferro as tn

RNG = np.random.default_rng(7)


def differences(f, x, step=1e-5):
    """The gradient of a function of a vector, by central differences."""
    rows = step * np.eye(x.size).reshape(x.size, *x.shape)
    slopes = [(float(f(x + e)) - float(f(x - e))) / (2 * step) for e in rows]
    return np.reshape(slopes, x.shape)


# linear systems

GENERAL = RNG.standard_normal((12, 12)) + 6 * np.eye(12)
RIGHT = RNG.standard_normal(12)


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("restart", [4, 20])
def test_gmres_is_the_solution(dtype, restart):
    scipy_linalg = pytest.importorskip("scipy.sparse.linalg")
    a = GENERAL + (1j * np.diag(RIGHT) if dtype is complex else 0)
    b = RIGHT.astype(dtype)
    x = krylov.gmres(lambda x: a @ x, b, restart=restart)
    np.testing.assert_allclose(x, np.linalg.solve(a, b), rtol=1e-9)
    np.testing.assert_allclose(x, scipy_linalg.gmres(a, b, rtol=1e-12)[0], rtol=1e-8)


def test_gmres_of_a_space_that_is_complete():
    """b is an eigenvector: one step is enough, and the others add nothing"""
    a = np.diag([2.0, 3.0, 4.0])
    np.testing.assert_allclose(krylov.gmres(lambda x: a @ x, np.eye(3)[1]), np.eye(3)[1] / 3)


@pytest.mark.parametrize("solve", [krylov.solve_gmres, krylov.solve_cg])
def test_gradients_of_solutions_of_linear_systems(solve):
    """∂/∂(p, b) of w · A(p)⁻¹ b, beside a dense solution"""
    base = GENERAL @ GENERAL.T if solve is krylov.solve_cg else GENERAL

    def loss(p, b, dense):
        a = base + p * np.eye(12)
        return RIGHT @ (np.linalg.solve(a, b) if dense else solve(lambda x: a @ x, b))

    for transform in (
        lambda f: tn.grad(f, (0, 1))(0.3, RIGHT),
        lambda f: tn.jit(tn.grad(f, (0, 1)))(0.3, RIGHT),
        lambda f: (tn.grad(tn.grad(f))(0.3, RIGHT),),
    ):
        got = transform(lambda p, b: loss(p, b, False))
        need = transform(lambda p, b: loss(p, b, True))
        for x, y in zip(got, need, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-7, atol=1e-12)


# equations


def circle_and_line(x, p):
    return np.stack([x[0] ** 2 + x[1] ** 2 - p[0], x[1] - p[1] * x[0]])


def test_newton_finds_a_root_with_its_derivatives():
    """X = (√(a/(1+b²)), b √(a/(1+b²)))"""
    p = np.array([2.0, 0.5])
    root = lambda p: newton.find_root(lambda x: circle_and_line(x, p), np.ones(2))  # noqa: E731
    closed = lambda p: np.sqrt(p[0] / (1 + p[1] ** 2)) * np.stack([1 + 0 * p[1], p[1]])  # noqa: E731
    np.testing.assert_allclose(root(p), closed(p), rtol=1e-10)
    for transform in (tn.jacfwd, tn.jacrev, lambda f: tn.jacfwd(tn.jacrev(f)), tn.hessian):
        np.testing.assert_allclose(transform(root)(p), transform(closed)(p), rtol=1e-8)
    optimize = pytest.importorskip("scipy.optimize")
    np.testing.assert_allclose(optimize.root(circle_and_line, np.ones(2), p).x, root(p), rtol=1e-8)


def test_newton_is_damped():
    """arctan x = 0 from x = 3, where the full step diverges"""
    assert abs(newton.find_root(np.arctan, np.array([3.0]))[0]) < 1e-12


def layer(seed):
    rng = np.random.default_rng(seed)
    return {
        "w": rng.standard_normal((4, 4)), "u": rng.standard_normal((4, 3)),
        "b": rng.standard_normal(4), "out": rng.standard_normal(4),
    }  # fmt: skip


def unrolled_predict(parameters, x):
    w = 0.9 * parameters["w"] / np.sqrt(1 + np.sum(np.square(parameters["w"])))
    z = np.zeros(4)
    for _ in range(300):
        z = np.tanh(w @ z + parameters["u"] @ x + parameters["b"])
    return parameters["out"] @ z


def test_the_gradient_of_an_equilibrium_is_that_of_a_long_iteration():
    xs, parameters = RNG.standard_normal((2, 3)), layer(1)
    for x in xs:
        got = tn.value_and_grad(fixed_points.predict, (0, 1))(parameters, x)
        need = tn.value_and_grad(unrolled_predict, (0, 1))(parameters, x)
        np.testing.assert_allclose(got[0], need[0], rtol=1e-10)
        np.testing.assert_allclose(got[1][1], need[1][1], rtol=1e-8, atol=1e-11)
        for name in parameters:
            np.testing.assert_allclose(got[1][0][name], need[1][0][name], rtol=1e-8, atol=1e-11)


def test_an_equilibrium_model_learns():
    xs, parameters = RNG.standard_normal((8, 3)), layer(2)
    ys = np.sin(xs[:, 0]) + xs[:, 1] * xs[:, 2]
    step = tn.jit(tn.value_and_grad(fixed_points.loss))
    losses = []
    for _ in range(25):
        value, gradient = step(parameters, xs, ys)
        losses.append(float(value))
        parameters = {name: parameters[name] - 0.05 * gradient[name] for name in parameters}
    assert losses[-1] < 0.5 * losses[0]


# minimization


def rosenbrock(x):
    return np.sum(100 * np.square(x[1:] - np.square(x[:-1])) + np.square(1 - x[:-1]))


def test_lbfgs_finds_the_minimum():
    optimize = pytest.importorskip("scipy.optimize")
    x0 = np.array([-1.2, 1.0, -0.5, 0.8])
    x, steps = tn.jit(lambda x: lbfgs.minimize(rosenbrock, x))(x0)
    np.testing.assert_allclose(x, np.ones(4), rtol=1e-6)
    reference = optimize.minimize(rosenbrock, x0, jac=tn.grad(rosenbrock), method="L-BFGS-B")
    np.testing.assert_allclose(reference.x, x, rtol=1e-3)
    assert steps < 2 * reference.nit + 20


def test_lbfgs_from_many_starts():
    """A quadratic function of condition 1,000, by `vmap`"""
    scales = np.logspace(0, 3, 6)
    f = lambda x: np.sum(scales * np.square(x - 1)) / 2  # noqa: E731
    starts = RNG.standard_normal((3, 6))
    found, _ = tn.vmap(lambda x: lbfgs.minimize(f, x))(starts)
    np.testing.assert_allclose(found, np.ones((3, 6)), rtol=1e-6)


# states


def model_of(rate):
    return {
        "mean": np.array([0.1, -0.2]), "covariance": 0.5 * np.eye(2),
        "F": np.array([[0.9, 0.1], [-0.1, 0.8]]) * rate, "Q": 0.1 * np.eye(2),
        "H": np.array([[1.0, 0.3]]), "R": np.array([[0.2]]),
    }  # fmt: skip


def joint_log_density(model, ys):
    """log N(y₀ … yₙ; mean, covariance), with all states and observations as one Gaussian."""
    n, f, h = len(ys), model["F"], model["H"]
    powers = [np.linalg.matrix_power(f, k) for k in range(n)]
    mean = np.concatenate([h @ p @ model["mean"] for p in powers])
    states = [model["covariance"]]
    for _ in range(n - 1):
        states.append(f @ states[-1] @ f.T + model["Q"])
    covariance = np.block(
        [
            [
                h @ powers[max(i - j, 0)] @ states[min(i, j)] @ powers[max(j - i, 0)].T @ h.T
                for j in range(n)
            ]
            for i in range(n)
        ]
    ) + np.kron(np.eye(n), model["R"])
    stats = pytest.importorskip("scipy.stats")
    return stats.multivariate_normal(mean, covariance).logpdf(ys.ravel())


def test_the_kalman_filter_has_the_likelihood_of_the_joint_gaussian():
    ys = RNG.standard_normal((6, 1))
    likelihood = lambda rate: state_space.kalman_filter(model_of(rate), ys)[2]  # noqa: E731
    np.testing.assert_allclose(likelihood(1.0), joint_log_density(model_of(1.0), ys), rtol=1e-10)
    slope = tn.grad(likelihood)(1.0)
    need = differences(lambda r: joint_log_density(model_of(float(r)), ys), np.array(1.0))
    np.testing.assert_allclose(slope, need, rtol=1e-7)


def test_the_forward_algorithm_is_the_sum_over_all_paths():
    rng = np.random.default_rng(3)
    start, transition, emission = (rng.dirichlet(np.ones(3), n) for n in (1, 3, 3))
    symbols = np.array([0, 2, 1, 1, 0])

    def by_paths(emission):
        total = 0.0
        for path in itertools.product(range(3), repeat=5):
            p = start[0, path[0]]
            for a, b in itertools.pairwise(path):
                p = p * transition[a, b]
            for state, symbol in zip(path, symbols, strict=True):
                p = p * emission[state, symbol]
            total = total + p
        return np.log(total)

    likelihood = lambda emission: state_space.hmm_log_likelihood(  # noqa: E731
        np.log(start[0]), np.log(transition), np.log(emission), symbols
    )
    np.testing.assert_allclose(likelihood(emission), by_paths(emission), rtol=1e-12)
    need = differences(by_paths, emission)
    np.testing.assert_allclose(tn.grad(likelihood)(emission), need, rtol=1e-6, atol=1e-8)


# differential equations


def oscillator(p):
    """y″ = -p₀ y - p₁ y′, with Duffing's cubic term p₂"""
    return lambda t, y: np.stack([y[1], -p[0] * y[0] - p[1] * y[1] - p[2] * y[0] ** 3])


PARAMETERS, START = np.array([2.0, 0.1, 0.7]), np.array([1.0, 0.0])


def test_gradients_through_the_steps_and_by_the_adjoint_agree():
    """∂/∂(y₀, p) of y(t₁), beside differences of an exact solution of the linear part"""
    weights = np.array([1.0, -0.5])

    def by_steps(y0, p):
        tight = {"rtol": 1e-8, "atol": 1e-10}
        solution = tn.integrate.solve_ivp(oscillator(p), (0.0, 3.0), y0, t_eval=[3.0], **tight)
        return weights @ solution.y[:, 0]

    def by_adjoint(y0, p):
        f = lambda t, y, p: oscillator(p)(t, y)  # noqa: E731
        return weights @ runge_kutta.final_state(f, y0, p, 0.0, 3.0)

    through, adjoint = (tn.grad(f, (0, 1))(START, PARAMETERS) for f in (by_steps, by_adjoint))
    jitted = tn.jit(tn.grad(by_adjoint, (0, 1)))(START, PARAMETERS)
    for k, (x, y, z) in enumerate(zip(through, adjoint, jitted, strict=True)):
        np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(y, z, rtol=1e-10)
        at = lambda v, k=k: by_adjoint(*((v, PARAMETERS), (START, v))[k])  # noqa: E731
        np.testing.assert_allclose(y, differences(at, (START, PARAMETERS)[k]), rtol=1e-5, atol=1e-6)


# samples

MEAN = np.array([1.0, -1.0, -np.euler_gamma])
COVARIANCE = np.array([[1.0, 0.6, 0.0], [0.6, 2.0, 0.0], [0.0, 0.0, np.pi**2 / 6]])


def log_density(x):
    """A correlated Gaussian, and the logarithm of an exponential variable: -γ, π²/6"""
    gaussian = tn.stats.multivariate_normal.logpdf(x[:2], MEAN[:2], COVARIANCE[:2, :2])
    return gaussian + x[2] - np.exp(x[2])


def test_the_no_u_turn_sampler_has_the_moments_of_the_density():
    chain = tn.jit(lambda key: nuts.sample(log_density, np.zeros(3), key, draws=400, warmup=80))
    draws, _ = chain(tn.random.key(4))
    deviations = np.sqrt(np.diag(COVARIANCE))
    np.testing.assert_array_less(np.abs(np.mean(draws, axis=0) - MEAN), 0.15 * deviations)
    error = np.abs(np.cov(draws.T) - COVARIANCE)
    np.testing.assert_array_less(error, 0.25 * np.outer(deviations, deviations))


@pytest.mark.parametrize("size", [0.11, -0.35, 0.52, 2.1])
def test_a_trajectory_ends_where_the_first_of_its_subtrees_turns(size):
    """Beside a search over all aligned subtrees; x² / 2 and v² / 2, seven doublings"""
    x, v, velocities = 0.3, 1.0, []
    for _ in range(128):
        v = v - size / 2 * x
        x = x + size * v
        v = v - size / 2 * x
        velocities.append(v)
    need = next((n + 1 for n in range(128) if turns_at(velocities, n)), 128)
    start = np.array([[0.3], [1.0], [-0.3]])
    found = nuts.subtree(
        lambda x: -np.sum(x**2) / 2, start, size, tn.random.key(0), 7, np.array(0.545), 8
    )
    assert (int(found[0]), bool(found[-1])) == (need, need < 128)


def turns_at(velocities, n):
    """Whether a subtree of 2, 4, … points that ends with point n turns"""
    sizes = [2**k for k in range(1, 8) if (n + 1) % 2**k == 0]
    trees = [np.array(velocities[n + 1 - size : n + 1]) for size in sizes]
    inner = [np.sum(v) - (v[0] + v[-1]) / 2 for v in trees]
    return any(v[0] * m <= 0 or v[-1] * m <= 0 for v, m in zip(trees, inner, strict=True))


# spin chains

MODEL = tensor_networks.Model(1.0, 0.8)


def test_dmrg_finds_the_ground_state():
    tensors, energies = tensor_networks.ground_state_by_dmrg(MODEL, sites=5, bond=4)
    need = tensor_networks.exact_energy(MODEL, 5)
    np.testing.assert_allclose(energies[-1], need, rtol=1e-10)
    np.testing.assert_allclose(tensor_networks.energy(MODEL, tensors), need, rtol=1e-10)


def test_the_derivative_of_the_energy_is_that_of_the_lowest_eigenvalue():
    """Hellmann and Feynman: dE/d(J, h) = ⟨ψ| ∂H/∂(J, h) |ψ⟩"""
    tensors, _ = tensor_networks.ground_state_by_dmrg(MODEL, sites=5, bond=4)
    got = tn.grad(lambda p: tensor_networks.energy(tensor_networks.Model(*p), tensors))
    need = tn.grad(lambda p: tensor_networks.exact_energy(tensor_networks.Model(*p), 5))
    p = np.array([MODEL.j, MODEL.h])
    np.testing.assert_allclose(got(p), need(p), rtol=1e-7)


def test_tebd_goes_to_the_ground_state_with_an_error_of_second_order():
    """The state's error is O(time²), the energy's its square"""
    model = tensor_networks.Model(1.0, 1.5)
    need = tensor_networks.exact_energy(model, 5)
    errors = []
    for time, steps in ((0.2, 40), (0.1, 80)):
        tensors = tensor_networks.ground_state_by_tebd(model, 5, 4, time=time, steps=steps)
        errors.append(float(tensor_networks.energy(model, tensors)) - need)
    assert 0 < errors[1] < errors[0] / 12
    assert errors[0] < 5e-4
