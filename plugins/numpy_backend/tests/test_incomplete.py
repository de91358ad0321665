"""Incomplete beta functions where SciPy has no value: limits at the rim of the shapes."""

from functools import partial
from math import inf, nan

import numpy as np
import pytest
from scipy import special

from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like import incomplete
from tenferro.primitives.incomplete import Betainc, Betaincc

# a, b, x, and the limit of I_x(a, b): all probability is at 0 or at 1
RIM = np.array(
    [
        [0.0, 1.0, 0.0, 0.0],
        [0.0, 1.0, 0.5, 1.0],
        [0.0, inf, 0.5, 1.0],
        [1.0, inf, 0.5, 1.0],
        [1.0, 0.0, 0.5, 0.0],
        [inf, 0.0, 0.5, 0.0],
        [inf, 1.0, 0.5, 0.0],
        [inf, 1.0, 1.0, 1.0],
        [0.0, 0.0, 0.5, nan],
        [inf, inf, 0.5, nan],
        [0.0, -1.0, 0.5, nan],
        [0.0, 1.0, 1.5, nan],
        [0.0, 1.0, nan, nan],
        [2.0, 1.0, 0.5, 0.25],
    ]
)


def without_limits(name):
    """SciPy's function; those of the beta family are NaN at the rim, as before SciPy 1.16."""
    function = getattr(special, name)
    if not name.startswith("betainc"):
        return function

    def old(a, b, x):
        is_inside = (a > 0) & (b > 0) & np.isfinite(a) & np.isfinite(b)
        return np.where(is_inside, function(a, b, x), nan)

    return old


def without_complement(name):
    """As CuPy, which has no ``betaincc``."""
    if name == "betaincc":
        raise AttributeError(name)
    return without_limits(name)


@pytest.mark.parametrize("find", [without_limits, without_complement, partial(getattr, special)])
def test_limits_at_the_rim_do_not_depend_on_scipy(find):
    lowerings = Lowerings()
    incomplete.register(lowerings, np, find)
    functions = {record.primitive: record.target for record in lowerings}
    a, b, x, below = RIM.T
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(functions["std::betainc"](Betainc(), a, b, x), below)
        np.testing.assert_array_equal(functions["std::betaincc"](Betaincc(), a, b, x), 1 - below)
