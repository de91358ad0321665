"""Linear systems and Cholesky factors on the stand-in: every operator, stacks, nothing at all."""

from itertools import product

import numpy as np
import pytest

from tenferro import primitives as tp

RANDOM = np.random.default_rng(5)
WORDS = ("left", "lower", "transpose", "conjugate", "unit_diagonal")


def numbers(*shape):
    return RANDOM.normal(size=shape) + 1j * RANDOM.normal(size=shape)


def operator(a, lower, transpose, conjugate, unit_diagonal):
    """op(a), of what is read."""
    part = np.tril(a) if lower else np.triu(a)
    part = part * (1 - np.eye(3)) + np.eye(3) if unit_diagonal else part
    part = np.swapaxes(part, -1, -2) if transpose else part
    return part.conj() if conjugate else part


@pytest.mark.parametrize("lead", [(), (2,)])
@pytest.mark.parametrize("words", list(product((False, True), repeat=5)))
def test_triangular_systems(check, lead, words):
    left, *others = words
    a, b = numbers(*lead, 3, 3) + 2 * np.eye(3), numbers(*lead, 3, 3)
    inverse = np.linalg.inv(operator(a, *others))
    options = dict(zip(WORDS, words, strict=True))
    want = inverse @ b if left else b @ inverse
    check(lambda a, b: tp.triangular_solve(a, b, **options), [a, b], want, rtol=1e-9)


@pytest.mark.parametrize("lead", [(), (2,), (0,)])
def test_systems_by_factors(check, lead):
    a, b = numbers(*lead, 3, 3), numbers(*lead, 3, 2)

    def solve(a, b):
        factors, _, permutation = tp.lu(a)
        return tp.linear_solve(a, factors, permutation, b)

    check(solve, [a, b], np.linalg.solve(a, b), rtol=1e-9)


@pytest.mark.parametrize("shape", [(4, 2), (2, 4), (2, 3, 3)])
def test_factors_make_the_matrix(check, shape):
    a = numbers(*shape)
    rank = min(shape[-2:])

    def product_of(a):
        factors, pivots, permutation = tp.lu(a)
        return factors, pivots, permutation, tp.lu_permutation(pivots, shape[-2])

    from scipy.linalg import lu_factor

    each = [lu_factor(x) for x in a.reshape(-1, *shape[-2:])]
    factors = np.stack([x for x, _ in each]).reshape(shape)
    pivots = np.stack([p for _, p in each]).reshape(*shape[:-2], rank).astype("int32")
    low = np.tril(factors[..., :rank], -1) + np.eye(shape[-2], rank)
    moved = low @ np.triu(factors[..., :rank, :])
    places = np.argmin(np.abs(moved[..., :, None, :] - a[..., None, :, :]).sum(-1), axis=-1)
    order = places.astype("int32")
    check(product_of, [a], (factors, pivots, order, order), rtol=1e-9)


@pytest.mark.parametrize("n", [0, 3])
def test_cholesky_factors_and_determinants(check, n):
    a = numbers(n, n)
    a = a @ a.conj().T + np.eye(n)
    check(tp.cholesky, [a], np.linalg.cholesky(a), rtol=1e-9)
    check(tp.det, [a], np.linalg.det(a), rtol=1e-9)
    check(tp.slogdet, [a], tuple(np.linalg.slogdet(a)), rtol=1e-9)
