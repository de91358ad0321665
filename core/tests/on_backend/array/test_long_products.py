"""multi_dot of chains of any length: right, and in an order that costs little."""

from importlib import import_module
from itertools import pairwise

import numpy as np
import pytest

import tenferro as tn

module = import_module("tenferro.arrays.functions.linalg.multi_dot")

SIZES = [
    (3, 1, 4),
    (1, 1, 1, 1),
    (10, 100, 5, 50),
    (30, 35, 15, 5, 10, 20, 25),
    (5, 2, 5, 3, 5, 2, 5, 1, 5),
    (8, 100, 3, 20, 100, 1, 8, 5, 2, 100, 3),
    (2, 3, 5, 7, 11, 13, 11, 7, 5, 3, 2),
    (100, 5, 8, 2, 100, 20, 3, 3, 20, 1, 5, 8),
    (0, 4, 2, 0, 3),
]


def cost(sizes, split):
    """Σ of the products: rows × contracted × columns"""
    waiting, total = [(0, len(sizes) - 1)], 0
    while waiting:
        a, c = waiting.pop()
        if c - a > 1:
            b = split[a, c]
            total += sizes[a] * sizes[b] * sizes[c]
            waiting += (a, b), (b, c)
    return total


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_the_order_of_a_long_chain_costs_little_more_than_the_least(sizes):
    """cost(near least) ≤ 1.155 cost(least)"""
    assert cost(sizes, module._near_least(sizes)) <= 1.155 * cost(sizes, module._least(sizes))


@pytest.mark.parametrize("length", [2, 99, 100, 101, 300, 1500])
def test_a_product_of_rotations_turns_by_the_sum_of_the_angles(length):
    """R(α₁) … R(αₙ) = R(Σα), and d/dα₁ of its first element is -sin Σα"""
    angles = np.linspace(0.01, 0.1, length)

    def corner(angles):
        c, s = np.cos(angles), np.sin(angles)
        turns = np.stack([np.stack([c, -s], -1), np.stack([s, c], -1)], -2)
        return np.linalg.multi_dot([turns[i] for i in range(length)])[0, 0]

    value, slope = tn.value_and_grad(corner)(angles)
    assert abs(value - np.cos(angles.sum())) < 1e-12
    assert np.allclose(slope, -np.sin(angles.sum()), rtol=0, atol=1e-12)


def test_a_long_chain_of_unequal_sizes_is_the_product_from_the_left():
    """x₀ x₁ … xₙ, a vector at each end"""
    sizes = [1, *[2 + (7 * i) % 5 for i in range(250)], 1]
    chain = [np.cos(np.arange(m * n)).reshape(m, n) for m, n in pairwise(sizes)]
    expected = chain[0]
    for x in chain[1:]:
        expected = expected @ x
    chain[0], chain[-1] = chain[0][0], chain[-1][:, 0]
    found = tn.linalg.multi_dot(chain)
    assert found.shape == ()
    assert np.allclose(np.asarray(found), expected[0, 0], rtol=1e-10, atol=0)
