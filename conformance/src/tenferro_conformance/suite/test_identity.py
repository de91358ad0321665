"""Structure is identity: a graph is what it says, and says it every time alike."""

import pytest

from tenferro_conformance.judging import structure

pytestmark = pytest.mark.tenferro_law("identity")


def test_equal_structure_is_one_object(tenferro_any_case):
    """Equal keys ⇔ equal structure."""
    structure.require_one_object(tenferro_any_case)


def test_printing_is_stable(tenferro_any_case):
    """One program, one text; a pickled operation is the same object."""
    structure.require_stable_text(tenferro_any_case)


def test_derivatives_type_check(tenferro_any_case):
    """Every equation of a transform's output has the aval that abstract_eval gives."""
    structure.require_types(tenferro_any_case)
