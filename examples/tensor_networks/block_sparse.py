"""Tensors with a U(1) charge: only the blocks whose charges add up to zero are stored.

Each axis has sectors, a size for each charge, and a direction +1 or -1. A tensor is a dataclass
whose leaves are its blocks, so every transform differentiates it block by block: what the symmetry
forbids has no entry in the gradient either. `dense` fills in the zeros, for comparison.

Source: S. Singh, R. Pfeifer, G. Vidal, Phys. Rev. B 83 (2011) 115125.
"""

from dataclasses import dataclass, field
from itertools import product
from typing import Any, NamedTuple

import numpy as np

import tenferro as tn


class Axis(NamedTuple):
    """The size of each charge, as pairs (charge, size), and the direction of the charge's flow."""

    sectors: tuple
    direction: int

    def reversed(self):
        return self._replace(direction=-self.direction)


@dataclass
class Blocks:
    """A tensor by blocks: one array for each allowed tuple of charges."""

    blocks: dict[tuple[int, ...], Any]
    axes: tuple[Axis, ...] = field(metadata={"static": True})


def random(axes, rng):
    """A tensor with all blocks that the symmetry allows."""
    blocks = {}
    for sectors in product(*[axis.sectors for axis in axes]):
        charges = tuple(charge for charge, _ in sectors)
        if sum(q * axis.direction for q, axis in zip(charges, axes, strict=True)) == 0:
            blocks[charges] = rng.standard_normal([size for _, size in sectors])
    return Blocks(blocks, tuple(axes))


def contract(a, b, count):
    """Sum over the last `count` axes of a and the first of b, block by block."""
    kept, blocks = len(a.axes) - count, {}
    assert a.axes[kept:] == tuple(axis.reversed() for axis in b.axes[:count])
    for (left, x), (right, y) in product(a.blocks.items(), b.blocks.items()):
        if left[kept:] == right[:count]:
            charges = left[:kept] + right[count:]
            term = np.tensordot(x, y, count)
            blocks[charges] = blocks[charges] + term if charges in blocks else term
    return Blocks(blocks, a.axes[:kept] + b.axes[count:])


def matrices(a, count):
    """The tensor as one matrix for each charge that flows from the first axes to the others."""
    flows = [axis.direction for axis in a.axes[:count]]
    found = {}
    for charges in a.blocks:
        total = sum(q * flow for q, flow in zip(charges, flows, strict=False))
        rows, columns = found.setdefault(total, (set(), set()))
        rows.add(charges[:count])
        columns.add(charges[count:])
    sizes = [dict(axis.sectors) for axis in a.axes]
    for total, (rows, columns) in sorted(found.items()):
        height = lambda r: int(np.prod([sizes[i][q] for i, q in enumerate(r)]))  # noqa: E731
        parts = [
            [a.blocks[r + c].reshape(height(r), -1) for c in sorted(columns)] for r in sorted(rows)
        ]
        yield total, np.concatenate([np.concatenate(row, axis=1) for row in parts], axis=0)


def singular_values(a, count):
    """The singular values of the tensor, cut behind its first axes, for each charge."""
    return {charge: np.linalg.svd(m, compute_uv=False) for charge, m in matrices(a, count)}


def dense(a):
    """The tensor with its zeros."""
    starts = []
    for axis in a.axes:
        charges, sizes = zip(*axis.sectors, strict=True)
        starts.append(dict(zip(charges, np.cumsum([0, *sizes[:-1]]), strict=True)))
    full = np.zeros([sum(n for _, n in x.sectors) for x in a.axes])
    for charges, block in a.blocks.items():
        corner = [starts[i][q] for i, q in enumerate(charges)]
        full[tuple(slice(s, s + n) for s, n in zip(corner, block.shape, strict=True))] = block
    return full


def loss(a, b):
    """Σ s³ over the singular values of a contraction."""
    return sum(np.sum(s**3) for s in singular_values(contract(a, b, 1), 2).values())


def operands():
    """Two tensors that share an axis."""
    spin, bond = Axis(((-1, 2), (0, 3), (1, 2)), 1), Axis(((-1, 3), (0, 4), (1, 3)), 1)
    rng = np.random.default_rng(0)
    return random([bond, spin, bond.reversed()], rng), random([bond, spin, bond.reversed()], rng)


def main():
    """Print how much is stored, and the errors of value and gradient; return these."""
    a, b = operands()
    x, y = dense(a), dense(b)
    u, s, vh = np.linalg.svd(np.tensordot(x, y, 1).reshape(70, 70), full_matrices=False)
    slope = np.einsum("pqr,bqr->pb", (u * 3 * s**2 @ vh).reshape(70, 7, 10), y).reshape(x.shape)
    value = abs(float(loss(a, b)) / np.sum(s**3) - 1)
    found = tn.grad(loss)(a, b)
    gradient = np.max(np.abs(dense(found) - slope)) / np.max(np.abs(slope))
    stored = sum(block.size for block in a.blocks.values())
    print(f"{stored} numbers in {len(a.blocks)} blocks, of {x.size}")
    print(f"relative error of the value {value:.0e}, of the gradient {gradient:.0e}")
    return value, gradient


if __name__ == "__main__":
    main()
