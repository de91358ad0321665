"""First derivatives are right: the oracle's along stored tangents, or differences where no oracle
exists.
"""

import pytest

from tenferro_conformance.judging import differences, laws
from tenferro_conformance.running import programs

_stored = pytest.mark.tenferro_law(
    "derivative",
    build=programs.derivatives,
    grad=True,
    where=lambda case: bool(case.grad.derivatives),
)
_differences = pytest.mark.tenferro_law(
    "derivative", build=differences.five_points, grad=True, where=differences.is_needed
)
_complex_step = pytest.mark.tenferro_law(
    "complex step",
    build=differences.complex_step,
    grad=True,
    where=differences.has_complex_step,
    dtypes=("complex128",),
)


@_stored
def test_derivative(tenferro_run):
    """J v = the oracle's derivative."""
    laws.require_derivatives(tenferro_run(), orders=(1,))


@_differences
def test_derivative_by_differences(tenferro_run):
    """J v = (f(x−2hv) − 8 f(x−hv) + 8 f(x+hv) − f(x+2hv)) / 12h."""
    differences.require_five_points(tenferro_run())


@_complex_step
def test_derivative_by_complex_step(tenferro_run):
    """J v = Im f(x + ihv) / h for a holomorphic f."""
    differences.require_complex_step(tenferro_run())
