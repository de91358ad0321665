"""Moves: other shape, other order, other dtype; no arithmetic.

All are linear; each transpose is the move back, and what a move repeats its transpose sums.
``convert`` between inexact dtypes is linear over the real numbers; through int or bool nothing
flows. ``stop_gradient`` is the identity that carries no derivative. Read next: ``reduction.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from tenferro.primitives import reduction  # a cycle: sums broadcast back, broadcasts sum back
from tenferro.primitives._aval import Aval, Shape
from tenferro.primitives._checks import (
    axes,
    integers,
    invalid,
    of_kind,
    one_per_axis,
    rank_zero,
    same_dtype,
)
from tenferro.primitives._dtype import DType
from tenferro.primitives._errors import (
    DTypeMismatchError,
    InvalidParameterError,
    ShapeMismatchError,
)
from tenferro.primitives._handle import H, Handle, Scalar
from tenferro.primitives._primitive import (
    Linear,
    Mixed,
    bind,
    bind_all,
    in_front,
    over_leading_axes,
    pointwise,
)
from tenferro.primitives._simplify import defined_by, literal
from tenferro.primitives.comparison import eq, select
from tenferro.primitives.constants import constant, iota, zeros_like
from tenferro.tidu import RuleBuilder, Value

__all__ = [
    "Bitcast", "BroadcastInDim", "Concatenate", "Convert", "OptimizationBarrier", "Pad", "Reshape",
    "Reverse", "Slice", "StopGradient", "Transpose", "bitcast", "broadcast_in_dim", "concatenate",
    "convert", "expand_dims", "eye", "optimization_barrier", "pad", "reshape", "reverse", "slice",
    "squeeze", "stop_gradient", "transpose",
]  # fmt: skip


class Reshape(Linear):
    """The same elements in row-major order.   x: [*s]  →  y: [*shape]"""

    key = "std::reshape"
    simplify_triggers = ("reshape",)
    shape: Shape

    def __post_init__(self) -> None:
        self._set(shape=integers(self, "shape", self.shape))

    def abstract_eval(self, x: Aval) -> Aval:
        if x.size != prod(self.shape):
            raise ShapeMismatchError.of(
                self.name,
                "sizes differ",
                got=f"{x} of size {x.size}, shape={self.shape} of size {prod(self.shape)}",
                need="a shape of the same size",
                shapes=(x.shape, self.shape),
            )
        return x.with_shape(self.shape)

    def simplify(self, x: Handle) -> Handle | None:
        if x.shape == self.shape:
            return x
        found = literal(x)
        if found is not None and prod(self.shape) == x.size:
            return constant(found.value, found.dtype, self.shape)
        before = x.operand_of(Reshape)
        return None if before is None else reshape(before, self.shape)

    def transpose_x(self, ct: Handle, x: Handle) -> Handle:
        return reshape(ct, x.shape)

    def batch(self, size: int, batched: Sequence[bool], x: Handle) -> Handle:
        return reshape(x, (size, *self.shape))


class Transpose(Linear):
    """Axes in another order.   y.shape[i] = x.shape[permutation[i]]"""

    key = "std::transpose"
    simplify_triggers = ("transpose",)
    permutation: tuple[int, ...]

    def __post_init__(self) -> None:
        self._set(permutation=integers(self, "permutation", self.permutation))

    def abstract_eval(self, x: Aval) -> Aval:
        one_per_axis(self, "permutation", self.permutation, x)
        axes(self, "permutation", self.permutation, x)
        return x.with_shape(x.shape[axis] for axis in self.permutation)

    def simplify(self, x: Handle) -> Handle | None:
        if self.permutation == tuple(range(x.ndim)):
            return x
        earlier, before = defined_by(x, Transpose), x.operand_of(Transpose)
        if earlier is None or before is None or len(self.permutation) != x.ndim:
            return None
        return transpose(before, [earlier.permutation[axis] for axis in self.permutation])

    def transpose_x(self, ct: Handle, x: Handle) -> Handle:
        return transpose(ct, inverse(self.permutation))

    def batch(self, size: int, batched: Sequence[bool], x: Handle) -> Handle:
        return transpose(x, (0, *behind(self.permutation)))


def behind(axes: Sequence[int]) -> tuple[int, ...]:
    """Shift axis numbers by one, for a new leading axis."""
    return tuple(axis + 1 for axis in axes)


def inverse(permutation: Sequence[int]) -> tuple[int, ...]:
    """Return the inverse permutation."""
    return tuple(sorted(range(len(permutation)), key=permutation.__getitem__))


class BroadcastInDim(Linear):
    """Repeat along new axes and axes of size 1; axis i of x becomes axis dimensions[i] of y."""

    key = "std::broadcast_in_dim"
    simplify_triggers = ()
    shape: Shape
    dimensions: tuple[int, ...]

    def __post_init__(self) -> None:
        self._set(
            shape=integers(self, "shape", self.shape),
            dimensions=integers(self, "dimensions", self.dimensions),
        )

    def abstract_eval(self, x: Aval) -> Aval:
        y = x.with_shape(self.shape)
        one_per_axis(self, "dimensions", self.dimensions, x)
        axes(self, "dimensions", self.dimensions, y)
        if list(self.dimensions) != sorted(self.dimensions):
            raise invalid(
                self,
                "dimensions",
                "dimensions do not increase",
                got=f"dimensions={self.dimensions}",
                need="increasing dimensions (transpose first)",
            )
        for n, axis in zip(x.shape, self.dimensions, strict=True):
            if n not in (1, self.shape[axis]):
                raise self._cannot_stretch(x, axis)
        return y

    def expanded(self, shape: Shape) -> Shape:
        """Return the operand's shape with size 1 in the axes that are added."""
        sizes = [1] * len(self.shape)
        for axis, size in zip(self.dimensions, shape, strict=True):
            sizes[axis] = size
        return tuple(sizes)

    def _cannot_stretch(self, x: Aval, axis: int) -> ShapeMismatchError:
        return ShapeMismatchError.of(
            self.name,
            "an axis neither matches nor has size 1",
            got=f"{x} to shape={self.shape} along dimensions={self.dimensions}",
            need=f"size 1 or {self.shape[axis]} for axis {axis} of the result",
            shapes=(x.shape, self.shape),
        )

    def simplify(self, x: Handle) -> Handle | None:
        if self.shape == x.shape and self.dimensions == tuple(range(x.ndim)):
            return x
        found = literal(x)
        if found is None:
            return None
        self.abstract_eval(x.aval)
        return constant(found.value, found.dtype, self.shape)

    def transpose_x(self, ct: Handle, x: Handle) -> Handle:
        """Sum over the axes that x lacks or has with size 1."""
        kept = {
            axis for n, axis in zip(x.shape, self.dimensions, strict=True) if n == self.shape[axis]
        }
        repeated = [axis for axis in range(len(self.shape)) if axis not in kept]
        return reshape(reduction.reduce_sum(ct, repeated), x.shape)

    def batch(self, size: int, batched: Sequence[bool], x: Handle) -> Handle:
        return broadcast_in_dim(x, (size, *self.shape), (0, *behind(self.dimensions)))


