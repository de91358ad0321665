"""Rows of ufuncs, elementwise mathematics, comparison, creation and contraction."""

from numpy_rows import (
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


def shape_and_dtype(x):
    """What there is to compare of elements that nobody set."""
    return tuple(x.shape), str(x.dtype)


def first(results):
    return results[0]


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
LIKE = X(2, dtype="float64")
CREATION = [
    *rows("zeros ones empty", (2, 3), after=shape_and_dtype, like=LIKE),
    *rows("zeros ones", 3, dtype="int32", order="F", device="cpu", like=LIKE),
    row("empty", 3, dtype=bool, order="F", device="cpu", after=shape_and_dtype, like=LIKE),
    row("full", (2, 3), 1, like=LIKE),
    row("full", 3, X(3), grad=True, by="tn"),
    row("full", 2, 2.5, dtype="float32", order="F", device="cpu", like=LIKE),
    *rows("zeros_like ones_like", A),
    *rows(
        "zeros_like ones_like", A, dtype="int8", order="C", subok=False, shape=(3, 1), device="cpu"
    ),
    row("empty_like", A, after=shape_and_dtype),
    row(
        "empty_like",
        A,
        dtype="int8",
        order="C",
        subok=False,
        shape=3,
        device="cpu",
        after=shape_and_dtype,
    ),
    row("full_like", A, 1),
    row("full_like", A, 2.5, dtype="float32", order="F", subok=False, shape=(3, 1), device="cpu"),
    row("full_like", B, X(), grad=True),
    row("copy", A, grad=True),
    row("copy", A, order="C", subok=True),
    *rows("asarray asanyarray ascontiguousarray asfortranarray", A, like=LIKE, grad=True),
    *rows(
        "asarray asanyarray", A, dtype="complex64", order="C", device="cpu", copy=True, like=LIKE
    ),
    *rows("ascontiguousarray asfortranarray", A, dtype="float32", like=LIKE),
    row("array", A, like=LIKE, grad=True),
    row("array", B, dtype="float32", copy=True, order="C", subok=True, ndmin=3, like=LIKE),
    row("asarray_chkfinite", A, by="tn"),
    row("asarray_chkfinite", A, dtype="float64", order="C", by="tn"),
    row("asarray_chkfinite", ODD, dtypes=FLOATS, by="tn"),
    row("fromfunction", (lambda i, j, k=1: i + k * j), (2, 3), like=LIKE),
    row("fromfunction", (lambda i, j: i + j), (2, 3), dtype=int, like=LIKE),
    *rows("shape ndim size", A),
    row("size", A, axis=1),
    row("size", A, axis=(0, 1)),
    row("arange", 5, like=LIKE),
    row("arange", 2, 7, 2, like=LIKE),
    row("arange", 7, 2, -2, like=LIKE),
    row("arange", 0.5, 3, 0.4, like=LIKE),
    row("arange", 1, stop=3, step=0.5, dtype="float32", device="cpu", like=LIKE),
    row("linspace", A, B, 5, grad=True),
    row("linspace", A, 2, num=4, endpoint=False, retstep=True, axis=-1, device="cpu", grad=True),
    row("linspace", A, 9.0, dtype="int32", dtypes=REAL),
    row("linspace", B, B, 1, retstep=True, after=first),
    row("logspace", A, B, 5, grad=True, dtypes=INEXACT),
    row("logspace", A, 2, num=4, endpoint=False, base=2.5, axis=1, dtypes=REAL, grad=True),
    row("logspace", 0, 2, 4, base=POSITIVE, dtype="complex64", dtypes=REAL),
    row("geomspace", POSITIVE, 7.0, 5, grad=True, dtypes=INEXACT),
    row("geomspace", POSITIVE, 2, num=4, endpoint=False, dtype="float32", axis=1, dtypes=REAL),
    row("meshgrid", B, X(4), X(2), grad=True),
    row("meshgrid", B, X(4), indexing="ij", copy=True, sparse=True, grad=True),
    row("meshgrid", B),
    row("indices", (2, 3), by="tn"),
    row("indices", (2, 3), dtype="float32", sparse=True, by="tn"),
    row("eye", 3, like=LIKE),
    row("eye", 3, M=4, k=-1, dtype="int8", order="F", device="cpu", like=LIKE),
    row("identity", 3, like=LIKE),
    row("identity", 3, dtype="complex64", like=LIKE),
    row("tri", 3, like=LIKE),
    row("tri", 3, M=4, k=-1, dtype="int8", like=LIKE),
    *rows("tril triu", A, grad=True),
    *rows("tril triu", X(2, 3, 4), k=-1, grad=True),
    *rows("tril triu", B, k=1),
    row("diag", B, grad=True),
    row("diag", B, k=-2),
    row("diag", A, k=1, grad=True),
    row("diagflat", A, grad=True),
    row("diagflat", A, k=2),
    *rows("tril_indices triu_indices", 3, by="tn"),
    *rows("tril_indices triu_indices", 3, k=1, m=4, by="tn"),
    *rows("tril_indices_from triu_indices_from", X(3, 3)),
    *rows("tril_indices_from triu_indices_from", A, k=-1),
    row("diag_indices", 3, by="tn"),
    row("diag_indices", 3, ndim=3, by="tn"),
    row("diag_indices_from", X(3, 3)),
    row("vander", B, grad=True),
    row("vander", B, N=4, increasing=True),
]
ROWS = [*EXPONENTIAL, *ARITHMETIC, *ROUNDING, *FLOATING, *BITS, *COMPARISON, *CREATION]
