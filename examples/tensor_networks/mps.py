"""Variational MPS: the ground state of an Ising chain in a transverse field, by gradients.

    H = -J Σ Zᵢ Zᵢ₊₁ - h Σ Xᵢ     on an open chain

The energy ⟨ψ|H|ψ⟩ / ⟨ψ|ψ⟩ is one scan over the chain, and L-BFGS minimizes it with the gradient of
all tensors. Free fermions have the exact energy (P. Pfeuty, Annals of Physics 57 (1970) 79).
"""

import numpy as np
from scipy.optimize import minimize

import tenferro as tn

X, Z, ONE = np.array([[0.0, 1.0], [1.0, 0.0]]), np.diag([1.0, -1.0]), np.eye(2)


def operator(j, h):
    """H as one tensor of every site: [left, right, out, in]; the sum starts at 0 and ends at 2."""
    zero = np.zeros((2, 2))
    rows = [ONE, -j * Z, -h * X], [zero, zero, Z], [zero, zero, ONE]
    return np.stack([np.stack(row) for row in rows])


def energy(tensors, w):
    """The energy of a state; tensors: [site, left, spin, right], of which the ends use index 0."""
    bond = tensors.shape[1]

    def site(state, a):
        value, norm = state
        value = np.einsum("axb,apc,xyqp,bqd->cyd", value, a, w, a)
        norm = np.einsum("ab,apc,bpd->cd", norm, a, a)
        size = np.sqrt(np.sum(norm**2))  # the chain may be long
        return (value / size, norm / size), None

    corner = np.zeros((bond, 3, bond)), np.zeros((bond, bond))
    corner[0][0, 0, 0] = corner[1][0, 0] = 1.0
    (value, norm), _ = tn.scan(site, corner, tensors)
    return value[0, 2, 0] / norm[0, 0]


def ground_state(j, h, sites=16, bond=6, steps=400):
    """Minimize the energy, from nearly all spins in the direction of the field."""
    w = np.asarray(operator(j, h))
    start = 0.05 * np.random.default_rng(0).standard_normal((sites, bond, 2, bond))
    start[:, 0, :, 0] += 1.0
    slope = tn.jit(tn.value_and_grad(lambda x: energy(x, w)))

    def both(x):
        value, gradient = slope(x.reshape(start.shape))
        return float(value), np.asarray(gradient).ravel()

    options = {"maxiter": steps, "maxfun": 2 * steps, "ftol": 1e-14, "gtol": 1e-8}
    done = minimize(both, start.ravel(), jac=True, method="L-BFGS-B", options=options)
    return done.x.reshape(start.shape), float(done.fun)


def exact_energy(j, h, sites):
    """Minus the sum of the singular values of the fermions' matrix."""
    matrix = h * np.eye(sites) + j * np.eye(sites, k=1)
    return -np.sum(np.linalg.svd(matrix, compute_uv=False))


def main():
    """Print the energy at three fields beside the exact one; return the errors."""
    errors = []
    for h in (0.5, 1.0, 1.5):
        _, found = ground_state(1.0, h)
        exact = exact_energy(1.0, h, 16)
        errors.append(found - exact)
        print(f"h = {h}   energy {found:.8f}   exact {exact:.8f}   above by {errors[-1]:.0e}")
    return errors


if __name__ == "__main__":
    main()
