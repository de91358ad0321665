"""Sorting and searching: NumPy's own results, by one call each."""

import numpy as np
import pytest

import tenferro as tn

KNOTS = np.array([-1.0, 0.0, 0.0, 2.0, np.nan])
VALUES = np.array([[0.0, -3.0, 2.0], [np.nan, np.inf, -0.0]])


def compiled(function):
    return tn.jit(function, backend="numpy")


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("values", [VALUES, VALUES.T, VALUES[:0], VALUES[0, 0], VALUES[0]])
@pytest.mark.parametrize("knots", [KNOTS, KNOTS[:0], KNOTS[::2]])
def test_places_are_those_of_numpy(knots, values, side):
    program = compiled(lambda x, y: tn.searchsorted(x, y, side))
    for _ in range(20):  # before and after the program is planned
        found = np.asarray(program(knots, values))
        np.testing.assert_array_equal(found, np.searchsorted(knots, values, side))
        assert found.dtype == np.int64


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize(
    "values", [VALUES, np.array([[3, 1], [2, 1], [9, 0]]), VALUES.T, VALUES[:0]]
)
def test_order_is_that_of_numpy(values, axis):
    programs = [  # the last one sorts once for both
        (lambda np, x: np.sort(x, axis),),
        (lambda np, x: np.sort(x.T, axis).T + 1,),
        (lambda np, x: np.argsort(x, axis), lambda np, x: np.sort(x, axis)),
    ]
    for functions in programs:
        program = compiled(lambda x, functions=functions: [f(tn, x) for f in functions])
        for _ in range(20):
            for f, found in zip(functions, program(values), strict=True):
                np.testing.assert_array_equal(np.asarray(found), f(np, values))


def test_a_search_is_one_call():
    text = compiled(lambda x, y: tn.searchsorted(x, y) + 1).explain(KNOTS, VALUES)
    assert "r0.searchsorted(r1, " in text
