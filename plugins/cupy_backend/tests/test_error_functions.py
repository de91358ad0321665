"""The error function, its complement and its inverse in kernels: errors beside 60 digits."""

import functools

import mpmath
import numpy as np
import pytest
from functions_on_cpu import functions_of
from on_cpu import compiler

from tenferro import primitives as tp

pytestmark = pytest.mark.skipif(compiler.COMPILER is None, reason="there is no C++ compiler")

#: largest error in units in the last place of a double, as the header states it
BOUNDS = {"erf": 2, "erfc": 4, "erfinv": 4}


@functools.cache
def functions():
    return functions_of({name: getattr(tp, name.capitalize())() for name in BOUNDS}, "float64")


def numbers(name):
    """Numbers of many sizes, next to the ends, and where one formula follows another."""
    rng = np.random.default_rng(3)
    small = 10.0 ** rng.uniform(-300, -1, 30)
    if name == "erfinv":
        beside_one = 1 - 10.0 ** rng.uniform(-15.9, -1, 60)
        found = [rng.uniform(-1, 1, 150), beside_one, -beside_one, small, [0.5, 0.75]]
    else:
        ends = [np.nextafter(0.5, 0), 0.5, np.nextafter(0.5, 1), 26.5, 26.6, 27.2]
        found = [rng.uniform(-6, 6, 200), rng.uniform(6, 28, 100), small, ends]
    return np.concatenate(found)


def exact(name, x, near):
    """f(x); of the inverse, two steps of Newton from a number that is near."""
    if name != "erfinv":
        return getattr(mpmath, name)(x)
    for _ in range(2):
        near -= (mpmath.erf(near) - x) * mpmath.sqrt(mpmath.pi) / 2 * mpmath.exp(near**2)
    return near


@pytest.mark.parametrize("name", BOUNDS)
def test_errors_are_those_that_the_header_states(name):
    """|f(x) - w| ≤ bound · ulp(w)"""
    x = numbers(name)
    errors = []
    with mpmath.workdps(60):
        for number, value in zip(x, functions()[name](x), strict=True):
            got = mpmath.mpf(float(value))
            w = exact(name, mpmath.mpf(float(number)), got)
            errors.append(float(abs(got - w)) / np.spacing(float(abs(w))))
    assert max(errors) <= BOUNDS[name]


def test_special_values():
    """Ends, zeros with their signs, NaN, and what no number has"""
    inf, nan = np.inf, np.nan
    got = functions()["erfc"](np.array([inf, -inf, nan, 0.0, -0.0, 30.0]))
    np.testing.assert_array_equal(got, [0, 2, nan, 1, 1, 0])
    got = functions()["erfinv"](np.array([1.0, -1.0, nan, 2.0, -2.0, 0.0, -0.0]))
    np.testing.assert_array_equal(got, [inf, -inf, nan, nan, nan, 0, 0])
    assert np.signbit(got).tolist()[-2:] == [False, True]
