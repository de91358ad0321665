"""QR decompositions that gain and lose rows and columns: factors of the new matrix, derivatives."""

from functools import partial

import numpy as np
import pytest
from random_numbers import drawn

import tenferro as tn

RNG = np.random.default_rng(31)
numbers = partial(drawn, RNG)
ours = tn.linalg


def spliced(a, u, k, axis):
    return np.concatenate([np.split(a, [k], axis)[0], u, np.split(a, [k], axis)[1]], axis)


def check_factors(found, want, is_full):
    """Q R = A, Qᴴ Q = 1, R is triangular, and the shapes are those of ``qr``."""
    q, r = map(np.asarray, found)
    m, n = want.shape[-2:]
    c = m if is_full else min(m, n)
    assert (q.shape[-2:], r.shape[-2:]) == ((m, c), (c, n))
    np.testing.assert_allclose(q @ r, want, atol=1e-13)
    np.testing.assert_allclose(np.conj(np.swapaxes(q, -1, -2)) @ q, np.eye(c) + 0 * q[..., :1, :1],
                               atol=1e-13)  # fmt: skip
    np.testing.assert_allclose(np.tril(r, -1), 0 * r, atol=1e-13)


@pytest.mark.parametrize("kind", ["real", "complex"])
@pytest.mark.parametrize("mode", ["reduced", "complete"])
@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("k", [0, 1, 3, -1])
def test_columns_and_rows_come_and_go(kind, mode, p, k):
    a = numbers(kind, 6, 3)
    q, r = np.linalg.qr(a, mode)
    is_full = mode == "complete"
    columns, rows = numbers(kind, 6, p), numbers(kind, p, 3)
    place = k if k >= 0 else 2
    check_factors(ours.qr_insert(q, r, columns, k, "col"), spliced(a, columns, place, 1), is_full)
    place = k if k >= 0 else 5
    check_factors(ours.qr_insert(q, r, rows, k), spliced(a, rows, place, 0), is_full)
    start = k if k >= 0 else 6 - p
    gone = np.s_[start : start + p]
    check_factors(ours.qr_delete(q, r, start, p), np.delete(a, gone, 0), is_full)
    start = min(start, 3 - p)
    gone = np.s_[start : start + p]
    check_factors(ours.qr_delete(q, r, start, p, "col"), np.delete(a, gone, 1), is_full)


@pytest.mark.parametrize("shape", [(3, 3), (2, 4)])
def test_square_and_wide_matrices(shape):
    a = numbers("real", *shape)
    q, r = np.linalg.qr(a)
    u, v = numbers("real", shape[0]), numbers("real", shape[1])
    check_factors(ours.qr_insert(q, r, u, 1, "col"), spliced(a, u[:, None], 1, 1), True)
    check_factors(ours.qr_insert(q, r, v, 1), spliced(a, v[None], 1, 0), True)
    check_factors(ours.qr_delete(q, r, 1, 1, "col"), np.delete(a, 1, 1), True)
    check_factors(ours.qr_delete(q, r, 1), np.delete(a, 1, 0), True)


def test_a_column_that_adds_nothing_leaves_orthonormal_columns():
    """u in the range of A, up to rounding"""
    a = numbers("real", 6, 3)
    q, r = np.linalg.qr(a)
    u = a @ np.ones(3) + 1e-9 * numbers("real", 6)
    check_factors(ours.qr_insert(q, r, u, 3, "col"), np.c_[a, u], False)


def test_a_stack_under_vmap_and_jit():
    a, u = numbers("real", 2, 5, 3), numbers("real", 2, 5, 1)
    q, r = np.linalg.qr(a)
    insert = lambda q, r, u: tuple(ours.qr_insert(q, r, u, 1, "col"))  # noqa: E731
    want = np.concatenate([a[..., :1], u, a[..., 1:]], -1)
    check_factors(insert(q, r, u), want, False)
    check_factors(tn.jit(tn.vmap(insert))(q, r, u), want, False)


