"""Matrix product states of spin chains: a TEBD sweep and a DMRG sweep.

    H = -J Σ Zᵢ Zᵢ₊₁ - h Σ Xᵢ     on an open chain

All tensors have the shape [bond, 2, bond]; bonds at the ends use their first index alone. A sweep
is a scan over the chain: its carry is what goes from site to site.

Source: U. Schollwöck, Annals of Physics 326 (2011), sections 6 and 7.
"""

from typing import Any, NamedTuple

import numpy as np

import tenferro as tn

X = np.array([[0.0, 1.0], [1.0, 0.0]])
Z = np.diag([1.0, -1.0])
ONE = np.eye(2)


class Model(NamedTuple):
    """The couplings of the chain."""

    j: Any
    h: Any


def matrix_product_operator(model):
    """H as one tensor per site: [left, right, out, in]; the sum starts at 0 and ends at 2."""
    zero = np.zeros((2, 2))
    rows = [
        [ONE, -model.j * Z, -model.h * X],
        [zero, zero, Z],
        [zero, zero, ONE],
    ]
    return np.stack([np.stack([x + zero for x in row]) for row in rows])


def product_state(sites, bond):
    """All spins between Z and X."""
    tensor = np.zeros((bond, 2, bond))
    tensor[0, :, 0] = np.cos(0.4), np.sin(0.4)
    return np.stack([tensor] * sites)


def split(theta, bond):
    """Cut a tensor of two sites: an isometry, the singular values that are kept, an isometry."""
    u, s, v = np.linalg.svd(theta.reshape(2 * bond, 2 * bond), full_matrices=False)
    s = s[:bond] / np.sqrt(np.sum(np.square(s[:bond])))
    return u[:, :bond].reshape(bond, 2, bond), s, v[:bond].reshape(bond, 2, bond)


# TEBD


def gates(model, sites, time):
    """exp(-time · H) of each bond; the field of a site is shared by its bonds."""
    made = []
    for i in range(sites - 1):
        left, right = (1.0 if i == 0 else 0.5), (1.0 if i == sites - 2 else 0.5)
        bond = -model.j * np.kron(Z, Z) - model.h * (
            left * np.kron(X, ONE) + right * np.kron(ONE, X)
        )
        w, v = np.linalg.eigh(bond)
        made.append(((v * np.exp(-time * w)) @ v.T).reshape(2, 2, 2, 2))
    return np.stack(made)


def tebd_sweep(tensors, half_gates):
    """Apply all gates from left to right and back; the state is normal at its first site.

    Together they are a step of second order.
    """
    bond = tensors.shape[-1]

    def right(centre, row):
        tensor, gate = row
        theta = np.einsum("apb,bqc,rspq->arsc", centre, tensor, gate)
        u, s, v = split(theta, bond)
        return s[:, None, None] * v, u

    def left(centre, row):
        tensor, gate = row
        theta = np.einsum("apb,bqc,rspq->arsc", tensor, centre, gate)
        u, s, v = split(theta, bond)
        return u * s, v

    centre, isometries = tn.scan(right, tensors[0], (tensors[1:], half_gates))
    centre, rest = tn.scan(left, centre, (isometries, half_gates), reverse=True)
    return np.concatenate([centre[None], rest])


def ground_state_by_tebd(model, sites, bond, time=0.05, steps=400):
    """Evolve in imaginary time towards the ground state."""
    half_gates = gates(model, sites, time / 2)
    start = product_state(sites, bond)
    return tn.fori_loop(0, steps, lambda _, tensors: tebd_sweep(tensors, half_gates), start)


# DMRG


def end(bond, index):
    """What stands beyond an end of the chain."""
    return tn.zeros((bond, 3, bond)).at[0, index, 0].set(1.0)


def ground_state_of_two_sites(left, right, mpo):
    """The lowest energy of two sites between their surroundings, and the state that has it."""
    bond = left.shape[0]
    effective = np.einsum("axb,xypq,yzrs,czd->aprcbqsd", left, mpo, mpo, right)
    w, v = np.linalg.eigh(effective.reshape(4 * bond**2, 4 * bond**2))
    return w[0], v[:, 0].reshape(bond, 2, 2, bond)


def dmrg_sweep(rights, mpo, bond):
    """Sweep right and left; `rights` are the surroundings of each bond on its right."""

    def rightward(left, right):
        _, theta = ground_state_of_two_sites(left, right, mpo)
        u, _, _ = split(theta, bond)
        after = np.einsum("axb,apc,xypq,bqd->cyd", left, u, mpo, u)
        return after, left

    def leftward(right, left):
        energy, theta = ground_state_of_two_sites(left, right, mpo)
        u, s, v = split(theta, bond)
        after = np.einsum("ayb,xypq,cpa,dqb->cxd", right, mpo, v, v)
        return after, (right, v, u * s, energy)

    _, lefts = tn.scan(rightward, end(bond, 0), rights)
    _, (rights, tensors, centres, energies) = tn.scan(leftward, end(bond, 2), lefts, reverse=True)
    return rights, np.concatenate([centres[:1], tensors]), energies[0]


def ground_state_by_dmrg(model, sites, bond, sweeps=4):
    """The ground state, its energy after each sweep."""
    mpo = matrix_product_operator(model)
    tensors = product_state(sites, bond)

    def surround(right, tensor):
        after = np.einsum("ayb,xypq,cpa,dqb->cxd", right, mpo, tensor, tensor)
        return after, right

    _, rights = tn.scan(surround, end(bond, 2), tensors[2:], reverse=True)
    rights = np.concatenate([rights, end(bond, 2)[None]])
    energies = []
    for _ in range(sweeps):
        rights, tensors, energy = dmrg_sweep(rights, mpo, bond)
        energies.append(energy)
    return tensors, np.stack(energies)


# what both give


def energy(model, tensors):
    """⟨ψ|H|ψ⟩ / ⟨ψ|ψ⟩; the derivative by the couplings is that of the ground state's energy.

    That is Hellmann and Feynman's theorem: a change of the state changes nothing to first order.
    """
    mpo = matrix_product_operator(model)
    tensors = tn.stop_gradient(tn.asarray(tensors))
    bond = tensors.shape[-1]

    def step(state, tensor):
        value, norm = state
        value = np.einsum("axb,apc,xypq,bqd->cyd", value, tensor, mpo, tensor)
        return (value, np.einsum("ab,apc,bpd->cd", norm, tensor, tensor)), None

    start = end(bond, 0), tn.zeros((bond, bond)).at[0, 0].set(1.0)
    (value, norm), _ = tn.scan(step, start, tensors)
    return value[0, 2, 0] / norm[0, 0]


def exact_energy(model, sites):
    """The lowest eigenvalue of H as a matrix of 2ⁿ rows."""

    def at(operator, i):
        found = np.eye(1)
        for k in range(sites):
            found = np.kron(found, operator if k == i else ONE)
        return found

    h = sum(-model.j * at(Z, i) @ at(Z, i + 1) for i in range(sites - 1))
    h = h + sum(-model.h * at(X, i) for i in range(sites))
    return np.linalg.eigvalsh(h)[0]
