"""Determinants of stacks by entries, adjugates by inverses: as exact fractions say."""

from fractions import Fraction
from itertools import permutations
from math import prod

import numpy as np
import pytest

import tenferro as tn

RNG = np.random.default_rng(0)


def exact(a):
    """Σ over permutations of sign · Π a[i, p_i], in fractions."""
    rows = [[Fraction(float(entry)) for entry in row] for row in a]
    total = Fraction(0)
    for order in permutations(range(len(rows))):
        turns = sum(x > y for i, x in enumerate(order) for y in order[i + 1 :])
        total += (-1) ** turns * prod([rows[i][j] for i, j in enumerate(order)])
    return total


def minors(a):
    """The cofactors of a matrix, in fractions: the gradient of its determinant."""
    places = range(len(a))
    return [
        [(-1) ** (i + j) * exact(np.delete(np.delete(a, i, 0), j, 1)) for j in places]
        for i in places
    ]


def of_rank(rank, n, size=1.0):
    return size * RNG.normal(size=(n, rank)) @ RNG.normal(size=(rank, n))


STACKS = {  # matrices of a stack of 16
    "of two rows": RNG.normal(size=(16, 2, 2)),
    "of three rows": RNG.normal(size=(16, 3, 3)),
    "in columns": RNG.normal(size=(16, 3, 3)).swapaxes(-1, -2),
    "float32": RNG.normal(size=(16, 3, 3)).astype("float32"),
    "products overflow": np.tile(np.diag([1e-300, 1e200, 1e200]), (16, 1, 1)),
    "products vanish": np.tile(np.diag([1e200, 1e-200, 1e-200]), (16, 1, 1)),
    "zeros": np.zeros((16, 3, 3)),
}


@pytest.mark.parametrize("name", STACKS)
def test_determinants_of_a_stack(name):
    a = STACKS[name]
    found = tn.jit(np.linalg.det)(a)
    assert found.dtype == a.dtype
    wanted = [float(exact(x)) for x in a]
    eps = np.finfo(a.dtype).eps
    np.testing.assert_allclose(found, wanted, rtol=200 * eps, atol=200 * eps * np.abs(wanted).min())


def test_complex_determinants_of_a_stack():
    """det(i a) = iⁿ det a"""
    a = RNG.normal(size=(16, 3, 3))
    wanted = [-1j * float(exact(x)) for x in a]
    np.testing.assert_allclose(tn.jit(np.linalg.det)(1j * a), wanted, rtol=1e-13)


def test_a_nan_among_the_determinants_of_a_stack():
    a = RNG.normal(size=(16, 3, 3))
    a[5, 1, 1] = np.nan
    found = tn.jit(np.linalg.det)(a)
    np.testing.assert_array_equal(np.isnan(found), np.arange(16) == 5)


MATRICES = {  # of five rows
    "regular": RNG.normal(size=(5, 5)),
    "float32": RNG.normal(size=(5, 5)).astype("float32"),
    "a zero pivot": np.diag([1.0, 2.0, 0.0, 3.0, 4.0]),
    "of rank 4": of_rank(4, 5),
    "of rank 3": of_rank(3, 5),
    "almost of rank 4": of_rank(4, 5) + 1e-9 * np.eye(5),
    "of rank 3, almost": of_rank(3, 5) + 1e-12 * RNG.normal(size=(5, 5)),
    "without a tiny pivot": np.eye(5) - np.triu(np.full((5, 5), 1e3), 1),
    "tiny": of_rank(5, 5, 1e-70),
    "the inverse overflows": np.diag([1e3, 1e3, 1.0, 1.0, 1e-309]),
    "the determinant overflows": np.diag([1e70, 1e70, 1e70, 1e70, 1e40]),
    "zero": np.zeros((5, 5)),
}


@pytest.mark.parametrize("name", MATRICES)
def test_gradients_of_determinants(name):
    """The adjugate, transposed, beside another matrix of the stack that is regular."""
    a = np.stack([MATRICES[name], np.eye(5, dtype=MATRICES[name].dtype)])
    found = tn.jit(tn.grad(lambda a: np.linalg.det(a).sum()))(a)
    assert found.dtype == a.dtype
    wanted = np.array(minors(a[0]), float)
    size = max(np.abs(a[0]).max() ** 4, np.abs(wanted).max())
    np.testing.assert_allclose(found[0], wanted, rtol=0, atol=100 * np.finfo(a.dtype).eps * size)
    np.testing.assert_allclose(found[1], np.eye(5), rtol=0, atol=1e-15)


def test_a_complex_gradient_of_determinants():
    """Of |det|², whose gradient is 2 conj(adj(a)ᵀ) det; by real parts alone where a is real"""
    a = MATRICES["regular"]
    found = tn.jit(tn.grad(lambda a: (abs(np.linalg.det(a)) ** 2).real.sum()))(1j * a)
    wanted = 2j * float(exact(a)) * np.array(minors(a), float)
    np.testing.assert_allclose(found, wanted, rtol=1e-11)
