"""Slices that are stacked along another axis, against the same in NumPy, bit for bit."""

import numpy as np
import pytest

import tenferro as tn

X = np.arange(2 * 6 * 7 * 1, dtype=float).reshape(2, 6, 7, 1)
PLACES = {
    "all": range(6),
    "some": range(1, 5),
    "backward": range(5, -1, -1),
    "every second": (0, 2, 4),
    "two runs": (0, 1, 2, 3, 5, 4, 3, 2, 1, 0),
    "one run among others": (5, 1, 2, 3, 4, 0, 0),
    "the same": (2, 2, 2, 2, 2),
}
SHAPES = {
    "rows": lambda x, k: x[:, k],
    "kept": lambda x, k: x[:, k : k + 1],
    "of the last axis": lambda x, k: x[..., k, 0],
    "part of a plane": lambda x, k: x[1, k, 2:5],
    "elements": lambda x, k: x[1, k, 3, 0],
    "turned": lambda x, k: x[:, k, :, 0].T,
    "flattened": lambda x, k: x[:, k].reshape(-1),
}


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("places", PLACES)
@pytest.mark.parametrize("cut", SHAPES)
def test_stacked_slices(cut, places, axis):
    """Slices that are stacked along any axis are NumPy's"""

    def stacked(x):
        parts = [SHAPES[cut](x, k) for k in PLACES[places]]
        return np.stack(parts, axis if parts[0].ndim else 0)

    np.testing.assert_array_equal(tn.jit(stacked)(X), stacked(X))


@pytest.mark.parametrize("axis", [0, 1, 2, 3])
@pytest.mark.parametrize("places", PLACES)
def test_slices_one_behind_the_other(places, axis):
    def joined(x):
        return np.concatenate([x[:, k : k + 1] for k in PLACES[places]], axis)

    np.testing.assert_array_equal(tn.jit(joined)(X), joined(X))
