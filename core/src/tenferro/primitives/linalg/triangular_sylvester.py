"""``triangular_sylvester``: A X + X B = C for upper triangular A and B, column by column.

Column j of X follows from those before it by one triangular system,

    (A + b_jj) x_j = c_j - Σ_{k<j} x_k b_kj.

With ``below``, X is strictly lower triangular and the equation holds strictly below the diagonal:
the system of column j then has the rows below j alone. That is the equation of the derivative of a
Schur form, and has a solution where a_ii + b_jj ≠ 0 for i > j. Read next: ``schur.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenferro.computegraph import Fragment
from tenferro.primitives._aval import Aval
from tenferro.primitives._checks import same_dtype
from tenferro.primitives._errors import ShapeMismatchError
from tenferro.primitives._handle import H, Handle, variable
from tenferro.primitives._primitive import Mixed, bind, over_leading_axes
from tenferro.primitives.comparison import eq, gt, select
from tenferro.primitives.complex import conj
from tenferro.primitives.constants import iota, zeros_like
from tenferro.primitives.control.scan import scan
from tenferro.primitives.linalg._matrices import adjoint as adjoint_of
from tenferro.primitives.linalg._matrices import (
    diagonal,
    factorizable,
    identity,
    lower,
    matmul,
    same_batch,
    square_size,
    upper,
)
from tenferro.primitives.linalg.triangular_solve import triangular_solve
from tenferro.primitives.structural import broadcast_in_dim, reshape, transpose

__all__ = ["TriangularSylvester", "triangular_sylvester"]


class TriangularSylvester(Mixed):
    """A X + X B = C, or Aᴴ X + X Bᴴ = C;   dX = solution for dC - dA X - X dB"""

    key = "std::triangular_sylvester"
    batch = over_leading_axes
    linear = ((2,),)
    adjoint: bool = False
    below: bool = False

    def __post_init__(self) -> None:
        self._set(adjoint=bool(self.adjoint), below=bool(self.below))

    def abstract_eval(self, a: Aval, b: Aval, c: Aval) -> Aval:
        factorizable(self, same_dtype(self, a, b, c))
        m, n = square_size(self, a), square_size(self, b)
        same_batch(self, a, b)
        same_batch(self, a, c)
        if c.shape[-2:] != (m, n) or (self.below and m != n):
            need = "a [*s, n, n], b [*s, n, n], c [*s, n, n]" if self.below else ""
            raise ShapeMismatchError.of(
                self.name,
                "the operands do not fit together",
                got=f"a {a},  b {b},  c {c}",
                need=need or "a [*s, m, m], b [*s, n, n], c [*s, m, n]",
                shapes=(a.shape, b.shape, c.shape),
            )
        return c

    def transpose_c(self, ct: Handle, a: Handle, b: Handle, c: Handle) -> Handle:
        return bind(TriangularSylvester(not self.adjoint, self.below), a, b, ct)

    def jvp_a(self, da: Handle, a: Handle, b: Handle, c: Handle, x: Handle) -> Handle:
        return bind(self, a, b, -matmul(self._operator(da), x))

    def jvp_b(self, db: Handle, a: Handle, b: Handle, c: Handle, x: Handle) -> Handle:
        return bind(self, a, b, -matmul(x, self._operator(db)))

    def _operator(self, a: Handle) -> Handle:
        return adjoint_of(upper(a)) if self.adjoint else upper(a)

    def decompose(self, a: Handle, b: Handle, c: Handle) -> Handle:
        """Solve for the columns in a loop, from the last to the first for the adjoint."""
        if not c.size:
            return c
        front = (c.ndim - 1, *range(c.ndim - 1))
        inside = upper(b, strict=True)
        coupling = adjoint_of(inside) if self.adjoint else inside
        shifts = conj(diagonal(b)) if self.adjoint else diagonal(b)
        rows = [transpose(x, front) for x in (lower(c, strict=True) if self.below else c, coupling)]
        shifts = transpose(shifts, (shifts.ndim - 1, *range(shifts.ndim - 1)))
        places = iota((c.shape[-1],), 0, "int32")
        body = self._step(a.aval, c.aval, rows, shifts)
        matrix = self._operator(a)
        xs = (*rows, shifts, places)
        found = scan(body, (matrix,), (zeros_like(c),), xs, c.shape[-1], reverse=self.adjoint)
        return found[0]

    def _step(self, a: Aval, c: Aval, rows: Sequence[Handle], shifts: Handle) -> Fragment:
        """Make the graph that solves for one column and stores it."""
        matrix, x = variable("a", a.shape, a.dtype), variable("x", c.shape, c.dtype)
        column, along = (variable(f"row{i}", y.shape[1:], y.dtype) for i, y in enumerate(rows))
        shift, place = variable("shift", shifts.shape[1:], c.dtype), variable("place", (), "int32")
        right = _as_column(column) - matmul(x, _as_column(along))
        system = matrix + identity(a) * broadcast_in_dim(shift, a.shape, tuple(range(a.ndim - 2)))
        if self.below:
            low = broadcast_in_dim(place, a.shape, ())
            sides = [gt(iota(a.shape, a.ndim - 1 - i, "int32"), low) for i in (0, 1)]
            ones: Any = identity(a)
            system = select(sides[0], select(sides[1], system, ones), ones)
            lowest = broadcast_in_dim(place, right.shape, ())
            is_unknown: Any = gt(iota(right.shape, right.ndim - 2, "int32"), lowest)
            right = select(is_unknown, right, zeros_like(right))
        solved = triangular_solve(system, right, lower=self.adjoint)
        flat = reshape(solved, solved.shape[:-1])
        spread = broadcast_in_dim(flat, c.shape, tuple(range(c.ndim - 1)))
        is_column = eq(iota(c.shape, c.ndim - 1, "int32"), broadcast_in_dim(place, c.shape, ()))
        stored: Handle = select(is_column, spread, x)
        inputs = (matrix, x, column, along, shift, place)
        return Fragment.of([y.key for y in inputs], [stored.key])


def _as_column(x: Handle) -> Handle:
    return reshape(x, (*x.shape, 1))


def triangular_sylvester(a: H, b: H, c: H, *, adjoint: bool = False, below: bool = False) -> H:
    """Solve Sylvester's equation for triangular matrices.

    a: [*s, m, m]   b: [*s, n, n]   c: [*s, m, n]   →   x: [*s, m, n]

    Definition   a x + x b = c, or aᴴ x + x bᴴ = c, for the upper triangles of a and b; with
                 ``below``, x is strictly lower triangular and the equation holds strictly below
                 the diagonal
    JVP          the solution for dc - da x - x db
    Transpose    ct_c = the solution of the adjoint equation for ct
    Convention   what stands below the diagonals of a and b is not read
    Raises       ShapeMismatchError, DTypeMismatchError; where a_ii + b_jj = 0 SingularMatrixError
                 where a backend can see it, inf or nan elsewhere.
    Source       Bartels & Stewart (1972), Solution of the matrix equation AX + XB = C; adjoint:
                 Giles (2008), Collected matrix derivative results

    >>> from tenferro.primitives import triangular_sylvester, variable
    >>> a, b, c = (variable(name, (3, 3), "f64") for name in "abc")
    >>> triangular_sylvester(a, b, c).aval
    f64[3,3]
    """
    return bind(TriangularSylvester(adjoint, below), a, b, c)
