"""ln |Γ| and ψ in kernels: errors beside 60 digits, also next to zeros and poles."""

import functools

import mpmath
import numpy as np
import pytest
from functions_on_cpu import functions_of
from on_cpu import compiler

from tenferro import primitives as tp

pytestmark = pytest.mark.skipif(compiler.COMPILER is None, reason="there is no C++ compiler")

EXACT = {"lgamma": lambda x: mpmath.loggamma(x).real, "digamma": mpmath.digamma}
DTYPES = ["float32", "float64"]
ZERO_OF_DIGAMMA = 1.4616321449683623


@functools.cache
def functions(dtype):
    return functions_of({"lgamma": tp.Lgamma(), "digamma": tp.Digamma()}, dtype)


def positive(dtype):
    """Positive numbers: of many sizes, next to zeros, and where one formula follows another."""
    rng = np.random.default_rng(3)
    info = np.finfo(dtype)
    near = 10.0 ** rng.uniform(-12, -1, 60)
    sizes = 10.0 ** rng.uniform(np.log10(info.tiny), np.log10(info.max) - 3, 100)
    zeros = [point + sign * near for point in (1, 2, ZERO_OF_DIGAMMA) for sign in (-1, 1)]
    ends = np.array([0.5, 1, 1.25, 1.5, 2, 2.5, 4, 4.5, 7, 7.5])
    beside = np.concatenate([np.nextafter(ends, 0), ends, [info.tiny / 2]])
    found = [rng.uniform(0, 3, 300), rng.uniform(3, 12, 150), sizes, *zeros, beside]
    return np.concatenate(found).astype(dtype)


def negative(dtype):
    """Negative numbers that are not integers."""
    rng = np.random.default_rng(4)
    x = -np.concatenate([rng.uniform(0, 20, 200), 10.0 ** rng.uniform(-30, 2, 60)]).astype(dtype)
    return x[x != np.rint(x)]


def errors(name, x, terms=lambda x: 0):
    """|f(x) - w| in units in the last place of w, or of a term that cancels, if it is larger."""
    got, units = functions(x.dtype.name)[name](x), []
    with mpmath.workdps(60):
        for number, value in zip(x, got, strict=True):
            exact_x = mpmath.mpf(float(number))
            w = EXACT[name](exact_x)
            size = max(float(abs(w)), float(terms(exact_x)))
            unit = float(np.spacing(x.dtype.type(size)))
            units.append(float(abs(mpmath.mpf(float(value)) - w)) / unit)
    return max(units)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", EXACT)
def test_errors_for_positive_numbers_are_those_that_the_header_states(name, dtype):
    """|f(x) - w| ≤ 4 ulp(w)"""
    assert errors(name, positive(dtype)) <= 4


@pytest.mark.parametrize("dtype", DTYPES)
def test_errors_for_negative_numbers_are_those_that_the_header_states(dtype):
    """The unit is that of a term that cancels, or, for ψ, of the change by one rounding of x"""
    x = negative(dtype)
    assert errors("lgamma", x, lambda x: 1) <= 4
    assert errors("digamma", x, lambda x: mpmath.pi**2 * -x / mpmath.sin(mpmath.pi * x) ** 2) <= 4


@pytest.mark.parametrize("dtype", DTYPES)
def test_special_values(dtype):
    """Poles, zeros with their signs, infinities, NaN"""
    x = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0, -1.0, -2.0, 1.0, 2.0], dtype)
    inf, nan = np.inf, np.nan
    want = {
        "lgamma": [inf, -inf, nan, inf, inf, inf, inf, 0, 0],
        "digamma": [inf, nan, nan, -inf, inf, nan, nan, -np.euler_gamma, 1 - np.euler_gamma],
    }
    for name, values in want.items():
        np.testing.assert_allclose(functions(dtype)[name](x), np.array(values, dtype), rtol=2e-7)
