"""``dot_general``: sums of products over contracted axes, along batch axes.

The one contraction; einsum, matmul, tensordot and their kin are built on it one layer up. It is
linear in each operand, and both transposes are a ``dot_general``, followed by a ``transpose`` where
neither order of its factors gives the axes in the operand's order.
Read next: ``indexing.py``.
"""

from __future__ import annotations

from collections.abc import Sequence

from tenferro.primitives._aval import Aval
from tenferro.primitives._checks import axes, integers, of_kind, same_dtype
from tenferro.primitives._dtype import DType
from tenferro.primitives._errors import DTypeMismatchError, ShapeMismatchError
from tenferro.primitives._handle import H, Handle
from tenferro.primitives._primitive import Multilinear, bind
from tenferro.primitives._simplify import defined_by
from tenferro.primitives.complex import conj
from tenferro.primitives.structural import Transpose, behind, convert, inverse, transpose

__all__ = ["DotGeneral", "dot_general"]


class DotGeneral(Multilinear):
    """z[b, i, j] = Σ_k x[b, i, k] y[b, k, j], for several axes b, i, j, k in any place"""

    key = "std::dot_general"
    accepts = "numeric"
    simplified_beside = ("transpose",)
    lhs_contract: tuple[int, ...]
    rhs_contract: tuple[int, ...]
    lhs_batch: tuple[int, ...]
    rhs_batch: tuple[int, ...]
    preferred: DType | None = None

    def __post_init__(self) -> None:
        for name in ("lhs_contract", "rhs_contract", "lhs_batch", "rhs_batch"):
            self._set(**{name: integers(self, name, getattr(self, name))})
        if self.preferred is not None:
            self._set(preferred=DType.of(self.preferred))

    def abstract_eval(self, lhs: Aval, rhs: Aval) -> Aval:
        of_kind(self, self.accepts, same_dtype(self, lhs, rhs))
        axes(self, "lhs_contract", self.lhs_contract + self.lhs_batch, lhs)
        axes(self, "rhs_contract", self.rhs_contract + self.rhs_batch, rhs)
        self._check_paired(lhs, rhs, self.lhs_contract, self.rhs_contract, "contracted")
        self._check_paired(lhs, rhs, self.lhs_batch, self.rhs_batch, "batch")
        left, right = self._free(lhs, rhs)
        shape = [lhs.shape[axis] for axis in (*self.lhs_batch, *left)]
        shape += [rhs.shape[axis] for axis in right]
        return Aval(shape, self._result_dtype(lhs))

    def _check_paired(
        self, lhs: Aval, rhs: Aval, left: Sequence[int], right: Sequence[int], what: str
    ) -> None:
        sizes = [lhs.shape[axis] for axis in left], [rhs.shape[axis] for axis in right]
        if sizes[0] != sizes[1]:
            raise ShapeMismatchError.of(
                self.name,
                f"{what} sizes differ",
                got=f"lhs {lhs} axes {left} = {sizes[0]},  rhs {rhs} axes {right} = {sizes[1]}",
                need="as many axes on both sides, of equal sizes in this order",
                shapes=(lhs.shape, rhs.shape),
            )

    def _result_dtype(self, lhs: Aval) -> DType:
        wanted = self.preferred or lhs.dtype
        if wanted.category != lhs.dtype.category or wanted.bits < lhs.dtype.bits:
            raise DTypeMismatchError.of(
                self.name,
                f"cannot accumulate {lhs.dtype} in {wanted}",
                got=f"preferred={wanted} for {lhs}",
                need="a dtype of the same kind that is at least as wide",
                dtypes=(lhs.dtype, wanted),
            )
        return wanted

    def _free(self, lhs: Aval | Handle, rhs: Aval | Handle) -> tuple[list[int], list[int]]:
        """Return the axes of each side that are neither contracted nor batch."""
        left, right = self.lhs_contract + self.lhs_batch, self.rhs_contract + self.rhs_batch
        return (
            [axis for axis in range(lhs.ndim) if axis not in left],
            [axis for axis in range(rhs.ndim) if axis not in right],
        )

    def simplify(self, lhs: Handle, rhs: Handle) -> Handle | None:
        """Rename axes instead of transposing, if a transpose keeps the order of the free axes."""
        a, b = lhs.key.definition, rhs.key.definition  # a cheap look first: this is asked often
        if (a is None or type(a[0]) is not Transpose) and (
            b is None or type(b[0]) is not Transpose
        ):
            return None
        left = _before_transpose(lhs, self.lhs_contract, self.lhs_batch)
        right = _before_transpose(rhs, self.rhs_contract, self.rhs_batch)
        if left is None and right is None:
            return None
        self.abstract_eval(lhs.aval, rhs.aval)
        x, x_contract, x_batch = left or (lhs, self.lhs_contract, self.lhs_batch)
        y, y_contract, y_batch = right or (rhs, self.rhs_contract, self.rhs_batch)
        return dot_general(x, y, x_contract, y_contract, x_batch, y_batch, self.preferred)

    def transpose_lhs(self, ct: Handle, lhs: Handle, rhs: Handle) -> Handle:
        left, right = self._free(lhs, rhs)
        summed = range(len(self.lhs_batch) + len(left), ct.ndim)
        order = _paired_order(self.lhs_contract, self.rhs_contract)
        return self._contract(ct, summed, rhs, right, self.rhs_batch, (self.lhs_batch, left, order))

    def transpose_rhs(self, ct: Handle, lhs: Handle, rhs: Handle) -> Handle:
        left, right = self._free(lhs, rhs)
        start = len(self.lhs_batch)
        summed = range(start, start + len(left))
        order = _paired_order(self.rhs_contract, self.lhs_contract)
        return self._contract(ct, summed, lhs, left, self.lhs_batch, (self.rhs_batch, right, order))

    def _contract(
        self,
        ct: Handle,
        ct_axes: Sequence[int],
        other: Handle,
        other_axes: Sequence[int],
        other_batch: Sequence[int],
        wanted: tuple[Sequence[int], Sequence[int], Sequence[int]],
    ) -> Handle:
        """Sum ct·conj(other) over the free axes of other, as wide as the result was summed.

        ``wanted`` are batch, free and contracted axes of the wanted operand, the last in the order
        in which ``other`` has them. The factor that comes first decides whether the free or the
        contracted axes do, so a transpose is left only where neither is the operand's own order.
        """
        factor = conj(convert(other, ct.dtype))
        batch, free, contracted = wanted
        places = range(len(batch))
        if _is_order([*batch, *contracted, *free]) and not _is_order([*batch, *free, *contracted]):
            found = dot_general(factor, ct, other_axes, ct_axes, other_batch, places)
            return convert(found, other.dtype)
        found = dot_general(ct, factor, ct_axes, other_axes, places, other_batch)
        return transpose(convert(found, other.dtype), inverse([*batch, *free, *contracted]))

    def batch(self, size: int, batched: Sequence[bool], lhs: Handle, rhs: Handle) -> Handle:
        """Batch: an axis of both sides is one more batch axis; of one side, a free axis."""
        left = [behind(a) if batched[0] else a for a in (self.lhs_contract, self.lhs_batch)]
        right = [behind(a) if batched[1] else a for a in (self.rhs_contract, self.rhs_batch)]
        if all(batched):
            left[1], right[1] = (0, *left[1]), (0, *right[1])
        z = dot_general(lhs, rhs, left[0], right[0], left[1], right[1], self.preferred)
        place = 0 if all(batched) else len(left[1])
        if batched[1] and not batched[0]:
            place = lhs.ndim - len(left[0])
        return transpose(z, (place, *range(place), *range(place + 1, z.ndim)))


