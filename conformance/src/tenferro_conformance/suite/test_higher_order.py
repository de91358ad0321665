"""Second and third derivatives: the oracle's numbers, and the laws applied to the derivative
program.
"""

import pytest

from tenferro_conformance.judging import laws
from tenferro_conformance.running import programs

_second = pytest.mark.tenferro_law(
    "order 2",
    build=programs.derivatives,
    grad=True,
    where=lambda case: len(case.grad.derivatives) >= 2,
)
_third = pytest.mark.tenferro_law(
    "order 3",
    build=programs.derivatives,
    grad=True,
    where=lambda case: len(case.grad.derivatives) >= 3,
)
_adjoint = pytest.mark.tenferro_law(
    "order 2 adjoint",
    build=programs.modes,
    grad=True,
    where=lambda case: case.grad.order >= 2,
)


@_second
def test_order_2(tenferro_run):
    """D(J v) v = the oracle's second derivative along v."""
    laws.require_derivatives(tenferro_run(), orders=(2,))


@_third
def test_order_3(tenferro_run):
    """D(D(J v) v) v = the oracle's third derivative along v."""
    laws.require_derivatives(tenferro_run(), orders=(3,))


@_adjoint
def test_derivative_program_has_an_adjoint(tenferro_run):
    """⟨w, D(J v) u⟩ = ⟨D(J v)ᵀ w, u⟩."""
    laws.require_second_adjoint(tenferro_run())
