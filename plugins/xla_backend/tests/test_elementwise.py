"""Elementwise primitives against NumPy, on every dtype they have, with empty arrays and rank 0."""

from fractions import Fraction

import numpy as np
import pytest
from operands import ALL, COMPLEXES, FLOATS, NARROW, NUMERIC, REAL, inf, nan, near, same, sample

from tenferro.primitives import (
    Abs,
    Add,
    Complex,
    Conj,
    Cos,
    Eq,
    Erf,
    Exp,
    Expm1,
    Ge,
    Gt,
    Imag,
    IntegerPow,
    Le,
    Log,
    Log1p,
    LogicalAnd,
    LogicalNot,
    LogicalOr,
    LogicalXor,
    Logistic,
    Lt,
    Maximum,
    Minimum,
    Mul,
    Ne,
    Neg,
    Real,
    ReduceSum,
    Rsqrt,
    Sign,
    Sin,
    Sqrt,
    Square,
    StopGradient,
    Sub,
    Tan,
    Tanh,
)

SHAPES = ((), (0,), (1,), (2, 3))
BINARY = [
    (Add(), np.add, NUMERIC),
    (Sub(), np.subtract, NUMERIC),
    (Mul(), np.multiply, NUMERIC),
    (Maximum(), np.maximum, (*REAL, "bool")),
    (Minimum(), np.minimum, (*REAL, "bool")),
    (Eq(), np.equal, ALL),
    (Ne(), np.not_equal, ALL),
    (Lt(), np.less, (*REAL, "bool")),
    (Le(), np.less_equal, (*REAL, "bool")),
    (Gt(), np.greater, (*REAL, "bool")),
    (Ge(), np.greater_equal, (*REAL, "bool")),
    (LogicalAnd(), np.logical_and, ("bool",)),
    (LogicalOr(), np.logical_or, ("bool",)),
    (LogicalXor(), np.logical_xor, ("bool",)),
    (Complex(), lambda x, y: (x + 1j * y).astype(np.result_type(x, np.complex64)), FLOATS),
]
UNARY = [
    (Neg(), np.negative, NUMERIC),
    (Abs(), np.abs, NUMERIC),
    (Sign(), np.sign, REAL),
    (Square(), np.square, NUMERIC),
    (Real(), np.real, NUMERIC),
    (Imag(), np.imag, COMPLEXES),
    (Conj(), np.conj, NUMERIC),
    (LogicalNot(), np.logical_not, ("bool",)),
    (StopGradient(), np.array, ALL),
    (IntegerPow(0), lambda x: np.ones_like(x), NUMERIC),
    (IntegerPow(3), lambda x: x * x * x, NUMERIC),
]


@pytest.mark.parametrize(
    "op, numpy, dtype",
    [pytest.param(op, f, d, id=f"{op.name}-{d}") for op, f, ds in BINARY for d in ds],
)
def test_binary(programs, op, numpy, dtype):
    """Functions of two operands are NumPy's, to the bit"""
    rows = [(sample(dtype, *s), sample(dtype, *s, seed=1)) for s in SHAPES]
    for row, found in zip(rows, programs.apply_to_each(op, rows), strict=True):
        same(found, numpy(*row))


@pytest.mark.parametrize(
    "op, numpy, dtype",
    [pytest.param(op, f, d, id=f"{op!r}-{d}") for op, f, ds in UNARY for d in ds],
)
def test_unary(programs, op, numpy, dtype):
    """Functions of one operand are NumPy's, to the bit"""
    compare = near if dtype in COMPLEXES and isinstance(op, Abs) else same
    rows = [(sample(dtype, *s),) for s in SHAPES]
    for row, found in zip(rows, programs.apply_to_each(op, rows), strict=True):
        compare(found, numpy(*row))


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


@pytest.mark.parametrize("dtype", [*FLOATS, *COMPLEXES])
@pytest.mark.parametrize("op, numpy", [pytest.param(o, f, id=o.name) for o, f in ANALYTIC])
def test_analytic(programs, op, numpy, dtype):
    """Analytic functions are NumPy's, to 16 units of the last place"""
    rows = [((sample(dtype, *s, low=1, high=9) / 4).astype(dtype),) for s in SHAPES]
    for row, found in zip(rows, programs.apply_to_each(op, rows), strict=True):
        near(found, numpy(*row), ulps=16)


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


@pytest.mark.parametrize("dtype", NARROW)
def test_narrow_dtypes_are_kept(programs, dtype):
    import ml_dtypes

    dtype = np.dtype(getattr(ml_dtypes, dtype, dtype))
    x = np.array([1, 2, 3], dtype)
    for op, want in ((Add(), x + x), (Mul(), x * x), (Maximum(), x)):
        same(programs.apply(op, x, x), want)
    same(programs.apply(ReduceSum((0,)), x), np.array(6, dtype))
    same(programs.apply(Neg(), x), np.negative(x))
