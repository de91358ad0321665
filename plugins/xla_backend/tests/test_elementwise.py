"""Elementwise primitives that are exact, on every dtype they have, with empty arrays and rank 0.

Read next: ``as_users_compile/test_analytic.py``.
"""

import numpy as np
import pytest
from operands import ALL, COMPLEXES, FLOATS, NARROW, NUMERIC, REAL, SHAPES, near, sample

from tenferro.primitives import (
    Abs,
    Add,
    Complex,
    Conj,
    Eq,
    Ge,
    Gt,
    Imag,
    IntegerPow,
    Le,
    LogicalAnd,
    LogicalNot,
    LogicalOr,
    LogicalXor,
    Lt,
    Maximum,
    Minimum,
    Mul,
    Ne,
    Neg,
    Real,
    ReduceSum,
    Sign,
    Square,
    StopGradient,
    Sub,
)

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
    (Abs(), np.abs, REAL),
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


@pytest.mark.parametrize("op, numpy, dtypes", [pytest.param(*r, id=r[0].name) for r in BINARY])
def test_binary(programs, op, numpy, dtypes):
    """Functions of two operands are NumPy's, to the bit"""
    pairs = [(sample(d, *s), sample(d, *s, seed=1)) for d in dtypes for s in SHAPES]
    programs.expect([(op, x, y, numpy(x, y)) for x, y in pairs])


@pytest.mark.parametrize("op, numpy, dtypes", [pytest.param(*r, id=repr(r[0])) for r in UNARY])
def test_unary(programs, op, numpy, dtypes):
    """Functions of one operand are NumPy's, to the bit"""
    operands = [sample(d, *s) for d in dtypes for s in SHAPES]
    programs.expect([(op, x, numpy(x)) for x in operands])


@pytest.mark.parametrize("dtype", COMPLEXES)
def test_moduli(programs, dtype):
    """|z| is NumPy's, to a few units of the last place"""
    operands = [sample(dtype, *s) for s in SHAPES]
    programs.expect([(Abs(), z, np.abs(z)) for z in operands], near)


@pytest.mark.parametrize("dtype", NARROW)
def test_narrow_dtypes_are_kept(programs, dtype):
    import ml_dtypes

    dtype = np.dtype(getattr(ml_dtypes, dtype, dtype))
    x = np.array([1, 2, 3], dtype)
    rows = [(Add(), x, x, x + x), (Mul(), x, x, x * x), (Maximum(), x, x, x)]
    programs.expect([*rows, (ReduceSum((0,)), x, np.array(6, dtype)), (Neg(), x, np.negative(x))])
