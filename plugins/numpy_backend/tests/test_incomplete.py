"""Incomplete gamma and beta functions where older SciPy is wrong: NaN, and the rim of shapes."""

from functools import partial
from math import inf, nan

import numpy as np
import pytest
from scipy import special

from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like import incomplete
from tenferro.primitives.incomplete import Betainc, Betaincc, Gammainc, Gammaincc

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
    """SciPy's function as in version 1.15: beta is NaN at the rim, gamma loses a shape of NaN."""
    function = getattr(special, name)

    def beta(a, b, x):
        is_inside = (a > 0) & (b > 0) & np.isfinite(a) & np.isfinite(b)
        return np.where(is_inside, function(a, b, x), nan)

    def gamma(a, x):
        return function(np.where(np.isnan(a), 1.0, a), np.where(np.isinf(a), 1.0, x))

    return beta if "beta" in name else gamma if "gammainc" in name else function


def without_complement(name):
    """As CuPy, which has no ``betaincc``."""
    if name == "betaincc":
        raise AttributeError(name)
    return without_limits(name)


def functions(find):
    """The lowerings of the family, by the names of their primitives, over what `find` gives."""
    lowerings = Lowerings()
    incomplete.register(lowerings, np, find)
    return {record.primitive: record.target for record in lowerings}


@pytest.mark.parametrize("find", [without_limits, without_complement, partial(getattr, special)])
def test_limits_at_the_rim_do_not_depend_on_scipy(find):
    found = functions(find)
    a, b, x, below = RIM.T
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(found["std::betainc"](Betainc(), a, b, x), below)
        np.testing.assert_array_equal(found["std::betaincc"](Betaincc(), a, b, x), 1 - below)


@pytest.mark.parametrize("op", [Gammainc(), Gammaincc()])
@pytest.mark.parametrize("find", [without_limits, partial(getattr, special)])
def test_nan_stays_nan(find, op):
    a, x = np.array([[nan, nan, nan, inf, 1.0, nan], [0.0, 2.0, inf, nan, nan, nan]])
    assert np.isnan(functions(find)[op.key](op, a, x)).all()
