"""Each program of `examples/tensor_networks` beside an independent result."""

import numpy as np
import pytest
from tensor_networks import block_sparse, ctmrg, mps, peps, tebd, trg

import tenferro as tn


def difference(f, x, direction, step=1e-5):
    """The derivative along a direction, by central differences."""
    return (float(f(x + step * direction)) - float(f(x - step * direction))) / (2 * step)


def test_trg_has_onsagers_free_energy_and_two_derivatives():
    """Far from the transition, where eight values are enough."""
    log_z = lambda beta: trg.log_z(beta, bond=8, steps=8)  # noqa: E731
    slope = tn.grad(log_z)
    found = [float(f(0.2)) for f in (log_z, slope, tn.grad(slope))]
    exact = [trg.onsager(0.2, order) for order in range(3)]
    np.testing.assert_allclose(found[0], exact[0], rtol=1e-6)
    np.testing.assert_allclose(found[1], exact[1], rtol=1e-4)
    np.testing.assert_allclose(found[2], exact[2], rtol=1e-3)


@pytest.mark.parametrize("beta", [0.25, 0.55])
def test_ctmrg_has_the_exact_energy_and_magnetization_on_both_sides_of_the_transition(beta):
    magnetization = (1 - np.sinh(2 * beta) ** -4) ** 0.125 if beta > 0.5 else 0.0
    exact = [trg.onsager(beta, 0), trg.onsager(beta, 1), magnetization]
    np.testing.assert_allclose(ctmrg.results(beta, 8, 40), exact, rtol=1e-8, atol=1e-8)


def test_a_variational_mps_reaches_the_energy_of_free_fermions():
    _, found = mps.ground_state(1.0, 0.8, sites=6, bond=4, steps=150)
    exact = mps.exact_energy(1.0, 0.8, 6)
    assert -1e-10 < found - exact < 1e-4
    np.testing.assert_allclose(exact, exact_by_diagonalization(1.0, 0.8, 6), rtol=1e-12)


def exact_by_diagonalization(j, h, sites):
    """The lowest eigenvalue of the chain's matrix."""
    at = lambda x, i: np.kron(np.kron(np.eye(2**i), x), np.eye(2 ** (sites - 1 - i)))  # noqa: E731
    bonds = sum(at(mps.Z, i) @ at(mps.Z, i + 1) for i in range(sites - 1))
    return np.linalg.eigvalsh(-j * bonds - h * sum(at(mps.X, i) for i in range(sites)))[0]


def test_the_gradient_of_the_energy_of_an_mps_is_that_of_differences():
    rng = np.random.default_rng(1)
    tensors, direction = rng.normal(size=(2, 5, 3, 2, 3))
    energy = lambda x: mps.energy(x, np.asarray(mps.operator(1.0, 0.7)))  # noqa: E731
    slope = np.sum(tn.grad(energy)(tensors) * direction)
    np.testing.assert_allclose(slope, difference(energy, tensors, direction), rtol=1e-6)


def test_tebd_and_its_derivative_have_an_error_of_second_order():
    errors = np.array(tebd.main(steps=(4, 8)))
    assert np.all(errors[0] < 5e-3)
    np.testing.assert_allclose(errors[0] / errors[1], 4.0, rtol=0.15)


def test_the_gradient_of_the_energy_of_a_peps_is_that_of_differences():
    tensors = peps.start()
    vector = np.concatenate([x.ravel() for x in tensors])
    direction = np.random.default_rng(2).normal(size=vector.shape)
    energy = lambda vector: peps.energy(peps.split(np.asarray(vector)))  # noqa: E731
    slope = np.concatenate([np.ravel(x) for x in tn.grad(peps.energy)(tensors)]) @ direction
    np.testing.assert_allclose(slope, difference(energy, vector, direction), rtol=1e-5)


def test_blocks_have_the_values_and_gradients_of_dense_tensors():
    value, gradient = block_sparse.main()
    assert value < 1e-13
    assert gradient < 1e-12


def test_a_contraction_of_blocks_is_that_of_dense_tensors():
    a, b = block_sparse.operands()
    found = block_sparse.contract(a, b, 1)
    want = np.tensordot(block_sparse.dense(a), block_sparse.dense(b), 1)
    np.testing.assert_allclose(block_sparse.dense(found), want, atol=1e-13)
    assert sum(x.size for x in found.blocks.values()) < want.size / 2


@pytest.mark.parametrize(
    "program, bounds",
    [
        (trg, [[1e-4, 1e-3, 1e-2], [1e-4, 1e-3, 1e-2], [1e-3, 1e-3, 1e-2]]),
        (mps, [1e-4, 1e-4, 1e-4]),
        (peps, [1e-5, 1e-3]),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_a_program_finds_what_it_prints(program, bounds):
    errors = program.main()
    assert np.shape(errors) == np.shape(bounds)
    assert np.all(np.abs(errors) < bounds)
