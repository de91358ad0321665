"""CTMRG: free energy, energy and magnetization of the Ising model on an infinite lattice.

Around one spin the lattice is a corner C and an edge T, four times by symmetry. A step adds a spin
to each edge, a row and a column to each corner, and keeps the largest eigenvalues of the corner.
Where the steps end, ln Z per spin does not depend on C and T to first order (R. Baxter, J. Stat.
Phys. 19 (1978) 461), so that its derivative by β needs no derivative of a step.

Source: T. Nishino, K. Okunishi, J. Phys. Soc. Jpn. 65 (1996) 891.
"""

import numpy as np

import tenferro as tn

SIGNS = [1.0, 1.0], [1.0, -1.0]


def spins(beta):
    """The tensor of a spin, [up, right, down, left], and the same times the spin's value."""
    even, odd = np.sqrt(np.cosh(beta)), np.sqrt(np.sinh(beta))
    w = np.stack([np.stack([even, odd]), np.stack([even, -odd])])
    return tuple(np.einsum("s,su,sr,sd,sl->urdl", np.array(s), w, w, w, w) for s in SIGNS), w


def environment(beta, bond, steps):
    """C: [bond, bond] and T: [bond, 2, bond], of a lattice with all spins up at its border."""
    (a, _), w = spins(beta)
    c, t = np.zeros((bond, bond)), np.zeros((bond, 2, bond))
    c[:2, :2] = np.einsum("urdl,u,l->rd", a, w[0], w[0])
    t[:2, :, :2] = np.einsum("urdl,u->ldr", a, w[0])

    def step(_, state):
        c, t = state
        grown = np.einsum("xy,xua,ylb,urdl->arbd", c, t, t, a)
        values, vectors = np.linalg.eigh(grown.reshape(2 * bond, 2 * bond))
        kept = np.take(vectors, np.argsort(-np.abs(values))[:bond], axis=1).reshape(bond, 2, bond)
        c = np.einsum("arp,arbd,bdq->pq", kept, grown, kept)
        t = np.einsum("xlp,xuy,urdl,yrq->pdq", kept, t, a, kept)
        return c / np.max(np.abs(c)), t / np.max(np.abs(t))

    return tn.fori_loop(0, steps, step, (c, t))


def around(a, c, t):
    """One spin and everything around it."""
    row = np.einsum("xy,xuz,zw->yuw", c, t, c)
    return np.einsum("yuz,ylv,urdl,zrw,vdw->", row, t, a, t, row)


def log_z(beta, c, t):
    """ln Z per spin: one spin more, divided by what two halves of its row and column add."""
    row = np.einsum("xy,xuz,zw->yuw", c, t, c)
    square = c @ c
    ratio = around(spins(beta)[0][0], c, t) * np.sum(square * square) / np.sum(row * row) ** 2
    return np.log(ratio)


def results(beta, bond=12, steps=60):
    """ln Z per spin, its derivative by β, and the magnetization."""
    c, t = environment(beta, bond, steps)
    plain, signed = spins(beta)[0]
    slope = tn.grad(log_z)(beta, c, t)
    magnetization = around(signed, c, t) / around(plain, c, t)
    return [float(x) for x in (log_z(beta, c, t), slope, magnetization)]


def main():
    """Print the three beside the exact ones; return the errors."""
    import trg

    errors = []
    for beta in (0.3, 0.5):
        yang = (1 - np.sinh(2 * beta) ** -4) ** 0.125 if beta > 0.4407 else 0.0
        exact = [trg.onsager(beta, 0), trg.onsager(beta, 1), yang]
        found = results(beta)
        errors.append([abs(x - y) for x, y in zip(found, exact, strict=True)])
        for name, x, y in zip(("ln Z", "d ln Z/dβ", "magnetization"), found, exact, strict=True):
            print(f"β = {beta}   {name:<14} {x:.9f}   exact {y:.9f}   error {abs(x - y):.0e}")
    return errors


if __name__ == "__main__":
    main()
