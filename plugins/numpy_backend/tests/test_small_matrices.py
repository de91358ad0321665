"""Small systems: one call of LAPACK for one matrix, all matrices of a stack together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg

import tenferro as tn
from tenferro import primitives as tp
from tenferro_numpy.errors import NotPositiveDefiniteError, SingularMatrixError
from tenferro_numpy.lowerings.linalg.stacked import (
    is_stack_of_small,
    stacked_lu,
    stacked_triangular,
)

DTYPES = ("float32", "float64", "complex64", "complex128")
SHAPES = [
    ((), 1),
    ((), 5),
    ((), 32),
    ((), 33),
    ((), 34),
    ((3,), 4),
    ((60,), 3),
    ((5, 12), 8),
    ((70,), 9),
]


def matrices(dtype: str, *shape: int) -> Any:
    """Matrices that need pivots, the same ones at each call."""
    rng = np.random.default_rng(sum(shape))
    x = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        x = x + 1j * rng.standard_normal(shape)
    return x.astype(dtype)


def tolerance(dtype: str) -> float:
    """A bound for the condition numbers of these matrices."""
    return float(2e4 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("lead, n", SHAPES)
@pytest.mark.parametrize("adjoint", [False, True])
def test_solutions_fit_the_equations(
    dtype: str, lead: tuple[int, ...], n: int, adjoint: bool
) -> None:
    columns = 12 if n == 34 else 2  # many, and few
    a, b = matrices(dtype, *lead, n, n), matrices(dtype, *lead, n, columns)

    def product(b: Any) -> Any:
        return (np.conj(c) * np.linalg.solve(a, b)).real.sum()

    c = matrices(dtype, *lead, n, columns)
    if adjoint:  # the gradient is a⁻ᴴ c
        found, operator, right = tn.grad(product)(b), a.conj().swapaxes(-2, -1), c
    else:
        found, operator, right = tn.jit(np.linalg.solve)(a, b), a, b
    assert found.dtype == dtype
    size = np.abs(operator).max() * np.abs(found).max()
    assert np.abs(operator @ found - right).max() <= tolerance(dtype) * size


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(60, 5, 5), (60, 3, 6), (4, 15, 6, 2), (60, 1, 1)])
def test_factors_of_a_stack_are_those_of_lapack(dtype: str, shape: tuple[int, ...]) -> None:
    a = matrices(dtype, *shape)
    a[0, ..., 0] = 0  # a column without a pivot
    assert is_stack_of_small(a)
    factors, pivots, permutation = stacked_lu(a)
    assert factors.dtype == dtype
    assert pivots.dtype == permutation.dtype == np.int32
    for place in np.ndindex(a.shape[:-2]):
        want, want_pivots, _ = scipy.linalg.lapack.get_lapack_funcs(("getrf",), (a,))[0](a[place])
        np.testing.assert_array_equal(pivots[place], want_pivots)
        np.testing.assert_allclose(
            factors[place], want, rtol=tolerance(dtype), atol=tolerance(dtype)
        )
        lower = np.tril(factors[place], -1)[:, : min(shape[-2:])] + np.eye(*shape[-2:])[
            :, : min(shape[-2:])
        ].astype(dtype)
        upper = np.triu(factors[place])[: min(shape[-2:])]
        np.testing.assert_allclose(
            lower @ upper, a[place][permutation[place]], rtol=0, atol=tolerance(dtype)
        )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("conjugated", [False, True])
@pytest.mark.parametrize("unit", [False, True])
def test_triangular_systems_of_a_stack(
    dtype: str, left: bool, lower: bool, transposed: bool, conjugated: bool, unit: bool
) -> None:
    a = matrices(dtype, 50, 4, 4) + 3 * np.eye(4, dtype=dtype)
    b = matrices(dtype, 50, 4, 3) if left else matrices(dtype, 50, 3, 4)
    assert is_stack_of_small(a, b)
    x = stacked_triangular(
        a, b, left=left, lower=lower, transposed=transposed, conjugated=conjugated,
        unit_diagonal=unit,
    )  # fmt: skip
    part = np.tril(a) if lower else np.triu(a)
    if unit:
        np.einsum("...ii->...i", part)[...] = 1
    part = part.conj() if conjugated else part
    part = part.swapaxes(-2, -1) if transposed else part
    found = part @ x if left else x @ part
    assert x.dtype == dtype
    np.testing.assert_allclose(found, b, rtol=tolerance(dtype), atol=tolerance(dtype))


@pytest.mark.parametrize("lead", [(), (5,), (60,)])
def test_a_singular_matrix_is_named(lead: tuple[int, ...]) -> None:
    a = np.broadcast_to(np.eye(3), (*lead, 3, 3)).copy()
    a[(*[2 for _ in lead], 1)] = 0
    with pytest.raises(SingularMatrixError, match="matrix" + (r" \[2\]" if lead else " is")):
        tn.jit(np.linalg.solve)(a, np.ones((*lead, 3, 1)))


def test_value_and_gradients_of_a_system_take_two_solves() -> None:
    def energy(a: Any, b: Any) -> Any:
        return (np.linalg.solve(a, b) ** 2).sum()

    a, b = matrices("float64", 4, 4), matrices("float64", 4, 2)
    text = str(tn.trace(tn.value_and_grad(energy, argnums=(0, 1)), a, b).program)
    assert text.count("linear_solve[") == 2
    value, (da, db) = tn.value_and_grad(energy, argnums=(0, 1))(a, b)
    x = np.linalg.solve(a, b)
    adjoint = np.linalg.solve(a.T, 2 * x)
    np.testing.assert_allclose(value, (x**2).sum())
    np.testing.assert_allclose(db, adjoint)
    np.testing.assert_allclose(da, -adjoint @ x.T)


@pytest.mark.parametrize("lead", [(), (3,), (60,)])
@pytest.mark.parametrize("adjoint", [False, True])
def test_the_factors_decide_not_the_matrix(lead: tuple[int, ...], adjoint: bool) -> None:
    """The matrix carries the derivative alone; a rule may pass another one."""
    a, b = matrices("float64", *lead, 4, 4), matrices("float64", *lead, 4, 2)

    def solution(other: Any, a: Any, b: Any) -> Any:
        factors, _, permutation = tp.lu(a)
        return tp.linear_solve(other, factors, permutation, b, adjoint=adjoint)

    found = tn.jit(solution)(np.ones_like(a), a, b)
    operator = a.swapaxes(-2, -1) if adjoint else a
    np.testing.assert_allclose(found, np.linalg.solve(operator, b), rtol=1e-9)


@pytest.mark.parametrize("columns", [1, 3])
@pytest.mark.parametrize("exchanged", [False, True])
@pytest.mark.parametrize("adjoint", [False, True])
def test_systems_of_few_rows(adjoint: bool, exchanged: bool, columns: int) -> None:
    """A x = b and Aᴴ x = b, where the rows of A stay in place and where they do not."""
    order = np.array([2, 0, 1])
    a = np.diag([5.0, 6j, -7.0]) + matrices("complex128", 3, 3) / 4
    a, b = a[order] if exchanged else a, matrices("complex128", 3, columns)

    def solution(a: Any, b: Any) -> Any:
        factors, _, permutation = tp.lu(a)
        return permutation, tp.linear_solve(a, factors, permutation, b, adjoint=adjoint)

    permutation, x = map(np.asarray, tn.jit(solution)(a, b))
    assert (permutation != range(3)).any() == exchanged
    np.testing.assert_allclose((_adjoint(a) if adjoint else a) @ x, b, rtol=1e-13)


@pytest.mark.parametrize("n", [1, 5])
def test_one_matrix_without_a_cholesky_factor(n: int) -> None:
    """It is refused, and NaN goes through, as in stacks; nothing warns."""
    a = np.eye(n)
    a[-1, -1] = -1
    with pytest.raises(NotPositiveDefiniteError):
        tn.jit(tp.cholesky)(a).item(0)
    a[-1, -1] = np.nan
    one, stack = tn.jit(tp.cholesky)(a), tn.jit(tp.cholesky)(a[None])
    np.testing.assert_array_equal(one, stack[0])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "lead, n",
    [((60,), 1), ((60,), 3), ((60,), 8), ((2,), 3), ((2,), 24), ((2,), 25), ((), 5), ((), 33)],
)
def test_derivatives_of_cholesky_factors(dtype: str, lead: tuple[int, ...], n: int) -> None:
    """dL Lᴴ + L dLᴴ is the tangent, and ⟨ct, dL⟩ that of the cotangent and the tangent."""
    root, x, ct = (matrices(dtype, *lead, n, k)[..., :n] for k in (n, n + 1, n + 2))
    a = root @ _adjoint(root) + np.eye(n, dtype=dtype)
    assert is_stack_of_small(a) == (lead == (60,))
    factor, tangent = map(np.asarray, tn.jvp(np.linalg.cholesky, (a,), (x,)))
    below = np.tril(x, -1)
    diagonal = np.einsum("...ii->...i", x).real[..., None] * np.eye(n)
    found = tangent @ _adjoint(factor)
    size = np.abs(tangent).max() * np.abs(factor).max()
    bound = tolerance(dtype) * size
    assert tangent.dtype == dtype
    assert not np.triu(tangent, 1).any()
    assert np.abs(found + _adjoint(found) - below - _adjoint(below) - diagonal).max() <= bound
    (cotangent,) = tn.vjp(np.linalg.cholesky, a)[1](ct)
    assert not np.triu(cotangent, 1).any()
    there, back = (np.real(np.conj(u) * v) for u, v in ((ct, tangent), (cotangent, x)))
    assert np.abs((there - back).sum((-2, -1))).max() <= bound * n


def _adjoint(x: Any) -> Any:
    return x.conj().swapaxes(-2, -1)
