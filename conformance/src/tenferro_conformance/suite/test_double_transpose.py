"""Transposition is an involution."""

import pytest

from tenferro_conformance.judging import laws
from tenferro_conformance.running import programs

pytestmark = pytest.mark.tenferro_law(
    "double transpose",
    build=programs.transposed_twice,
    grad=True,
    where=programs.has_finite_jacobian,
)


def test_double_transpose(tenferro_run):
    """(Jᵀ)ᵀ v = J v."""
    laws.require_double_transpose(tenferro_run())
