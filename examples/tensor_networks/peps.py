"""PEPS: the energy of a lattice of spins in a transverse field, and its gradient.

    H = -J Σ Z Z (neighbours) - h Σ X     on 3 × 3 sites with open borders

The amplitudes of all configurations are one contraction of the nine tensors. Its order is found
once, by `tn.contract_expression`, and serves the energy, the gradient and every step of the
minimization. Differences check the gradient, the lowest eigenvalue of H the energy.
"""

from itertools import product

import numpy as np
from scipy.optimize import minimize
from scipy.sparse.linalg import LinearOperator, eigsh

import tenferro as tn

SIDE, BOND = 3, 2
SITES = [*product(range(SIDE), range(SIDE))]
PAIRS = [(a, b) for a, b in product(SITES, SITES) if b in ((a[0] + 1, a[1]), (a[0], a[1] + 1))]
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def terms():
    """The labels of each tensor: its spin, then its bonds in the order of `PAIRS`."""
    bonds = {pair: LETTERS[number] for number, pair in enumerate(PAIRS)}
    spins = LETTERS[len(PAIRS) :]
    return [
        spin + "".join(label for pair, label in bonds.items() if site in pair)
        for spin, site in zip(spins, SITES, strict=False)
    ]


TERMS = terms()
SHAPES = [(2, *[BOND] * (len(term) - 1)) for term in TERMS]
SUBSCRIPTS = f"{','.join(TERMS)}->{''.join(term[0] for term in TERMS)}"
AMPLITUDES = tn.contract_expression(SUBSCRIPTS, *SHAPES)


def applied(psi, j, h):
    """H applied to amplitudes with one axis per spin."""
    count = len(SITES)
    z = dict(zip(SITES, 1.0 - 2.0 * np.indices((2,) * count), strict=True))
    bonds = sum(z[a] * z[b] for a, b in PAIRS)
    return -j * bonds * psi - h * sum(np.flip(psi, axis) for axis in range(count))


def energy(tensors, j=1.0, h=2.5):
    """⟨ψ|H|ψ⟩ / ⟨ψ|ψ⟩"""
    psi = AMPLITUDES(*tensors)
    return np.sum(psi * applied(psi, j, h)) / np.sum(psi**2)


def start():
    """Nearly all spins in the direction of the field, and a little of everything else."""
    rng = np.random.default_rng(0)
    found = [0.1 * rng.standard_normal(shape) for shape in SHAPES]
    for x in found:
        x[(slice(None), *[0] * (x.ndim - 1))] += 1.0
    return found


def split(vector):
    """Cut a vector into the nine tensors."""
    places = np.cumsum([np.prod(shape) for shape in SHAPES])[:-1]
    return [x.reshape(shape) for x, shape in zip(np.split(vector, places), SHAPES, strict=True)]


def optimized(steps=150):
    """Minimize the energy by L-BFGS; return the tensors and the energy."""
    slope = tn.jit(tn.value_and_grad(energy))

    def both(vector):
        value, gradient = slope(split(vector))
        return float(value), np.concatenate([np.ravel(x) for x in gradient])

    vector = np.concatenate([x.ravel() for x in start()])
    done = minimize(both, vector, jac=True, method="L-BFGS-B", options={"maxiter": steps})
    return split(done.x), float(done.fun)


def exact_energy(j=1.0, h=2.5):
    """The lowest eigenvalue of H."""
    shape = (2,) * len(SITES)
    product = lambda x: applied(x.reshape(shape), j, h).ravel()  # noqa: E731
    matrix = LinearOperator((512, 512), product, dtype=float)
    return eigsh(matrix, k=1, which="SA", v0=np.ones(512))[0][0]


def main():
    """Print the gradient's error and the energy's; return both."""
    tensors, step = start(), 1e-5
    direction = [np.cos(np.arange(x.size)).reshape(x.shape) for x in tensors]
    up, down = ([x + s * d for x, d in zip(tensors, direction, strict=True)] for s in (step, -step))
    difference = (float(energy(up)) - float(energy(down))) / (2 * step)
    slope = sum(np.sum(g * d) for g, d in zip(tn.grad(energy)(tensors), direction, strict=True))
    _, found = optimized()
    exact = exact_energy()
    print(f"derivative along a direction {float(slope):.8f}   by differences {difference:.8f}")
    print(f"energy {found:.6f}   exact {exact:.6f}   above by {found - exact:.0e}")
    return abs(float(slope) / difference - 1), found - exact


if __name__ == "__main__":
    main()
