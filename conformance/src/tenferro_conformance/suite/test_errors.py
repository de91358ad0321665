"""Refusals carry facts: the class and the fields of the error, not its words."""

import pytest

from tenferro_conformance.judging import refusals

pytestmark = pytest.mark.tenferro_law("errors")


def test_refusal(tenferro_error_case):
    """An ErrorCase raises that class with those fields."""
    refusals.require_error(tenferro_error_case)


@pytest.mark.tenferro_law("errors", cases="errors")
def test_refusal_of_data(tenferro_session, tenferro_case):
    """A refusal that depends on data is a typed error at run time (feature `checks`)."""
    refusals.require_error_of_data(tenferro_session, tenferro_case)


def test_missing_lowerings_are_reported_together(tenferro_session):
    """Two operations without lowering: one MissingLoweringError that names both."""
    refusals.require_all_gaps(tenferro_session)
