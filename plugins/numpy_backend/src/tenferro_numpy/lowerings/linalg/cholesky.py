"""Cholesky factors on NumPy: `np.linalg`, and for one large matrix `potrf` without a transposition.

Their tangents are products and quotients of triangles. Products are written by blocks, so that no
block is computed which is known to be zero; of a Hermitian matrix one triangle is divided.

Read next: `../special.py`.
"""

from __future__ import annotations

from cmath import isnan
from typing import Any

import numpy as np

from tenferro.backend.lowering import Lowerings
from tenferro.primitives.linalg.cholesky import Cholesky, CholeskyCotangent, CholeskyTangent
from tenferro_numpy.errors import NotPositiveDefiniteError
from tenferro_numpy.lowerings.linalg._lapack import (
    above,
    blas,
    in_order,
    lapack,
    over_batch,
    refusal,
    triangular,
)
from tenferro_numpy.lowerings.linalg.stacked import is_stack_of_small, stacked_triangular
from tenferro_numpy.lowerings.linalg.triangular_solve import refuse_zeros
from tenferro_numpy.machine.fp_errors import restore, silence

__all__ = ["register"]

#: the ufunc of `np.linalg.cholesky`; None where NumPy has it no more
_UFUNC: Any = getattr(getattr(np.linalg, "_umath_linalg", None), "cholesky_lo", None)
_BLOCK = 64
#: Rows from which the copies of `np.linalg` cost more than the call of LAPACK.
_MIN_ROWS_FOR_LAPACK = 100
#: Rows up to which moving entries costs more than dividing both triangles.
_MAX_ROWS_FOR_TWO_DIVISIONS = 32
#: Rows up to which inverting a stack in one call takes less than calls of LAPACK per matrix.
_MAX_ROWS_FOR_INVERSES = 24


def register(lowerings: Lowerings) -> None:
    """Register what `numpy.linalg` says less well."""

    @lowerings.register(Cholesky)
    def cholesky(op: Cholesky, a: Any) -> Any:
        if a.ndim == 2 and a.shape[0] >= _MIN_ROWS_FOR_LAPACK:
            return _large(op, a)
        return _small(op, a)

    @lowerings.register(CholeskyTangent)
    def cholesky_tangent(op: CholeskyTangent, factor: Any, x: Any) -> Any:
        if not x.size:
            return np.empty_like(x)
        refuse_zeros(op.key, factor)
        return _derivative(op.adjoint, factor, x)

    @lowerings.register(CholeskyCotangent)
    def cholesky_cotangent(op: CholeskyCotangent, factor: Any, x: Any, *vectors: Any) -> Any:
        refuse_zeros(op.key, factor)
        return _cotangent(factor, x, *vectors)


def _derivative(adjoint: bool, factor: Any, x: Any) -> Any:
    """Return the tangent or the cotangent, in the way that is fastest for the shape."""
    if is_stack_of_small(factor):
        return (_stacked_cotangent if adjoint else _stacked_tangent)(factor, x)
    if factor.ndim > 2 and factor.shape[-1] <= _MAX_ROWS_FOR_INVERSES:
        return (_cotangent_by_inverse if adjoint else _tangent_by_inverse)(factor, x)
    return over_batch(_cotangent if adjoint else _tangent, factor, x)


def _small(op: Cholesky, a: Any) -> Any:
    if a.ndim == 2 and a.size and _UFUNC is not None:
        factor = _by_ufunc(a)
        if not isnan(factor.item(-1)):  # NumPy fills the result with NaN where LAPACK fails
            return factor
    try:
        return np.linalg.cholesky(a)
    except np.linalg.LinAlgError:
        raise _refusal(op, _first_without(a)) from None


def _by_ufunc(a: Any) -> Any:
    """Call the ufunc of `np.linalg.cholesky`, which is a quarter of the time of that."""
    token = silence()
    try:
        return _UFUNC(a)
    finally:
        restore(token)


def _large(op: Cholesky, a: Any) -> Any:
    """Compute the upper factor of aᵀ, whose transpose is L, if that has contiguous columns."""
    matrix, turned = in_order(a)
    factor, info = lapack("potrf", a)(matrix, lower=not turned, clean=True)
    if info:
        raise _refusal(op, ())
    return factor.T if turned else factor


def _first_without(a: Any) -> tuple[int, ...]:
    """Return the place of the first matrix without a factor."""
    for place in np.ndindex(a.shape[:-2]):
        try:
            np.linalg.cholesky(a[place])
        except np.linalg.LinAlgError:
            return place
    return ()