class Slice(Linear):
    """y[i] = x[start + i·strides] along every axis, up to limit"""

    key = "std::slice"
    simplify_triggers = ()
    start: tuple[int, ...]
    limit: tuple[int, ...]
    strides: tuple[int, ...]

    def __post_init__(self) -> None:
        self._set(
            start=integers(self, "start", self.start),
            limit=integers(self, "limit", self.limit),
            strides=integers(self, "strides", self.strides, minimum=1),
        )

    def abstract_eval(self, x: Aval) -> Aval:
        for parameter in ("start", "limit", "strides"):
            one_per_axis(self, parameter, getattr(self, parameter), x)
        bounds = list(zip(self.start, self.limit, x.shape, strict=True))
        if any(not start <= limit <= n for start, limit, n in bounds):
            raise invalid(
                self,
                "limit",
                "bounds out of range",
                got=f"start={self.start}, limit={self.limit} for {x}",
                need="start <= limit <= size along every axis",
            )
        steps = zip(bounds, self.strides, strict=True)
        return x.with_shape(-(-(limit - start) // step) for (start, limit, _), step in steps)

    def simplify(self, x: Handle) -> Handle | None:
        whole = not any(self.start) and self.limit == x.shape and set(self.strides) <= {1}
        return x if whole else None

    def transpose_x(self, ct: Handle, x: Handle) -> Handle:
        """Put the elements back where they were, among zeros."""
        spread = [n + max(n - 1, 0) * (s - 1) for n, s in zip(ct.shape, self.strides, strict=True)]
        taken = [start + n for start, n in zip(self.start, spread, strict=True)]
        high = [n - end for n, end in zip(x.shape, taken, strict=True)]
        return pad(ct, constant(0, ct.dtype), self.start, high, [s - 1 for s in self.strides])

    def batch(self, size: int, batched: Sequence[bool], x: Handle) -> Handle:
        return slice(x, (0, *self.start), (size, *self.limit), (1, *self.strides))


class Pad(Linear):
    """Put value around the elements of x and between them; negative low or high crop."""

    key = "std::pad"
    simplify_triggers = ()
    low: tuple[int, ...]
    high: tuple[int, ...]
    interior: tuple[int, ...]

    def __post_init__(self) -> None:
        self._set(
            low=integers(self, "low", self.low, minimum=None),
            high=integers(self, "high", self.high, minimum=None),
            interior=integers(self, "interior", self.interior),
        )

    def abstract_eval(self, x: Aval, value: Aval) -> Aval:
        same_dtype(self, x, value)
        rank_zero(self, value, "the padding value")
        for parameter in ("low", "high", "interior"):
            one_per_axis(self, parameter, getattr(self, parameter), x)
        sizes = zip(self._spread(x), self.low, self.high, strict=True)
        shape = [n + low + high for n, low, high in sizes]
        if any(n < 0 for n in shape):
            raise invalid(
                self,
                "low",
                "more elements are cropped than exist",
                got=f"low={self.low}, high={self.high}, interior={self.interior} for {x}",
                need="a result of size >= 0 along every axis",
            )
        return x.with_shape(shape)

    def _spread(self, x: Aval) -> list[int]:
        """Return the sizes with interior padding alone."""
        return [n + max(n - 1, 0) * gap for n, gap in zip(x.shape, self.interior, strict=True)]

    def simplify(self, x: Handle, value: Handle) -> Handle | None:
        nothing = not (any(self.low) or any(self.high) or any(self.interior))
        fits = len(self.low) == x.ndim and x.dtype is value.dtype and value.ndim == 0
        return x if nothing and fits else None

    def transpose_x(self, ct: Handle, x: Handle, value: Handle) -> Handle:
        """Undo the padding around, then the padding between."""
        around = pad(
            ct,
            constant(0, ct.dtype),
            [-n for n in self.low],
            [-n for n in self.high],
            [0] * ct.ndim,
        )
        return slice(around, [0] * x.ndim, around.shape, [gap + 1 for gap in self.interior])

    def transpose_value(self, ct: Handle, x: Handle, value: Handle) -> Handle:
        """Sum over the places that x does not reach."""
        true, false = constant(True, bool, x.shape), constant(False, bool)
        reached = pad(true, false, self.low, self.high, self.interior)
        return reduction.reduce_sum(select(reached, zeros_like(ct), ct), range(ct.ndim))

    def batch(self, size: int, batched: Sequence[bool], x: Handle, value: Handle) -> Handle:
        """Batch; if each example has its own fill value, it is filled in afterwards."""
        around = [(0, *n) for n in (self.low, self.high, self.interior)]
        x = in_front(x, batched[0], size)
        if not batched[1]:
            return pad(x, value, *around)
        true, false = constant(True, bool, x.shape), constant(False, bool)
        padded = pad(x, constant(0, x.dtype), *around)
        own = broadcast_in_dim(value, padded.shape, (0,))
        return select(pad(true, false, *around), padded, own)


class Concatenate(Linear):
    """Join along one axis."""

    key = "std::concatenate"
    simplify_triggers = ()
    dimension: int

    def __post_init__(self) -> None:
        self._set(dimension=integers(self, "dimension", (self.dimension,))[0])

    def abstract_eval(self, *xs: Aval) -> Aval:
        if not xs:
            raise InvalidParameterError.of(
                self.name,
                "nothing to join",
                got="no operands",
                need="one operand or more",
                parameter="xs",
                value=(),
            )
        first = same_dtype(self, *xs)
        axes(self, "dimension", (self.dimension,), first)
        if any(x.without([self.dimension]) is not first.without([self.dimension]) for x in xs):
            raise ShapeMismatchError.of(
                self.name,
                "shapes differ along other axes than the joined one",
                got=", ".join(map(str, xs)),
                need=f"equal sizes along all axes but {self.dimension}",
                shapes=tuple(x.shape for x in xs),
            )
        shape = list(first.shape)
        shape[self.dimension] = sum(x.shape[self.dimension] for x in xs)
        return first.with_shape(shape)

    def simplify(self, *xs: Handle) -> Handle | None:
        return xs[0] if len(xs) == 1 and self.dimension < xs[0].ndim else None

    def transpose_together(
        self, ct: Handle, active: Sequence[bool], *xs: Handle
    ) -> list[Handle | None]:
        """Cut the cotangent into the parts that came from each x, in one walk over all x."""
        d = self.dimension
        start, limit = [0] * ct.ndim, list(ct.shape)
        limit[d] = 0
        parts: list[Handle | None] = []
        for x, is_active in zip(xs, active, strict=True):
            start[d] = limit[d]
            limit[d] += x.shape[d]
            parts.append(slice(ct, start, limit) if is_active else None)
        return parts

    def batch(self, size: int, batched: Sequence[bool], *xs: Handle) -> Handle:
        spread = [in_front(x, is_batched, size) for x, is_batched in zip(xs, batched, strict=True)]
        return concatenate(spread, self.dimension + 1)


class Reverse(Linear):
    """The elements in reverse order along some axes; its own transpose."""

    key = "std::reverse"
    simplify_triggers = ()
    dimensions: tuple[int, ...]

    def __post_init__(self) -> None:
        self._set(dimensions=tuple(sorted(integers(self, "dimensions", self.dimensions))))

    def abstract_eval(self, x: Aval) -> Aval:
        axes(self, "dimensions", self.dimensions, x)
        return x

    def simplify(self, x: Handle) -> Handle | None:
        return None if self.dimensions else x

    def transpose_x(self, ct: Handle, x: Handle) -> Handle:
        return reverse(ct, self.dimensions)

    def batch(self, size: int, batched: Sequence[bool], x: Handle) -> Handle:
        return reverse(x, behind(self.dimensions))


class Convert(Linear):
    """The same values in another dtype; linear over the reals between inexact dtypes"""

    key = "std::convert"
    simplify_triggers = ()
    batch = pointwise
    dtype: DType

    def __post_init__(self) -> None:
        self._set(dtype=DType.of(self.dtype))

    def abstract_eval(self, x: Aval) -> Aval:
        return x.with_dtype(self.dtype)

    def simplify(self, x: Handle) -> Handle | None:
        return x if x.dtype is self.dtype else None

    def transpose_x(self, ct: Handle, x: Handle) -> Handle:
        return convert(ct, x.dtype)


class StopGradient(Mixed):
    """y = x, and dy = 0"""

    key = "std::stop_gradient"
    simplify_triggers = ("stop_gradient",)
    batch = pointwise
    linear = ()

    def abstract_eval(self, x: Aval) -> Aval:
        return x

    def carries(self, aval: Aval) -> bool:
        return False

    def simplify(self, x: Handle) -> Handle | None:
        idle = defined_by(x, StopGradient) or not x.dtype.is_inexact
        return x if idle else None


class Bitcast(Mixed):
    """The same bits, read as another dtype of the same width;   no derivative"""

    key = "std::bitcast"
    accepts = "real"
    batch = pointwise
    linear = ()
    dtype: DType

    def __post_init__(self) -> None:
        self._set(dtype=DType.of(self.dtype))

    def abstract_eval(self, x: Aval) -> Aval:
        of_kind(self, self.accepts, x, x.with_dtype(self.dtype))
        if x.dtype.bits != self.dtype.bits:
            raise DTypeMismatchError.of(
                self.name,
                "widths differ",
                got=f"{x} of {x.dtype.bits} bits, {self.dtype} of {self.dtype.bits}",
                need="dtypes of the same number of bits",
                dtypes=(x.dtype, self.dtype),
            )
        return x.with_dtype(self.dtype)

    def carries(self, aval: Aval) -> bool:
        return False

    def simplify(self, x: Handle) -> Handle | None:
        same = x.dtype is self.dtype and not (x.dtype.is_bool or x.dtype.is_complex)
        return stop_gradient(x) if same else None


class OptimizationBarrier(Linear):
    """y_k = x_k, none of them before all x are known; the compiler moves nothing across"""

    key = "std::optimization_barrier"
    batch = over_leading_axes
    count: int

    def __post_init__(self) -> None:
        self._set(count=integers(self, "count", (self.count,), minimum=1)[0])

    @property
    def output_count(self) -> int:
        return self.count

    def abstract_eval(self, *xs: Aval) -> Any:
        if len(xs) != self.count:
            got, need = f"{len(xs)} operands", "as many as `count`"
            raise invalid(self, "count", "operands miscounted", got=got, need=need)
        return xs[0] if self.count == 1 else xs

    def jvp(
        self,
        rule: RuleBuilder,
        primals_in: Sequence[Value],
        primals_out: Sequence[Value],
        tangents_in: Sequence[Value | None],
    ) -> Sequence[Value | None]:
        """Pass the tangents through one barrier; where none comes in, none goes out."""
        flowing: list[Any] = [tangent for tangent in tangents_in if tangent is not None]
        passed = iter(optimization_barrier(flowing))
        return [None if tangent is None else next(passed) for tangent in tangents_in]

    def transpose_together(
        self, ct: Any, active: Sequence[bool], *xs: Handle
    ) -> list[Handle | None]:
        """Put each cotangent behind a barrier of its own."""
        cts = (ct,) if self.count == 1 else ct
        return [
            optimization_barrier([own])[0] if is_active and own is not None else None
            for own, is_active in zip(cts, active, strict=True)
        ]


def reshape(x: H, shape: Sequence[int]) -> H:
    """Give the elements, in row-major order, another shape.

    x: [*s]   →   y: [*shape]

    Transpose   ct_x = reshape(ct, x.shape)
    Raises      ShapeMismatchError: if the sizes differ.

    >>> from tenferro.primitives import reshape, variable
    >>> reshape(variable("x", (2, 3), "f64"), (3, 2)).aval
    f64[3,2]
    """
    return bind(Reshape(tuple(shape)), x)


def transpose(x: H, permutation: Sequence[int]) -> H:
    """Put the axes in another order.

    x: [*s]   →   y: [s[p] for p in permutation]

    Transpose   ct_x = transpose(ct, inverse permutation)
    Raises      InvalidParameterError: if it is not a permutation of the axes.

    >>> from tenferro.primitives import transpose, variable
    >>> transpose(variable("x", (2, 3, 4), "f64"), (2, 0, 1)).aval
    f64[4,2,3]
    """
    return bind(Transpose(tuple(permutation)), x)


def broadcast_in_dim(x: H, shape: Sequence[int], dimensions: Sequence[int]) -> H:
    """Repeat along new axes and along axes of size 1.

    x: [*s]   →   y: [*shape]

    Definition   axis i of x becomes axis dimensions[i] of y; the dimensions increase
    Transpose    ct_x = the sum over what was repeated
    Raises       ShapeMismatchError: if an axis neither matches nor has size 1.

    >>> from tenferro.primitives import broadcast_in_dim, variable
    >>> broadcast_in_dim(variable("x", (3,), "f64"), (2, 3), (1,)).aval
    f64[2,3]
    """
    return bind(BroadcastInDim(tuple(shape), tuple(dimensions)), x)


def slice(
    x: H,
    start: Sequence[int],
    limit: Sequence[int],
    strides: Sequence[int] | None = None,
) -> H:
    """Take every strides-th element from start up to, and without, limit.

    x: [*s]   →   y: [ceil((limit - start) / strides)]

    Transpose   ct_x = pad(ct, 0): the elements back in their places
    Raises      InvalidParameterError: unless 0 <= start <= limit <= size and strides >= 1.

    >>> from tenferro.primitives import slice, variable
    >>> slice(variable("x", (10,), "f64"), (1,), (8,), (3,)).aval
    f64[3]
    """
    steps = (1,) * len(start) if strides is None else tuple(strides)
    return bind(Slice(tuple(start), tuple(limit), steps), x)


def pad(
    x: Handle,
    value: Handle | Scalar,
    low: Sequence[int],
    high: Sequence[int],
    interior: Sequence[int],
) -> Handle:
    """Put a value around the elements (low, high) and between them (interior).

    x: [*s]   value: []   →   y: [low + s + (s - 1)·interior + high]

    Transpose    ct_x = the elements where x is, ct_value = the sum of the others
    Convention   negative low and high crop, after the interior padding
    Raises       InvalidParameterError: if more elements are cropped than exist.

    >>> from tenferro.primitives import pad, variable
    >>> pad(variable("x", (3,), "f64"), 0, (1,), (-2,), (1,)).aval
    f64[4]
    """
    filler = value if isinstance(value, Handle) else constant(value, x.dtype)
    return bind(Pad(tuple(low), tuple(high), tuple(interior)), x, filler)


def concatenate(xs: Sequence[H], dimension: int) -> H:
    """Join operands along one axis.

    x_k: [*s, n_k, *t]   →   y: [*s, Σ n_k, *t]

    Transpose   ct_x_k = its part of ct
    Raises      ShapeMismatchError: if the operands differ along another axis.

    >>> from tenferro.primitives import concatenate, variable
    >>> concatenate([variable("x", (2, 3), "f64"), variable("y", (2, 1), "f64")], 1).aval
    f64[2,4]
    """
    return bind(Concatenate(dimension), *xs)


def reverse(x: H, dimensions: Sequence[int]) -> H:
    """Reverse the order of the elements along some axes.

    x: [*s]   →   y: [*s]

    Raises   AxisError: if an axis is out of range or named twice.

    >>> from tenferro.primitives import reverse, variable
    >>> reverse(variable("x", (2, 3), "f64"), (1,)).aval
    f64[2,3]
    """
    return bind(Reverse(tuple(dimensions)), x)


def convert(x: H, dtype: object) -> H:
    """Convert to another dtype.

    x: [*s]   →   y: [*s]

    Transpose    ct_x = convert(ct, x.dtype)
    Convention   float to int truncates; complex to real takes the real part, of tangents too;
                 anything to bool is x != 0; through int and bool no derivative flows

    >>> from tenferro.primitives import convert, variable
    >>> convert(variable("x", (2,), "f64"), "f32").aval
    f32[2]
    """
    if type(x) is Handle and x.dtype is dtype:  # as in most rules: nothing to record
        return x
    return bind(Convert(DType.of(dtype)), x)


def stop_gradient(x: H) -> H:
    """Return x as a constant of differentiation.

    x: [*s]   →   y: [*s]

    >>> from tenferro.primitives import stop_gradient, variable
    >>> stop_gradient(variable("x", (2,), "f64")).aval
    f64[2]
    """
    return bind(StopGradient(), x)


def bitcast(x: H, dtype: object) -> H:
    """Read the bits as another dtype of the same width.

    x: [*s]   →   y: [*s]

    Convention   no derivative flows
    Raises       DTypeMismatchError: if the widths differ, or a dtype is bool or complex.

    >>> from tenferro.primitives import bitcast, variable
    >>> bitcast(variable("x", (2,), "f64"), "u64").aval
    u64[2]
    """
    return bind(Bitcast(DType.of(dtype)), x)


def optimization_barrier(xs: Sequence[H]) -> tuple[H, ...]:
    """Return the operands as they are; a compiler moves no work across, and merges none.

    x_k: [*s_k]   →   y_k: [*s_k]

    Transpose    ct_x_k = ct_y_k, behind a barrier of its own
    Raises       InvalidParameterError: if there is no operand.

    >>> from tenferro.primitives import optimization_barrier, variable
    >>> optimization_barrier([variable("x", (2,), "f64"), variable("y", (), "i32")])
    (Handle(f64[2]), Handle(i32[]))
    """
    return tuple(bind_all(OptimizationBarrier(len(xs)), *xs))


def squeeze(x: H, dimensions: Sequence[int]) -> H:
    """Drop axes of size 1: a reshape.

    x: [*s]   →   y: [s without dimensions]

    Raises   AxisError: if an axis is out of range or named twice.
             ShapeMismatchError: if an axis has another size than 1.

    >>> from tenferro.primitives import squeeze, variable
    >>> squeeze(variable("x", (2, 1, 3), "f64"), (1,)).aval
    f64[2,3]
    """
    dropped = set(axes(Reshape(x.shape), "dimensions", tuple(dimensions), x.aval))
    return reshape(x, [n for axis, n in enumerate(x.shape) if axis not in dropped])


def expand_dims(x: H, dimensions: Sequence[int]) -> H:
    """Insert axes of size 1, at these places of the result: a reshape.

    x: [*s]   →   y: [s with 1 at dimensions]

    Raises   AxisError: if an axis of the result is out of range or named twice.

    >>> from tenferro.primitives import expand_dims, variable
    >>> expand_dims(variable("x", (2, 3), "f64"), (0, 2)).aval
    f64[1,2,1,3]
    """
    new = tuple(dimensions)
    wide = x.aval.with_shape((1,) * (x.ndim + len(new)))
    axes(Reshape(x.shape), "dimensions", new, wide)
    sizes = iter(x.shape)
    return reshape(x, [1 if axis in new else next(sizes) for axis in range(wide.ndim)])


def eye(rows: int, columns: int, offset: int, dtype: object) -> Handle:
    """Make a matrix with ones on one diagonal: counts of rows and columns, compared.

    →   y: [rows, columns]

    Definition   y_ij = 1 if j - i = offset else 0

    >>> from tenferro.primitives import eye
    >>> eye(2, 3, 0, "float32").aval
    f32[2,3]
    """
    shape = (rows, columns)
    return convert(eq(iota(shape, 0, "int64") + offset, iota(shape, 1, "int64")), dtype)
