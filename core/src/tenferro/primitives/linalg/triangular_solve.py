"""``triangular_solve``: the solution of a triangular system, from either side.

Linear in the right-hand sides. Only the named triangle of the matrix exists: the rest is never
read, neither is the diagonal where it is said to be one, and tangents and cotangents are masked
accordingly. Read next: ``lu.py``, or ``triangular_sylvester.py``.
"""

from __future__ import annotations

from collections.abc import Sequence

from tenferro.primitives._aval import Aval
from tenferro.primitives._checks import same_dtype
from tenferro.primitives._errors import ShapeMismatchError
from tenferro.primitives._handle import H, Handle
from tenferro.primitives._primitive import Mixed, bind
from tenferro.primitives.complex import conj
from tenferro.primitives.linalg._matrices import (
    batched_columns,
    factorizable,
    lower,
    matmul,
    same_batch,
    square_size,
    swapped,
    upper,
)

__all__ = ["TriangularSolve", "triangular_solve"]


class TriangularSolve(Mixed):
    """op(a) x = b, or x op(a) = b;   dx = op(a)⁻¹(-op(da) x), or (-x op(da)) op(a)⁻¹"""

    key = "std::triangular_solve"
    linear = ((1,),)
    left: bool = True
    lower: bool = True
    transposed: bool = False
    conjugated: bool = False
    unit_diagonal: bool = False

    def __post_init__(self) -> None:
        self._set(**{name: bool(getattr(self, name)) for name in self._fields})

    def abstract_eval(self, a: Aval, b: Aval) -> Aval:
        factorizable(self, same_dtype(self, a, b))
        n = square_size(self, a)
        same_batch(self, a, b)
        if b.shape[-2 if self.left else -1] != n:
            raise ShapeMismatchError.of(
                self.name,
                "the right-hand side does not match the matrix",
                got=f"a {a},  b {b}, {'left' if self.left else 'right'}",
                need=f"b with {n} {'rows' if self.left else 'columns'}",
                shapes=(a.shape, b.shape),
            )
        return b

    def transpose_b(self, ct: Handle, a: Handle, b: Handle) -> Handle:
        """ct_b = op(a)⁻ᴴ ct, or ct op(a)⁻ᴴ."""
        return self._solve(
            a, ct, transpose=not self.transposed, conjugate=a.dtype.is_complex != self.conjugated
        )

    def jvp_a(self, da: Handle, a: Handle, b: Handle, x: Handle) -> Handle:
        moved = self._operator(da)
        product = matmul(moved, x) if self.left else matmul(x, moved)
        # the sign inside: transposed, a and b then share one solve
        return self._solve(a, -product, transpose=self.transposed, conjugate=self.conjugated)

    def _operator(self, a: Handle) -> Handle:
        """op(a) with zeros where nothing is read."""
        part = (lower if self.lower else upper)(a, strict=self.unit_diagonal)
        part = swapped(part) if self.transposed else part
        return conj(part) if self.conjugated else part

    def _solve(self, a: Handle, b: Handle, *, transpose: bool, conjugate: bool) -> Handle:
        return triangular_solve(
            a,
            b,
            left=self.left,
            lower=self.lower,
            transpose=transpose,
            conjugate=conjugate,
            unit_diagonal=self.unit_diagonal,
        )

    def batch(self, size: int, batched: Sequence[bool], a: Handle, b: Handle) -> Handle:
        """Batch: right-hand sides of one matrix side by side; otherwise one more leading axis."""

        def solve(a: Handle, b: Handle) -> Handle:
            return self._solve(a, b, transpose=self.transposed, conjugate=self.conjugated)

        return batched_columns(solve, size, batched, a, b, side_by_side=self.left)


def triangular_solve(
    a: H,
    b: H,
    *,
    left: bool = True,
    lower: bool = True,
    transpose: bool = False,
    conjugate: bool = False,
    unit_diagonal: bool = False,
) -> H:
    """Solve a triangular system.

    a: [*s, n, n]   b: [*s, n, k], or [*s, k, n] from the right   →   x: as b

    Definition   op(a) x = b, or x op(a) = b;  op transposes, conjugates, both or neither
    JVP          dx = -op(a)⁻¹ op(da) x  with da masked like a
    Transpose    ct_b = op(a)⁻ᴴ ct
    Convention   the other triangle is not read, nor a diagonal that is said to be one
    Raises       ShapeMismatchError, DTypeMismatchError; a zero on the diagonal is a
                 SingularMatrixError where a backend can see it, inf or nan elsewhere.
    Source       Giles (2008), Collected matrix derivative results, 2.3.1

    >>> from tenferro.primitives import triangular_solve, variable
    >>> triangular_solve(variable("a", (3, 3), "f64"), variable("b", (3, 2), "f64")).aval
    f64[3,2]
    """
    conjugate = bool(conjugate) and a.dtype.is_complex
    return bind(TriangularSolve(left, lower, transpose, conjugate, unit_diagonal), a, b)