@pytest.mark.parametrize("kind", ["real", "complex"])
@pytest.mark.parametrize("mode", ["reduced", "complete"])
@pytest.mark.parametrize("shape", [(6, 3), (3, 3), (2, 4)])
def test_an_update_of_low_rank(kind, mode, shape):
    """A + u vᴴ for vectors, and for two columns at once"""
    a = numbers(kind, *shape)
    q, r = np.linalg.qr(a, mode)
    is_full = mode == "complete" or shape[0] <= shape[1]
    u, v = numbers(kind, shape[0], 2), numbers(kind, shape[1], 2)
    check_factors(ours.qr_update(q, r, u, v), a + u @ np.conj(v.T), is_full)
    want = a + np.outer(u[:, 0], np.conj(v[:, 0]))
    check_factors(ours.qr_update(q, r, u[:, 0], v[:, 0]), want, is_full)


def observed(result):
    """Q and R with phases that make the diagonal of R positive."""
    q, r = result
    d = np.diagonal(r)
    phase = d / abs(d)
    return q * phase[: q.shape[-1]], np.conj(phase)[:, None] * r


CHANGES = {
    "column": lambda a, u: ours.qr_insert(*ours.qr(a), u, 1, "col"),
    "last column": lambda a, u: ours.qr_insert(*ours.qr(a), u, 2, "col"),
    "row": lambda a, u: ours.qr_insert(*ours.qr(a), u[:2], 1),
    "rank one": lambda a, u: ours.qr_update(*ours.qr(a), u, u[:2]),
    "rank one, in the range": lambda a, u: ours.qr_update(*ours.qr(a), a @ u[:2], u[2:]),
    "without a column": lambda a, u: ours.qr_delete(*ours.qr(np.column_stack([a, u])), 1, 1, "col"),
    "without a row": lambda a, u: ours.qr_delete(*ours.qr(np.column_stack([a, u])), 1),
}


@pytest.mark.parametrize("change", CHANGES)
def test_first_and_second_derivatives(change):
    """Those of the decomposition of the new matrix"""
    order = 2 if change == "last column" else 1
    a, u = numbers("real", 4, 2), numbers("real", 4)
    tn.check_grads(lambda a, u: observed(CHANGES[change](a, u)), (a, u), order=order)


def test_a_full_decomposition_keeps_its_derivative_when_columns_are_inserted():
    """A function of the projector on the complement, which no phase changes"""
    q, r = np.linalg.qr(numbers("complex", 4, 2), "complete")

    def complement(u):
        rest = ours.qr_insert(q, r, u, 2, "col").Q[:, 3:]
        return rest @ np.conj(rest.T)

    tn.check_grads(complement, (numbers("complex", 4),), order=2)


A = np.linalg.qr(numbers("real", 4, 2))


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda: ours.qr_insert(*A, np.ones(3), 0, "col"), tn.ShapeMismatchError),
        (lambda: ours.qr_insert(*A, np.ones((4, 3)), 0, "col"), tn.ShapeMismatchError),
        (lambda: ours.qr_insert(A[0], np.ones((3, 2)), np.ones(2), 0), tn.ShapeMismatchError),
        (lambda: ours.qr_insert(*A, np.ones(2), 5), tn.InvalidParameterError),
        (lambda: ours.qr_insert(*A, np.ones(2), 0, "column"), tn.InvalidParameterError),
        (lambda: ours.qr_update(*A, np.ones(2), np.ones(2)), tn.ShapeMismatchError),
        (lambda: ours.qr_update(*A, np.ones((4, 1)), np.ones((2, 2))), tn.ShapeMismatchError),
        (lambda: ours.qr_delete(*A, 3, 2), tn.InvalidParameterError),
        (lambda: ours.qr_delete(*A, 0, 0), tn.InvalidParameterError),
    ],
)
def test_operands_that_do_not_fit_are_refused(call, error):
    with pytest.raises(error):
        call()
