"""Rows of ``tn.linalg``. ``la`` is our namespace or JAX's, ``xp`` NumPy or ``jax.numpy``.

Factors are not unique; what is compared is a function of what is. Where JAX lacks a function it
computes the same by others.
"""

import jax
import jax.numpy as jnp
import jax.scipy.linalg
import numpy as np
from jax_rows import COMPLEX, REAL, Operand, Row

import tenferro as tn


class Theirs:
    """NumPy's names in JAX, SciPy's where it has none; by methods that have derivatives."""

    def eig(self, a):
        return jax.lax.linalg.eig(a, compute_left_eigenvectors=False, enable_eigvec_derivs=True)

    def polar(self, a, side="right"):
        return jax.scipy.linalg.polar(a, side, method="svd")

    def qr_with_order(self, a):
        return jax.scipy.linalg.qr(a, mode="economic", pivoting=True)

    def __getattr__(self, name):
        found = getattr(jnp.linalg, name, None)
        return found or getattr(jax.scipy.linalg, name)


ANY, SQUARE = Operand("*b m n"), Operand("*b n n", "apart")
ONE, TALL = Operand("n n", "apart"), Operand("*b 4 n", "apart")
LONG = Operand("m 4")
WIDE = Operand("m 5", "apart")
DEFINITE, HERMITIAN = Operand("*b n n", "definite"), Operand("*b n n", "hermitian")
SMALL, NEAR = Operand("*b n n", "small"), Operand("*b n n", "near one")
RIGHT, VECTOR, OTHER = Operand("*b n k"), Operand("n"), Operand("m")
LOWER = Operand("*b n n", "lower")
COSTS = Operand("n n", "definite"), Operand("k k", "definite")
PLACES = (0, 1, 2, 1), (0, 1, 2, 0)  # rows and columns of the entries of a sparse matrix


def row(name, *operands, use=None, theirs=None, dtypes=COMPLEX, keywords=None, **rest):
    """A row; ``use(la, xp, *operands)`` observes the result, by default it is the function's."""
    keywords = keywords or {}
    use = use or (lambda la, xp, *xs: getattr(la, name)(*xs, **keywords))
    in_jax = theirs or use
    return Row(
        f"linalg.{name}",
        operands,
        lambda *xs: use(tn.linalg, np, *xs),
        lambda *xs: in_jax(Theirs(), jnp, *xs),
        keywords,
        dtypes,
        **rest,
    )


def of_pairs(xp, matrix, q):
    """The solution of a linear system for all entries of a matrix."""
    return xp.linalg.solve(matrix, q.reshape(-1)).reshape(q.shape)


def continuous_are(la, xp, a, b, q, r):
    """By the eigenvectors of the Hamiltonian matrix whose eigenvalues have a negative real part."""
    g, q = b @ xp.linalg.solve(of_hermitian(xp, r), h(xp, b)), of_hermitian(xp, q)
    matrix = xp.concatenate([xp.concatenate([a, -g], 1), xp.concatenate([-q, -h(xp, a)], 1)])
    return of_eigenvectors(la, xp, matrix, xp.real, len(a))


def discrete_are(la, xp, a, b, q, r):
    """By the eigenvectors of the symplectic matrix whose eigenvalues are below 1 in modulus."""
    g, q = b @ xp.linalg.solve(of_hermitian(xp, r), h(xp, b)), of_hermitian(xp, q)
    dual = xp.linalg.inv(h(xp, a))
    upper, lower = [a + g @ dual @ q, -g @ dual], [-dual @ q, dual]
    matrix = xp.concatenate([xp.concatenate(upper, 1), xp.concatenate(lower, 1)])
    return of_eigenvectors(la, xp, matrix, xp.abs, len(a))


def of_eigenvectors(la, xp, matrix, key, count):
    """x with [1, x]ᵀ in the space of the eigenvectors whose values have the least keys."""
    w, v = la.eig(matrix)
    v = v[:, xp.argsort(key(w))[:count]]
    x = v[count:] @ xp.linalg.inv(v[:count])
    return x if xp.iscomplexobj(matrix) else xp.real(x)


def of_hermitian(xp, x):
    return (x + h(xp, x)) / 2


def h(xp, x):
    return xp.conj(xp.swapaxes(x, -1, -2))


def of_lower(xp, a):
    """The Hermitian matrix of the lower triangle, which ours read; JAX symmetrises (a + aᴴ)/2."""
    half = xp.tril(a, -1) + xp.diag(xp.ones(a.shape[-1])) * a / 2
    return half + h(xp, half)


