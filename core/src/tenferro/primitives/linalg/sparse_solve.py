"""``sparse_solve``: the solution of a system whose matrix is sparse.

The derivative is another solution with the same matrix, so a backend that keeps the last
factorizations serves value, tangent and cotangent with one. A backend without a sparse
factorization solves the dense system. Read next: ``linear_solve.py``.
"""

from __future__ import annotations

from collections.abc import Sequence

from tenferro.primitives._aval import Aval
from tenferro.primitives._checks import same_dtype
from tenferro.primitives._errors import ShapeMismatchError
from tenferro.primitives._handle import H, Handle
from tenferro.primitives._primitive import Mixed, bind, in_front
from tenferro.primitives.complex import conj
from tenferro.primitives.constants import constant
from tenferro.primitives.indexing import scatter_add
from tenferro.primitives.linalg._matrices import batched_columns, factorizable, matrix_sizes
from tenferro.primitives.linalg.linear_solve import factorized, linear_solve
from tenferro.primitives.linalg.sparse_product import check_places, of_stack
from tenferro.primitives.structural import concatenate, convert, reshape, slice

__all__ = ["SparseSolve", "sparse_solve"]


class SparseSolve(Mixed):
    """a x = b or aᴴ x = b with a sparse a;   dx = a⁻¹(-da x), or a⁻ᴴ(-daᴴ x)"""

    key = "std::sparse_solve"
    linear = ((3,),)
    adjoint: bool = False

    def __post_init__(self) -> None:
        self._set(adjoint=bool(self.adjoint))

    def abstract_eval(self, entries: Aval, rows: Aval, columns: Aval, b: Aval) -> Aval:
        factorizable(self, same_dtype(self, entries, b))
        check_places(self, entries, rows, columns)
        matrix_sizes(self, b)
        if entries.shape[:-1] != b.shape[:-2]:
            raise ShapeMismatchError.of(
                self.name,
                "batches differ",
                got=f"entries {entries},  b {b}",
                need="entries [*s, e], b [*s, n, k] (nothing broadcasts here)",
                shapes=(entries.shape, b.shape),
            )
        return b

    def transpose_b(
        self, ct: Handle, entries: Handle, rows: Handle, columns: Handle, b: Handle
    ) -> Handle:
        return sparse_solve(entries, rows, columns, ct, adjoint=not self.adjoint)

    def jvp_entries(
        self,
        dentries: Handle,
        entries: Handle,
        rows: Handle,
        columns: Handle,
        b: Handle,
        x: Handle,
    ) -> Handle:
        if self.adjoint:
            change = of_stack(conj(dentries), columns, rows, x)
        else:
            change = of_stack(dentries, rows, columns, x)
        # the sign inside: transposed, entries and b then share one solve
        return sparse_solve(entries, rows, columns, -change, adjoint=self.adjoint)

    def batch(
        self,
        size: int,
        batched: Sequence[bool],
        entries: Handle,
        rows: Handle,
        columns: Handle,
        b: Handle,
    ) -> Handle:
        """Batch: right-hand sides of one matrix side by side; matrices with one pattern along a new
        axis; each pattern on its own.
        """
        if batched[1] or batched[2]:
            given = (entries, rows, columns, b)
            fronts = [in_front(x, on, size) for x, on in zip(given, batched, strict=True)]
            found = [
                sparse_solve(*[_nth(x, i) for x in fronts], adjoint=self.adjoint)
                for i in range(size)
            ]
            return concatenate([reshape(x, (1, *x.shape)) for x in found], 0)

        def solve(entries: Handle, b: Handle) -> Handle:
            return sparse_solve(entries, rows, columns, b, adjoint=self.adjoint)

        if batched[0]:
            entries = in_front(entries, True, size)
        return batched_columns(solve, size, (batched[0], batched[3]), entries, b)

    def decompose(self, entries: Handle, rows: Handle, columns: Handle, b: Handle) -> Handle:
        """Solve the dense system."""
        n = b.shape[-2]
        a = _dense(entries, rows, columns, n)
        return linear_solve(a, *factorized(a), b, adjoint=self.adjoint)


def _dense(entries: Handle, rows: Handle, columns: Handle, n: int) -> Handle:
    """Return the dense matrices of a stack with one pattern."""
    *lead, count = entries.shape
    zeros = constant(0, entries.dtype, (*lead, n, n))
    if not count or not zeros.aval.size:
        return zeros
    places = concatenate([reshape(convert(x, "int64"), (count, 1)) for x in (rows, columns)], 1)
    batch = tuple(range(len(lead)))
    return scatter_add(
        zeros,
        places,
        entries,
        update_window_dims=batch,
        inserted_window_dims=(len(lead), len(lead) + 1),
        scatter_dims_to_operand_dims=(len(lead), len(lead) + 1),
        mode="promise_in_bounds",
    )


def _nth(x: Handle, i: int) -> Handle:
    """x[i]"""
    rest = x.ndim - 1
    found = slice(x, (i, *[0] * rest), (i + 1, *x.shape[1:]))
    return reshape(found, x.shape[1:])


def sparse_solve(entries: H, rows: H, columns: H, b: H, *, adjoint: bool = False) -> H:
    """Solve square systems whose matrices are sparse and have one pattern.

    entries: [*s, e]   rows, columns: int[e]   b: [*s, n, k]   →   x: [*s, n, k]

    Definition   a x = b, or aᴴ x = b, with a_ij = Σ_e [rows_e = i, columns_e = j] entries_e
    JVP          dx = -a⁻¹ da x + a⁻¹ db
    Transpose    ct_b = a⁻ᴴ ct
    Convention   entries of one place add up; places outside of the matrix are undefined
    Raises       ShapeMismatchError, DTypeMismatchError; SingularMatrixError where a backend can
                 see it, inf or nan elsewhere.
    Source       Giles (2008), Collected matrix derivative results, 2.3.1

    >>> from tenferro.primitives import sparse_solve, variable
    >>> entries, b = variable("a", (5,), "f64"), variable("b", (3, 2), "f64")
    >>> places = variable("rows", (5,), "i32"), variable("columns", (5,), "i32")
    >>> sparse_solve(entries, *places, b).aval
    f64[3,2]
    """
    return bind(SparseSolve(adjoint), entries, rows, columns, b)