def _refusal(op: Cholesky, place: tuple[int, ...]) -> Exception:
    return refusal(NotPositiveDefiniteError, op.key, "is not positive definite", place)


def _tangent(factor: Any, x: Any) -> Any:
    """L Φ(L⁻¹ S L⁻ᴴ) of the Hermitian S with the lower triangle of x."""
    is_complex = factor.dtype.kind == "c"
    left = triangular(factor, _of_lower(x), overwrite=True)
    inner = triangular(
        factor, left, left=False, transposed=True, conjugated=is_complex, overwrite=True
    )
    _halve_diagonal(inner)
    product, lower = np.zeros(x.shape, x.dtype), np.tril(factor)
    for start, stop in _blocks(len(x)):
        part, corner = inner[start:, start:stop], inner[start:stop, start:stop]
        corner[...] = np.tril(corner)
        product[start:, start:stop] = lower[start:, start:] @ part
    return product


def _cotangent(factor: Any, ct: Any, *vectors: Any) -> Any:
    """Return the cotangent of the lower triangle, and Φ(u wᵀ) for pairs of vectors.

    It is twice the Hermitian part of L⁻ᴴ Φ(Lᴴ ct) L⁻¹ below the diagonal, and once on it.
    """
    weight = _weight_of_logarithms(factor, ct)
    if weight is not None:
        twice = _multiple_of_inverse(factor, weight)
    elif len(ct) <= _MAX_ROWS_FOR_TWO_DIVISIONS and ct.dtype.kind == "f":
        twice = _divided_twice(factor, ct)
    else:
        twice = _hermitian(factor, ct)
    for u, w in zip(vectors[::2], vectors[1::2], strict=True):
        if twice.flags.f_contiguous:
            blas("ger", twice)(1, u, w, a=twice, overwrite_a=True)
        else:
            blas("ger", twice)(1, w, u, a=twice.T, overwrite_a=True)
    _halve_diagonal(twice)
    _clear_above(twice)
    return twice


def _hermitian(factor: Any, ct: Any) -> Any:
    """Return twice the lower triangle of the Hermitian part of L⁻ᴴ Φ(Lᴴ ct) L⁻¹.

    LAPACK divides a Hermitian matrix on both sides by an upper triangle in this order, for a
    reduction of Ax = λBx. L with its rows and columns reversed is one.
    """
    inner = np.empty(ct.shape, ct.dtype, order="F")
    _lower_product(factor, ct, inner[::-1, ::-1])
    if factor.dtype.kind == "c":
        factor = _with_real_diagonal(factor, inner[::-1, ::-1])
    upper = np.array(factor[::-1, ::-1], order="F")
    divide = lapack("hegst" if ct.dtype.kind == "c" else "sygst", ct)
    found, _ = divide(inner, upper, 1, 0, True)
    result = upper.T  # memory that is done with, in contiguous rows
    return np.multiply(found[::-1, ::-1], 2, out=result)


def _divided_twice(factor: Any, ct: Any) -> Any:
    """``_hermitian`` of a small real matrix, both triangles: less is moved, more is computed."""
    size = len(ct)
    upper = np.array(factor.T, order="F")
    np.copyto(upper, 0, where=above(size).T)
    inner = upper.dot(ct)
    np.copyto(inner, inner.T, where=above(size))
    divide = blas("trsm", ct)
    left = divide(1, upper, inner.T, 0, 0, 0, 0, True)
    return divide(1, upper, left, 1, 0, 1, 0, True).T


def _stacked_tangent(factor: Any, x: Any) -> Any:
    """``_tangent`` of many small matrices at once."""
    low = _half_lower(x)
    left = stacked_triangular(factor, low + _adjoints(low))
    turned = {"transposed": True, "conjugated": factor.dtype.kind == "c"}
    inner = stacked_triangular(factor, left, left=False, **turned)
    return np.matmul(np.tril(factor), _half_lower(inner))


def _stacked_cotangent(factor: Any, ct: Any) -> Any:
    """``_cotangent`` of many small matrices at once."""
    inner = _half_lower(np.matmul(_adjoints(np.tril(factor)), np.tril(ct)))
    turned = {"transposed": True, "conjugated": factor.dtype.kind == "c"}
    left = stacked_triangular(factor, inner, **turned)
    found = stacked_triangular(factor, left, left=False)
    return _half_lower(found + _adjoints(found))


