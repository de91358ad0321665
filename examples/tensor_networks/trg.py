"""TRG: the free energy of the Ising model, and its first and second derivative.

The partition function of 2ⁿ spins on the square lattice is a network of equal tensors. Each step
splits every tensor in two by its largest singular values and joins four halves to a tensor of twice
as many spins. The symmetry of the model makes singular values equal; whole multiplets are kept, so
their vectors matter through the projector on their space alone, which `projectors_only` states.

Source: M. Levin, C. Nave, Phys. Rev. Lett. 99 (2007) 120601.
"""

import mpmath
import numpy as np

import tenferro as tn


def site(beta):
    """The tensor of one spin: [up, right, down, left], one bond value for each parity."""
    even, odd = np.sqrt(np.cosh(beta)), np.sqrt(np.sinh(beta))
    w = np.stack([np.stack([even, odd]), np.stack([even, -odd])])
    return np.einsum("su,sr,sd,sl->urdl", w, w, w, w)


def split(matrix, bond):
    """Two factors of a matrix: no singular value that is zero, and no part of a multiplet."""
    u, s, vh = tn.linalg.svd(matrix, full_matrices=False, projectors_only=True)
    kept = min(bond, int(np.sum(s > 1e-12 * s[0])))
    while kept < len(s) and s[kept] > (1 - 1e-6) * s[kept - 1]:
        kept -= 1
    root = np.sqrt(s[:kept])
    return u[:, :kept] * root, root[:, None] * vh[:kept]


def coarse(t, bond):
    """The tensor of twice as many spins."""
    up, right, down, left = t.shape
    a, c = split(np.transpose(t, (0, 3, 2, 1)).reshape(up * left, down * right), bond)
    b, d = split(t.reshape(up * right, down * left), bond)
    a, c = a.reshape(up, left, -1), c.reshape(-1, down, right)
    b, d = b.reshape(up, right, -1), d.reshape(-1, down, left)
    return np.einsum("pij,qkj,klr,ils->pqrs", c, d, a, b)


def log_z(beta, bond=8, steps=12):
    """ln Z per spin of 2^steps spins; each step divides out the size of the tensor."""
    t, total = site(beta), 0.0
    for step in range(steps):
        size = np.max(np.abs(t))
        total = total + np.log(size) / 2**step
        t = coarse(t / size, bond)
    return total + np.log(np.einsum("ijij->", t)) / 2**steps


def onsager(beta, order):
    """The exact ln Z per spin, or a derivative by β (L. Onsager, Phys. Rev. 65 (1944) 117)."""

    def exact(b):
        k = 2 * mpmath.sinh(2 * b) / mpmath.cosh(2 * b) ** 2
        root = lambda t: mpmath.sqrt(1 - (k * mpmath.sin(t)) ** 2)  # noqa: E731
        area = mpmath.quad(lambda t: mpmath.log((1 + root(t)) / 2), [0, mpmath.pi / 2])
        return mpmath.log(2 * mpmath.cosh(2 * b)) + area / mpmath.pi

    return float(mpmath.diff(exact, beta, order))


def main():
    """Print ln Z and two derivatives beside the exact ones; return the errors."""
    slope = tn.grad(log_z)
    errors = []
    for beta in (0.25, 0.35, 0.55):
        found = [float(f(beta)) for f in (log_z, slope, tn.grad(slope))]
        exact = [onsager(beta, order) for order in range(3)]
        errors.append([abs(x - y) for x, y in zip(found, exact, strict=True)])
        for name, x, y in zip(("ln Z", "d ln Z/dβ", "d² ln Z/dβ²"), found, exact, strict=True):
            print(f"β = {beta}   {name:<12} {x:.8f}   exact {y:.8f}   error {abs(x - y):.0e}")
    return errors


if __name__ == "__main__":
    main()
