"""Linear systems, determinants, Cholesky and LU factors: derivatives in closed form, of first and
second order; determinants of singular matrices; one factorization for everything.
"""

from functools import partial

import numpy as np
import pytest
from random_numbers import drawn

import tenferro as tn
from tenferro import linalg
from tenferro.arrays.functions.linalg import lu_factors, triangular

RANDOM = np.random.default_rng(3)
numbers = partial(drawn, RANDOM)
KINDS = ("real", "complex")
by_kind = pytest.mark.parametrize("kind", KINDS)


def regular(kind, n=4, *lead):
    """Square matrices with a good inverse."""
    return numbers(kind, *lead, n, n) + 4 * np.eye(n)


def positive(kind, n=4):
    """A positive definite matrix."""
    a = numbers(kind, n, n)
    return a @ a.conj().T + n * np.eye(n)


def of_rank(kind, n, rank):
    """A matrix of this rank."""
    return numbers(kind, n, rank) @ numbers(kind, rank, n)


def close(got, want, rtol=1e-9):
    scale = np.max(np.abs(np.asarray(want)), initial=1.0)
    np.testing.assert_allclose(got, want, rtol=rtol, atol=rtol * scale)


def hermitian(x):
    return (x + np.conj(x).T) / 2


def along(f, a, *directions):
    """The derivative of f at a along these directions, one after the other."""
    for d in directions:
        f = lambda a, f=f, d=d: tn.jvp(f, (a,), (d,))[1]  # noqa: E731
    return f(a)


# ---- closed forms --------------------------------------------------------------------------------


@by_kind
def test_gradient_of_logabsdet(kind):
    """∂ ln |det A| = A⁻ᴴ."""
    a = regular(kind)
    close(tn.grad(lambda a: np.linalg.slogdet(a).logabsdet)(a), np.linalg.inv(a).conj().T)


@by_kind
def test_derivatives_of_the_inverse(kind):
    """dA⁻¹ = -A⁻¹ dA A⁻¹, and the second one both ways round."""
    a, d, e = regular(kind), numbers(kind, 4, 4), numbers(kind, 4, 4)
    y = np.linalg.inv(a)
    close(along(np.linalg.inv, a, d), -y @ d @ y)
    close(along(np.linalg.inv, a, d, e), y @ (d @ y @ e + e @ y @ d) @ y)


@by_kind
def test_gradients_of_a_solution(kind):
    """⟨w, A⁻¹b⟩: ct_b = A⁻ᴴ w, ct_A = -ct_b xᴴ."""
    a, b, w = regular(kind), numbers(kind, 4, 2), numbers(kind, 4, 2)
    x, ct_b = np.linalg.solve(a, b), np.linalg.solve(a.conj().T, w)
    ct_a = tn.vjp(np.linalg.solve, a, b)[1](w)
    close(ct_a[0], -ct_b @ x.conj().T)
    close(ct_a[1], ct_b)


@by_kind
def test_turn_of_a_sign(kind):
    """dσ = i σ Im tr(A⁻¹ dA): zero for real matrices."""
    a, d = regular(kind), numbers(kind, 4, 4)
    sign = np.linalg.slogdet(a).sign
    want = 1j * sign * np.trace(np.linalg.solve(a, d)).imag
    close(along(lambda a: np.linalg.slogdet(a).sign, a, d), want if kind == "complex" else 0.0)


@by_kind
def test_tangent_of_a_cholesky_factor(kind):
    """L Lᴴ = A: dL Lᴴ + L dLᴴ = dA and dL is lower triangular."""
    a, d = positive(kind), hermitian(numbers(kind, 4, 4))
    low, dl = np.linalg.cholesky(a), np.asarray(along(np.linalg.cholesky, a, d))
    close(dl @ low.conj().T + low @ dl.conj().T, d)
    close(np.triu(dl, 1), np.zeros((4, 4)))


@by_kind
def test_second_tangent_of_a_cholesky_factor(kind):
    """d²L Lᴴ + 2 dL dLᴴ + L d²Lᴴ = 0."""
    a, d = positive(kind), hermitian(numbers(kind, 4, 4))
    low = np.linalg.cholesky(a)
    first, second = (np.asarray(along(np.linalg.cholesky, a, *[d] * k)) for k in (1, 2))
    zero = second @ low.conj().T + 2 * first @ first.conj().T + low @ second.conj().T
    close(zero, np.zeros((4, 4)))


@by_kind
def test_gradient_of_a_gaussian(kind):
    """-½ yᴴ K⁻¹ y - ln det L: G = ½ (α αᴴ - K⁻¹) on Hermitian matrices, tril(G) + tril(Gᴴ, -1)."""
    k, y = positive(kind), numbers(kind, 4)

    def likelihood(k):
        factor = triangular.cho_factor(k, lower=True)
        fit = np.real(np.vdot(y, triangular.cho_solve(factor, y)))
        return -0.5 * fit - np.sum(np.log(np.real(np.diagonal(factor[0]))))

    alpha = np.linalg.solve(k, y)
    g, want = tn.grad(likelihood)(k), (np.outer(alpha, alpha.conj()) - np.linalg.inv(k)) / 2
    close(g, np.tril(want) + np.tril(want, -1))
    close((g + g.conj().T) / 2, want)
    tn.check_grads(likelihood, (k,))