def _tangent_by_inverse(factor: Any, x: Any) -> Any:
    """``_tangent`` of a stack, where products take less than substitution."""
    low, lower = _half_lower(x), np.tril(factor)
    inverse = np.linalg.inv(lower)
    inner = inverse @ (low + _adjoints(low)) @ _adjoints(inverse)
    return np.matmul(lower, _half_lower(inner))


def _cotangent_by_inverse(factor: Any, ct: Any) -> Any:
    """``_cotangent`` of a stack, where products take less than substitution."""
    lower = np.tril(factor)
    inverse = np.linalg.inv(lower)
    inner = _half_lower(np.matmul(_adjoints(lower), np.tril(ct)))
    found = _adjoints(inverse) @ (inner @ inverse)
    return _half_lower(found + _adjoints(found))


def _adjoints(x: Any) -> Any:
    return x.conj().swapaxes(-1, -2)


def _half_lower(x: Any) -> Any:
    """Return the lower triangles with half of their diagonals, in new memory."""
    low = np.tril(x)
    np.einsum("...ii->...i", low)[...] *= 0.5
    return low


def _weight_of_logarithms(factor: Any, ct: Any) -> Any:
    """Return c where ct = diag(c / L_ii), as of the logarithm of a determinant, else None."""
    if np.count_nonzero(ct) != len(ct):
        return None
    weights = np.diagonal(factor) * np.diagonal(ct)
    spread = 4 * np.finfo(ct.dtype).eps * abs(weights[0])
    if np.iscomplexobj(ct) and (np.diagonal(factor).imag.any() or weights.imag.any()):
        return None
    return weights[0].real if (abs(weights - weights[0]) <= spread).all() else None


def _multiple_of_inverse(factor: Any, weight: Any) -> Any:
    """Return the lower triangle of weight · (L Lᴴ)⁻¹."""
    matrix, turned = in_order(factor)
    inverse, _ = lapack("potri", factor)(matrix, lower=not turned)
    result = inverse.T if turned else inverse
    result *= weight
    return result


def _with_real_diagonal(factor: Any, inner: Any) -> Any:
    """M of L = M D with phases D; the matrix that L divides becomes D X Dᴴ, which M divides.

    LAPACK takes the diagonal for real, which that of a Cholesky factor is.
    """
    diagonal = np.diagonal(factor)
    if not diagonal.imag.any():
        return factor
    size = np.abs(diagonal)
    phases = np.divide(diagonal, size, out=np.ones_like(diagonal), where=size != 0)
    inner *= np.tril(np.outer(phases, phases.conj()))
    return factor * phases.conj()


def _lower_product(factor: Any, ct: Any, out: Any) -> None:
    """Compute half the lower triangle of Lᴴ ct from that of ct: a sixth of the product."""
    for start, stop in _blocks(len(ct)):
        panel = factor[start:, start:stop].conj() * factor.dtype.type(0.5)
        np.copyto(panel[: stop - start], 0, where=above(stop - start))
        out[start:stop, :stop] = panel.T.dot(ct[start:, :stop])


def _clear_above(x: Any) -> None:
    """Clear what is above the diagonal, and the imaginary part of the diagonal."""
    for start, stop in _blocks(len(x)):
        np.copyto(x[start:stop, start:stop], 0, where=above(stop - start))
        if start:
            x[:start, start:stop] = 0
    if x.dtype.kind == "c":
        np.einsum("ii->i", x).imag = 0


def _blocks(size: int) -> list[tuple[int, int]]:
    return [(start, min(start + _BLOCK, size)) for start in range(0, size, _BLOCK)]


def _halve_diagonal(x: Any) -> None:
    if x.flags.forc:
        diagonal = x.ravel("K")[:: len(x) + 1]  # a view
        np.multiply(diagonal, 0.5, diagonal)
    else:
        np.einsum("ii->i", x)[...] *= 0.5


def _of_lower(x: Any) -> Any:
    """Return the Hermitian matrix with the lower triangle of x, in new C-contiguous memory."""
    found = np.empty(x.shape, x.dtype)
    for start, stop in _blocks(len(x)):
        corner = np.tril(x[start:stop, start:stop])
        _halve_diagonal(corner)
        found[start:stop, start:stop] = corner + corner.conj().T
        found[start:stop, :start] = x[start:stop, :start]
        found[:start, start:stop] = x[start:stop, :start].conj().T
    return found
