"""Running a program changes nothing but its results."""

import pytest

from tenferro_conformance.judging import laws
from tenferro_conformance.running import programs

pytestmark = pytest.mark.tenferro_law("purity", build=programs.value)


def test_purity(tenferro_run):
    """Operands unchanged; results writeable, aliasing nothing; two runs bitwise equal."""
    laws.require_purity(tenferro_run())
