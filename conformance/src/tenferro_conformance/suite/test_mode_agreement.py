"""All four compositions of the two modes give one second derivative."""

import pytest

from tenferro_conformance.judging import laws
from tenferro_conformance.running import programs

pytestmark = pytest.mark.tenferro_law(
    "mode agreement", build=programs.modes, grad=True, where=lambda case: case.grad.order >= 2
)


def test_mode_agreement(tenferro_run):
    """⟨w, D(Jv)u⟩ = ⟨u, D(Jv)ᵀw⟩ = ⟨v, D(Jᵀw)u⟩ = ⟨u, D(Jᵀw)ᵀv⟩."""
    laws.require_modes_agree(tenferro_run())
