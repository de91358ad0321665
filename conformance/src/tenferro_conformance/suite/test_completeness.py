"""Nothing is left out: every registered primitive has cases, and every backend
runs what it claims.
"""

import pytest

from tenferro_conformance.judging import refusals
from tenferro_conformance.samples.stored_inputs import stale_inputs

pytestmark = pytest.mark.tenferro_law("completeness")


def test_every_primitive_has_cases(tenferro_kit):
    """Every registered primitive has cases."""
    assert refusals.without_cases(tenferro_kit) == []


def test_every_primitive_runs(tenferro_session, tenferro_kit):
    """Every primitive of the claimed level has a lowering or a decomposition."""
    assert refusals.missing_on(tenferro_session, tenferro_kit) == []


def test_stored_numbers_belong_to_the_tables():
    """The inputs in golden/ are the inputs in samples/."""
    assert stale_inputs() == []
