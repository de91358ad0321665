"""Limits of differences: what they can resolve in each dtype. Read next: ``line.py``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.primitives import float64
from tenferro.transforms.checking.pytrees import leaves_of


class Limits(NamedTuple):
    """Resolution of finite differences in a dtype."""

    step: float  # the first one
    tolerance: float
    unsure: float  # relative error of a difference that shows nothing
    rounding: float  # relative error of a value
    absolute: float = 0.0


_LIMITS = {
    "float64": Limits(5e-2, 1e-7, 1e-5, 2.0**-53),
    "float32": Limits(0.2, 5e-3, 1e-3, 2.0**-24),
    "float16": Limits(0.5, 0.1, 0.02, 2.0**-11),
    "bfloat16": Limits(0.5, 0.3, 0.1, 2.0**-8),
}


_PRECISION = ("bfloat16", "float16", "float32", "float64")


def limits_for(
    args: Sequence[Any], atol: float | None, rtol: float | None, eps: float | None
) -> Limits:
    """Return the limits of the coarsest dtype among the arguments, or those that the user gave."""
    kinds = [leaf.dtype.real_dtype for leaf in leaves_of(args) if leaf.dtype.is_inexact]
    coarsest = min(kinds, key=lambda kind: _PRECISION.index(kind.name), default=float64)
    limits = _LIMITS[coarsest.name]
    return limits._replace(
        step=eps or limits.step,
        tolerance=limits.tolerance if rtol is None else rtol,
        absolute=atol or 0.0,
    )
