"""Separation of equal values: ``split=`` of eigh and svd.

The matrix gets a constant added that separates equal values and keeps the vectors: V diag(w) Vᴴ
becomes V diag(w′) Vᴴ. Its derivatives of first order are those of functions of the matrix up to the
relative distance. Read next: ``decomposing.py``.
"""

from __future__ import annotations

from math import isfinite, sqrt
from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions.arithmetic import absolute
from tenferro.arrays.functions.complex import conj
from tenferro.arrays.functions.contraction import matmul
from tenferro.arrays.functions.data_types import finfo
from tenferro.arrays.functions.elementwise import stop_gradient
from tenferro.arrays.functions.ranges import arange
from tenferro.arrays.functions.reduction import max
from tenferro.arrays.functions.structural import matrix_transpose
from tenferro.arrays.handle.array import Array
from tenferro.arrays.promotion.broadcast import cast
from tenferro.primitives import InvalidParameterError, cummax
from tenferro.primitives.linalg import eigh as eigh_primitives
from tenferro.primitives.linalg import svd as svd_primitives


def eigh_of(
    a: Array, gauge: str, epsilon: float | None, projectors_only: bool, split: bool | float
) -> tuple[Array, Array]:
    """Decompose a Hermitian matrix; separate equal values if ``split`` asks for it."""
    if _share("eigh", split, a) and a.size:
        w, v = eigh_primitives.eigh(stop_gradient(a))
        moved = _separated(w, _share("eigh", split, a)) - w
        a = a + stop_gradient(matmul(_by(v, moved), conj(matrix_transpose(v))))
    return eigh_primitives.eigh(a, gauge=gauge, epsilon=epsilon, projectors_only=projectors_only)


def svd_of(
    a: Array, full: bool, gauge: str, epsilon: float | None, projectors_only: bool,
    split: bool | float,
) -> tuple[Array, Array, Array]:  # fmt: skip
    """Decompose by singular values; separate equal ones, from the smallest up, if asked."""
    if _share("svd", split, a) and a.size:
        u, s, vh = svd_primitives.svd(stop_gradient(a))
        moved = _separated(s[..., ::-1], _share("svd", split, a))[..., ::-1] - s
        a = a + stop_gradient(matmul(_by(u, moved), vh))
    return svd_primitives.svd(
        a, full=full, gauge=gauge, epsilon=epsilon, projectors_only=projectors_only
    )


def _share(function: str, split: Any, a: Array) -> float:
    """Return the distance as a fraction of the largest value."""
    if split is True:
        return sqrt(finfo(a.dtype).eps)
    if isinstance(split, (bool, int, float)) and isfinite(split) and split >= 0:
        return float(split)
    raise at_user_line(InvalidParameterError.of(
        function, "split is not a valid distance",
            got=f"split={split!r}", parameter="split", value=split,
        need="True, or a share of the largest value, such as 1e-8",
    ))  # fmt: skip


def _separated(w: Array, share: float) -> Array:
    """w′ₖ = max(wₖ, w′ₖ₋₁ + δ) of increasing w, with δ = share·max|w|.

    Also w′ₖ = k δ + max over j ≤ k of (w_j - j δ).
    """
    steps = cast(arange(w.shape[-1]), w.dtype) * (max(absolute(w), axis=-1, keepdims=True) * share)
    found: Array = cummax(w - steps, w.ndim - 1) + steps
    return found


def _by(v: Array, d: Array) -> Array:
    return v * cast(d, v.dtype)[..., None, :]
