"""Tolerance classes, and the comparison that measures errors in their unit.

Bounds are functions of dtype, class and size. `measure` returns the largest error in the unit of
the class together with the bound; `require` raises `ToleranceError` when it is exceeded. float16
and bfloat16 have their own column and inherit nothing. Overrides come from a profile
(`profile.py`), never from a test.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tenferro_conformance.cases.case import Stored
from tenferro_conformance.errors import ToleranceError
from tenferro_conformance.profile import Tol

__all__ = [
    "GRADIENT_FACTOR",
    "TABLE",
    "Measure",
    "bound_of",
    "eps_of",
    "is_inexact",
    "measure",
    "require",
    "require_equal",
    "same_bits",
    "sum_of_products",
]

Real = npt.NDArray[np.float64]

#: class → column → bound, in the unit of the class: ulp for rounded, elementary, special;
#: eps·|z| for complex; eps·Σ|x| for sums (times log2 n, or n); eps·(|A|·|B|) for contractions
#: (times k); eps·‖A‖ for factorizations (times n).
TABLE: dict[str, dict[str, float]] = {
    "exact": {"float64": 0, "float32": 0, "float16": 0, "bfloat16": 0},
    "rounded": {"float64": 1, "float32": 1, "float16": 1, "bfloat16": 1},
    "elementary": {"float64": 4, "float32": 4, "float16": 2, "bfloat16": 2},
    "special": {"float64": 16, "float32": 16, "float16": 4, "bfloat16": 4},
    "complex": {"float64": 8, "float32": 8},
    "reduction": {"float64": 4, "float32": 4, "float16": 2, "bfloat16": 2},
    "reduction_serial": {"float64": 4, "float32": 4, "float16": 4, "bfloat16": 4},
    "contraction": {"float64": 4, "float32": 4, "float16": 4, "bfloat16": 4},
    "factorization": {"float64": 32, "float32": 32},
}
#: A derivative is composed of several rounded steps: four times its class for each order.
GRADIENT_FACTOR = 4.0
_SUMS = ("reduction", "reduction_serial", "contraction", "factorization")
_EPS = {"float64": 2.0**-52, "float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7}


@dataclass(frozen=True)
class Measure:
    """The largest error found, the bound, both in the unit of the class `tol`."""

    measured: float
    bound: float
    tol: str

    @property
    def is_within(self) -> bool:
        """Is the error no larger than the bound?"""
        return self.measured <= self.bound


def real_dtype(dtype: str) -> str:
    """Return the dtype of the real part, whose precision a dtype has."""
    return {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)


def bound_of(
    tol: str,
    dtype: str,
    size: int = 1,
    order: int = 0,
    override: Tol | None = None,
    *,
    condition: float = 1.0,
) -> float:
    """Return the bound of a class for a dtype, a number of terms and an order of derivative.

    A condition number multiplies errors at every step: once for the value, once more per order.
    """
    column = real_dtype(dtype)
    if tol == "exact" or column not in _EPS:
        return 0.0
    base = TABLE[tol][column]
    if tol in ("reduction_serial", "contraction", "factorization"):
        base *= max(size, 1)
    if tol == "reduction":
        base *= max(math.log2(max(size, 1)), 1.0)
    if override is not None and override.ulp is not None:
        base = override.ulp
    return base * GRADIENT_FACTOR**order * condition ** (order + 1)


def eps_of(dtype: str) -> float:
    """Return the relative distance of adjacent numbers of a dtype."""
    return _EPS[real_dtype(dtype)]


def is_inexact(array: npt.NDArray[Any]) -> bool:
    """Return True for floats and complex numbers; to NumPy, bfloat16 is none of its kinds."""
    return array.dtype.kind in "fc" or array.dtype.name == "bfloat16"


def same_bits(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> bool:
    """Return True if shape, dtype and bits are equal; any NaN equals any NaN, −0 is not 0."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if not is_inexact(a):
        return bool(np.array_equal(a, b))
    x, y = _parts(a), _parts(b)
    both_nan = np.isnan(x) & np.isnan(y)
    return bool(np.all(both_nan | ((x == y) & (np.signbit(x) == np.signbit(y)))))


def require_equal(got: npt.NDArray[Any], want: npt.NDArray[Any], what: str) -> None:
    """Raise `ToleranceError` unless the two are bitwise equal."""
    if not same_bits(got, want):
        raise ToleranceError(
            f"{what}: not bitwise equal\n  got   {_short(got)}\n  want  {_short(want)}",
            measured=math.inf,
        )


def require(
    got: npt.NDArray[Any],
    want: Stored,
    what: str,
    *,
    tol: str,
    order: int = 0,
    size: int = 1,
    scale: Stored | None = None,
    condition: float = 1.0,
    override: Tol | None = None,
) -> Measure:
    """Raise `ToleranceError` unless `got` is within the class of `want`; return what
    was measured.
    """
    found = measure(
        got, want, tol=tol, order=order, size=size, scale=scale, condition=condition,
        override=override,
    )  # fmt: skip
    if not found.is_within:
        raise ToleranceError(
            f"{what}: {found.measured:.3g} > {found.bound:.3g} in the unit of class {found.tol!r}\n"
            f"  got   {_short(got)}\n  want  {_short(want.high())}",
            measured=found.measured,
            bound=found.bound,
        )
    return found