def of_upper(xp, a):
    """The Hermitian matrix of the upper triangle."""
    return of_lower(xp, h(xp, a))


def of_svd(la, xp, a):
    u, s, vh = la.svd(a, full_matrices=False)
    return (u * xp.sin(s)[..., None, :]) @ vh, s


def best(la, xp, a):
    """The nearest matrix of rank 1."""
    u, s, vh = la.svd(a, full_matrices=False)
    return u[..., :, :1] * s[..., None, :1] @ vh[..., :1, :]


def of_qr(la, xp, a):
    """Q and R with phases that make the diagonal of R positive."""
    q, r = la.qr(a)
    d = xp.diagonal(r, axis1=-2, axis2=-1)
    phase = d / xp.abs(d)
    return q * phase[..., None, :], xp.conj(phase)[..., :, None] * r


def of_pivoted_qr(la, xp, a):
    """Q and R with columns exchanged, and phases that make the diagonal of R positive."""
    return tuple(la.qr(a, pivoting=True, canonical=True)[:2])


def of_pivoted_qr_in_jax(la, xp, a):
    """JAX differentiates no pivoted QR, so the columns are exchanged before."""
    order = la.qr_with_order(jax.lax.stop_gradient(a))[2]
    return of_qr(la, xp, a[:, order])


def of_hermitian_band(xp, ab):
    """The tridiagonal Hermitian matrix of the row above the main one, and of that one."""
    above = xp.diag(0.3 * ab[0, 1:], 1)
    return above + h(xp, above) + xp.diag(xp.real(ab[1])).astype(ab.dtype)


def with_real_diagonal(xp, q, r):
    """Both factors with phases that make the diagonal of R positive."""
    d = xp.diagonal(r)
    phase = d / xp.abs(d)
    return q * phase, xp.conj(phase)[:, None] * r


def of_qr_with_a_column(la, xp, a, u):
    return with_real_diagonal(xp, *la.qr_insert(*la.qr(a), u, 1, which="col"))


def of_an_updated_qr(la, xp, a, u):
    return with_real_diagonal(xp, *la.qr_update(*la.qr(a), u, u[: a.shape[1]]))


def of_an_updated_qr_in_jax(la, xp, a, u):
    return of_qr(la, xp, a + u @ h(xp, u[: a.shape[1]]))


def of_qr_without_a_column(la, xp, a):
    return with_real_diagonal(xp, *la.qr_delete(*la.qr(a), 0, which="col"))


def of_schur(la, xp, a):
    """Moduli, which depend on no phase; both have the order of LAPACK."""
    t, z = la.schur(a, output="complex")
    return xp.abs(t) ** 2, xp.abs(z) ** 2


def of_schur_in_jax(la, xp, a):
    t, z = jax.scipy.linalg.schur(a, output="complex")
    return xp.abs(t) ** 2, xp.abs(z) ** 2


def of_eigh(la, xp, a):
    w, v = la.eigh(a)
    return (v * xp.sin(w)[..., None, :]) @ h(xp, v), w


def of_eig(la, xp, a):
    w, v = la.eig(a)
    return (v * xp.sin(w)[..., None, :]) @ la.inv(v), xp.sum(w * w, axis=-1)


def of_lu(la, xp, a):
    p, low, up = la.lu(a)
    return p @ low, xp.swapaxes(up, -1, -2) @ up, low


def in_eigenvectors(function):
    """A function of a matrix whose eigenvalues are apart."""

    def use(la, xp, a):
        w, v = la.eig(a)
        found = (v * function(xp, w)[..., None, :]) @ la.inv(v)
        return found if xp.iscomplexobj(a) else xp.real(found)

    return use


def by_expm(sign, factor):
    """(exp(c a) ± exp(−c a)) / 2 of a matrix; c is 1 or i."""

    def use(la, xp, a):
        both = la.expm(factor * a), la.expm(-factor * a)
        found = (both[0] + sign * both[1]) / 2 / (factor if sign < 0 else 1)
        return found if xp.iscomplexobj(a) else xp.real(found)

    return use


def ratio(factor):
    """The tangent of either kind, as a solution."""

    def use(la, xp, a):
        return la.solve(by_expm(1, factor)(la, xp, a), by_expm(-1, factor)(la, xp, a))

    return use


def projector(xp, q):
    return q @ h(xp, q)


def column_products(la, xp, a, b):
    product = a[..., :, None, :] * b[..., None, :, :]
    return product.reshape(*product.shape[:-3], -1, product.shape[-1])


