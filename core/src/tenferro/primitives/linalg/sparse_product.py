"""``sparse_product``: the product of a sparse matrix with a dense one.

The matrix is given by its entries and their places, in any order; entries of one place add up. So
the transposed matrix is the same entries with rows and columns exchanged, and a backend needs no
second product for it. Read next: ``sparse_solve.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from tenferro.primitives._aval import Aval
from tenferro.primitives._checks import integers, of_kind, same_dtype
from tenferro.primitives._errors import ShapeMismatchError
from tenferro.primitives._handle import OPERATORS, H, Handle
from tenferro.primitives._primitive import Mixed, bind, in_front
from tenferro.primitives.arithmetic import add
from tenferro.primitives.complex import conj
from tenferro.primitives.constants import constant, iota
from tenferro.primitives.indexing import gather, scatter_add
from tenferro.primitives.linalg._matrices import rows_by
from tenferro.primitives.reduction import reduce_sum
from tenferro.primitives.structural import convert, reshape, transpose
from tenferro.tidu import Primitive as Operation

__all__ = ["SparseProduct", "sparse_product"]


class SparseProduct(Mixed):
    """y_ik = Σ_e [rows_e = i] entries_e x_jk with j = columns_e"""

    key = "std::sparse_product"
    linear = ((0,), (3,))
    accepts = "numeric"
    size: int

    def __post_init__(self) -> None:
        self._set(size=integers(self, "size", (self.size,))[0])

    def abstract_eval(self, entries: Aval, rows: Aval, columns: Aval, x: Aval) -> Aval:
        same_dtype(self, entries, x)
        check_places(self, entries, rows, columns)
        if entries.ndim != 1 or x.ndim != 2:
            raise ShapeMismatchError.of(
                self.name,
                "the operands do not fit together",
                got=f"entries {entries},  x {x}",
                need="entries [e], x [n, k]",
                shapes=(entries.shape, x.shape),
            )
        return x.with_shape((self.size, x.shape[1]))

    def transpose_entries(
        self, ct: Handle, entries: Handle, rows: Handle, columns: Handle, x: Handle
    ) -> Handle:
        return reduce_sum(at_rows(ct, rows) * conj(at_rows(x, columns)), (1,))

    def transpose_x(
        self, ct: Handle, entries: Handle, rows: Handle, columns: Handle, x: Handle
    ) -> Handle:
        return sparse_product(conj(entries), columns, rows, ct, size=x.shape[0])

    def batch(
        self,
        size: int,
        batched: Sequence[bool],
        entries: Handle,
        rows: Handle,
        columns: Handle,
        x: Handle,
    ) -> Handle:
        """Batch: columns of x side by side; with batched matrices one that has them as blocks."""
        if not any(batched[:3]):
            _, n, k = x.shape
            beside = reshape(transpose(x, (1, 0, 2)), (n, size * k))
            found = sparse_product(entries, rows, columns, beside, size=self.size)
            return transpose(reshape(found, (self.size, size, k)), (1, 0, 2))
        given = (entries, rows, columns, x)
        fronts = [in_front(each, on, size) for each, on in zip(given, batched, strict=True)]
        return _of_blocks(*fronts, size=self.size)

    def decompose(self, entries: Handle, rows: Handle, columns: Handle, x: Handle) -> Handle:
        products = rows_by(entries, at_rows(x, columns))
        whole = constant(0, x.dtype, (self.size, x.shape[1]))
        if not products.size:
            return whole
        return scatter_add(
            whole,
            reshape(rows, (*rows.shape, 1)),
            products,
            update_window_dims=(1,),
            inserted_window_dims=(0,),
            scatter_dims_to_operand_dims=(0,),
            mode="promise_in_bounds",
        )


def check_places(op: Operation, entries: Aval, rows: Aval, columns: Aval) -> None:
    """Check that each entry has a row and a column.

    Raises ShapeMismatchError: if their numbers differ; DTypeMismatchError: unless they are
        integers.
    """
    of_kind(op, "integer", rows)
    of_kind(op, "integer", columns)
    if not entries.ndim or not rows.shape == columns.shape == entries.shape[-1:]:
        raise ShapeMismatchError.of(
            op.name,
            "each entry has one row and one column",
            got=f"entries {entries},  rows {rows},  columns {columns}",
            need="rows [e], columns [e] for e entries",
            shapes=(entries.shape, rows.shape, columns.shape),
        )


def at_rows(x: H, places: H) -> H:
    """Return rows of a matrix: [m, n], int[e] → [e, n]."""
    (_, n), count = x.shape, places.shape[0]
    if not x.size:  # nothing to gather from
        return reshape(x, (count, n))
    return gather(
        x,
        reshape(places, (count, 1)),
        offset_dims=(1,),
        collapsed_slice_dims=(0,),
        start_index_map=(0,),
        slice_sizes=(1, n),
        mode="promise_in_bounds",
    )


def of_stack(entries: H, rows: H, columns: H, x: H) -> H:
    """Multiply square matrices that have one pattern: [*s, e], int[e], int[e], [*s, n, k]."""
    *lead, n, k = x.shape
    if not lead:
        return sparse_product(entries, rows, columns, x, size=n)
    count = prod(lead)
    found: H = _of_blocks(  # type: ignore[assignment]
        reshape(entries, (count, entries.shape[-1])),
        OPERATORS["repeat"](rows, count),
        OPERATORS["repeat"](columns, count),
        reshape(x, (count, n, k)),
        size=n,
    )
    return reshape(found, x.shape)


def _of_blocks(entries: Handle, rows: Handle, columns: Handle, x: Handle, *, size: int) -> Handle:
    """Multiply a stack of matrices as one that has them as blocks on its diagonal."""
    count, n, k = x.shape
    found = sparse_product(
        reshape(entries, (entries.aval.size,)),
        _in_blocks(rows, size),
        _in_blocks(columns, n),
        reshape(x, (count * n, k)),
        size=count * size,
    )
    return reshape(found, (count, size, k))


def _in_blocks(places: Handle, step: int) -> Handle:
    """Return the places in a matrix of blocks: those of block b are moved by b steps."""
    wide = convert(places, "int64")
    blocks: Handle = iota(wide.shape, 0, "int64") * step
    return reshape(add(wide, blocks), (wide.aval.size,))


def sparse_product(entries: H, rows: H, columns: H, x: H, *, size: int) -> H:
    """Multiply a sparse matrix with a dense one.

    entries: [e]   rows, columns: int[e]   x: [n, k]   →   y: [size, k]

    Definition   y_ik = Σ_e [rows_e = i] entries_e x_jk with j = columns_e
    Transpose    ct_entries_e = Σ_k ct_ik conj(x_jk),  ct_x as the product with the adjoint
    Convention   entries of one place add up; places outside of the matrix are undefined
    Raises       ShapeMismatchError, DTypeMismatchError, InvalidParameterError (size).

    >>> from tenferro.primitives import sparse_product, variable
    >>> entries, x = variable("a", (5,), "f64"), variable("x", (3, 2), "f64")
    >>> places = variable("rows", (5,), "i32"), variable("columns", (5,), "i32")
    >>> sparse_product(entries, *places, x, size=4).aval
    f64[4,2]
    """
    return bind(SparseProduct(size), entries, rows, columns, x)