def measure(
    got: npt.NDArray[Any],
    want: Stored,
    *,
    tol: str,
    order: int = 0,
    size: int = 1,
    scale: Stored | None = None,
    condition: float = 1.0,
    override: Tol | None = None,
) -> Measure:
    """Return the largest error of `got` in the unit of the class, and the bound."""
    tol = override.tol if override is not None and override.tol is not None else tol
    if got.shape != want.shape or str(got.dtype) != want.dtype:
        return Measure(
            math.inf,
            0.0,
            f"{tol}: {got.dtype}{list(got.shape)}, not {want.dtype}{list(want.shape)}",
        )
    bound = bound_of(tol, want.dtype, size, order, override, condition=condition)
    rounded = want._filled(want.data, want.dtype)
    if bound == 0.0:
        return Measure(0.0 if same_bits(got, rounded) else math.inf, 0.0, tol)
    if not got.size:
        return Measure(0.0, bound, tol)
    if not _agree_where_not_finite(got, rounded):
        return Measure(math.inf, bound, tol)
    error = _error(got, want)
    unit = _unit(tol, want, order, scale)
    if got.dtype.kind == "c" and tol in ("rounded", "elementary", "special") and not order:
        error, unit = _error_of_parts(got, want), _ulp(_parts(want.high()), real_dtype(want.dtype))
    return Measure(float(np.max(_ratio(error, unit), initial=0.0)), bound, tol)


def _parts(a: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a complex array as real numbers with one more axis."""
    return np.stack([a.real, a.imag], -1) if a.dtype.kind == "c" else a


def _agree_where_not_finite(got: npt.NDArray[Any], want: npt.NDArray[Any]) -> bool:
    """NaN where NaN is wanted, the same infinity where one is wanted, finite elsewhere."""
    nan = np.isnan(want)
    finite = np.isfinite(want)
    infinite = ~nan & ~finite
    return bool(
        np.array_equal(np.isnan(got), nan)
        and np.array_equal(np.isfinite(got), finite)
        and np.array_equal(got[infinite], want[infinite])
    )


def _error(got: npt.NDArray[Any], want: Stored) -> Real:
    """|got − want| with the correction below double precision; zero where neither is finite."""
    wide = got.astype("complex128" if got.dtype.kind == "c" else "float64")
    with np.errstate(all="ignore"):
        difference = (wide - want.high()) - want.correction()
    return np.where(np.isfinite(got), np.abs(difference), 0.0)


def _error_of_parts(got: npt.NDArray[Any], want: Stored) -> Real:
    """Return the errors of the real and of the imaginary part, along one more axis."""
    with np.errstate(all="ignore"):
        difference = _parts((got.astype("complex128") - want.high()) - want.correction())
    return np.where(np.isfinite(_parts(got)), np.abs(difference), 0.0)


def _unit(tol: str, want: Stored, order: int, scale: Stored | None) -> Real:
    """Return one unit of error, element by element."""
    column = real_dtype(want.dtype)
    eps = _EPS[column]
    with np.errstate(all="ignore"):
        size_of = np.abs(np.where(np.isfinite(want.high()), want.high(), 0.0))
        largest = float(np.max(size_of, initial=0.0))
        unit: Real = (
            _ulp(want.high(), column)
            if tol in ("rounded", "elementary", "special")
            else eps * size_of
        )
        if tol == "special":
            unit = np.maximum(unit, eps * largest / 4)
        if scale is not None and (tol in _SUMS or order):
            unit = np.maximum(unit, eps * np.abs(scale.high()))
        if order or tol == "factorization":
            unit = np.maximum(unit, eps * largest)
    return unit


def _ulp(x: npt.NDArray[Any], column: str) -> Real:
    """Return the distance of adjacent numbers at x; of a complex number, at its larger part."""
    size_of = np.maximum(np.abs(x.real), np.abs(x.imag)) if x.dtype.kind == "c" else np.abs(x)
    if column == "bfloat16":
        spacing: Real = np.maximum(2.0 ** (np.floor(np.log2(size_of)) - 7), 2.0**-133)
        return spacing
    dtype = np.dtype(column)
    inside = np.minimum(size_of, float(np.finfo(dtype).max) / 2)
    return np.asarray(np.spacing(inside.astype(dtype)), "float64")


def _ratio(error: Real, unit: Real) -> Real:
    """error / unit, where no error is nothing whatever the unit."""
    with np.errstate(all="ignore"):
        return np.where(error == 0, 0.0, error / unit)


def _short(a: npt.NDArray[Any]) -> str:
    return np.array2string(np.asarray(a), threshold=12, precision=17, floatmode="maxprec")


def sum_of_products(
    a: Sequence[npt.NDArray[Any]], b: Sequence[npt.NDArray[Any]]
) -> tuple[float, float]:
    """⟨a, b⟩ = Σ Re(conj(a)·b) over all arrays, and Σ |a|·|b| to measure its rounding errors by."""
    total = scale = 0.0
    for x, y in zip(a, b, strict=True):
        wide_x, wide_y = x.astype("complex128"), y.astype("complex128")
        total += float(np.sum((np.conj(wide_x) * wide_y).real))
        scale += float(np.sum(np.abs(wide_x) * np.abs(wide_y)))
    return total, scale
