"""Every primitive against NumPy, on every dtype it has, with empty arrays and rank 0.

The conformance kit judges accuracy; here stand the places where XLA and NumPy part ways.
"""

import math
from decimal import Decimal, localcontext

import jax
import numpy as np
import pytest

import tenferro as tn
from tenferro.primitives import (
    STANDARD,
    Abs,
    Add,
    Argmax,
    Argmin,
    Aval,
    BroadcastInDim,
    Clamp,
    Complex,
    Concatenate,
    Conj,
    Constant,
    Convert,
    Cos,
    Div,
    DotGeneral,
    DType,
    DynamicSlice,
    DynamicUpdateSlice,
    Eq,
    Erf,
    Exp,
    Expm1,
    Gather,
    Ge,
    Gt,
    Imag,
    IntegerPow,
    Iota,
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
    Pad,
    Pow,
    Real,
    ReduceMax,
    ReduceMin,
    ReduceProd,
    ReduceSum,
    Reshape,
    Reverse,
    Rsqrt,
    ScatterAdd,
    Select,
    Sign,
    Sin,
    Slice,
    Sqrt,
    Square,
    StopGradient,
    Sub,
    Tan,
    Tanh,
    Transpose,
    bind,
)

inf, nan = np.inf, np.nan
FLOATS = ("float32", "float64")
COMPLEXES = ("complex64", "complex128")
INTEGERS = ("int32", "int64")
NARROW = ("int8", "int16", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16")
NUMERIC = (*FLOATS, *COMPLEXES, *INTEGERS)
REAL = (*FLOATS, *INTEGERS)
ALL = (*NUMERIC, "bool")


def sample(dtype, *shape, seed=0, low=-4, high=5):
    """Numbers of a dtype: small integers, also as floats, so that most results are exact."""
    rng = np.random.default_rng(seed)
    whole = rng.integers(low, high, shape)
    if dtype == "bool":
        return whole > 0
    if dtype in COMPLEXES:
        return (whole + 1j * rng.integers(low, high, shape)).astype(dtype)
    return np.asarray(whole).astype(dtype)


def same(got, want):
    """Shape, dtype and values, a nan like a nan."""
    want = np.asarray(want)
    assert (got.shape, got.dtype) == (want.shape, want.dtype)
    np.testing.assert_array_equal(got, want)


def near(got, want, ulps=8):
    """Shape, dtype, and values up to some ulps of the largest part."""
    want = np.asarray(want)
    assert (got.shape, got.dtype) == (want.shape, want.dtype)
    np.testing.assert_allclose(got, want, rtol=ulps * np.finfo(want.dtype).eps, atol=1e-30)


def test_every_standard_primitive_has_a_lowering_or_a_decomposition(xla):
    missing = [p.key for p in STANDARD if xla.lowerings.status(p) == "missing"]
    assert [key for key in missing if key != "std::pin"] == []


# ---- elementwise: operation, operands, what NumPy computes ---------------------------------------

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
    rows = [(sample(dtype, *s), sample(dtype, *s, seed=1)) for s in SHAPES]
    for row, found in zip(rows, programs.apply_to_each(op, rows), strict=True):
        same(found, numpy(*row))


@pytest.mark.parametrize(
    "op, numpy, dtype",
    [pytest.param(op, f, d, id=f"{op!r}-{d}") for op, f, ds in UNARY for d in ds],
)
def test_unary(programs, op, numpy, dtype):
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
    rows = [((sample(dtype, *s, low=1, high=9) / 4).astype(dtype),) for s in SHAPES]
    for row, found in zip(rows, programs.apply_to_each(op, rows), strict=True):
        near(found, numpy(*row), ulps=16)


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


# ---- where XLA alone would differ ----------------------------------------------------------------


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("op", [Maximum(), Minimum()], ids=repr)
def test_nan_wins_in_the_extremum_of_two(programs, op, dtype):
    x, y = np.array([nan, 1, nan, inf], dtype), np.array([1, nan, nan, -inf], dtype)
    assert np.isnan(programs.apply(op, x, y)[:3]).all()
    large = np.full(5001, 2, dtype)
    large[1234] = nan
    assert np.isnan(programs.apply(op, large, large + 1)).nonzero()[0].tolist() == [1234]


@pytest.mark.parametrize("size", [1, 7, 8, 100, 4097, 70001])
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("op", [ReduceMax((0,)), ReduceMin((0,))], ids=repr)
def test_nan_wins_in_the_extremum_of_many(programs, op, dtype, size):
    """Once an array is large enough to be vectorized, XLA's own reduction drops a nan."""
    executable = programs.compile(lambda x: bind(op, x), Aval((size,), dtype))
    for place in {0, size // 2, size - 1}:
        x = sample(dtype, size)
        x[place] = nan
        assert np.isnan(np.asarray(executable(x)[0]))


@pytest.mark.parametrize("op", [ReduceMax((0, 2)), ReduceMin((1,)), ReduceMax((2,))], ids=repr)
def test_nan_wins_along_axes(programs, op):
    x = sample("float64", 40, 30, 50)
    x[3, 4, 5] = nan
    numpy = np.max if isinstance(op, ReduceMax) else np.min
    same(programs.apply(op, x), numpy(x, axis=op.axes))


@pytest.mark.parametrize("dtype", FLOATS)
def test_first_nan_and_first_tie_win(programs, dtype):
    x = np.array([[1, nan, 3, nan], [5, 5, 2, 2], [-inf, inf, inf, -inf]], dtype)
    for op, numpy in ((Argmax, np.argmax), (Argmin, np.argmin)):
        for kind in ("int64", "int32"):
            found = programs.apply(op(1, DType.of(kind)), x)
            same(found, numpy(x, axis=1).astype(kind))


@pytest.mark.parametrize("dtype", [*INTEGERS, "int8", "uint8"])
def test_integer_division_truncates_and_never_traps(programs, dtype):
    low = np.iinfo(dtype).min
    pairs = [(7, 2), (7, 3), (5, 0), (0, 0)]
    if low:
        pairs += [(-7, 2), (7, -2), (-7, -2), (low, -1), (low, 0)]
    x, y = np.array(pairs, dtype).T
    want = [0 if b == 0 else low if (a, b) == (low, -1) else int(a / b) for a, b in pairs]
    same(programs.apply(Div(), x, y), np.array(want, dtype))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_wrap(programs, dtype):
    ends = np.iinfo(dtype)
    x = np.array([ends.max, ends.min], dtype)
    one = np.ones(2, dtype)
    same(programs.apply(Add(), x, one), np.array([ends.min, ends.min + 1], dtype))
    same(programs.apply(Neg(), x), np.array([-ends.max, ends.min], dtype))
    same(programs.apply(Abs(), x), np.array([ends.max, ends.min], dtype))
    same(programs.apply(Mul(), x, 2 * one), np.array([-2, 0], dtype))
    with np.errstate(over="ignore"):
        same(programs.apply(IntegerPow(40), 3 * one), (3 * one) ** 40)


@pytest.mark.parametrize("dtype", [*INTEGERS, "uint8"])
def test_integers_have_powers(programs, dtype):
    x = np.array([2, 3, 0, 0, 1, 10, 7], dtype)
    y = np.array([5, 40, 0, 3, 9, 1, 0], dtype)
    with np.errstate(over="ignore"):
        same(programs.apply(Pow(), x, y), x**y)
    if dtype != "uint8":
        x, y = np.array([-2, -1, -1, 1, 2, 0], dtype), np.array([3, -3, -4, -5, -1, -1], dtype)
        same(programs.apply(Pow(), x, y), np.array([-8, -1, 1, 1, 0, 0], dtype))
    same(programs.apply(Pow(), np.zeros(0, dtype), np.zeros(0, dtype)), np.zeros(0, dtype))
    same(programs.apply(Pow(), np.array(3, dtype), np.array(4, dtype)), np.array(81, dtype))


@pytest.mark.parametrize("dtype", [*FLOATS, *COMPLEXES])
def test_division_by_zero_of_inexact_numbers(programs, dtype):
    x, y = np.array([1, -1, 0], dtype), np.zeros(3, dtype)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(
            np.isfinite(programs.apply(Div(), x, y)), np.isfinite(np.divide(x, y))
        )


@pytest.mark.parametrize("dtype", FLOATS)
def test_sign_of_zeros_and_specials(programs, dtype):
    x = np.array([-0.0, 0.0, nan, inf, -inf, -3], dtype)
    found = programs.apply(Sign(), x)
    same(found, np.array([0, 0, nan, 1, -1, -1], dtype))
    assert not np.signbit(found[:2]).any()


@pytest.mark.parametrize("dtype", COMPLEXES)
def test_sign_and_modulus_of_complex_numbers(programs, dtype):
    z = np.array(
        [3 + 4j, 0, -2, complex(inf, 1), complex(1, -inf), complex(inf, nan), complex(inf, inf)],
        dtype,
    )
    want = np.array([0.6 + 0.8j, 0, -1, 1, -1j, 1, complex(nan, nan)], dtype)
    near(programs.apply(Sign(), z), want)
    near(programs.apply(Abs(), z), np.array([5, 0, 2, inf, inf, inf, inf], want.real.dtype))
    far = np.array([complex(3e30, 4e30), complex(3e-30, 4e-30)], dtype)
    near(programs.apply(Sign(), far), np.array([0.6 + 0.8j] * 2, dtype))
    near(programs.apply(Abs(), far), np.array([5e30, 5e-30], want.real.dtype))


@pytest.mark.parametrize("dtype", COMPLEXES)
def test_root_on_its_cut(programs, dtype):
    z = np.array([complex(-4, 0.0), complex(-4, -0.0), complex(0.0, -0.0), 4], dtype)
    found = programs.apply(Sqrt(), z)
    same(found, np.sqrt(z))
    assert np.signbit(found.imag).tolist() == [False, True, True, False]


def log_of(re, im):
    """ln of a complex number in 60 digits, rounded at the end."""
    with localcontext() as context:
        context.prec = 60
        square = Decimal(re) ** 2 + Decimal(im) ** 2
        return complex(float(square.ln() / 2), math.atan2(im, re))


def test_log1p_keeps_its_digits(programs):
    """`lax.log1p` is wrong by 128 ulp around -0.3."""
    tiny = [1e-300, -1e-300, 1e-17, -1e-9, 3e-8, 1e-5, -1e-3]
    x = np.concatenate([np.linspace(-0.97, 3, 2003), tiny])
    with localcontext() as context:
        context.prec = 360
        want = np.array([float((1 + Decimal(float(v))).ln()) for v in x])
    np.testing.assert_array_max_ulp(programs.apply(Log1p(), x), want, maxulp=2)
    special = np.array([-0.0, 0.0, -1, -2, inf, nan])
    same(programs.apply(Log1p(), special), np.array([-0.0, 0.0, -inf, nan, inf, nan]))
    assert np.signbit(programs.apply(Log1p(), special)[0])


@pytest.mark.parametrize("size", [1, 1 + 1e-9, 0.7, 1e-6])
def test_complex_logarithms_keep_their_digits(programs, size):
    """The real part is near 0 on the unit circle, and for log1p near 0."""
    z = size * np.exp(1j * np.linspace(0.1, 6.2, 301))
    want = np.array([log_of(v.real, v.imag) for v in z])
    assert np.max(np.abs(programs.apply(Log(), z) - want) / np.abs(want)) < 2e-15
    shifted = 1 + z  # rounded, and z made to fit, so that 1 + z is exact
    z = shifted - 1
    want = np.array([log_of(v.real, v.imag) for v in shifted])
    assert np.max(np.abs(programs.apply(Log1p(), z) - want) / np.abs(want)) < 2e-15


@pytest.mark.parametrize("exponent", [-9, -3, -1, 2, 4, 5, 17, 50])
@pytest.mark.parametrize("dtype", FLOATS)
def test_integer_powers_keep_their_digits(programs, exponent, dtype):
    x = np.linspace(0.5, 1.5, 211).astype(dtype)
    x = np.concatenate([x, -x])
    exact = x.astype(np.longdouble) ** exponent
    ulps = np.abs(programs.apply(IntegerPow(exponent), x) - exact) / np.spacing(
        np.abs(exact).astype(dtype)
    )
    assert ulps.max() < 2.5


def test_clamp_with_crossed_bounds_and_nan(programs):
    lo, x, hi = np.array([2.0, 0, nan, 0]), np.array([0.0, nan, 1, 1]), np.array([1.0, 1, 2, nan])
    same(programs.apply(Clamp(), lo, x, hi), np.minimum(np.maximum(x, lo), hi))


def test_select_leaves_the_untaken_branch(programs):
    pred = np.array([True, False])
    for dtype in ALL:
        x, y = sample(dtype, 2), sample(dtype, 2, seed=1)
        same(programs.apply(Select(), pred, x, y), np.where(pred, x, y))


# ---- conversion ----------------------------------------------------------------------------------


@pytest.mark.parametrize("target", [*ALL, *NARROW[:6]])
def test_convert_as_numpy_does(programs, target):
    rows = [(sample(source, 7, low=0, high=100),) for source in ALL]
    results = programs.apply_to_each(Convert(DType.of(target)), rows)
    for (x,), found in zip(rows, results, strict=True):
        real_part = x.dtype.kind == "c" and target not in (*COMPLEXES, "bool")
        same(found, (x.real if real_part else x).astype(target))


def test_convert_truncates_wraps_and_saturates(programs):
    x = np.array([1.9, -1.9, -0.5, 2.5, nan, inf, -inf, 1e30])
    ends = np.iinfo(np.int32)
    want = np.array([1, -1, 0, 2, 0, ends.max, ends.min, ends.max], np.int32)
    same(programs.apply(Convert(DType.of("int32")), x), want)
    same(
        programs.apply(Convert(DType.of("bool")), x), np.array([1, 1, 1, 1, 1, 1, 1, 1], dtype=bool)
    )
    wide = np.array([2**31, -1, 2**40 + 5])
    same(programs.apply(Convert(DType.of("int32")), wide), wide.astype(np.int32))
    same(programs.apply(Convert(DType.of("uint8")), wide), wide.astype(np.uint8))
    z = np.array([0j, 1j, complex(nan, 0), 2 + 0j])
    same(programs.apply(Convert(DType.of("bool")), z), np.array([False, True, True, True]))


# ---- constants and moves -------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(), (0,), (2, 3)], ids=str)
def test_constants_keep_their_bits(programs, shape):
    values = [(-0.0, "float64"), (nan, "float32"), (True, "bool"), (2**63 - 1, "int64")]
    values += [
        (complex(-0.0, inf), "complex128"),
        (complex(1, -0.0), "complex64"),
        (0.1, "float32"),
        (255, "uint8"),
        (2**64 - 1, "uint64"),
    ]
    for value, dtype in values:
        found = programs.run(lambda v=value, d=dtype: bind(Constant(v, DType.of(d), shape)))
        want = np.full(shape, value, dtype)
        same(found, want)
        if want.dtype.kind in "fc":
            np.testing.assert_array_equal(np.signbit(found.real), np.signbit(want.real))
            np.testing.assert_array_equal(np.signbit(found.imag), np.signbit(want.imag))


@pytest.mark.parametrize("dtype", NUMERIC)
def test_iota(programs, dtype):
    found = programs.run(lambda: bind(Iota((2, 3), 1, DType.of(dtype))))
    same(found, np.array([[0, 1, 2]] * 2, dtype))


MOVES = [
    (Reshape((3, 2)), lambda x: x.reshape(3, 2)),
    (Reshape((6, 1)), lambda x: x.reshape(6, 1)),
    (Transpose((1, 0)), np.transpose),
    (BroadcastInDim((2, 4, 3), (0, 2)), lambda x: np.repeat(x[:, None], 4, 1)),
    (Slice((0, 0), (2, 3), (1, 2)), lambda x: x[:, ::2]),
    (Slice((1, 1), (1, 3), (1, 1)), lambda x: x[1:1, 1:3]),
    (Reverse((1,)), lambda x: x[:, ::-1]),
    (Reverse((0, 1)), lambda x: x[::-1, ::-1]),
]


@pytest.mark.parametrize("op, numpy", [pytest.param(o, f, id=repr(o)) for o, f in MOVES])
def test_moves(programs, op, numpy):
    rows = [(sample(dtype, 2, 3),) for dtype in ALL]
    for (x,), found in zip(rows, programs.apply_to_each(op, rows), strict=True):
        same(found, numpy(x))


@pytest.mark.parametrize("dtype", ALL)
def test_pad_inside_outside_and_crop(programs, dtype):
    x, value = sample(dtype, 3), np.ones((), dtype)
    one = value[()]
    a, b, c = x
    same(
        programs.apply(Pad((1,), (2,), (1,)), x, value),
        np.array([one, a, one, b, one, c, one, one]),
    )
    same(programs.apply(Pad((-1,), (1,), (0,)), x, value), np.array([b, c, one]))
    same(programs.apply(Pad((-2,), (0,), (1,)), x, value), np.array([b, one, c]))
    same(programs.apply(Pad((), (), ()), value, value), value)


@pytest.mark.parametrize("dtype", ALL)
def test_concatenate(programs, dtype):
    xs = [sample(dtype, 2, n, seed=n) for n in (3, 0, 1)]
    same(programs.apply(Concatenate(1), *xs), np.concatenate(xs, 1))
    same(programs.apply(Concatenate(0), xs[0]), xs[0])


# ---- reduction and contraction -------------------------------------------------------------------


@pytest.mark.parametrize("axes", [(), (0,), (0, 2), (0, 1, 2)], ids=str)
@pytest.mark.parametrize("dtype", NUMERIC)
def test_sums_and_products_keep_their_dtype(programs, dtype, axes):
    x = sample(dtype, 2, 3, 2)
    same(programs.apply(ReduceSum(axes), x), np.sum(x, axes, dtype=dtype))
    same(programs.apply(ReduceProd(axes), x), np.prod(x, axes, dtype=dtype))


@pytest.mark.parametrize("dtype", [*REAL, "bool"])
def test_extrema_and_positions(programs, dtype):
    x = sample(dtype, 2, 3, 2)
    same(programs.apply(ReduceMax((0, 2)), x), x.max((0, 2)))
    same(programs.apply(ReduceMin((1,)), x), x.min(1))
    same(programs.apply(ReduceMax(()), x), x)
    same(programs.apply(Argmax(1, DType.of("int64")), x), x.argmax(1))
    same(programs.apply(Argmin(2, DType.of("int32")), x), x.argmin(2).astype("int32"))


@pytest.mark.parametrize("dtype", NUMERIC)
def test_reductions_of_nothing(programs, dtype):
    x = np.zeros((0, 3), dtype)
    same(programs.apply(ReduceSum((0,)), x), np.zeros(3, dtype))
    same(programs.apply(ReduceProd((0,)), x), np.ones(3, dtype))
    if dtype in REAL:
        same(programs.apply(ReduceMax((1,)), x), np.zeros(0, dtype))
        same(programs.apply(Argmax(1, DType.of("int64")), x), np.zeros(0, "int64"))


@pytest.mark.parametrize("dtype", NUMERIC)
def test_contractions(programs, dtype):
    a, b = sample(dtype, 2, 3, 4), sample(dtype, 4, 2, 5, seed=1)
    batched = DotGeneral((2,), (0,), (0,), (1,))
    same(programs.apply(batched, a, b), np.einsum("bik,kbj->bij", a, b))
    same(programs.apply(DotGeneral((0, 2), (1, 0), (), ()), a, b), np.einsum("bik,kbj->ij", a, b))
    same(programs.apply(DotGeneral((), (), (), ()), a[0, 0], b[0, 0]), np.outer(a[0, 0], b[0, 0]))
    empty = DotGeneral((1,), (0,), (), ())
    same(programs.apply(empty, a[0, :, :0], b[:0, 0]), np.zeros((3, 5), dtype))


def test_contraction_is_in_full_precision(programs):
    rng = np.random.default_rng(0)
    a, b = rng.random((33, 65), np.float32), rng.random((65, 17), np.float32)
    exact = a.astype(float) @ b
    found = programs.apply(DotGeneral((1,), (0,), (), ()), a, b)
    assert np.max(np.abs(found - exact) / exact) < 65 * np.finfo(np.float32).eps / 8
    wide = programs.apply(DotGeneral((1,), (0,), (), (), DType.of("float64")), a, b)
    assert wide.dtype == np.float64
    np.testing.assert_allclose(wide, exact, rtol=1e-15 * 65)


@pytest.mark.parametrize("dtype", [*NUMERIC, "float16", "bfloat16"])
def test_contraction_asks_for_the_highest_precision(xla, dtype):
    """On a CPU nothing would show it; on a GPU float32 would be multiplied in 10 bits."""
    op = DotGeneral((1,), (0,), (), ())
    lower = xla.lowerings.lookup(op, [Aval((2, 2), dtype)] * 2)
    with jax.enable_x64(True):
        x = jax.numpy.ones((2, 2), dtype)
        (equation,) = jax.make_jaxpr(lambda a, b: lower(op, a, b))(x, x).eqns
    assert equation.params["precision"] == (jax.lax.Precision.HIGHEST,) * 2
    assert equation.params["preferred_element_type"] == dtype


# ---- indexing ------------------------------------------------------------------------------------


def rows(mode):
    return Gather((1,), (0,), (0,), (1, 3), mode)


@pytest.mark.parametrize("index", ["int32", "int64", "uint8"])
@pytest.mark.parametrize("dtype", ALL)
def test_gather_modes(programs, dtype, index):
    x = sample(dtype, 4, 3, low=1, high=9)
    inside = np.array([[2], [0], [2]], index)
    same(programs.apply(rows("promise_in_bounds"), x, inside), x[[2, 0, 2]])
    outside = np.array([[3], [4], [200]], index)
    same(programs.apply(rows("clip"), x, outside), x[[3, 3, 3]])
    want = x[[3, 3, 3]]
    want[1:] = 0
    same(programs.apply(rows("fill"), x, outside), want)


def test_gather_clips_and_fills_negative_positions(programs):
    x = sample("float64", 4, 3, low=1, high=9)
    below = np.array([[-1], [-9]])
    same(programs.apply(rows("clip"), x, below), x[[0, 0]])
    same(programs.apply(rows("fill"), x, below), np.zeros((2, 3)))
    partly = Gather((1, 2), (), (0,), (2, 3), "fill")
    same(programs.apply(partly, x, np.array([[3]])), np.zeros((1, 2, 3)))


@pytest.mark.parametrize("dtype", NUMERIC)
def test_scatter_add_modes(programs, dtype):
    x, u = sample(dtype, 4, 3), sample(dtype, 3, 3, seed=1)

    def scatter(mode):
        return ScatterAdd((1,), (0,), (0,), mode)

    want = x.copy()
    np.add.at(want, [2, 0, 2], u)
    for mode in ("promise_in_bounds", "clip", "drop"):
        same(programs.apply(scatter(mode), x, np.array([[2], [0], [2]]), u), want)
    outside = np.array([[-1], [3], [7]])
    want = x.copy()
    np.add.at(want, [0, 3, 3], u)
    same(programs.apply(scatter("clip"), x, outside, u), want)
    want = x.copy()
    want[3] += u[1]
    same(programs.apply(scatter("drop"), x, outside, u), want)


def test_scatter_drops_a_window_that_is_partly_outside(programs):
    x, u = np.zeros(4), np.ones((2, 2))
    op = ScatterAdd((1,), (), (0,), "drop")
    same(programs.apply(op, x, np.array([[3], [1]]), u), np.array([0.0, 1, 1, 0]))


@pytest.mark.parametrize("index", INTEGERS)
@pytest.mark.parametrize("dtype", ALL)
def test_dynamic_slices_clamp_and_do_not_count_from_the_end(programs, dtype, index):
    x, new = sample(dtype, 5), sample(dtype, 2, seed=1)
    for start, at in ((1, 1), (-2, 0), (4, 3), (99, 3)):
        position = np.array(start, index)
        same(programs.apply(DynamicSlice((2,)), x, position), x[at : at + 2])
        want = x.copy()
        want[at : at + 2] = new
        same(programs.apply(DynamicUpdateSlice(), x, new, position), want)


def test_dynamic_slice_of_rank_0(programs):
    same(programs.apply(DynamicSlice(()), np.array(1.5)), np.array(1.5))
    same(programs.apply(DynamicUpdateSlice(), np.array(1.5), np.array(2.5)), np.array(2.5))


def test_a_loop_and_its_derivative_run_the_steps_once():
    """value and gradient: one loop forward, one backward"""

    def loss(x):
        return np.sum(tn.scan(lambda c, _: (c + 0.1 * np.sin(c), None), x, None, 300)[0])

    x = np.linspace(0.1, 1.0, 5_000)
    text = tn.jit(tn.value_and_grad(loss), backend="xla").explain(x)
    assert text.count(" while(") == 2
