"""A dtype never narrows, and results stay where they were made."""

import pytest

from tenferro_conformance.judging import laws
from tenferro_conformance.running import programs

pytestmark = pytest.mark.tenferro_law("fidelity", build=programs.value)


def test_fidelity(tenferro_run):
    """The result is the backend's own array type, in the precision of its dtype."""
    laws.require_fidelity(tenferro_run())
