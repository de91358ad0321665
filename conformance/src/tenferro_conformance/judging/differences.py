"""Derivatives without an oracle: five-point differences and the complex step, computed on the
backend under test.

Used where a case stores no derivative (third-party cases, large arrays); the complex step also
checks the analytic continuation of holomorphic primitives. Step sizes balance truncation and
rounding. Read `oracle/reference.py` for the better way.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tenferro_conformance.cases.case import Case
from tenferro_conformance.running.derivatives import jvp
from tenferro_conformance.running.recorder import Recorder
from tenferro_conformance.running.session import Outcome

__all__ = [
    "complex_step",
    "five_points",
    "has_complex_step",
    "is_needed",
    "require_complex_step",
    "require_five_points",
]

_STEP = 2.0**-9
#: step multiple → weight of the five-point formula
STENCIL: Mapping[int, float] = {-2: 1 / 12, -1: -8 / 12, 1: 8 / 12, 2: -1 / 12}
_COMPLEX_STEP = 2.0**-100
_HOLOMORPHIC = {
    "std::exp", "std::log", "std::expm1", "std::log1p", "std::sin", "std::cos", "std::tan",
    "std::tanh", "std::logistic",
    "std::sqrt", "std::rsqrt", "std::square", "std::mul", "std::div", "std::add", "std::sub",
    "std::neg", "std::integer_pow",
}  # fmt: skip
_DOUBLE = ("float64", "complex128")


def is_needed(case: Case) -> bool:
    """Return True if a smooth double-precision case stores no derivative."""
    assert case.grad is not None
    active = [case.inputs[i].dtype in _DOUBLE for i in case.grad.wrt]
    return case.grad.smooth and not case.grad.derivatives and all(active)


def has_complex_step(case: Case) -> bool:
    """Return True if this real case can be continued into the complex plane."""
    assert case.grad is not None
    return (
        case.primitive in _HOLOMORPHIC
        and case.dtype == "float64"
        and case.edge == "wide"
        and case.grad.smooth
    )


def five_points(r: Recorder) -> None:
    """J·v, and f at four points along v"""
    xs = r.inputs()
    wrt = r.wrt(xs)
    vs = r.tangents("v", wrt)
    r.output_all("jv", jvp(r.apply(xs), wrt, vs))
    for k in STENCIL:
        moved = list(xs)
        for i, x, v in zip(_wrt(r.case), wrt, vs, strict=True):
            moved[i] = r.feed(f"at{k}_{i}_", np.asarray(r.fed[x.key] + k * _STEP * r.fed[v.key]))
        r.output_all(f"f{k}_", r.apply(moved))


def require_five_points(out: Outcome) -> None:
    """|J v − difference| ≤ 1e-5 · scale."""
    for i, jv in enumerate(out.all("jv")):
        points = {k: out[f"f{k}_{i}"] for k in STENCIL}
        difference: Any = sum(weight * points[k] for k, weight in STENCIL.items()) / _STEP
        scale = max(float(np.max(np.abs(difference), initial=0.0)), 1.0)
        found = np.zeros_like(difference) if jv is None else jv
        error = float(np.max(np.abs(found - difference), initial=0.0))
        assert np.isfinite(difference).all(), (
            f"{out.case.id}: the five points around the inputs leave the domain of the function; "
            "state `tangents` and `derivative` in the row, or choose inputs further inside"
        )
        assert error <= 1e-5 * scale, (
            f"{out.case.id}: J v differs from the five-point difference by {error:.3g}"
        )


def complex_step(r: Recorder) -> None:
    """J·v, and f(x + ihv) in complex arithmetic"""
    xs = r.inputs()
    wrt = r.wrt(xs)
    vs = r.tangents("v", wrt)
    r.output_all("jv", jvp(r.apply(xs), wrt, vs))
    continued = [r.feed(f"z{i}_", r.fed[x.key].astype("complex128")) for i, x in enumerate(xs)]
    for i, x, v in zip(_wrt(r.case), wrt, vs, strict=True):
        continued[i] = r.feed(f"step{i}_", r.fed[x.key] + 1j * _COMPLEX_STEP * r.fed[v.key])
    r.output_all("fz", r.apply(continued))


def require_complex_step(out: Outcome) -> None:
    """|J v − Im f(x + ihv)/h| within the tolerance of a first derivative."""
    for i, jv in enumerate(out.all("jv")):
        assert jv is not None
        want = out[f"fz{i}"].imag / _COMPLEX_STEP
        out.require_close(
            jv, want, f"output {i}", scale=float(np.max(np.abs(want), initial=0.0)), order=2
        )


def _wrt(case: Case) -> tuple[int, ...]:
    return case.grad.wrt if case.grad else ()
