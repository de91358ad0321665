"""Functions whose derivatives are sparse, and how many directions their derivatives take."""

import numpy as np

import tenferro as tn
from tenferro.computegraph import new_leaf
from tenferro.primitives import Handle, TensorPrimitive, pad
from tenferro.primitives.constants import Table
from tenferro.tidu import linearize_keys
from tenferro.transforms.patterns.colouring import columns_of
from tenferro.transforms.patterns.pattern import pattern
from tenferro.transforms.recording.positions import Reads

N = 40
RNG = np.random.default_rng(7)
X = RNG.uniform(0.5, 1.5, N)
FULL = RNG.normal(size=(N, N))
BLOCKS = RNG.normal(size=(N // 4, 4, 4))


def rosenbrock(x):
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def heat(u):
    """One implicit step of the heat equation with a source, and fixed ends."""
    inside = u[1:-1] - 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2]) - 0.2 * np.exp(-u[1:-1])
    return tn.concatenate([u[:1] - 1, inside, u[-1:]])


def laplace(u):
    """The five-point stencil on a square of 8 x 5, with what is outside at zero."""
    v = tn.pad(u.reshape(8, 5), 1)
    c = v[1:-1, 1:-1]
    return (c * c - (v[2:, 1:-1] + v[:-2, 1:-1] + v[1:-1, 2:] + v[1:-1, :-2])).reshape(-1)


def in_blocks(x):
    """Blocks of four on the diagonal."""
    return np.sin(tn.einsum("bij,bj->bi", BLOCKS, x.reshape(-1, 4))).reshape(-1)


def moved(x):
    """Transposed, reversed, rolled and joined, coupled in pairs."""
    y = x.reshape(5, 8).T.reshape(-1)[::-1]
    return tn.concatenate([y * x, tn.roll(x, 3) ** 2])


def block_by_block(x):
    return tn.vmap(lambda v: v * (v @ v))(x.reshape(-1, 4))


def into_a_slot(x):
    return (x.reshape(4, 10) * 2.0).at[1].set(x[:10] ** 2)


# function, directions forward: at least the columns of one row, more where greed does not suffice
SPARSE = {
    "elementwise": (lambda x: np.sin(x) * np.exp(-x), 1),
    "neighbours": (lambda x: x[1:] * x[:-1], 2),
    "gradient": (tn.grad(rosenbrock), 3),
    "heat": (heat, 3),
    "laplace": (laplace, 7),
    "blocks": (in_blocks, 4),
    "blocks of vmap": (block_by_block, 4),
    "reversed": (lambda x: x * x[::-1], 2),
    "moved": (moved, 2),
    "sums of rows": (lambda x: (x.reshape(8, 5) ** 2).sum(1), 5),
    "every other": (lambda x: x[::2] ** 2 - x[1::2], 2),
    "chosen": (lambda x: np.where(x > 1, x * x, x[::-1]), 2),
    "clipped": (lambda x: np.clip(x, 0.7, 1.2) * np.floor(3 * x), 1),
    "slot": (into_a_slot, 1),
    "one element": (lambda x: tn.stack([x[0] ** 2, x[7], x[-1] * x[3]]), 2),
    "gathered": (lambda x: x[np.arange(N)[::-1]] * x, 2),
    "rows gathered": (lambda x: x.reshape(4, 10)[np.array([0, 2])] ** 2, 1),
    "added at": (lambda x: tn.zeros((4, 10)).at[np.array([0, 0])].add(x.reshape(4, 10)[1:3]), 2),
    "diagonal": (lambda x: tn.diagonal(x[:36].reshape(6, 6)) ** 2, 1),
    "set at": (lambda x: x.at[np.array([1, 4, -1])].set(x[:3] ** 2), 1),
    "columns": (lambda x: x.reshape(4, 10)[:, [3, 0]] * x.reshape(4, 10)[:, 1:2], 2),
    "padded": (lambda x: pad(x[1:9] ** 2, x[0] * 3, (20,), (-3,), (1,)), 1),
    "constant part": (lambda x: x * tn.stop_gradient(x.sum()), 1),
}
MOVED = (
    "neighbours", "heat", "laplace", "blocks", "moved", "slot", "one element", "gathered",
    "rows gathered", "added at", "diagonal", "set at", "columns", "padded",
)  # fmt: skip
DENSE = {
    "cumsum": lambda x: np.cumsum(x * x),
    "product": lambda x: FULL @ x,
    "norm": lambda x: x / np.sqrt(x @ x),
    "sorted": lambda x: tn.sort(x),
    "fft": lambda x: abs(tn.fft.rfft(x)),
    "mean": lambda x: x - x.mean(),
}


