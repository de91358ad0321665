"""Reading and adding at positions that are data.

``gather`` and ``scatter_add`` are each other's transposes, and so are ``dynamic_slice`` and
``dynamic_update_slice``; positions are integers and carry no derivative. ``scatter`` replaces:
where several updates have one place, the last remains. What happens out of
bounds is a parameter, ``mode``, which every derived operation inherits, so that a function and
its adjoint agree. The semantics are those of XLA (openxla.org/xla/operation_semantics, Gather and
Scatter) without operand batching dimensions. Read next: ``scattering.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from tenferro.primitives._aval import Aval, Shape
from tenferro.primitives._checks import axes, invalid, of_kind, same_dtype
from tenferro.primitives._dtype import int64
from tenferro.primitives._errors import ShapeMismatchError
from tenferro.primitives._handle import H, Handle
from tenferro.primitives._primitive import Mixed, bind, in_front
from tenferro.primitives._windows import (
    check_indices,
    check_mode,
    check_sizes,
    check_starts,
    check_window,
    increasing,
    normalise,
    window_rank,
)
from tenferro.primitives.comparison import eq, select
from tenferro.primitives.constants import constant, iota, zeros_like
from tenferro.primitives.structural import (
    behind,
    broadcast_in_dim,
    concatenate,
    convert,
    pad,
    reshape,
    transpose,
)

__all__ = [
    "DynamicSlice", "DynamicUpdateSlice", "Gather", "Scatter", "ScatterAdd", "dynamic_slice",
    "dynamic_update_slice", "gather", "scatter", "scatter_add", "take_along_axis",
]  # fmt: skip

GATHER_MODES = ("promise_in_bounds", "clip", "fill")
SCATTER_MODES = ("promise_in_bounds", "clip", "drop")


class Gather(Mixed):
    """Slices of x at the positions that indices holds along its last axis; linear in x"""

    key = "std::gather"
    linear = ((0,),)
    offset_dims: tuple[int, ...]
    collapsed_slice_dims: tuple[int, ...]
    start_index_map: tuple[int, ...]
    slice_sizes: Shape
    mode: str

    def __post_init__(self) -> None:
        normalise(self, "offset_dims", "collapsed_slice_dims", "start_index_map", "slice_sizes")
        check_mode(self, self.mode, GATHER_MODES)

    def abstract_eval(self, x: Aval, indices: Aval) -> Aval:
        check_indices(self, "start_index_map", self.start_index_map, x, indices)
        check_window(self, "collapsed_slice_dims", self.collapsed_slice_dims, x)
        check_sizes(self, "slice_sizes", self.slice_sizes, x)
        window = self._window(x)
        rank = len(window) + indices.ndim - 1
        if len(window) != len(self.offset_dims):
            raise window_rank(self, "offset_dims", self.offset_dims, len(window))
        increasing(self, "offset_dims", self.offset_dims)
        axes(self, "offset_dims", self.offset_dims, x.with_shape((1,) * rank))
        batch = iter(indices.shape[:-1])
        inside = iter(window)
        return x.with_shape(
            next(inside) if axis in self.offset_dims else next(batch) for axis in range(rank)
        )

    def _window(self, x: Aval) -> list[int]:
        """Return the sizes of a slice without the collapsed axes, which have size 1."""
        if any(self.slice_sizes[axis] != 1 for axis in self.collapsed_slice_dims):
            raise invalid(
                self,
                "slice_sizes",
                "a collapsed axis does not have size 1",
                got=f"slice_sizes={self.slice_sizes}, collapsed {self.collapsed_slice_dims}",
                need="slice size 1 along every collapsed axis",
            )
        collapsed = self.collapsed_slice_dims
        return [n for axis, n in enumerate(self.slice_sizes) if axis not in collapsed]

    def transpose_x(self, ct: Handle, x: Handle, indices: Handle) -> Handle:
        return scatter_add(
            zeros_like(x),
            indices,
            ct,
            update_window_dims=self.offset_dims,
            inserted_window_dims=self.collapsed_slice_dims,
            scatter_dims_to_operand_dims=self.start_index_map,
            mode="drop" if self.mode == "fill" else self.mode,
        )

    def batch(self, size: int, batched: Sequence[bool], x: Handle, indices: Handle) -> Handle:
        """Batch: one more axis of the slices, of the index vectors, or of both."""
        offset, collapsed = behind(self.offset_dims), behind(self.collapsed_slice_dims)
        mapped, sizes = self.start_index_map, self.slice_sizes
        if not batched[0]:
            operation = Gather(offset, self.collapsed_slice_dims, mapped, sizes, self.mode)
        elif not batched[1]:
            offset, sizes = (0, *offset), (size, *sizes)
            operation = Gather(offset, collapsed, behind(mapped), sizes, self.mode)
        elif size == 0:  # an index vector that counts examples needs one
            alone = self.abstract_eval(x.aval.without((0,)), indices.aval.without((0,)))
            return constant(0, x.dtype, (0, *alone.shape))
        else:
            collapsed, mapped, sizes = (0, *collapsed), (0, *behind(mapped)), (1, *sizes)
            operation = Gather(offset, collapsed, mapped, sizes, self.mode)
            indices = numbered(indices, size)
        return bind(operation, x, indices)


def numbered(indices: Handle, size: int) -> Handle:
    """Prepend the number of its example to each index vector: in bounds in every mode."""
    if indices.dtype.bits < 32:  # may not hold the number of an example
        indices = convert(indices, int64)
    examples = iota((*indices.shape[:-1], 1), 0, indices.dtype)
    return concatenate([examples, indices], indices.ndim - 1)


class IndexedUpdate(Mixed):
    """Updates of x at the positions that indices holds: what all scatters share"""

    update_window_dims: tuple[int, ...]
    inserted_window_dims: tuple[int, ...]
    scatter_dims_to_operand_dims: tuple[int, ...]
    mode: str

    def __post_init__(self) -> None:
        normalise(
            self, "update_window_dims", "inserted_window_dims", "scatter_dims_to_operand_dims"
        )
        check_mode(self, self.mode, SCATTER_MODES)

    def abstract_eval(self, x: Aval, indices: Aval, updates: Aval) -> Aval:
        same_dtype(self, x, updates)
        if self.accepts is not None:
            of_kind(self, self.accepts, x)
        check_indices(
            self, "scatter_dims_to_operand_dims", self.scatter_dims_to_operand_dims, x, indices
        )
        check_window(self, "inserted_window_dims", self.inserted_window_dims, x)
        free = x.ndim - len(self.inserted_window_dims)
        if len(self.update_window_dims) != free:
            raise window_rank(self, "update_window_dims", self.update_window_dims, free)
        increasing(self, "update_window_dims", self.update_window_dims)
        axes(self, "update_window_dims", self.update_window_dims, updates)
        if updates.without(self.update_window_dims).shape != indices.shape[:-1]:
            raise ShapeMismatchError.of(
                self.name,
                "updates do not match the indices",
                got=f"{updates} with window {self.update_window_dims}, indices {indices}",
                need="the shape of indices without its last axis",
                shapes=(x.shape, indices.shape, updates.shape),
            )
        self._check_window_fits(x, updates)
        return x

    def _check_window_fits(self, x: Aval, updates: Aval) -> None:
        window = self._window(x, updates)
        if any(n > m for n, m in zip(window, x.shape, strict=True)):
            raise ShapeMismatchError.of(
                self.name,
                "a window is larger than the operand",
                got=f"windows of {tuple(window)} from {updates} in {x}",
                need="windows no larger than the operand along any axis",
                shapes=(x.shape, updates.shape),
            )

    def _window(self, x: Aval | Handle, updates: Aval | Handle) -> list[int]:
        """Return the sizes of an update along the axes of x."""
        inside = iter(updates.shape[axis] for axis in self.update_window_dims)
        inserted = self.inserted_window_dims
        return [1 if axis in inserted else next(inside) for axis in range(x.ndim)]

    def read(self, y: Handle, indices: Handle, updates: Aval | Handle) -> Handle:
        """Read y at the place of each element of the updates; 0 where the element is dropped."""
        return gather(
            y,
            indices,
            offset_dims=self.update_window_dims,
            collapsed_slice_dims=self.inserted_window_dims,
            start_index_map=self.scatter_dims_to_operand_dims,
            slice_sizes=self._window(y, updates),
            mode="fill" if self.mode == "drop" else self.mode,
        )

    def batch(
        self, size: int, batched: Sequence[bool], x: Handle, indices: Handle, updates: Handle
    ) -> Handle:
        """Batch: one more axis of the index vectors, which then number the examples.

        A shared index vector could serve windows that reach over all examples; but those lie
        around the other axes, and XLA's CPU compiler (jax 0.10) mistakes them in long programs.
        """
        given = zip((x, indices, updates), batched, strict=True)
        x, indices, updates = (in_front(each, is_batched, size) for each, is_batched in given)
        if size == 0:  # an index vector that counts examples needs one
            return x
        inserted, mapped = self.inserted_window_dims, self.scatter_dims_to_operand_dims
        window = behind(self.update_window_dims)
        operation = type(self)(window, (0, *behind(inserted)), (0, *behind(mapped)), self.mode)
        return bind(operation, x, numbered(indices, size), updates)


class ScatterAdd(IndexedUpdate):
    """x with updates added at the positions that indices holds; linear in x and updates"""

    key = "std::scatter_add"
    linear = ((0, 2),)
    accepts = "numeric"

    def transpose_x(self, ct: Handle, x: Handle, indices: Handle, updates: Handle) -> Handle:
        return ct

    def transpose_updates(self, ct: Handle, x: Handle, indices: Handle, updates: Handle) -> Handle:
        return self.read(ct, indices, updates)


class Scatter(IndexedUpdate):
    """x with updates put at the positions that indices holds; linear in x and updates"""

    key = "std::scatter"
    linear = ((0, 2),)

    def transpose_x(self, ct: Handle, x: Handle, indices: Handle, updates: Handle) -> Handle:
        return bind(self, ct, indices, zeros_like(updates))

    def transpose_updates(self, ct: Handle, x: Handle, indices: Handle, updates: Handle) -> Handle:
        """Return the block of ct, except where a later update has the place."""
        numbers = self._numbers(updates)
        last = bind(self, constant(0, int64, x.shape), indices, numbers)
        remains = eq(self.read(last, indices, updates), numbers)
        return select(remains, self.read(ct, indices, updates), zeros_like(updates))

    def _numbers(self, updates: Handle) -> Handle:
        """Number the windows from 1 in their order, one number for all elements of a window."""
        axes = [axis for axis in range(updates.ndim) if axis not in self.update_window_dims]
        batch = [updates.shape[axis] for axis in axes]
        numbers = reshape(iota((prod(batch),), 0, int64), batch)
        return broadcast_in_dim(numbers, updates.shape, axes) + 1


class DynamicSlice(Mixed):
    """The block of x of given sizes that begins at starts, moved so that it fits; linear in x"""

    key = "std::dynamic_slice"
    linear = ((0,),)
    sizes: Shape

    def __post_init__(self) -> None:
        normalise(self, "sizes")

    def abstract_eval(self, x: Aval, *starts: Aval) -> Aval:
        check_starts(self, x, starts)
        check_sizes(self, "sizes", self.sizes, x)
        return x.with_shape(self.sizes)

    def transpose_each(self, ct: Handle, index: int, x: Handle, *starts: Handle) -> Handle:
        return dynamic_update_slice(zeros_like(x), ct, starts)

    def batch(self, size: int, batched: Sequence[bool], x: Handle, *starts: Handle) -> Handle:
        """Batch: slice one more axis; with batched starts, gather one window, moved so that it
        fits.
        """
        if not any(batched[1:]):
            return dynamic_slice(x, (_zero(starts), *starts), (size, *self.sizes))
        every = tuple(range(len(self.sizes)))
        window = Gather(every, (), every, self.sizes, "clip")
        indices = _index_vectors(size, batched[1:], starts)
        return window.batch(size, (batched[0], True), x, indices)


class DynamicUpdateSlice(Mixed):
    """x with the block that begins at starts replaced by update; linear in both together"""

    key = "std::dynamic_update_slice"
    linear = ((0, 1),)

    def abstract_eval(self, x: Aval, update: Aval, *starts: Aval) -> Aval:
        same_dtype(self, x, update)
        check_starts(self, x, starts)
        if update.ndim != x.ndim or any(n > m for n, m in zip(update.shape, x.shape, strict=True)):
            raise ShapeMismatchError.of(
                self.name,
                "the update does not fit",
                got=f"{update} into {x}",
                need="an update of the same rank, no larger along any axis",
                shapes=(x.shape, update.shape),
            )
        return x

    def transpose_each(
        self, ct: Handle, index: int, x: Handle, update: Handle, *starts: Handle
    ) -> Handle:
        """Return, for x, ct outside the block; for the update, ct inside it."""
        if index == 0:
            return dynamic_update_slice(ct, zeros_like(update), starts)
        return dynamic_slice(ct, starts, update.shape)

    def batch(
        self, size: int, batched: Sequence[bool], x: Handle, update: Handle, *starts: Handle
    ) -> Handle:
        """Batch: update one more axis; with batched starts, scatter one window, moved so it
        fits.
        """
        if not any(batched[2:]):
            x, update = in_front(x, batched[0], size), in_front(update, batched[1], size)
            return dynamic_update_slice(x, update, (_zero(starts), *starts))
        every = tuple(range(len(starts)))
        window = Scatter(every, (), every, "clip")
        indices = _index_vectors(size, batched[2:], starts)
        return window.batch(size, (batched[0], True, batched[1]), x, indices, update)


def _zero(starts: Sequence[Handle]) -> Handle:
    return constant(0, starts[0].dtype if starts else int64)


def _index_vectors(size: int, batched: Sequence[bool], starts: Sequence[Handle]) -> Handle:
    """Return the starts of each example, side by side."""
    columns = [in_front(x, each, size) for x, each in zip(starts, batched, strict=True)]
    return concatenate([reshape(column, (size, 1)) for column in columns], 1)


def gather(
    x: H,
    indices: H,
    *,
    offset_dims: Sequence[int],
    collapsed_slice_dims: Sequence[int],
    start_index_map: Sequence[int],
    slice_sizes: Sequence[int],
    mode: str,
) -> H:
    """Collect slices of x from the positions that indices holds along its last axis.

    x: [*s]   indices: int[*b, k]   →   y: b and the slice sizes, the latter at offset_dims

    Definition   index i_m of a vector is the start along axis start_index_map[m]; axes of a slice
                 at collapsed_slice_dims, of size 1, are dropped
    Transpose    ct_x = scatter_add(0, indices, ct), mode fill becoming drop
    Convention   clip moves a slice so that it fits; fill reads 0 or False wherever a slice is not
                 wholly in bounds; promise_in_bounds leaves that case undefined
    Raises       ShapeMismatchError, InvalidParameterError, DTypeMismatchError (indices).
    Source       openxla.org/xla/operation_semantics, Gather

    >>> from tenferro.primitives import gather, variable
    >>> x, rows = variable("x", (5, 3), "f64"), variable("i", (2, 1), "i64")
    >>> gather(
    ...     x,
    ...     rows,
    ...     offset_dims=(1,),
    ...     collapsed_slice_dims=(0,),
    ...     start_index_map=(0,),
    ...     slice_sizes=(1, 3),
    ...     mode="clip",
    ... ).aval
    f64[2,3]
    """
    operation = Gather(
        tuple(offset_dims),
        tuple(collapsed_slice_dims),
        tuple(start_index_map),
        tuple(slice_sizes),
        mode,
    )
    return bind(operation, x, indices)


def scatter_add(
    x: H,
    indices: H,
    updates: H,
    *,
    update_window_dims: Sequence[int],
    inserted_window_dims: Sequence[int],
    scatter_dims_to_operand_dims: Sequence[int],
    mode: str,
) -> H:
    """Add updates to x at the positions that indices holds along its last axis.

    x: [*s]   indices: int[*b, k]   updates: b and the windows at update_window_dims   →   y: [*s]

    Definition   as gather's, with x and y exchanged; repeated positions accumulate
    Transpose    ct_x = ct,  ct_updates = gather(ct, indices), mode drop becoming fill
    Convention   clip moves a window so that it fits; drop leaves out a window that is not wholly
                 in bounds; promise_in_bounds leaves that case undefined
    Raises       ShapeMismatchError, InvalidParameterError, DTypeMismatchError.
    Source       openxla.org/xla/operation_semantics, Scatter

    >>> from tenferro.primitives import scatter_add, variable
    >>> x, rows = variable("x", (5, 3), "f64"), variable("i", (2, 1), "i64")
    >>> scatter_add(
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
    operation = ScatterAdd(
        tuple(update_window_dims),
        tuple(inserted_window_dims),
        tuple(scatter_dims_to_operand_dims),
        mode,
    )
    return bind(operation, x, indices, updates)


def scatter(
    x: H,
    indices: H,
    updates: H,
    *,
    update_window_dims: Sequence[int],
    inserted_window_dims: Sequence[int],
    scatter_dims_to_operand_dims: Sequence[int],
    mode: str,
) -> H:
    """Put updates into x at the positions that indices holds along its last axis.

    x: [*s]   indices: int[*b, k]   updates: b and the windows at update_window_dims   →   y: [*s]

    Definition   as scatter_add's, with replacement; of the windows that cover a place the last one
                 in the row-major order of b remains, on every backend
    Transpose    ct_x = ct with zeros in the windows,  ct_updates = gather(ct, indices) where the
                 update remains, 0 elsewhere
    Convention   modes as scatter_add's
    Raises       ShapeMismatchError, InvalidParameterError, DTypeMismatchError.

    >>> from tenferro.primitives import scatter, variable
    >>> x, rows = variable("x", (5, 3), "f64"), variable("i", (2, 1), "i64")
    >>> scatter(
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
    operation = Scatter(
        tuple(update_window_dims),
        tuple(inserted_window_dims),
        tuple(scatter_dims_to_operand_dims),
        mode,
    )
    return bind(operation, x, indices, updates)


def take_along_axis(x: H, positions: H, axis: int, *, mode: str = "promise_in_bounds") -> H:
    """Collect elements along one axis from the positions that an array of x's rank holds.

    x: [*s]   positions: int[s with any size along axis]   →   y: as positions

    Definition   y[i, k, j] = x[i, positions[i, k, j], j], k along the axis
    Convention   modes as gather's

    >>> from tenferro.primitives import take_along_axis, variable
    >>> take_along_axis(variable("x", (5, 3), "f64"), variable("i", (2, 3), "i64"), 0).aval
    f64[2,3]
    """
    if positions.size == 0:  # a gather of single elements needs one
        longer = [positions.shape[d] - n for d, n in enumerate(x.shape)]
        empty = pad(x, constant(0, x.dtype), [0] * x.ndim, longer, [0] * x.ndim)
        return empty  # type: ignore[return-value]
    order = [*(d for d in range(x.ndim) if d != axis), axis]
    rows = [prod(x.shape[d] for d in order[:-1]), x.shape[axis]]
    picked = transpose(positions, order)
    columns = numbered(reshape(picked, (rows[0], positions.shape[axis], 1)), rows[0])
    found = gather(
        reshape(transpose(x, order), rows),
        columns,
        offset_dims=(),
        collapsed_slice_dims=(0, 1),
        start_index_map=(0, 1),
        slice_sizes=(1, 1),
        mode=mode,
    )
    back = sorted(range(x.ndim), key=order.__getitem__)
    y = transpose(reshape(found, picked.shape), back)
    return y  # type: ignore[return-value]


def dynamic_slice(x: Handle, starts: Sequence[Handle | int], sizes: Sequence[int]) -> Handle:
    """Take a block of fixed sizes that begins where integer operands say.

    x: [*s]   starts: int[] per axis   →   y: [*sizes]

    Transpose    ct_x = dynamic_update_slice(0, ct, starts)
    Convention   starts are clamped to 0 … s - sizes
    Raises       InvalidParameterError: if the block is larger than x.

    >>> from tenferro.primitives import dynamic_slice, variable
    >>> dynamic_slice(variable("x", (5, 3), "f64"), (variable("i", (), "i64"), 0), (2, 3)).aval
    f64[2,3]
    """
    return bind(DynamicSlice(tuple(sizes)), x, *_starts(starts))


def dynamic_update_slice(x: Handle, update: Handle, starts: Sequence[Handle | int]) -> Handle:
    """Replace the block that begins where integer operands say.

    x: [*s]   update: [*t]   starts: int[] per axis   →   y: [*s]

    Transpose    ct_x = ct with zeros in the block,  ct_update = the block
    Convention   starts are clamped to 0 … s - t
    Raises       ShapeMismatchError: if the update is larger than x.

    >>> from tenferro.primitives import dynamic_update_slice, variable
    >>> x, update = variable("x", (5, 3), "f64"), variable("u", (2, 3), "f64")
    >>> dynamic_update_slice(x, update, (variable("i", (), "i64"), 0)).aval
    f64[5,3]
    """
    return bind(DynamicUpdateSlice(), x, update, *_starts(starts))


def _starts(starts: Sequence[Handle | int]) -> list[Handle]:
    """Return Python integers as constants of the dtype of the first handle, else int64."""
    dtype = next((start.dtype for start in starts if isinstance(start, Handle)), int64)
    return [start if isinstance(start, Handle) else constant(start, dtype) for start in starts]
