"""Host to backend and back loses nothing: every dtype, every layout, NaN, infinity, −0."""

import pytest

from tenferro_conformance.judging import laws

pytestmark = pytest.mark.tenferro_law("round trip", where=lambda case: bool(case.inputs))


def test_round_trip(tenferro_session, tenferro_case):
    """to_numpy(asoperand(x)) = x, bitwise."""
    laws.require_round_trip(tenferro_session, tenferro_case)
