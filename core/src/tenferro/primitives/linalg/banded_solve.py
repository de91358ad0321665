"""``banded_solve``: A x = b for a matrix given by its diagonals, ab[u + i - j, j] = A[i, j].

Derivatives are written in bands, too: of n rows and a band of w diagonals nothing takes more than
O(n w) numbers. The decomposition is Gauss's elimination with exchanges of rows, in a loop that
holds a window of the matrix. Read next: ``sylvester_solve.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenferro.computegraph import Fragment
from tenferro.primitives._aval import Aval
from tenferro.primitives._checks import invalid, same_dtype
from tenferro.primitives._errors import ShapeMismatchError
from tenferro.primitives._handle import H, Handle, variable
from tenferro.primitives._primitive import Mixed, bind
from tenferro.primitives.arithmetic import abs as absolute
from tenferro.primitives.comparison import eq
from tenferro.primitives.complex import conj
from tenferro.primitives.constants import constant, iota, zeros_like
from tenferro.primitives.control.scan import scan
from tenferro.primitives.linalg._matrices import (
    batched_columns,
    columns,
    factorizable,
    joined_columns,
    joined_rows,
    kept,
    matmul,
    rows,
    same_batch,
    swapped,
)
from tenferro.primitives.reduction import argmax, reduce_sum
from tenferro.primitives.structural import broadcast_in_dim, pad, reshape, transpose

__all__ = ["BandedSolve", "adjoint_band", "banded_solve"]


class BandedSolve(Mixed):
    """A x = b;   dx = A⁻¹(db - dA x)"""

    key = "std::banded_solve"
    linear = ((1,),)
    below: int
    above: int

    def __post_init__(self) -> None:
        for name in ("below", "above"):
            value = getattr(self, name)
            if type(value) is not int or value < 0:
                raise invalid(self, name, "no number of diagonals", got=repr(value), need=">= 0")

    def abstract_eval(self, ab: Aval, b: Aval) -> Aval:
        factorizable(self, same_dtype(self, ab, b))
        same_batch(self, ab, b)
        count = self.below + self.above + 1
        if ab.shape[-2] != count or ab.shape[-1] != b.shape[-2]:
            raise ShapeMismatchError.of(
                self.name,
                "the operands do not fit together",
                got=f"ab {ab},  b {b}",
                need=f"ab [*s, {count}, n],  b [*s, n, k]",
                shapes=(ab.shape, b.shape),
            )
        return b

    def transpose_b(self, ct: Handle, ab: Handle, b: Handle) -> Handle:
        return banded_solve(adjoint_band(ab, self.above), ct, self.above, self.below)

    def jvp_ab(self, dab: Handle, ab: Handle, b: Handle, x: Handle) -> Handle:
        return bind(self, ab, -_product(dab, x, self.above))

    def batch(self, size: int, batched: Sequence[bool], ab: Handle, b: Handle) -> Handle:
        """Batch: right-hand sides of one matrix side by side; otherwise one more leading axis."""

        def solve(ab: Handle, b: Handle) -> Handle:
            return bind(self, ab, b)

        return batched_columns(solve, size, batched, ab, b)

    def decompose(self, ab: Handle, b: Handle) -> Handle:
        """Eliminate with exchanges of rows, then substitute backwards."""
        if not b.size:
            return b
        matrix = swapped(_transposed_band(ab, self.above))  # row i, from column i - below on
        if self.below:
            matrix, b = _eliminated(matrix, b, self.below)
        return _substituted(matrix, b)


def _transposed_band(ab: Handle, above: int) -> Handle:
    """Return the band of Aᵀ; what the corners hold is dropped."""
    count = ab.shape[-2]
    parts = []
    for place in range(count):
        source = count - 1 - place
        parts.append(_shifted(rows(ab, source, source + 1), ab.ndim - 1, source - above))
    return joined_rows(*parts)


def adjoint_band(ab: H, above: int) -> H:
    """Return the band of Aᴴ, which has ``above`` diagonals below its main one."""
    found: H = _transposed_band(ab, above)  # type: ignore[assignment]
    return conj(found) if ab.dtype.is_complex else found


def _product(ab: Handle, x: Handle, above: int) -> Handle:
    """A x, diagonal by diagonal; those outside of the matrix have no term, not a zero one."""
    total: Any = None
    for place in range(ab.shape[-2]):
        if place != above and not -ab.shape[-1] < place - above < ab.shape[-1]:
            continue
        diagonal = reshape(rows(ab, place, place + 1), (*ab.shape[:-2], ab.shape[-1]))
        scaled = x * broadcast_in_dim(diagonal, x.shape, tuple(range(x.ndim - 1)))
        term = _shifted(scaled, x.ndim - 2, place - above)
        total = term if total is None else total + term
    found: Handle = total
    return found


def _shifted(x: Handle, axis: int, steps: int) -> Handle:
    """Move entries towards the end, or the front if negative; zeros come in, the rest goes out."""
    if not steps:
        return x
    if not -x.shape[axis] < steps < x.shape[axis]:
        return zeros_like(x)
    low, high = [0] * x.ndim, [0] * x.ndim
    low[axis], high[axis] = steps, -steps
    return pad(x, constant(0, x.dtype), low, high, [0] * x.ndim)


# ---- elimination ---------------------------------------------------------------------------------


def _eliminated(matrix: Handle, b: Handle, below: int) -> tuple[Handle, Handle]:
    """Return the rows of an upper triangle, from the diagonal on, and the right-hand sides.

    Step j holds rows j … j + below, from column j on. The row with the largest entry in column j
    goes out, and row j + 1 + below comes in.
    """
    n, (width, count) = b.shape[-2], (matrix.shape[-1], b.shape[-1])
    both = joined_columns(matrix, b)
    axis = both.ndim - 2
    start = [
        joined_columns(
            _shifted(columns(row, 0, width), row.ndim - 1, t - below), columns(row, width)
        )
        for t in range(below + 1)
        for row in [_row(both, t)]
    ]
    window = joined_rows(*start)
    coming = _first(_shifted(both, axis, -1 - below))
    body = _elimination_step(window.aval, coming.aval.shape[1:], width)
    _, found = scan(body, (), (window,), (coming,), n)
    found = transpose(found, (*range(1, axis + 1), 0, axis + 1))
    return columns(found, 0, width), columns(found, width, width + count)


def _row(both: Handle, t: int) -> Handle:
    return rows(both, t, t + 1) if t < both.shape[-2] else zeros_like(rows(both, 0, 1))


def _elimination_step(aval: Aval, row: tuple[int, ...], width: int) -> Fragment:
    window, coming = variable("window", aval.shape, aval.dtype), variable("row", row, aval.dtype)
    size, last = aval.shape[-2], aval.ndim - 1
    column = reshape(columns(window, 0, 1), aval.shape[:-1])
    largest = argmax(absolute(column), last - 1, "int32")
    lead = tuple(range(last - 1))
    is_pivot: Any = eq(
        iota(aval.shape, last - 1, "int32"), broadcast_in_dim(largest, aval.shape, lead)
    )
    pivot = reduce_sum(kept(is_pivot, window), (last - 1,))
    over = (*lead, last)
    first = broadcast_in_dim(reduce_sum(rows(window, 0, 1), (last - 1,)), aval.shape, over)
    rest = rows(window + kept(is_pivot, first - window), 1)
    head = columns(reshape(pivot, (*pivot.shape[:-1], 1, pivot.shape[-1])), 0, 1)
    below = columns(rest, 0, 1)
    factor = below / broadcast_in_dim(head, below.shape, tuple(range(below.ndim)))
    spread = broadcast_in_dim(pivot, rest.shape, over)
    rest = rest - broadcast_in_dim(factor, rest.shape, tuple(range(rest.ndim))) * spread
    left = _shifted(columns(rest, 0, width), last, -1)
    moved = joined_columns(left, columns(rest, width))
    entering = reshape(coming, (*aval.shape[:-2], 1, aval.shape[-1]))
    after = joined_rows(moved, entering) if size > 1 else entering
    return Fragment.of([window.key, coming.key], [after.key, pivot.key])


def _substituted(matrix: Handle, b: Handle) -> Handle:
    """Solve for the rows of an upper triangle, from the last to the first."""
    n, width, axis = b.shape[-2], matrix.shape[-1], b.ndim - 2
    if width == 1:
        return b / broadcast_in_dim(matrix, b.shape, tuple(range(b.ndim)))
    xs = (_first(matrix), _first(b))
    shape = (*b.shape[:-2], width - 1, b.shape[-1])
    row, right = (variable(f"row{i}", x.shape[1:], x.dtype) for i, x in enumerate(xs))
    later = variable("later", shape, b.dtype)
    whole = reshape(row, (*row.shape[:-1], 1, width))
    rest = reshape(right, (*right.shape[:-1], 1, right.shape[-1]))
    left = rest - matmul(columns(whole, 1), later)
    x = left / broadcast_in_dim(columns(whole, 0, 1), left.shape, tuple(range(left.ndim)))
    after = joined_rows(x, rows(later, 0, width - 2)) if width > 2 else x
    body = Fragment.of([later.key, row.key, right.key], [after.key, reshape(x, right.shape).key])
    start = broadcast_in_dim(constant(0, b.dtype), shape, ())
    _, found = scan(body, (), (start,), xs, n, reverse=True)
    return transpose(found, (*range(1, axis + 1), 0, axis + 1))


def _first(x: Handle) -> Handle:
    """Return the rows of matrices as the first axis."""
    axis = x.ndim - 2
    return transpose(x, (axis, *range(axis), axis + 1))


def banded_solve(ab: H, b: H, below: int, above: int) -> H:
    """Solve a system whose matrix has few diagonals.

    ab: [*s, below + above + 1, n]   b: [*s, n, k]   →   x: [*s, n, k]

    Definition   A x = b with A[i, j] = ab[above + i - j, j]
    JVP          dx = A⁻¹(db - dA x), where dA has the same diagonals
    Transpose    ct_b = A⁻ᴴ ct, by the band of Aᴴ
    Convention   what the corners of ab hold is not read
    Raises       ShapeMismatchError, DTypeMismatchError, InvalidParameterError; SingularMatrixError
                 where a backend can see a singular matrix, inf or nan elsewhere.
    Source       Golub & Van Loan (2013), Matrix Computations, 4.3

    >>> from tenferro.primitives import banded_solve, variable
    >>> banded_solve(variable("ab", (3, 5), "f64"), variable("b", (5, 2), "f64"), 1, 1).aval
    f64[5,2]
    """
    return bind(BandedSolve(below, above), ab, b)
