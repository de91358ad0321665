"""Conjugate gradients and GMRES for maps that are given as functions.

    solve_cg(matvec, b):     A = Aᴴ positive definite
    solve_gmres(matvec, b):  any A

The iterations are loops that stay in the graph. A solution is differentiated by
`tn.custom_linear_solve`: through b and through everything that `matvec` closes over, by solving
once more, not through the iterations.

Source: Y. Saad, Iterative Methods for Sparse Linear Systems, 2nd ed. (2003), algorithms 6.18 and
6.9.
"""

import numpy as np

import tenferro as tn


def conjugate_gradients(matvec, b, tolerance=1e-12, max_steps=1000):
    """Return x with A x = b, for a symmetric positive definite (or Hermitian) map."""
    bound = tolerance**2 * norm2(b)

    def unfinished(state):
        _, r, _, step = state
        return (norm2(r) > bound) & (step < max_steps)

    def iterate(state):
        x, r, p, step = state
        q = matvec(p)
        rate = norm2(r) / np.real(np.sum(np.conj(p) * q))
        rest = r - rate * q
        return x + rate * p, rest, rest + norm2(rest) / norm2(r) * p, step + 1

    return tn.while_loop(unfinished, iterate, (0 * b, b, b, 0))[0]


def gmres(matvec, b, tolerance=1e-12, restart=20, max_restarts=50):
    """Return x with A x = b, by Arnoldi's method restarted after `restart` steps."""
    size = min(restart, b.shape[0])
    bound = tolerance**2 * norm2(b)

    def unfinished(state):
        x, count = state
        return (norm2(b - matvec(x)) > bound) & (count < max_restarts)

    def cycle(state):
        x, count = state
        r = b - matvec(x)
        length = np.sqrt(norm2(r))
        basis, hessenberg = arnoldi(matvec, r / length, size)
        right = tn.zeros(size + 1, dtype=b.dtype).at[0].set(length)
        weights = np.linalg.lstsq(hessenberg, right, rcond=None)[0]
        return x + basis[:size].T @ weights, count + 1

    return tn.while_loop(unfinished, cycle, (0 * b, 0))[0]


def arnoldi(matvec, v, size):
    """Return an orthonormal basis of the Krylov space, as rows, and the map in that basis."""

    def step(k, state):
        basis, hessenberg = state
        w = matvec(basis[k])
        column = 0
        for _ in range(2):  # once more for what rounding left of the first time
            part = np.conj(basis) @ w
            w, column = w - part @ basis, column + part
        length = np.sqrt(norm2(w))
        # a space that is complete gives a vector of rounding alone
        is_new = length > 1e-14 * np.sqrt(norm2(column))
        w = np.where(is_new, w / np.where(is_new, length, 1.0), 0.0)
        column = column.at[k + 1].add(np.where(is_new, length, 0.0))
        return basis.at[k + 1].set(w), hessenberg.at[:, k].set(column)

    basis = tn.zeros((size + 1, v.shape[0]), dtype=v.dtype).at[0].set(v)
    hessenberg = tn.zeros((size + 1, size), dtype=v.dtype)
    return tn.fori_loop(0, size, step, (basis, hessenberg))


def norm2(x):
    """The square of the norm, a real number."""
    return np.sum(np.real(np.conj(x) * x))


def solve_cg(matvec, b):
    """Solve a symmetric positive definite system; differentiable to any order."""
    return tn.custom_linear_solve(matvec, b, conjugate_gradients, symmetric=True)


def solve_gmres(matvec, b):
    """Solve a system; differentiable to any order. The adjoint system is solved the same way."""
    return tn.custom_linear_solve(matvec, b, gmres, gmres)
