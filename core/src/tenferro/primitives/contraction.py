"""``dot_general``: sums of products over contracted axes, along batch axes.

The one contraction; einsum, matmul, tensordot and their kin are built on it one layer up. It is
linear in each operand, and both transposes are a ``dot_general``, followed by a ``transpose`` where
neither order of its factors gives the axes in the operand's order.
Read next: ``indexing.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from tenferro._runtime.records import NamedTuple
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
    simplify_triggers = ("transpose",)
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
        left, right = self._free(lhs.ndim, rhs.ndim)
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

    def _free(self, lhs: int, rhs: int) -> tuple[list[int], list[int]]:
        """Return the axes of each side, of these ranks, that are neither contracted nor batch."""
        left, right = self.lhs_contract + self.lhs_batch, self.rhs_contract + self.rhs_batch
        return (
            [axis for axis in range(lhs) if axis not in left],
            [axis for axis in range(rhs) if axis not in right],
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
        return _applied(_transposed(self, True, lhs.ndim, rhs.ndim), ct, rhs)

    def transpose_rhs(self, ct: Handle, lhs: Handle, rhs: Handle) -> Handle:
        return _applied(_transposed(self, False, lhs.ndim, rhs.ndim), ct, lhs)

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


class _Transposed(NamedTuple):
    """The product of a cotangent and the other factor, which may come first, and its new order."""

    product: DotGeneral
    is_factor_first: bool
    order: tuple[int, ...] | None


@lru_cache(maxsize=1024)
def _transposed(product: DotGeneral, of_lhs: bool, lhs: int, rhs: int) -> _Transposed:
    """Return how the cotangent of one operand is summed; the ranks of the operands decide it.

    It is the sum over the free axes of the other operand. What comes first decides whether the free
    or the contracted axes do, so an order is left only where neither is the operand's own.
    """
    left, right = product._free(lhs, rhs)
    start = len(product.lhs_batch)
    places = tuple(range(start))
    if of_lhs:
        batch, free, other_batch, summed = product.lhs_batch, left, product.rhs_batch, right
        contracted = _paired_order(product.lhs_contract, product.rhs_contract)
        start += len(left)
    else:
        batch, free, other_batch, summed = product.rhs_batch, right, product.lhs_batch, left
        contracted = _paired_order(product.rhs_contract, product.lhs_contract)
    axes_of_ct, axes_of_factor = tuple(range(start, start + len(summed))), tuple(summed)
    own = [*batch, *free, *contracted]
    if _is_order([*batch, *contracted, *free]) and not _is_order(own):
        made = DotGeneral(axes_of_factor, axes_of_ct, other_batch, places)
        return _Transposed(made, True, None)
    made = DotGeneral(axes_of_ct, axes_of_factor, places, other_batch)
    return _Transposed(made, False, None if _is_order(own) else inverse(own))


def _applied(written: _Transposed, ct: Handle, other: Handle) -> Handle:
    """Sum ct·conj(other), as wide as the result was summed, and return it in other's dtype."""
    factor = conj(convert(other, ct.dtype))
    pair = (factor, ct) if written.is_factor_first else (ct, factor)
    found = convert(bind(written.product, *pair), other.dtype)
    return found if written.order is None else transpose(found, written.order)


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
