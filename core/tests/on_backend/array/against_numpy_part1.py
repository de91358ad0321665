"""Rows of ufuncs, elementwise mathematics, comparison, creation and contraction."""

from numpy_rows import (
    ALL,
    COMPLEX,
    FLOATS,
    INEXACT,
    INTEGERS,
    NUMERIC,
    ORDERED,
    REAL,
    SIGNED,
    X,
    row,
    rows,
)

A = X(2, 3)
B = X(3, seed=1)
POSITIVE = X(2, 3, low=0.4, high=3)
DIVISOR = X(3, low=0.4, high=3, seed=1)
SMALL = X(2, 3, low=-0.6, high=0.7)
NEGATIVE_DIVISOR = X(3, low=-3, high=-0.4, seed=1)
ODD = X(values=[0.0, -0.0, 1.5, -2.5, float("inf"), float("-inf"), float("nan")])
FLOATING_LIKE = ("float16", "float32", "float64")

EXPONENTIAL = [
    *rows("exp exp2 expm1 sin cos tanh", A, grad=True),
    *rows("sinh cosh arcsinh asinh", A, grad=True),
    *rows("tan", SMALL, grad=True),
    *rows("log log2 log10 log1p sqrt", POSITIVE, grad=True),
    *rows("arcsin asin arccos acos arctan atan arctanh atanh", SMALL, grad=True),
    *rows("arccosh acosh", X(2, 3, low=1.2, high=3), grad=True),
    *rows("cbrt degrees rad2deg radians deg2rad", A, dtypes=ORDERED, grad="real"),
    *rows("logaddexp logaddexp2 arctan2 atan2 hypot", A, B, dtypes=ORDERED, grad="real"),
    row("sinc", A, dtypes=INEXACT, grad=True),
    row("sinc", X(values=[0.0, 1e-3, 0.1, -0.15, 0.2, 1.0])),
]
ARITHMETIC = [
    *rows("add subtract multiply", A, B, grad=True),
    *rows("divide true_divide", A, DIVISOR, grad=True),
    row("power", POSITIVE, B, dtypes=INEXACT, grad=True),
    row("power", A, X(3, low=0, high=1, seed=1), dtypes=INTEGERS),
    row("power", A, 3, grad=True),
    row("pow", POSITIVE, 2.5, grad=True),
    row("float_power", POSITIVE, B, grad=True),
    *rows("negative positive square", A, grad=True),
    *rows("absolute abs", A, grad=True),
    row("fabs", A, dtypes=ORDERED, grad="real"),
    row("sign", A),
    row("reciprocal", X(2, 3, low=0.7, high=3), dtypes=NUMERIC, grad=True),
    *rows("conj conjugate", A, grad=True),
    *rows("maximum minimum fmax fmin", A, B, dtypes=ORDERED, grad="real"),
    *rows("maximum minimum fmax fmin", ODD, ODD.shape or 0.5, dtypes=FLOATS, grad="real"),
]
ROUNDING = [
    *rows("floor ceil trunc rint", A),
    row("fix", A, dtypes=ORDERED),
    *rows("round around", A),
    *rows("round around", X(2, 3, low=-99, high=99), decimals=1, dtypes=INEXACT),
    row("round", X(2, 3, low=-99, high=99), decimals=-1, dtypes=(*INEXACT, *SIGNED)),
    *rows("floor_divide", A, DIVISOR, dtypes=NUMERIC),
    *rows("remainder mod fmod", A, DIVISOR, dtypes=NUMERIC, grad="real"),
    row("divmod", A, DIVISOR, dtypes=NUMERIC, grad="real"),
    *rows("floor_divide remainder mod fmod divmod", A, X(values=[1, 1, 1])),
    *rows("floor_divide", A, NEGATIVE_DIVISOR, dtypes=(*FLOATS, *SIGNED)),
    *rows("remainder mod fmod", A, NEGATIVE_DIVISOR, dtypes=(*FLOATS, *SIGNED), grad="real"),
    row("divmod", A, NEGATIVE_DIVISOR, dtypes=(*FLOATS, *SIGNED), grad="real"),
    row("modf", A, grad="real"),
]
FLOATING = [
    *rows("signbit isfinite isinf isnan", A),
    *rows("signbit isfinite isinf isnan frexp", ODD, dtypes=FLOATS),
    row("spacing", A, dtypes=(*REAL, "int32", "uint8", "complex64")),
    row("spacing", ODD, dtypes=REAL),
    *rows("copysign nextafter", A, B, dtypes=ORDERED, grad="real"),
    row("heaviside", A, B, dtypes=ORDERED),
    row("ldexp", A, X(3, dtype="int32"), grad="real"),
    row("frexp", A, grad="real"),
    *rows("isposinf isneginf", A),
    *rows("isposinf isneginf", ODD, dtypes=FLOATS),
    row("nan_to_num", A, grad=True),
    row("nan_to_num", ODD, nan=1, posinf=2, neginf=-3, copy=True, dtypes=INEXACT, grad=True),
    *rows("isreal iscomplex isrealobj iscomplexobj", A),
]
BITS = [
    *rows("bitwise_and bitwise_or bitwise_xor gcd lcm", A, B),
    *rows("invert bitwise_not bitwise_invert bitwise_count", A),
    *rows("left_shift bitwise_left_shift right_shift bitwise_right_shift", A, X(3, low=0, high=2)),
]
COMPARISON = [
    *rows("equal not_equal logical_and logical_or logical_xor", A, B),
    *rows("less less_equal greater greater_equal", A, B, dtypes=ORDERED),
    row("logical_not", A),
]
ROWS = [*EXPONENTIAL, *ARITHMETIC, *ROUNDING, *FLOATING, *BITS, *COMPARISON]
