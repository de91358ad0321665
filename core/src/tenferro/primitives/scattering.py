"""Updates at positions that are data, where what falls on one place is multiplied or compared.

The product keeps its derivative where factors are zero, and where several have one place. Ties of
an extremum, among the updates or with what was there, share the derivative equally. Parameters
and modes are those of ``scatter_add``. Read next: ``contraction.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tenferro.primitives._dtype import int64
from tenferro.primitives._handle import H, Handle
from tenferro.primitives._primitive import bind
from tenferro.primitives._recurrence import earlier, recurrence
from tenferro.primitives.comparison import eq, gt, logical_and, logical_not, lt, select
from tenferro.primitives.complex import conj
from tenferro.primitives.constants import constant, full_like, iota, zeros_like
from tenferro.primitives.indexing import IndexedUpdate, ScatterAdd, scatter_add, take_along_axis
from tenferro.primitives.sorting import sort
from tenferro.primitives.structural import convert, reshape

__all__ = ["ScatterMax", "ScatterMin", "ScatterMul", "scatter_max", "scatter_min", "scatter_mul"]


class ScatterMul(IndexedUpdate):
    """x multiplied by updates at the positions that indices holds; linear in x"""

    key = "std::scatter_mul"
    linear = ((0,),)
    accepts = "numeric"

    def transpose_x(self, ct: Handle, x: Handle, indices: Handle, updates: Handle) -> Handle:
        return bind(self, ct, indices, conj(updates))

    def jvp_updates(
        self, du: Handle, x: Handle, indices: Handle, updates: Handle, y: Handle
    ) -> Handle:
        """x times the tangent of the product of the updates of each place.

        The updates are sorted by place. With P the products so far within a place, which begin
        with 1, the tangent is the last d of d_i = u_i d_{i-1} + P_{i-1} du_i: no division.
        """
        places, order = self._by_place(x, indices, updates)
        factors, tangents = (
            take_along_axis(reshape(each, order.shape), order, 0) for each in (updates, du)
        )
        same = eq(places, earlier(places, 1, 0, False, -1))
        joins = logical_and(same, gt(places, zeros_like(places)))
        products = recurrence(factors, select(joins, zeros_like(factors), factors), 0, joins=joins)
        before = select(joins, earlier(products, 1, 0, False, 1), full_like(factors, 1))
        found = recurrence(factors, before * tangents, 0, joins=joins)
        goes_on = earlier(joins, 1, 0, True, False)
        return x * _spread(select(goes_on, zeros_like(found), found), places - 1, x)

    def _by_place(self, x: Handle, indices: Handle, updates: Handle) -> tuple[Handle, Handle]:
        """Return the place of each element in the flattened x, sorted, and the order.

        Places count from 1; 0 stands for an element that is dropped.
        """
        everywhere = reshape(iota((x.size,), 0, int64) + 1, x.shape)
        places = reshape(self.read(everywhere, indices, updates), (updates.size,))
        found = sort([places, iota(places.shape, 0, int64)], 0)
        return found[0], found[1]


def _spread(values: Handle, places: Handle, like: Handle) -> Handle:
    """Write values to places of an array of zeros; those with a negative place are dropped."""
    flat = scatter_add(
        constant(0, values.dtype, (like.size,)),
        reshape(places, (*places.shape, 1)),
        values,
        update_window_dims=(),
        inserted_window_dims=(0,),
        scatter_dims_to_operand_dims=(0,),
        mode="drop",
    )
    return reshape(flat, like.shape)


class ScatterMax(IndexedUpdate):
    """The maximum of x and the updates of each place;   dy = the mean of those that attain it"""

    key = "std::scatter_max"
    linear = ()
    accepts = "ordered"

    def jvp_x(self, dx: Handle, x: Handle, indices: Handle, updates: Handle, y: Handle) -> Handle:
        count = _attaining(self, lt, x, indices, updates, y)
        return select(lt(x, y), zeros_like(dx), dx) / count

    def jvp_updates(
        self, du: Handle, x: Handle, indices: Handle, updates: Handle, y: Handle
    ) -> Handle:
        count = _attaining(self, lt, x, indices, updates, y)
        loses = lt(updates, self.read(y, indices, updates))
        return _sums(self, zeros_like(y), indices, select(loses, zeros_like(du), du)) / count


class ScatterMin(IndexedUpdate):
    """The minimum of x and the updates of each place;   dy = the mean of those that attain it"""

    key = "std::scatter_min"
    linear = ()
    accepts = "ordered"

    def jvp_x(self, dx: Handle, x: Handle, indices: Handle, updates: Handle, y: Handle) -> Handle:
        count = _attaining(self, gt, x, indices, updates, y)
        return select(gt(x, y), zeros_like(dx), dx) / count

    def jvp_updates(
        self, du: Handle, x: Handle, indices: Handle, updates: Handle, y: Handle
    ) -> Handle:
        count = _attaining(self, gt, x, indices, updates, y)
        loses = gt(updates, self.read(y, indices, updates))
        return _sums(self, zeros_like(y), indices, select(loses, zeros_like(du), du)) / count


def _attaining(
    op: IndexedUpdate,
    loses: Callable[[Handle, Handle], Handle],
    x: Handle,
    indices: Handle,
    updates: Handle,
    y: Handle,
) -> Handle:
    """Count how many of x and the updates equal the result, at each place."""
    of_x = convert(logical_not(loses(x, y)), x.dtype)
    of_updates = convert(logical_not(loses(updates, op.read(y, indices, updates))), x.dtype)
    return _sums(op, of_x, indices, of_updates)


def _sums(op: IndexedUpdate, x: Handle, indices: Handle, updates: Handle) -> Handle:
    """Add the same windows at the same positions."""
    parameters = (getattr(op, field) for field in op._fields)
    return bind(ScatterAdd(*parameters), x, indices, updates)


def scatter_mul(
    x: H,
    indices: H,
    updates: H,
    *,
    update_window_dims: Sequence[int],
    inserted_window_dims: Sequence[int],
    scatter_dims_to_operand_dims: Sequence[int],
    mode: str,
) -> H:
    """Multiply x by updates at the positions that indices holds along its last axis.

    x: [*s]   indices: int[*b, k]   updates: b and the windows at update_window_dims   →   y: [*s]

    Definition   as scatter_add's, with products; repeated positions accumulate
    JVP          in the updates: the product rule over what falls on each place
    Transpose    ct_x = scatter_mul(ct, indices, conj(updates))
    Convention   right where factors are zero, at every order
    Raises       ShapeMismatchError, InvalidParameterError, DTypeMismatchError.

    >>> from tenferro.primitives import scatter_mul, variable
    >>> x, rows = variable("x", (5, 3), "f64"), variable("i", (2, 1), "i64")
    >>> scatter_mul(
    ...     x,
    ...     rows,
    ...     variable("u", (2, 3), "f64"),
    ...     update_window_dims=(1,),
    ...     inserted_window_dims=(0,),
    ...     scatter_dims_to_operand_dims=(0,),
    ...     mode="drop",
    ... ).aval
    f64[5,3]
    """
    operation = ScatterMul(
        tuple(update_window_dims),
        tuple(inserted_window_dims),
        tuple(scatter_dims_to_operand_dims),
        mode,
    )
    return bind(operation, x, indices, updates)


def scatter_max(
    x: H,
    indices: H,
    updates: H,
    *,
    update_window_dims: Sequence[int],
    inserted_window_dims: Sequence[int],
    scatter_dims_to_operand_dims: Sequence[int],
    mode: str,
) -> H:
    """Raise x to updates at the positions that indices holds along its last axis.

    x: [*s]   indices: int[*b, k]   updates: b and the windows at update_window_dims   →   y: [*s]

    Definition   as scatter_add's, with the maximum of what falls on one place
    JVP          the mean of the tangents of x and the updates that attain the maximum
    Convention   nan wins; ties share equally
    Raises       ShapeMismatchError, InvalidParameterError, DTypeMismatchError.

    >>> from tenferro.primitives import scatter_max, variable
    >>> x, rows = variable("x", (5, 3), "f64"), variable("i", (2, 1), "i64")
    >>> scatter_max(
    ...     x,
    ...     rows,
    ...     variable("u", (2, 3), "f64"),
    ...     update_window_dims=(1,),
    ...     inserted_window_dims=(0,),
    ...     scatter_dims_to_operand_dims=(0,),
    ...     mode="drop",
    ... ).aval
    f64[5,3]
    """
    operation = ScatterMax(
        tuple(update_window_dims),
        tuple(inserted_window_dims),
        tuple(scatter_dims_to_operand_dims),
        mode,
    )
    return bind(operation, x, indices, updates)


def scatter_min(
    x: H,
    indices: H,
    updates: H,
    *,
    update_window_dims: Sequence[int],
    inserted_window_dims: Sequence[int],
    scatter_dims_to_operand_dims: Sequence[int],
    mode: str,
) -> H:
    """Lower x to updates at the positions that indices holds along its last axis.

    x: [*s]   indices: int[*b, k]   updates: b and the windows at update_window_dims   →   y: [*s]

    Definition   as scatter_add's, with the minimum of what falls on one place
    JVP          the mean of the tangents of x and the updates that attain the minimum
    Convention   nan wins; ties share equally
    Raises       ShapeMismatchError, InvalidParameterError, DTypeMismatchError.

    >>> from tenferro.primitives import scatter_min, variable
    >>> x, rows = variable("x", (5, 3), "f64"), variable("i", (2, 1), "i64")
    >>> scatter_min(
    ...     x,
    ...     rows,
    ...     variable("u", (2, 3), "f64"),
    ...     update_window_dims=(1,),
    ...     inserted_window_dims=(0,),
    ...     scatter_dims_to_operand_dims=(0,),
    ...     mode="drop",
    ... ).aval
    f64[5,3]
    """
    operation = ScatterMin(
        tuple(update_window_dims),
        tuple(inserted_window_dims),
        tuple(scatter_dims_to_operand_dims),
        mode,
    )
    return bind(operation, x, indices, updates)