FACTORIZATIONS = [
    row("cholesky", DEFINITE, theirs=lambda la, xp, a: la.cholesky(of_lower(xp, a))),
    row("cholesky", DEFINITE, keywords={"upper": True},
        theirs=lambda la, xp, a: la.cholesky(of_upper(xp, a), upper=True)),
    row("qr", TALL, use=of_qr),
    row("qr", WIDE, use=of_qr),
    row("qr", Operand("4 n", "apart"), use=of_pivoted_qr, theirs=of_pivoted_qr_in_jax),
    row("qr_update", Operand("4 n", "apart"), Operand("4 1"), use=of_an_updated_qr,
        theirs=of_an_updated_qr_in_jax),
    row("qr_insert", Operand("4 n", "apart"), Operand("4 1"), use=of_qr_with_a_column,
        theirs=lambda la, xp, a, u: of_qr(la, xp, xp.column_stack([a[:, :1], u, a[:, 1:]]))),
    row("qr_delete", Operand("4 n", "apart"), use=of_qr_without_a_column,
        theirs=lambda la, xp, a: of_qr(la, xp, a[:, 1:])),
    row("schur", ONE, use=of_schur, theirs=of_schur_in_jax,
        not_jax_gradient="JAX has no derivative of schur"),
    row("qr", TALL, use=lambda la, xp, a: h(xp, r := la.qr(a, mode="r")) @ r,
        keywords={"mode": "r"}),
    row("svd", TALL, use=of_svd),
    row("svd", WIDE, use=of_svd),
    row("svd", SQUARE, use=of_svd),
    row("svd", HERMITIAN, use=lambda la, xp, a: la.svd(a, compute_uv=False, hermitian=True),
        theirs=lambda la, xp, a: la.svd(of_lower(xp, a), compute_uv=False, hermitian=True),
        keywords={"hermitian": True}),
    row("svdvals", ANY),
    row("low_rank", SQUARE, keywords={"k": 1}, theirs=lambda la, xp, a: best(la, xp, a)),
    row("low_rank_factors", SQUARE, theirs=lambda la, xp, a: best(la, xp, a),
        use=lambda la, xp, a: xp.matmul(*la.low_rank_factors(a, 1))),
    row("spectral_function", HERMITIAN, use=lambda la, xp, a: la.spectral_function(a, xp.sin),
        theirs=lambda la, xp, a: of_eigh(la, xp, of_lower(xp, a))[0]),
    row("eigh", HERMITIAN, use=of_eigh,
        theirs=lambda la, xp, a: of_eigh(la, xp, of_lower(xp, a))),
    row("eigvalsh", HERMITIAN, theirs=lambda la, xp, a: la.eigvalsh(of_lower(xp, a))),
    row("eig", SQUARE, use=of_eig),
    row("eigvals", SQUARE, use=lambda la, xp, a: xp.sum(xp.sin(la.eigvals(a)), axis=-1)),
    row("lu", ONE, use=of_lu),
    row("lu_factor", ONE, use=lambda la, xp, a: la.lu_factor(a)[0]),
    row("cho_factor", Operand("n n", "definite"), keywords={"lower": True},
        use=lambda la, xp, a: xp.tril(la.cho_factor(a, lower=True)[0]),
        theirs=lambda la, xp, a: xp.tril(la.cho_factor(of_lower(xp, a), lower=True)[0])),
    row("polar", Operand("4 n", "apart")),
    row("polar", Operand("n n", "apart"), keywords={"side": "left"}),
]  # fmt: skip

