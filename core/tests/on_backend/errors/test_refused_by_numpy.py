"""Arguments that NumPy refuses are refused; those that it takes are taken. See the table."""

import warnings

import numpy as np
import pytest
from refused_by_numpy import arrays, calls, is_deviation

import tenferro as tn

CALLS = tuple(dict.fromkeys(calls()))


def error_of(call, operands, *, evaluate=False):
    """The error of a call; that of its value, too, which NumPy computes at once"""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = eval(call, {"np": np, **operands})
            if evaluate and isinstance(found, tn.Array):
                found.evaluate()
        except Exception as error:
            return error
    return None


@pytest.fixture(scope="module")
def both():
    """(call, NumPy's error, ours), where this NumPy has the function"""
    found = []
    for call in CALLS:
        theirs = error_of(call, arrays())
        if not isinstance(theirs, AttributeError):
            operands = {name: tn.asarray(x) for name, x in arrays().items()}
            ours = error_of(call, operands, evaluate=theirs is not None)
            found.append((call, theirs, ours))
    return found


def test_what_numpy_refuses_is_refused(both):
    accepted = [call for call, theirs, ours in both if theirs is not None and ours is None]
    assert [call for call in accepted if not is_deviation(call)] == []


def test_what_numpy_computes_is_computed(both):
    refused = [call for call, theirs, ours in both if theirs is None and ours is not None]
    assert [call for call in refused if not is_deviation(call)] == []


def test_nearly_all_decisions_are_numpys(both):
    differing = [call for call, theirs, ours in both if (theirs is None) != (ours is None)]
    assert len(differing) < 0.03 * len(both)


def test_what_both_refuse_can_be_caught_as_numpys_error(both):
    """except ValueError, TypeError, IndexError … around a call serves both.

    Calls with two faults, such as a tuple as the axis of a number, may report the other one.
    """
    kinds = (TypeError, ValueError, IndexError, OverflowError, ZeroDivisionError, AttributeError)
    different = []
    for call, theirs, ours in both:
        if theirs is not None and ours is not None:
            expected = [kind for kind in kinds if isinstance(theirs, kind)]
            different += [] if isinstance(ours, tuple(expected)) else [(call, theirs, ours)]
    assert len(different) < 0.04 * len(both), different
