"""``schur``: the form A = Z T Zᴴ with a unitary Z and an upper triangular T.

With M = Zᴴ dA Z and an Ω = -Ωᴴ that rotates Z,  dZ = Z Ω  and  dT = M + T Ω - Ω T, which is upper
triangular. Below the diagonal T Ω - Ω T depends on the part X of Ω there alone, so X solves

    strictly lower part of (T X - X T) = strictly lower part of -M,

which ``triangular_sylvester`` does; Ω = X - Xᴴ. Read next: ``sylvester_solve.py``.
"""

from __future__ import annotations

from typing import Any

from tenferro.primitives._aval import Aval
from tenferro.primitives._checks import invalid
from tenferro.primitives._handle import H, Handle
from tenferro.primitives._primitive import Mixed, bind_all, over_leading_axes
from tenferro.primitives.comparison import eq, gt, logical_and, logical_xor, select
from tenferro.primitives.complex import imag, real
from tenferro.primitives.constants import iota, zeros_like
from tenferro.primitives.linalg._matrices import (
    adjoint,
    factorizable,
    kept,
    lower,
    matmul,
    square_size,
    upper,
)
from tenferro.primitives.linalg.eig import eig
from tenferro.primitives.linalg.qr import qr
from tenferro.primitives.linalg.triangular_sylvester import triangular_sylvester
from tenferro.primitives.structural import broadcast_in_dim, concatenate, convert, slice
from tenferro.tidu import MissingRuleError

__all__ = ["Schur", "schur"]


class Schur(Mixed):
    """A = Z T Zᴴ;   dZ = Z Ω, dT = M + T Ω - Ω T with M = Zᴴ dA Z"""

    key = "std::schur"
    batch = over_leading_axes
    output_count = 2
    linear = ()
    real: bool = False

    def __post_init__(self) -> None:
        self._set(real=bool(self.real))

    def abstract_eval(self, a: Aval) -> tuple[Aval, Aval]:
        square_size(self, factorizable(self, a))
        if self.real and a.dtype.is_complex:
            raise invalid(self, "real", "the matrix is complex", got=f"{a}", need="real=False")
        found = a if self.real else a.with_dtype(a.dtype.complex_dtype)
        return found, found

    def jvp_a(self, da: Handle, a: Handle, t: Handle, z: Handle) -> tuple[Handle, Handle]:
        if self.real:
            raise _real_blocks(self, a.aval)
        if not a.size:
            return zeros_like(t), zeros_like(z)
        moved = matmul(matmul(adjoint(z), convert(da, z.dtype)), z)
        below = triangular_sylvester(t, -t, -lower(moved, strict=True), below=True)
        turn = below - adjoint(below)
        return upper(moved + matmul(t, turn) - matmul(turn, t)), matmul(z, turn)

    def decompose(self, a: Handle) -> tuple[Handle, Handle]:
        """Take an orthonormal basis of eigenvectors; a real form has real and imaginary parts.

        Where A has no basis of eigenvectors, digits are lost: half of them for a pair.
        """
        if not a.size:
            made: Any = convert(a, a.dtype if self.real else a.dtype.complex_dtype)
            return made, made
        w, v = eig(a)
        if not self.real:
            z, _ = qr(v)
            return upper(matmul(matmul(adjoint(z), convert(a, z.dtype)), z)), z
        spread = broadcast_in_dim(imag(w), v.shape, (*range(w.ndim - 1), v.ndim - 1))
        is_second: Any = gt(zeros_like(spread), spread)
        z, _ = qr(select(is_second, imag(v), real(v)))
        t = matmul(matmul(adjoint(z), a), z)
        return upper(t) + kept(_in_block(t, is_second), t), z


def _in_block(t: Handle, is_second: Handle) -> Any:
    """Return True at the entries below the diagonal of the blocks of two conjugate values.

    ``is_second`` marks the columns of the second value of each pair; the entry is in the column
    before it.
    """
    row, column = iota(t.shape, t.ndim - 2, "int32"), iota(t.shape, t.ndim - 1, "int32")
    whole = (*t.shape[:-1], t.shape[-1])
    after = slice(is_second, (*[0] * (t.ndim - 1), 1), whole)
    last = slice(is_second, (*[0] * (t.ndim - 1), t.shape[-1] - 1), whole)
    starts: Any = concatenate([after, logical_xor(last, last)], t.ndim - 1)
    return logical_and(starts, eq(row, column + 1))


def _real_blocks(op: Schur, a: Aval) -> MissingRuleError:
    alternative = 'output="complex" (real=False)'
    return MissingRuleError(
        "schur: the real form has no derivative here\n"
        f"  got        real=True for {a}\n"
        f"  need       {alternative}, which has one where eigenvalues are distinct\n"
        "  hint       the block of two conjugate eigenvalues may be rotated by any angle where\n"
        "             its entries off the diagonal are b and -b, as for normal matrices; what\n"
        "             does not depend on the form is the same of the complex one",
        primitive=op.key,
        rule="jvp_a",
        provider=type(op).__module__,
        alternative=alternative,
    )


def schur(a: H, *, real: bool = False) -> tuple[H, H]:
    """Find the Schur form of square matrices.

    a: [*b, n, n]   →   T: c[*b, n, n]   Z: c[*b, n, n]; real ones with ``real``

    Definition   a = Z T Zᴴ, ZᴴZ = I, T upper triangular with the eigenvalues on its diagonal; with
                 ``real``, pairs of conjugate eigenvalues stand in blocks of two rows
    JVP          see the head of this file
    Convention   eigenvalues come in no order, columns of Z with any phase; Ω has no diagonal, so
                 derivatives turn no phase. The derivative exists where eigenvalues are distinct;
                 elsewhere it is a SingularMatrixError where a backend can see it, inf or nan
                 elsewhere
    Raises       ShapeMismatchError, DTypeMismatchError; InvalidParameterError: if ``real`` and a is
                 complex; when differentiated MissingRuleError: if ``real``.
    Source       Golub & Van Loan (2013), Matrix Computations, 7.1 and 7.6; perturbation:
                 Sun (1995), Perturbation bounds for the Schur decomposition

    >>> from tenferro.primitives import schur, variable
    >>> [x.aval for x in schur(variable("a", (3, 3), "f64"))]
    [c128[3,3], c128[3,3]]
    """
    t, z = bind_all(Schur(bool(real)), a)
    return t, z
