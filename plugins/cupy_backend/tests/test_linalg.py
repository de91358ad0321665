"""Linear systems and Cholesky factors on the stand-in: every operator, stacks, nothing at all."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from fake_cusolver import CupyxCusolver
from on_cpu import compiler

import tenferro as tn
from tenferro import primitives as tp
from tenferro.backend import LoweringTable, UnsupportedError
from tenferro_cupy.lowerings import lowerings
from tenferro_cupy.lowerings.linalg import _solver

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
    """x = a⁻¹ b on either side, for every combination of the options"""
    left, *others = words
    a, b = numbers(*lead, 3, 3) + 2 * np.eye(3), numbers(*lead, 3, 3)
    inverse = np.linalg.inv(operator(a, *others))
    options = dict(zip(WORDS, words, strict=True))
    want = inverse @ b if left else b @ inverse
    check(lambda a, b: tp.triangular_solve(a, b, **options), [a, b], want, rtol=1e-9)


def solve(a, b):
    factors, _, permutation = tp.lu(a)
    return tp.linear_solve(a, factors, permutation, b)


@pytest.mark.parametrize("lead", [(), (2,), (0,)])
def test_systems_by_factors(check, lead):
    a, b = numbers(*lead, 3, 3), numbers(*lead, 3, 2)
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


def definite(lead, n, dtype):
    a = RANDOM.normal(size=(*lead, n, n)) + 1j * RANDOM.normal(size=(*lead, n, n))
    a = a @ a.conj().swapaxes(-1, -2) + n * np.eye(n)
    return (a if np.dtype(dtype).kind == "c" else a.real).astype(dtype)


@pytest.mark.parametrize("elements", [0, 65536])  # all stacks one by one; small ones in one call
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_stacks_are_factorized_one_by_one_or_in_one_call(check, monkeypatch, elements, dtype):
    monkeypatch.setattr(_solver, "_ELEMENTS_PER_MATRIX", elements)
    a, bound = definite((2, 3), 4, dtype), 1e-4 if dtype in ("float32", "complex64") else 1e-12
    check(tp.cholesky, [a], np.linalg.cholesky(a), rtol=bound)
    check(tp.det, [a], np.linalg.det(a), rtol=bound)
    b = definite((2, 3), 4, dtype)
    check(solve, [a, b], np.linalg.solve(a, b), rtol=10 * bound)


@pytest.mark.parametrize("lead", [(), (3,)])
def test_what_is_not_positive_definite_has_nan_for_a_factor(check, lead):
    """As `cholesky` states; CuPy's own function gives a part of a factor"""
    a = definite(lead, 3, "float64")
    expected = np.linalg.cholesky(a)
    a[..., 2, 2] *= np.where(np.arange(3) == 1, -1, 1) if lead else -1
    where = (1,) if lead else ()
    expected[where] = np.nan
    check(tp.cholesky, [a], expected, rtol=1e-12)


def test_the_upper_triangle_is_not_read(check):
    a = definite((), 4, "complex128")
    check(tp.cholesky, [np.tril(a) + np.triu(np.full((4, 4), np.nan), 1)], np.linalg.cholesky(a),
          rtol=1e-12)  # fmt: skip


def test_determinants_keep_their_digits_where_logarithms_lose_them(check):
    """det(2^s H) = 2^(n s) det H; a sum of logarithms as large as 2,000 has lost eleven bits"""
    hilbert = [[Fraction(1, i + j + 1) for j in range(3)] for i in range(3)]
    a = np.array(hilbert, float) * 2.0**320
    check(tp.det, [a], float(Fraction(1, 2160) * 2**960), rtol=1e-14)
    check(tp.det, [np.array([[0.0, 1.0], [1.0, 0.0]])], np.float64(-1))
    check(tp.det, [np.zeros((2, 2, 2))], np.zeros(2))
    check(tp.det, [np.ones((2, 0, 0))], np.ones(2))


@pytest.mark.skipif(compiler.COMPILER is None, reason="there is no C++ compiler")
def test_the_kernel_that_exchanges_rows(backend, stand_in, monkeypatch):
    """Its text, compiled for the CPU: more rows of pivots than a block has threads"""
    monkeypatch.setattr(stand_in, "RAW_ON_NUMPY", {})
    pivots = RANDOM.integers(0, 5, (150, 3)).astype("int32")
    expected = np.tile(np.arange(5, dtype="int32"), (150, 1))
    for row, pivot in zip(expected, pivots, strict=True):
        for i, other in enumerate(pivot):
            row[[i, other]] = row[[other, i]]
    op = tp.LuPermutation(5)
    operand = backend.asoperand(pivots, backend.aval_of(pivots))
    got = backend.to_numpy(backend.lowerings.lookup(op)(op, operand))
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("shape", [(0, 2), (2, 0), (3, 0, 2)])
def test_factors_of_nothing(check, shape):
    rows = np.broadcast_to(np.arange(shape[-2], dtype="int32"), shape[:-1])
    expected = np.ones(shape), np.zeros((*shape[:-2], 0), "int32"), rows
    check(tp.lu, [np.ones(shape)], expected)


def test_eigenvalues_with_an_old_cusolver_are_refused(make_backend, run, stand_in):
    """Nothing is computed on the host instead"""
    backend = make_backend()
    special, linalg, _ = stand_in.cupyx
    records = lowerings(backend.cupy, special, linalg, CupyxCusolver(version=11600))
    backend.lowerings = LoweringTable("cupy", records)
    with pytest.raises(UnsupportedError, match=r"cuSOLVER 11\.7") as caught:
        run(backend, tp.eigvals, np.eye(2))
    assert (caught.value.feature, caught.value.instead) == ("eigvals", "numpy")


@pytest.mark.parametrize("function", [np.linalg.det, np.linalg.inv, np.linalg.cholesky])
def test_factorizations_are_captured(make_backend, function):
    """Nothing reads a status on the host, so that a program is one launch"""
    backend = make_backend()
    f = tn.jit(lambda a: np.sum(function(a)), backend=backend, options={"cuda_graph": True})
    a = definite((), 3, "float64")
    for scale in (1.0, 2.0, 3.0, 0.5):
        np.testing.assert_allclose(np.array(f(scale * a)), np.sum(function(scale * a)), rtol=1e-10)
    assert [name for name, _ in backend.cupy.launches].count("graph") == 3


@pytest.mark.parametrize("function", [np.linalg.inv, lambda a: np.linalg.solve(a, a[0])])
def test_a_singular_matrix_gives_inf_or_nan(function, make_backend):
    """Nothing is raised, for that would wait for the device"""
    backend = make_backend()
    before = backend.cupy.synchronizations
    found = tn.jit(function, backend=backend)(backend.cupy.asarray(np.array([[1.0, 2], [2, 4]])))
    assert backend.cupy.synchronizations == before
    assert not np.isfinite(found._a).all()
