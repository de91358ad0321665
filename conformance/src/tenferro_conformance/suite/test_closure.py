"""Derivatives emit only what a backend of the same level runs; the AD-closed core emits only
itself.
"""

import pytest

from tenferro_conformance.judging import structure

pytestmark = pytest.mark.tenferro_law("closure")


def test_derivatives_stay_below_level_3(tenferro_any_case):
    """Linearizing and transposing a primitive of L1 or L2 emits primitives up to its level."""
    structure.require_closed(tenferro_any_case)


def test_the_core_is_closed(tenferro_any_case):
    """Rules of the AD-closed core emit only the core."""
    structure.require_core_closed(tenferro_any_case)
