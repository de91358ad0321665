"""Analytic functions against NumPy, on every dtype they have, with empty arrays and rank 0."""

from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from operands import COMPLEXES, FLOATS, SHAPES, inf, nan, near, sample

from tenferro.primitives import (
    Cos,
    Erf,
    Exp,
    Expm1,
    Log,
    Log1p,
    Logistic,
    Rsqrt,
    Sin,
    Sqrt,
    Tan,
    Tanh,
)

ANALYTIC = [
    (Exp(), np.exp),
    (Log(), np.log),
    (Expm1(), np.expm1),
    (Log1p(), np.log1p),
    (Sin(), np.sin),
    (Cos(), np.cos),
    (Tan(), np.tan),
    (Tanh(), np.tanh),
    (Logistic(), lambda x: (1 / (1 + np.exp(-x))).astype(x.dtype)),
    (Sqrt(), np.sqrt),
    (Rsqrt(), lambda x: (1 / np.sqrt(x)).astype(x.dtype)),
]


@pytest.mark.parametrize("op, numpy", [pytest.param(o, f, id=o.name) for o, f in ANALYTIC])
def test_analytic(programs, op, numpy):
    """Analytic functions are NumPy's, to 16 units of the last place"""
    dtypes = (*FLOATS, *COMPLEXES)
    operands = [(sample(d, *s, low=1, high=9) / 4).astype(d) for d in dtypes for s in SHAPES]
    programs.expect([(op, x, numpy(x)) for x in operands], partial(near, ulps=16))


@pytest.mark.parametrize("dtype", COMPLEXES)
def test_the_real_part_of_a_logarithm_next_to_the_unit_circle(programs, dtype):
    """ln|z| = ½ ln(1 + (|z|² - 1)), whose argument is exact as a fraction"""
    turns = np.arange(1, 65) / 10
    z = ((1 + 1e-9 * (turns - 3)) * np.exp(1j * turns)).astype(dtype)
    excess = [float(Fraction(float(x.real)) ** 2 + Fraction(float(x.imag)) ** 2 - 1) for x in z]
    found = programs.apply(Log(), z).real
    np.testing.assert_allclose(found, np.log1p(excess) / 2, rtol=32 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", FLOATS)
def test_erf_of_known_points(programs, dtype):
    x = np.array([-inf, -1.0, -0.0, 0.5, inf, nan], dtype)
    want = np.array([-1, -0.8427007929497149, -0.0, 0.5204998778130465, 1, nan], dtype)
    near(programs.apply(Erf(), x), want)
