"""Unsupported cases: refused cleanly, once, and not below the claimed level."""

import pytest

from tenferro_conformance.judging import refusals
from tenferro_conformance.running import programs

pytestmark = pytest.mark.tenferro_law("errors", build=programs.value, cases="unsupported")


def test_unsupported(tenferro_run, tenferro_kit, tenferro_unit):
    """An unsupported case raises MissingLoweringError or UnsupportedError."""
    refusals.require_refusal(
        tenferro_run, tenferro_kit.selections[tenferro_unit.backend], tenferro_unit.case
    )
