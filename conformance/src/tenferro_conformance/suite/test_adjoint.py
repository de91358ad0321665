"""Reverse mode is the adjoint of forward mode."""

import pytest

from tenferro_conformance.judging import laws
from tenferro_conformance.running import programs

pytestmark = pytest.mark.tenferro_law(
    "adjoint", build=programs.adjoint, grad=True, where=programs.has_finite_jacobian
)


def test_adjoint(tenferro_run):
    """⟨w, J v⟩ = ⟨Jᵀ w, v⟩ with ⟨a, b⟩ = Re(conj(a)·b)."""
    laws.require_adjoint(tenferro_run())
