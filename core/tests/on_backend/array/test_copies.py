"""Assigning into what NumPy would have made as a view: a warning at the user's line."""

import math

import numpy as np
import pytest

import tenferro as tn
from tenferro.array import CopyAssignmentWarning


def u():
    return tn.asarray(np.arange(6.0).reshape(2, 3))


def row(x):
    y = x[1]
    y[1] = 5.0


def window(x):
    y = x[0:1]
    y[0, 0] += 5.0


def whole(x):
    y = x[:]
    y[1] = 5.0


def loop(x):
    for y in x[:1]:
        y[0] = 1.0


def unpacked(x):
    y, _ = x
    y[0] = 1.0


@pytest.mark.parametrize("writes", [row, window, whole, loop, unpacked])
def test_a_view_of_numpy_is_told_of_at_the_line_that_writes(writes):
    x = u()
    with pytest.warns(CopyAssignmentWarning, match="take `u.1..copy") as found:
        writes(x)
    (warning,) = found
    assert warning.filename == __file__
    assert warning.lineno == writes.__code__.co_firstlineno + 2
    np.testing.assert_array_equal(x, u())
    memory = np.arange(6.0).reshape(2, 3)
    writes(memory)
    assert not np.array_equal(memory, u())  # a view there


@pytest.mark.parametrize(
    "copied",
    [
        *(lambda x: x.copy(), lambda x: x[1].copy(), lambda x: np.copy(x[1]), lambda x: x[1] + 0),
        *(lambda x: np.zeros_like(x[1]), lambda x: x[[0, 1]], lambda x: x[np.array([1])]),
        *(lambda x: x[x > 1], lambda x: np.diff(x), lambda x: np.roll(x, 1), lambda x: x[1] * 1.0),
        *(lambda x: np.take(x, 1, axis=0), lambda x: np.sort(x[1]), lambda x: x.at[0].set(1.0)),
    ],
)
def test_what_numpy_copies_is_written_without_a_word(copied):
    x = u()
    y = copied(x)
    y[0] = 5.0  # warnings are errors
    x[0] += 1.0
    x[0, 1] = 2.0
    np.testing.assert_array_equal(y[0], np.full(y.shape[1:], 5.0))


def test_one_warning_for_a_handle():
    y = u()[1]
    with pytest.warns(CopyAssignmentWarning):
        y[0] = 1.0
    y[1] = 2.0
    np.testing.assert_array_equal(y, [1, 2, 5])


def test_trunc_is_a_number_and_refused_inside_a_transform():
    assert math.trunc(tn.asarray(-2.5)) == -2
    with pytest.raises(tn.TracedConversionError, match=r"math\.trunc"):
        tn.grad(lambda x: x * math.trunc(x))(2.5)
