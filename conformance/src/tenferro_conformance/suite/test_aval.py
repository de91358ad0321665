"""Shapes and dtypes of results are those of abstract evaluation."""

import pytest

from tenferro_conformance.judging import laws
from tenferro_conformance.running import programs

pytestmark = pytest.mark.tenferro_law("aval", build=programs.value)


def test_aval(tenferro_run):
    """Shape and dtype of the result = abstract_eval."""
    laws.require_aval(tenferro_run())
