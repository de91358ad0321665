"""Gradients through `svd` and `eigh` (W6), in seven ways each.

Σ C∘f(A) with f(A) = U tanh(S) Vᴴ, or V tanh(w) Vᵀ of a symmetric A. By hand: the divided
differences of f, five products of matrices and one factorization (Higham (2008), Functions of
matrices, theorem 3.11; for singular values Lewis, Sendov (2005), Nonsmooth analysis of singular
values). The ways differ in the words for the products, in which side is transposed, in how a
symmetric argument is made, and in the options of the factorization.
Read next: `benchmarks/w06_factorizations.py`, which defines the functions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks import w06_factorizations as w06
from benchmarks.harness.workload import Call, Case

from .library import Formulations, Library


def svd_inputs(n: int) -> tuple[Any, ...]:
    """A and C."""
    return w06.inputs(("svd", n))[1:]


def eigh_inputs(n: int) -> tuple[Any, ...]:
    """A, symmetric, and C."""
    return w06.inputs(("eigh", n))[1:]


SVD = Formulations(
    svd_inputs,
    cases=[Case("svd, n = 500", ("svd", 500))],
    quick=[Case("svd, n = 40", ("svd", 40))],
)
EIGH = Formulations(
    eigh_inputs,
    cases=[Case("eigh, n = 500", ("eigh", 500))],
    quick=[Case("eigh, n = 40", ("eigh", 40))],
)


# ---- by hand -------------------------------------------------------------------------------------


@SVD.hand
def svd_by_hand(a: Any, c: Any) -> Call:
    """dF = U (Γ∘sym P + Δ∘skew P) Vᴴ, P = Uᵀ dA V: Γ and Δ over sᵢ − sⱼ and sᵢ + sⱼ."""

    def value_and_gradient() -> Any:
        u, s, vh = np.linalg.svd(a, full_matrices=False)
        t = np.tanh(s)
        inner = u.T @ c @ vh.T
        value = t @ inner.diagonal()
        gaps, sums = np.subtract.outer(s, s), np.add.outer(s, s)
        gaps.flat[:: len(s) + 1] = 1
        by_gaps = np.subtract.outer(t, t)
        by_gaps /= gaps
        by_gaps.flat[:: len(s) + 1] = 1 - t * t
        by_sums = np.add.outer(t, t)
        by_sums /= sums
        even, odd = inner + inner.T, inner - inner.T
        even *= by_gaps
        odd *= by_sums
        even += odd
        even *= 0.5
        return value, u @ even @ vh

    return value_and_gradient


@EIGH.hand
def eigh_by_hand(a: Any, c: Any) -> Call:
    """dF = V (Γ∘(Vᵀ dA V)) Vᵀ, Γ the divided differences of tanh."""

    def value_and_gradient() -> Any:
        w, v = np.linalg.eigh(a)
        t = np.tanh(w)
        inner = v.T @ c @ v
        value = t @ inner.diagonal()
        inner += inner.T.copy()
        inner *= 0.5
        gaps = np.subtract.outer(w, w)
        gaps.flat[:: len(w) + 1] = 1
        divided = np.subtract.outer(t, t)
        divided /= gaps
        divided.flat[:: len(w) + 1] = 1 - t * t
        inner *= divided
        return value, v @ inner @ v.T

    return value_and_gradient


# ---- svd -----------------------------------------------------------------------------------------


@SVD.way("scaled columns")
def svd_scaled(lib: Library, a: Any, c: Any) -> Any:
    np = lib.np
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return np.sum(c * ((u * np.tanh(s)) @ vh))


@SVD.way("product with diag")
def svd_diagonal(lib: Library, a: Any, c: Any) -> Any:
    """A diagonal matrix in the middle, three products, the trace in place of the sum."""
    np = lib.np
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return np.trace(c.T @ u @ np.diag(np.tanh(s)) @ vh)


@SVD.way("einsum", without=("autograd",))
def svd_einsum(lib: Library, a: Any, c: Any) -> Any:
    """One einsum of three operands; autograd's would take n³ steps of Python's speed."""
    np = lib.np
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return np.sum(c * np.einsum("ik,k,kj->ij", u, np.tanh(s), vh))


@SVD.way("diagonal of the product")
def svd_inner_products(lib: Library, a: Any, c: Any) -> Any:
    """Only what the value needs: uᵢᵀ C vᵢ, weighted."""
    np = lib.np
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return np.dot(np.tanh(s), np.sum(u * (c @ vh.T), axis=0))


@SVD.way("full matrices, transposed argument", without=("autograd",))
def svd_transposed(lib: Library, a: Any, c: Any) -> Any:
    """The factors of Aᵀ, whole matrices by default; autograd differentiates only thin ones."""
    np = lib.np
    v, s, uh = np.linalg.svd(a.T)
    return np.sum(c * (uh.T @ (np.tanh(s)[:, None] * v.T)))


@SVD.way("tensordot, inner")
def svd_tensordot(lib: Library, a: Any, c: Any) -> Any:
    """Rows scaled, `tensordot`, and the sum as an inner product of flat arrays."""
    np = lib.np
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    found = np.tensordot(u, np.reshape(np.tanh(s), (-1, 1)) * vh, axes=1)
    return np.dot(np.ravel(c), np.ravel(found))


@SVD.way("eigh of Aᵀ A", other=True)
def svd_by_eigh(lib: Library, a: Any, c: Any) -> Any:
    """Another algorithm: A V tanh(s)/s Vᵀ with the eigenvectors of Aᵀ A."""
    np = lib.np
    w, v = np.linalg.eigh(a.T @ a)
    s = np.sqrt(w)
    return np.sum(c * (a @ ((v * (np.tanh(s) / s)) @ v.T)))


# ---- eigh ----------------------------------------------------------------------------------------


@EIGH.way("scaled columns")
def eigh_scaled(lib: Library, a: Any, c: Any) -> Any:
    np = lib.np
    w, v = np.linalg.eigh(a)
    return np.sum(c * ((v * np.tanh(w)) @ v.T))


@EIGH.way("symmetrized argument")
def eigh_symmetrized(lib: Library, a: Any, c: Any) -> Any:
    """(A + Aᵀ)/2, and a diagonal matrix in the middle."""
    np = lib.np
    w, v = np.linalg.eigh(0.5 * (a + a.T))
    return np.sum(c * (v @ np.diag(np.tanh(w)) @ v.T))


@EIGH.way("lower triangle mirrored")
def eigh_mirrored(lib: Library, a: Any, c: Any) -> Any:
    """A from its lower triangle by `tril`, and one product with both sides scaled."""
    np = lib.np
    lower = np.tril(a, -1)
    w, v = np.linalg.eigh(lower + lower.T + np.diag(np.diag(a)))
    return np.sum((v * np.tanh(w)) @ v.T * c)


@EIGH.way("einsum", without=("autograd",))
def eigh_einsum(lib: Library, a: Any, c: Any) -> Any:
    """One einsum of four operands; autograd's would take n³ steps of Python's speed."""
    np = lib.np
    w, v = np.linalg.eigh(a)
    return np.einsum("ij,ik,k,jk->", c, v, np.tanh(w), v, optimize=True)


@EIGH.way("diagonal of the product")
def eigh_inner_products(lib: Library, a: Any, c: Any) -> Any:
    """Only what the value needs: vᵢᵀ C vᵢ, weighted."""
    np = lib.np
    w, v = np.linalg.eigh(a)
    return np.sum(np.tanh(w) * np.diag(v.T @ c @ v))


@EIGH.way("tensordot, where")
def eigh_tensordot(lib: Library, a: Any, c: Any) -> Any:
    """The upper triangle mirrored by `where`; `tensordot` with the last axes."""
    np = lib.np
    upper = np.triu(np.ones(a.shape, dtype=bool))
    w, v = np.linalg.eigh(np.where(upper, a, a.T))
    return np.sum(c * np.tensordot(v * np.tanh(w)[None, :], v, axes=((1,), (1,))))


@EIGH.way("tanh by exponentials")
def eigh_exponentials(lib: Library, a: Any, c: Any) -> Any:
    """tanh by its definition, rows of Vᵀ scaled."""
    np = lib.np
    w, v = np.linalg.eigh(a)
    up, down = np.exp(w), np.exp(-w)
    scaled = ((up - down) / (up + down))[:, None] * v.T
    return np.sum(np.multiply(c, np.matmul(v, scaled)))
