"""Linearity: a primitive's declaration is true of its values."""

import pytest

from tenferro_conformance.judging import laws
from tenferro_conformance.running import programs

pytestmark = pytest.mark.tenferro_law(
    "linearity",
    build=programs.linearity,
    grad=True,
    where=lambda case: bool(programs.linear_groups(case)),
)


def test_linearity(tenferro_run):
    """f(ax + bz) = a f(x) + b f(z), a and b real, in every linear input."""
    laws.require_linearity(tenferro_run())