SOLVING = [
    row("solve", SQUARE, RIGHT),
    row("solve", SQUARE, VECTOR),
    row("inv", SQUARE),
    row("det", SQUARE),
    row("det", Operand("*b n n")),
    row("slogdet", SQUARE, use=lambda la, xp, a: tuple(la.slogdet(a))),
    row("pinv", TALL),
    row("pinv", WIDE),
    row("lstsq", Operand("4 n", "apart"), Operand("4 k"),
        use=lambda la, xp, a, b: la.lstsq(a, b, rcond=None)[::3]),
    row("tensorsolve", Operand("2 2 4", low=1), Operand("2 2"),
        use=lambda la, xp, a, b: la.tensorsolve(spread(xp, a), b)),
    row("tensorinv", Operand("2 2 4", low=1), use=lambda la, xp, a: la.tensorinv(spread(xp, a))),
    row("solve_triangular", LOWER, RIGHT, keywords={"lower": True}),
    row("solve_triangular", LOWER, RIGHT, keywords={"lower": True, "trans": 2}),
    row("solve_triangular", LOWER, RIGHT, keywords={"lower": False, "unit_diagonal": True}),
    row("cho_solve", Operand("n n", "definite"), Operand("n k"),
        use=lambda la, xp, a, b: la.cho_solve(la.cho_factor(a), b),
        theirs=lambda la, xp, a, b: la.cho_solve(la.cho_factor(of_upper(xp, a)), b)),
    row("cholesky_solve", DEFINITE, RIGHT,
        use=lambda la, xp, a, b: la.cholesky_solve(la.cholesky(a), b),
        theirs=lambda la, xp, a, b: la.solve(of_lower(xp, a), b)),
    row("solve_sylvester", ONE, Operand("k k"), Operand("n k"),
        theirs=lambda la, xp, a, b, q: la.solve(
            xp.kron(a, xp.eye(len(b))) + xp.kron(xp.eye(len(a)), b.T), q.reshape(-1)
        ).reshape(q.shape)),
    row("solve_continuous_lyapunov", ONE, Operand("n n"),
        theirs=lambda la, xp, a, q: of_pairs(
            xp, xp.kron(a, xp.eye(len(a))) + xp.kron(xp.eye(len(a)), xp.conj(a)), q)),
    row("solve_discrete_lyapunov", ONE, Operand("n n"),
        theirs=lambda la, xp, a, q: of_pairs(
            xp, xp.eye(a.size) - xp.kron(a, xp.conj(a)), q)),
    row("solve_continuous_are", Operand("n n"), Operand("n k"), *COSTS, theirs=continuous_are,
        dtypes=REAL),
    row("solve_discrete_are", ONE, Operand("n k"), *COSTS, theirs=discrete_are, dtypes=REAL),
    row("solveh_banded", Operand("2 n", low=1, high=1.5), Operand("n k"),
        use=lambda la, xp, ab, b: la.solveh_banded(ab * np.array([[0.3], [1.0]]), b),
        theirs=lambda la, xp, ab, b: xp.linalg.solve(of_hermitian_band(xp, ab), b)),
    row("cholesky_banded", Operand("2 n", low=1, high=1.5),
        use=lambda la, xp, ab: la.cholesky_banded(ab * np.array([[0.3], [1.0]])),
        theirs=lambda la, xp, ab: upper_band(xp, xp.linalg.cholesky(of_hermitian_band(xp, ab)))),
    row("cho_solve_banded", Operand("2 n", low=1, high=1.5), Operand("n k"),
        use=lambda la, xp, ab, b: la.cho_solve_banded(
            (la.cholesky_banded(ab * np.array([[0.3], [1.0]])), False), b),
        theirs=lambda la, xp, ab, b: xp.linalg.solve(of_hermitian_band(xp, ab), b)),
    row("solve_banded", Operand("3 n", low=1, high=1.5), Operand("n k"),
        use=lambda la, xp, ab, b: la.solve_banded((1, 1), ab * np.array([[0.3], [1.0], [0.3]]), b),
        theirs=lambda la, xp, ab, b: la.solve(of_band(xp, ab, len(b)), b)),
    row("lu_solve", ONE, Operand("n k"),
        use=lambda la, xp, a, b: la.lu_solve(la.lu_factor(a), b)),
    row("pfaffian", Operand("*b 4 4"), theirs=lambda la, xp, a: pfaffian_of_four(a)),
    row("sparse_array", Operand("4", low=1, high=2), Operand("3 k"),
        use=lambda la, xp, entries, x: la.sparse_array((entries, PLACES), (3, 3)) @ x,
        theirs=lambda la, xp, entries, x: dense(entries) @ x),
    row("spsolve", Operand("4", low=1, high=2), Operand("3 k"),
        use=lambda la, xp, entries, b: la.spsolve(la.sparse_array((entries, PLACES), (3, 3)), b),
        theirs=lambda la, xp, entries, b: la.solve(dense(entries), b)),
]  # fmt: skip


def upper_band(xp, factor):
    """The diagonal and the one above of the conjugate transpose of a lower factor."""
    above = xp.conj(xp.diagonal(factor, -1))
    return xp.stack([xp.concatenate([xp.zeros_like(above[:1]), above]), xp.diagonal(factor)])


def pfaffian_of_four(a):
    """The Pfaffian of the skew part of a matrix of order 4, by its three matchings."""
    s = (a - jnp.swapaxes(a, -1, -2)) / 2
    first, second = s[..., 0, 1] * s[..., 2, 3], s[..., 0, 2] * s[..., 1, 3]
    return first - second + s[..., 0, 3] * s[..., 1, 2]


def dense(entries):
    """The matrix of four entries."""
    return jnp.zeros((3, 3), entries.dtype).at[PLACES].add(entries)


