"""``sylvester_solve``: the solution of A X + X B = Q, given the Schur forms of A and B.

As for ``linear_solve``, the factors carry no derivative; the matrices do. So both matrices are
factorized once for the value and derivatives of every order, which never divide by gaps between
eigenvalues of one of them. Read next: ``determinant.py``.
"""

from __future__ import annotations

from tenferro.primitives._aval import Aval
from tenferro.primitives._checks import same_dtype
from tenferro.primitives._errors import DTypeMismatchError, ShapeMismatchError
from tenferro.primitives._handle import H, Handle
from tenferro.primitives._primitive import Mixed, bind, over_leading_axes
from tenferro.primitives.complex import real
from tenferro.primitives.linalg._matrices import adjoint as adjoint_of
from tenferro.primitives.linalg._matrices import factorizable, matmul, same_batch, square_size
from tenferro.primitives.linalg.schur import schur
from tenferro.primitives.linalg.triangular_sylvester import triangular_sylvester
from tenferro.primitives.structural import convert, stop_gradient

__all__ = ["SylvesterSolve", "solve_sylvester_equation", "sylvester_solve"]


class SylvesterSolve(Mixed):
    """A X + X B = Q, or Aᴴ X + X Bᴴ = Q;   dX = solution for dQ - dA X - X dB"""

    key = "std::sylvester_solve"
    batch = over_leading_axes
    linear = ((6,),)
    adjoint: bool = False

    def __post_init__(self) -> None:
        self._set(adjoint=bool(self.adjoint))

    def abstract_eval(
        self, a: Aval, b: Aval, ta: Aval, za: Aval, tb: Aval, zb: Aval, q: Aval
    ) -> Aval:
        factorizable(self, same_dtype(self, a, b, q))
        m, n = square_size(self, a), square_size(self, b)
        same_batch(self, a, b)
        same_batch(self, a, q)
        factors = (ta, za, tb, zb)
        shapes = [a.shape, a.shape, b.shape, b.shape]
        if q.shape[-2:] != (m, n) or [x.shape for x in factors] != shapes:
            raise ShapeMismatchError.of(
                self.name,
                "the operands do not fit together",
                got=", ".join([str(x) for x in (a, b, *factors, q)]),
                need="a, ta, za [*s, m, m],  b, tb, zb [*s, n, n],  q [*s, m, n]",
                shapes=(a.shape, b.shape, *[x.shape for x in factors], q.shape),
            )
        if {x.dtype for x in factors} != {a.dtype.complex_dtype}:
            raise DTypeMismatchError.of(
                self.name,
                "the factors are not complex Schur forms",
                got=", ".join([str(x) for x in factors]),
                need=str(a.dtype.complex_dtype),
                dtypes=tuple([x.dtype for x in factors]),
            )
        return q

    def transpose_q(self, ct: Handle, *operands: Handle) -> Handle:
        return bind(SylvesterSolve(not self.adjoint), *operands[:6], ct)

    def jvp_a(self, da: Handle, *operands: Handle) -> Handle:
        x = operands[-1]
        return bind(self, *operands[:6], -matmul(self._operator(da), x))

    def jvp_b(self, db: Handle, *operands: Handle) -> Handle:
        x = operands[-1]
        return bind(self, *operands[:6], -matmul(x, self._operator(db)))

    def _operator(self, a: Handle) -> Handle:
        return adjoint_of(a) if self.adjoint else a

    def decompose(
        self, a: Handle, b: Handle, ta: Handle, za: Handle, tb: Handle, zb: Handle, q: Handle
    ) -> Handle:
        """Solve in the bases of the Schur forms: Bartels and Stewart's method."""
        inside = matmul(matmul(adjoint_of(za), convert(q, za.dtype)), zb)
        solved = triangular_sylvester(ta, tb, inside, adjoint=self.adjoint)
        found = matmul(matmul(za, solved), adjoint_of(zb))
        return found if q.dtype.is_complex else real(found)


def sylvester_solve(a: H, b: H, ta: H, za: H, tb: H, zb: H, q: H, *, adjoint: bool = False) -> H:
    """Solve Sylvester's equation whose matrices are factorized already.

    a: [*s, m, m]   b: [*s, n, n]   ta, za: of schur(a)   tb, zb: of schur(b)   q: [*s, m, n]
    →   x: [*s, m, n]

    Definition   a x + x b = q, or aᴴ x + x bᴴ = q
    JVP          the solution for dq - da x - x db,  by the same factors
    Transpose    ct_q = the solution of the adjoint equation for ct,  by the same factors
    Convention   factors must carry no derivative: ``solve_sylvester_equation`` makes them
    Raises       ShapeMismatchError, DTypeMismatchError; where a and -b have an eigenvalue in common
                 SingularMatrixError where a backend can see it, inf or nan elsewhere.
    Source       Bartels & Stewart (1972), Solution of the matrix equation AX + XB = C

    >>> from tenferro.primitives import schur, stop_gradient, sylvester_solve, variable
    >>> a, q = variable("a", (3, 3), "f64"), variable("q", (3, 3), "f64")
    >>> factors = schur(stop_gradient(a))
    >>> sylvester_solve(a, a, *factors, *factors, q).aval
    f64[3,3]
    """
    return bind(SylvesterSolve(adjoint), a, b, ta, za, tb, zb, q)


def solve_sylvester_equation(a: H, b: H, q: H) -> H:
    """Solve a x + x b = q, with both matrices factorized once: a word for functions."""
    return sylvester_solve(a, b, *schur(stop_gradient(a)), *schur(stop_gradient(b)), q)
