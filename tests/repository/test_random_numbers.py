"""A test draws the same numbers alone and after others: `conftest.py` sees to it."""

import numpy as np
import pytest

FIRST, SECOND, THIRD = np.random.default_rng(3).random(3)
RNG = np.random.default_rng(3)
AT_IMPORT = RNG.random()


@pytest.fixture
def drawn():
    return RNG.random()


@pytest.mark.parametrize("turn", ["first", "second"])
def test_each_test_draws_what_follows_the_draws_of_the_import(drawn, turn):
    assert (AT_IMPORT, drawn, RNG.random()) == (FIRST, SECOND, THIRD)