def _before_transpose(
    x: Handle, contract: Sequence[int], batch: Sequence[int]
) -> tuple[Handle, Sequence[int], Sequence[int]] | None:
    """Return the operand of the transpose that x is, and its axes, if free ones keep their
    order.
    """
    earlier, before = defined_by(x, Transpose), x.operand_of(Transpose)
    if earlier is None or before is None or not all(0 <= a < x.ndim for a in (*contract, *batch)):
        return None
    axes_of = earlier.permutation
    free = [axes_of[axis] for axis in range(x.ndim) if axis not in contract and axis not in batch]
    if free != sorted(free):
        return None
    return before, [axes_of[axis] for axis in contract], [axes_of[axis] for axis in batch]


def _is_order(axes: Sequence[int]) -> bool:
    return list(axes) == list(range(len(axes)))


def _paired_order(mine: Sequence[int], other: Sequence[int]) -> list[int]:
    """Return my contracted axes in the order of their partners in the other operand."""
    return [axis for _, axis in sorted(zip(other, mine, strict=True))]


def dot_general(
    lhs: H,
    rhs: H,
    lhs_contract: Sequence[int],
    rhs_contract: Sequence[int],
    lhs_batch: Sequence[int] = (),
    rhs_batch: Sequence[int] = (),
    preferred: object = None,
) -> H:
    """Sum products over contracted axes, along batch axes.

    lhs: [b, i, k]   rhs: [b, k, j]   →   z: [b, i, j], each letter for any axes in any place

    Definition   z_bij = Σ_k lhs_bik rhs_bkj; axes stand as batch, lhs free, rhs free
    JVP          dz = dlhs·rhs + lhs·drhs
    Transpose    ct_lhs = Σ_j ct_bij conj(rhs_bkj),  ct_rhs = Σ_i conj(lhs_bik) ct_bij
    Convention   preferred is the dtype of the sum and of the result; the operands' if None
    Raises       ShapeMismatchError: if paired sizes differ; DTypeMismatchError: if dtypes do.

    >>> from tenferro.primitives import dot_general, variable
    >>> dot_general(variable("x", (2, 3), "f64"), variable("y", (3, 4), "f64"), (1,), (0,)).aval
    f64[2,4]
    """
    operation = DotGeneral(
        tuple(lhs_contract),
        tuple(rhs_contract),
        tuple(lhs_batch),
        tuple(rhs_batch),
        None if preferred is None else DType.of(preferred),
    )
    return bind(operation, lhs, rhs)
