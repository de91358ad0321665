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


@pytest.mark.parametrize("a", [1e-20, 1e-8, 1e-3, 0.1, 0.5, 3.0])
@pytest.mark.parametrize("x", [1e-300, 1e-18, 9e-16])
def test_both_parts_of_beta_keep_their_digits_at_tiny_places(a, x):
    """DLMF 8.17.7 with its first two terms: the next one is below 1e-30."""
    mpmath = pytest.importorskip("mpmath")
    found = functions(partial(getattr, special))
    b = np.array([1e-10, 1e-3, 0.5, 3.0, 100.0])
    with mpmath.workdps(60):
        below = [
            mpmath.mpf(x) ** a / (a * mpmath.beta(a, b)) * (1 + a * (1 - b) / (a + 1) * x)
            for b in map(mpmath.mpf, map(float, b))
        ]
        above = np.array([float(1 - part) for part in below])
    given = [np.broadcast_to(v, b.shape).copy() for v in (a, b, x)]
    np.testing.assert_allclose(
        found["std::betainc"](Betainc(), *given), [float(part) for part in below], rtol=1e-13
    )
    np.testing.assert_allclose(found["std::betaincc"](Betaincc(), *given), above, rtol=1e-13)


@pytest.mark.parametrize("op", [Gammainc(), Gammaincc()])
@pytest.mark.parametrize("find", [without_limits, partial(getattr, special)])
def test_nan_stays_nan(find, op):
    a, x = np.array([[nan, nan, nan, inf, 1.0, nan], [0.0, 2.0, inf, nan, nan, nan]])
    assert np.isnan(functions(find)[op.key](op, a, x)).all()