@by_kind
@pytest.mark.parametrize("n", [3, 70, 150])
def test_a_large_cholesky_factor_has_the_adjoint_of_its_tangent(kind, n):
    """⟨w, J v⟩ = ⟨Jᵀ w, v⟩, by blocks."""
    a, v, w = positive(kind, n), numbers(kind, n, n), numbers(kind, n, n)
    _, tangent = tn.jvp(np.linalg.cholesky, (a,), (v,))
    cotangent = tn.vjp(np.linalg.cholesky, a)[1](w)
    cotangent = cotangent[0] if isinstance(cotangent, tuple) else cotangent
    close(np.vdot(w, tangent).real, np.vdot(cotangent, v).real)


@by_kind
@pytest.mark.parametrize("shape", [(4, 4), (3, 5), (5, 3)])
def test_tangents_of_lu(kind, shape):
    """dP A = dL U + L dU, L's diagonal constant."""
    a, d = numbers(kind, *shape), numbers(kind, *shape)
    p, low, up = map(np.asarray, linalg.lu(a))
    assert p.dtype == a.real.dtype  # as SciPy's
    _, dl, du = (np.asarray(x) for x in tn.jvp(linalg.lu, (a,), (d,))[1])
    close(p @ (dl @ up + low @ du), d)
    close(np.triu(dl), np.zeros(dl.shape))
    close(np.tril(du, -1), np.zeros(du.shape))


# ---- determinants of singular matrices -----------------------------------------------------------


def polynomial(a, d, order):
    """The derivatives of det(a + t d) at 0: four values of a cubic, solved exactly."""
    t = np.arange(4.0)
    values = [np.linalg.det(a + x * d) for x in t]
    return np.linalg.solve(np.vander(t, increasing=True), values)[order] * (1, 1, 2, 6)[order]


@by_kind
@pytest.mark.parametrize("rank", [3, 2, 1, 0])
@pytest.mark.parametrize("order", [1, 2, 3])
def test_derivatives_of_a_determinant_at_every_rank(kind, rank, order):
    """Dᵏ det(A)[D, …, D] is that of the polynomial det(A + tD)."""
    a, d = of_rank(kind, 3, rank), numbers(kind, 3, 3)
    close(along(np.linalg.det, a, *[d] * order), polynomial(a, d, order), 1e-8)


@by_kind
@pytest.mark.parametrize("rank", [4, 3, 2, 0])
def test_hessian_of_a_determinant_by_both_modes(kind, rank):
    """Reverse over reverse is forward over forward."""
    a, d, e = of_rank(kind, 4, rank), numbers(kind, 4, 4), numbers(kind, 4, 4)

    def slope(a):
        ct = tn.vjp(np.linalg.det, a)[1](1.0)
        return np.real(np.vdot(ct[0] if isinstance(ct, tuple) else ct, d))

    found = tn.grad(slope)(a)
    close(np.vdot(found, e).real, np.real(along(np.linalg.det, a, d, e)), 1e-8)


def test_gradient_of_a_determinant_of_rank_one_less():
    """The adjugate, transposed."""
    a = np.array([[1.0, 2.0], [2.0, 4.0]])
    close(tn.grad(np.linalg.det)(a), [[4.0, -2.0], [-2.0, 1.0]])


@pytest.mark.parametrize("shape", [(0, 0), (2, 0, 0), (0, 3, 3), (0, 5, 5)])
def test_derivatives_of_determinants_without_entries(shape):
    """The gradient, and its derivative in one direction, have the shape of the matrices."""
    a = np.zeros(shape)
    gradient = tn.grad(lambda a: np.linalg.det(a).sum())
    assert [x.shape for x in tn.jvp(gradient, (a,), (a,))] == [shape] * 2


_COFACTORS = [[1.0, 12.0, -4.0], [-2.0, 1.0, 8.0], [6.0, -3.0, 1.0]]


@pytest.mark.parametrize("n, want", [(1, 0), (2, 0), (3, 2 * np.array(_COFACTORS))])
def test_second_derivative_of_cofactors_in_one_direction(n, want):
    """Cofactors of n rows are forms of degree n - 1: of three, twice those of the direction."""
    a, d = regular("real", 3)[:n, :n], np.array([[1.0, 2, 0], [0, 1, 3], [4, 0, 1]])[:n, :n]
    found = tn.jacfwd(tn.jacfwd(lambda t: tn.grad(np.linalg.det)(a + t * d)))(0.5)
    close(found, np.broadcast_to(want, (n, n)))


def test_slogdet_of_a_singular_matrix():
    found = np.linalg.slogdet(tn.asarray([[1.0, 2.0], [2.0, 4.0]]))
    assert tuple(map(float, found)) == (0.0, -np.inf)


