"""Values are right: stored numbers from the oracle, within the tolerance class of the case."""

import pytest

from tenferro_conformance.judging import laws
from tenferro_conformance.running import programs

pytestmark = pytest.mark.tenferro_law(
    "value", build=programs.value, where=lambda case: case.expected is not None
)


def test_value(tenferro_run):
    """Result = golden value within the tolerance class."""
    laws.require_value(tenferro_run())
