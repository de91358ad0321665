"""TEBD: the magnetization of a spin chain after a quench, and its derivative by the field.

    H = -Σ Zᵢ Zᵢ₊₁ - h Σ Xᵢ     on an open chain; all spins point up at time 0

Each step applies exp(-i H dt) bond by bond, in an order that is right to second order, and keeps
the largest singular values of each bond. The start is a product, so singular values are zero; these
are dropped, and `projectors_only` states that vectors of equal values matter through their space.

Source: G. Vidal, Phys. Rev. Lett. 93 (2004) 040502.
"""

import numpy as np

import tenferro as tn

X, Z, ONE = np.array([[0.0, 1.0], [1.0, 0.0]]), np.diag([1.0, -1.0]), np.eye(2)


def gate(h, left, right, time):
    """exp(-i t H) of one bond with its share of the fields: [out, out, in, in]."""
    bond = -np.kron(Z, Z) - h * (left * np.kron(X, ONE) + right * np.kron(ONE, X))
    return tn.linalg.expm(-1j * time * bond).reshape(2, 2, 2, 2)


def split(theta, bond):
    """Cut a tensor of two sites in an isometry, singular values, and an isometry."""
    left, _, _, right = theta.shape
    matrix = theta.reshape(2 * left, 2 * right)
    u, s, vh = tn.linalg.svd(matrix, full_matrices=False, projectors_only=True)
    kept = min(bond, int(np.sum(s > 1e-10 * s[0])))
    return u[:, :kept].reshape(left, 2, kept), s[:kept], vh[:kept].reshape(kept, 2, right)


def sweep(tensors, gates, bond):
    """Apply the gates from left to right and back; the first site is the centre."""
    for i in range(len(gates)):
        theta = np.einsum("apb,bqc,rspq->arsc", tensors[i], tensors[i + 1], gates[i])
        u, s, v = split(theta, bond)
        tensors[i], tensors[i + 1] = u, s[:, None, None] * v
    for i in reversed(range(len(gates))):
        theta = np.einsum("apb,bqc,rspq->arsc", tensors[i], tensors[i + 1], gates[i])
        u, s, v = split(theta, bond)
        tensors[i], tensors[i + 1] = u * s, v
    return tensors


def magnetization(h, sites=6, time=0.6, steps=6, bond=8):
    """⟨Z⟩ of the first spin at a time."""
    ends = sites - 2
    half = time / steps / 2
    shares = [(1.0 if i == 0 else 0.5, 1.0 if i == ends else 0.5) for i in range(sites - 1)]
    gates = [gate(h, *share, half) for share in shares]
    up = np.array([1.0 + 0j, 0.0]).reshape(1, 2, 1)
    tensors = [tn.asarray(up)] * sites
    for _ in range(steps):
        tensors = sweep(tensors, gates, bond)
    first = tensors[0]
    return np.real(np.einsum("apb,apb,p->", np.conj(first), first, np.diag(Z)))


def exact(h, sites=6, time=0.6):
    """The same from all eigenvectors of H."""
    at = lambda x, i: np.kron(np.kron(np.eye(2**i), x), np.eye(2 ** (sites - 1 - i)))  # noqa: E731
    bonds = sum(at(Z, i) @ at(Z, i + 1) for i in range(sites - 1))
    w, v = np.linalg.eigh(-bonds - h * sum(at(X, i) for i in range(sites)))
    state = v @ (np.exp(-1j * time * w) * v[0])
    return float(np.sum(np.abs(state) ** 2 * np.diag(at(Z, 0))))


def main(steps=(3, 6)):
    """Print the magnetization and its derivative beside exact ones; return the errors."""
    errors = []
    slope = (exact(1.0 + 1e-5) - exact(1.0 - 1e-5)) / 2e-5
    for count in steps:
        value, found = tn.value_and_grad(lambda h, n=count: magnetization(h, steps=n))(1.0)
        errors.append([abs(float(value) - exact(1.0)), abs(float(found) - slope)])
        for name, x, y in (("⟨Z⟩", value, exact(1.0)), ("d⟨Z⟩/dh", found, slope)):
            print(
                f"{count} steps   {name:<8} {float(x):.6f}   exact {y:.6f}   error {abs(x - y):.0e}"
            )
    return errors


if __name__ == "__main__":
    main()