def directions(function, *avals):
    """How many directions are pushed: rows of the table of colours; None where there is none."""
    nodes = tn.trace(function, *avals).graph.nodes
    tables = [n.operation for n in nodes if isinstance(n.operation, Table)]
    seeds = [op.shape[0] for op in tables if op.dtype.is_inexact]
    return seeds[0] if seeds else None


def energy(u):
    """Differences of neighbours on a grid: the Hessian is the pattern of five points."""
    v = u.reshape(-1, 8)
    return ((v[1:] - v[:-1]) ** 4).sum() + ((v[:, 1:] - v[:, :-1]) ** 4).sum()


def star(x):
    return x[0] * (x[1:] ** 3).sum() + (x**4).sum()


def dense(matrix):
    if hasattr(matrix, "todense") and not hasattr(matrix, "indices_sorted"):
        return np.asarray(matrix.todense())
    found = np.zeros(matrix.shape, np.asarray(matrix.data).dtype)  # JAX without float64 rounds
    found[tuple(np.asarray(matrix.indices).T)] = np.asarray(matrix.data)
    return found


def same(found, want):
    found = dense(found)
    want = np.asarray(want).reshape(found.shape)
    assert found.dtype == want.dtype
    np.testing.assert_allclose(found, want, rtol=1e-13, atol=1e-15)


def rows_of(function, x):
    """The pattern as sets of columns, one per element of the result."""
    argument = tn.Array(new_leaf("x", tn.Aval(x.shape, "float64")))
    result = function(argument)
    linear = linearize_keys([result.key], [argument.key], space=TensorPrimitive.space)
    seed = Handle(new_leaf("direction", argument.aval))
    (tangent,) = linear.apply([seed])
    (bits,) = pattern([tangent.key], seed.key, Reads())
    return [set(columns_of(row)) for row in bits or [0] * result.size]


MOVES = {
    "reverse": lambda x, k: x[::-1],
    "roll": lambda x, k: tn.roll(x, k),
    "columns": lambda x, k: x.reshape(3, 4).T.reshape(-1),
    "rows": lambda x, k: tn.concatenate([x[k:], x[:k]]),
    "cut": lambda x, k: tn.pad(x[k % 5 : 12 - k % 3 : 1 + k % 2], (0, 12))[:12],
    "spread": lambda x, k: tn.repeat(x[:4], 3),
    "sums": lambda x, k: tn.repeat(x.reshape(3, 4).sum(k % 2), 4 - (k % 2 == 0))[:12],
    "neighbours": lambda x, k: x * tn.roll(x, 1 + k),
    "square": lambda x, k: x * x + 0.5,
    "running": lambda x, k: np.cumsum(x.reshape(4, 3), k % 2).reshape(-1),
    "product": lambda x, k: (x.reshape(3, 4) @ SMALL[k % 2]).reshape(-1),
    "chosen": lambda x, k: np.where(MASK, x, tn.roll(x, k)),
    "slot": lambda x, k: x.at[k].set(x[11 - k] * 2),
    "sorted": lambda x, k: tn.sort(x.reshape(4, 3), 1).reshape(-1),
}
SMALL = RNG.uniform(0.5, 1, (2, 4, 4))
MASK = np.arange(12) % 3 == 0