def of_band(xp, ab, n):
    """The matrix of three diagonals, the outer ones made smaller."""
    upper, lower = xp.diag(0.3 * ab[0, 1:], 1), xp.diag(0.3 * ab[2, :-1], -1)
    return xp.diag(ab[1]) + (upper + lower if n > 1 else 0)


def spread(xp, a):
    """A well-conditioned map of 4 numbers, as [2, 2, 2, 2]."""
    return (a.reshape(4, 4) / 4 + 3 * xp.eye(4)).reshape(2, 2, 2, 2)


FUNCTIONS = [
    row("expm", Operand("*b n n")),
    row("sqrtm", NEAR, theirs=in_eigenvectors(lambda xp, w: xp.sqrt(w))),
    row("logm", NEAR, theirs=in_eigenvectors(lambda xp, w: xp.log(w))),
    row("fractional_matrix_power", NEAR, use=lambda la, xp, a: la.fractional_matrix_power(a, 0.3),
        theirs=in_eigenvectors(lambda xp, w: w**0.3)),
    row("cosm", SMALL, theirs=by_expm(1, 1j)),
    row("sinm", SMALL, theirs=by_expm(-1, 1j)),
    row("tanm", SMALL, theirs=ratio(1j)),
    row("coshm", SMALL, theirs=by_expm(1, 1)),
    row("sinhm", SMALL, theirs=by_expm(-1, 1)),
    row("tanhm", SMALL, theirs=ratio(1)),
    *[row("matrix_power", SQUARE, keywords={"n": n}) for n in (0, 3, -2)],
]  # fmt: skip

NORMS = [
    *[row("norm", Operand("m"), keywords={"ord": order})
      for order in (None, 1, 2, 3, 0.5, -1, np.inf, -np.inf)],
    row("norm", Operand("m"), keywords={"ord": 0}, constant="it counts"),
    *[row("norm", SQUARE if order in (2, -2, "nuc") else ANY,
          keywords={"ord": order, "axis": (-2, -1)})
      for order in ("fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf)],
    row("vector_norm", ANY, keywords={"ord": 3, "axis": -1, "keepdims": True}),
    row("matrix_norm", SQUARE, keywords={"ord": "nuc"}),
    row("cond", SQUARE),
    row("cond", SQUARE, keywords={"p": 1}),
    row("matrix_rank", TALL, constant="it counts"),
]  # fmt: skip

PRODUCTS = [
    row("matmul", ANY, Operand("*b n k")),
    row("vecdot", ANY, ANY),
    row("cross", Operand("*b 3"), Operand("*b 3")),
    row("outer", VECTOR, OTHER),
    row("tensordot", ANY, Operand("n k"), keywords={"axes": 1}),
    row("trace", SQUARE),
    row("diagonal", ANY),
    row("diagonal", ANY, keywords={"offset": 1}),
    row("matrix_transpose", ANY),
    row("multi_dot", Operand("m n"), Operand("n k"), Operand("k m"),
        use=lambda la, xp, *xs: la.multi_dot(xs)),
    row("khatri_rao", ANY, Operand("*b k n"), theirs=column_products),
]  # fmt: skip

SHAPED = [
    row("block_diag", Operand("m n"), Operand("k k")),
    *[row(name, VECTOR) for name in ("toeplitz", "hankel", "circulant")],
    row("toeplitz", VECTOR, OTHER),
    row("hankel", VECTOR, OTHER),
    row("companion", Operand("4", low=1, high=2)),
    row("convolution_matrix", VECTOR, use=lambda la, xp, a: la.convolution_matrix(a, 4, "same")),
    row("fiedler", VECTOR),
    row("leslie", Operand("4"), Operand("3")),
]

SPACES = [
    row("orth", TALL, use=lambda la, xp, a: projector(xp, la.orth(a)),
        theirs=lambda la, xp, a: a @ la.pinv(a), where=lambda sizes: not sizes["b"]),
    row("null_space", LONG, use=lambda la, xp, a: projector(xp, la.null_space(a)),
        theirs=lambda la, xp, a: xp.eye(4) - la.pinv(a) @ a),
    row("orthogonal_procrustes", Operand("4 n", "apart"), Operand("4 n", "apart"),
        theirs=lambda la, xp, a, b: by_svd(la, xp, h(xp, a) @ b)),
]  # fmt: skip


def by_svd(la, xp, m):
    u, s, vh = la.svd(m, full_matrices=False)
    return u @ vh, xp.sum(s)


ROWS = [*FACTORIZATIONS, *SOLVING, *FUNCTIONS, *NORMS, *PRODUCTS, *SHAPED, *SPACES]