# ---- one factorization ---------------------------------------------------------------------------


def count(function, name, *args):
    """How many operations of a name the program of a function has."""
    return str(tn.trace(function, *args)).count(f"= {name} ")


def total(a, b):
    return np.sum(np.linalg.solve(a, b) ** 2)


@pytest.mark.parametrize(
    "function",
    [
        total,
        tn.grad(total, argnums=(0, 1)),
        lambda a, b: tn.hvp(lambda a: total(a, b))(a, a),
        tn.grad(lambda a, b: np.sum(tn.grad(total)(a, b) ** 2)),
        lambda a, b: total(a, b) + np.sum(np.linalg.inv(a)),
    ],
    ids=["value", "gradient", "hvp", "reverse over reverse", "with inverse"],
)
def test_one_factorization_serves_everything(function):
    assert count(function, "lu", regular("real"), numbers("real", 4)) == 1


# ---- transforms ----------------------------------------------------------------------------------

FUNCTIONS = {
    "solve": lambda a: np.linalg.solve(a, np.ones(3)),
    "inv": np.linalg.inv,
    "det": np.linalg.det,
    "slogdet": lambda a: np.linalg.slogdet(a)[1],
    "cholesky": lambda a: np.linalg.cholesky(a @ np.swapaxes(np.conj(a), -1, -2) + np.eye(3)),
    "lu": lambda a: linalg.lu_factor(a)[0],
    "lu_solve": lambda a: linalg.lu_solve(linalg.lu_factor(a), np.ones(3), trans=2),
}
by_function = pytest.mark.parametrize("name", FUNCTIONS)


@by_kind
@by_function
def test_a_batch_is_a_loop(kind, name):
    """vmap, jit and the function's own batch agree with a loop."""
    stack, f = regular(kind, 3, 2), FUNCTIONS[name]
    want = np.stack([np.asarray(f(tn.asarray(a))) for a in stack])
    close(tn.vmap(f)(stack), want)
    close(tn.jit(tn.vmap(f))(stack), want)


@by_kind
@by_function
def test_derivatives_by_differences(kind, name):
    tn.check_grads(FUNCTIONS[name], (regular(kind, 3),), order=2, rtol=1e-4)


@by_kind
@pytest.mark.parametrize("side", [0, 1])
def test_a_batch_of_right_hand_sides_shares_the_matrix(kind, side):
    """One factorization also where only b, or only the cotangent, has a batch."""
    a, b = regular(kind), numbers(kind, 5, 4)
    batched = tn.vmap(np.linalg.solve, in_axes=(None, 0))
    close(batched(a, b), np.linalg.solve(a, b.T).T)
    assert "f64[5,4,4]" not in str(tn.trace(batched, a, b))


# ---- SciPy's functions ---------------------------------------------------------------------------


@by_kind
@pytest.mark.parametrize("trans", [0, 1, 2, "N", "T", "C"])
def test_systems_solved_by_factors(kind, trans):
    """op(A) x = b, by LU, by Cholesky, and for triangles."""
    a, b = regular(kind), numbers(kind, 4, 2)
    op = {0: a, "N": a, 1: a.T, "T": a.T, 2: a.conj().T, "C": a.conj().T}[trans]
    close(linalg.lu_solve(linalg.lu_factor(a), b, trans), np.linalg.solve(op, b))
    for lower in (False, True):
        part = np.tril(a) if lower else np.triu(a)
        op = {0: part, "N": part, 1: part.T, "T": part.T}.get(trans, part.conj().T)
        got = linalg.solve_triangular(a, b, trans, lower)
        close(got, np.linalg.solve(op, b))


@by_kind
@pytest.mark.parametrize("lower", [False, True])
def test_cholesky_solves(kind, lower):
    """A Cholesky factor, lower or upper, solves a x = b"""
    a, b = positive(kind), numbers(kind, 4)
    want = np.linalg.solve(a, b)
    close(triangular.cho_solve(triangular.cho_factor(a, lower), b), want)
    factor = np.linalg.cholesky(tn.asarray(a), upper=not lower)
    close(linalg.cholesky_solve(factor, b, upper=not lower), want)


@pytest.mark.parametrize("shape", [(3, 3), (2, 4), (4, 2), (2, 3, 3)])
def test_lu_makes_the_matrix(shape):
    """A = P L U = (P L) U = L[p] U."""
    a = numbers("complex", *shape)
    p, low, up = map(np.asarray, lu_factors.lu(a))
    close(p @ low @ up, a)
    close(np.matmul(*map(np.asarray, lu_factors.lu(a, permute_l=True))), a)
    order, low, up = map(np.asarray, lu_factors.lu(a, p_indices=True))
    close(np.take_along_axis(low, order[..., None], -2) @ up, a)


def test_no_such_operator():
    with pytest.raises(ValueError, match="no such operator"):
        linalg.solve_triangular(np.eye(2), np.ones(2), trans=3)
