"""Arithmetic against NumPy and closed forms: dtypes kept, integers wrap and truncate."""

import numpy as np
import pytest

from tenferro import primitives as tp
from tenferro.computegraph import TenferroError

DTYPES = ["int8", "int32", "int64", "uint8", "float32", "float64", "complex64", "complex128"]
REALS = ["int32", "float32", "float64"]
X = [3, 1, 2, 5, 7, 4]
Y = [1, 2, 2, 4, 3, 6]


def pair(dtype, shape=(2, 3)):
    x, y = np.array(X).astype(dtype), np.array(Y).astype(dtype)
    if x.dtype.kind == "c":
        x, y = x * x.dtype.type(1 + 0.5j), y * y.dtype.type(2 - 1j)
    return x[: int(np.prod(shape))].reshape(shape), y[: int(np.prod(shape))].reshape(shape)


@pytest.mark.parametrize("shape", [(), (1,), (2, 3), (0, 3)])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["add", "sub", "mul"])
def test_ring_operations(check, name, dtype, shape):
    """x + y, x - y and x·y are NumPy's"""
    x, y = pair(dtype, shape)
    reference = {"add": np.add, "sub": np.subtract, "mul": np.multiply}[name]
    check(getattr(tp, name), [x, y], reference(x, y), rtol=1e-6 if x.dtype.kind == "c" else 0)


@pytest.mark.parametrize("dtype", REALS)
@pytest.mark.parametrize("name", ["maximum", "minimum"])
def test_extremes(check, name, dtype):
    """maximum and minimum are NumPy's"""
    x, y = pair(dtype)
    check(getattr(tp, name), [x, y], getattr(np, name)(x, y))


@pytest.mark.parametrize("name", ["maximum", "minimum"])
@pytest.mark.parametrize("shape", [(), (1,)])
def test_nan_wins_extremes(check, name, shape):
    nan, one = np.full(shape, np.nan), np.ones(shape)
    check(getattr(tp, name), [nan, one], nan)
    check(getattr(tp, name), [one, nan], nan)


LARGE = [
    *[
        (name, shape, dtype)
        for name in ("maximum", "minimum")
        for shape in [(80, 70), (700, 8), (5000,), (70, 0)]
        for dtype in REALS
    ],
    # a longer row than is made of a number: slow in tiles of one element, and the same for both
    ("maximum", (1, 33_000), "float64"),
]


@pytest.mark.parametrize("name, shape, dtype", LARGE)
def test_the_largest_of_a_large_array_and_a_number(check, name, dtype, shape):
    x = np.random.default_rng(0).integers(-3, 4, shape).astype(dtype)
    if dtype != "int32" and x.size:
        x.flat[:3] = np.nan, -0.0, np.inf
    reference = getattr(np, name)
    for number in (np.array(1, dtype), np.array(0, dtype)):

        def beside(x, number):
            number = tp.broadcast_in_dim(number, x.shape, ())
            return getattr(tp, name)(x, number) + getattr(tp, name)(number, x)

        check(beside, [x, number], reference(x, number) + reference(number, x))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["neg", "abs", "square"])
@pytest.mark.parametrize("shape", [(), (2, 3)])
def test_unary(check, name, dtype, shape):
    """-x, |x| and x² are NumPy's"""
    x = -pair(dtype, shape)[0]
    reference = {"neg": np.negative, "abs": np.absolute, "square": np.square}[name]
    check(getattr(tp, name), [x], reference(x), rtol=1e-6 if x.dtype.kind == "c" else 0)


def test_sign(check):
    """sign z = z/|z|; that of ±0 is 0, that of nan is nan"""
    check(tp.sign, [[-2.0, -0.0, 0.0, 5.0, np.nan]], [-1.0, 0.0, 0.0, 1.0, np.nan])
    check(tp.sign, [np.array([3 + 4j, 0j])], np.array([0.6 + 0.8j, 0j]), rtol=1e-15)


@pytest.mark.parametrize("shape", [(), (1,)])
def test_integers_wrap(check, shape):
    """Integers are computed modulo 2ⁿ"""
    big = np.full(shape, 127, "int8")
    check(tp.add, [big, big], np.full(shape, -2, "int8"))
    check(tp.neg, [np.full(shape, -128, "int8")], np.full(shape, -128, "int8"))


def test_integer_division_truncates(check):
    x, y = np.array([7, -7, 7, -7, 6, -128], "int8"), np.array([2, 2, -2, -2, 3, -1], "int8")
    check(tp.div, [x, y], np.array([3, -3, -3, 3, 2, -128], "int8"))
    check(
        tp.div, [np.array([7, 250], "uint8"), np.array([2, 7], "uint8")], np.array([3, 35], "uint8")
    )
    check(tp.div, [np.int64(-7), np.int64(2)], np.int64(-3))


@pytest.mark.parametrize("shape", [(), (2,)])
def test_float_division_has_infinities(check, shape):
    one, zero = np.ones(shape), np.zeros(shape)
    check(tp.div, [one, zero], np.full(shape, np.inf))
    check(tp.div, [zero, zero], np.full(shape, np.nan))


def test_integers_without_a_value_are_refused(run):
    with pytest.raises(ZeroDivisionError) as caught:
        run(tp.div, np.array([1, 2]), np.array([1, 0]))
    assert isinstance(caught.value, TenferroError)
    assert "div" in "\n".join(caught.value.__notes__)
    with pytest.raises(ValueError, match="negative") as refused:
        run(tp.pow, np.array([2]), np.array([-1]))
    assert isinstance(refused.value, TenferroError)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_clamp_is_minimum_of_maximum(check, dtype):
    lo, hi = np.full(4, -1, dtype), np.full(4, 1, dtype)
    x = np.array([-3, 0.5, 3, np.nan], dtype)
    check(tp.clamp, [lo, x, hi], np.array([-1, 0.5, 1, np.nan], dtype))
    check(tp.clamp, [hi, x, lo], np.minimum(np.maximum(x, hi), lo))


@pytest.mark.parametrize("exponent", [-5, -2, -1, 2, 3, 4, 5, 11])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_integer_pow(check, exponent, dtype):
    """xⁿ is that of double precision, rounded"""
    x = np.array([-1.5, 0.3, 2.25]).astype(dtype)
    x = x * (1 - 0.5j) if x.dtype.kind == "c" else x
    exact = (x.astype("complex128" if x.dtype.kind == "c" else "float64") ** exponent).astype(dtype)
    tolerance = 1e-5 if x.dtype.itemsize <= 4 * (1 + (x.dtype.kind == "c")) else 1e-14
    check(lambda x: tp.integer_pow(x, exponent), [x], exact, rtol=tolerance)


@pytest.mark.parametrize("exponent", [2, 3, 7, 300])
def test_integer_pow_of_integers_wraps(check, exponent):
    x = np.array([-3, 2, 5], "int8")
    expected = [pow(int(v), exponent, 256) for v in x]
    check(lambda x: tp.integer_pow(x, exponent), [x], np.array(expected, "uint8").view("int8"))


def test_roots_and_powers(check):
    x, y = np.array([4.0, 2.0, 0.25]), np.array([0.5, 3.0, -2.0])
    check(tp.pow, [x, y], np.power(x, y))
    check(tp.sqrt, [x], np.sqrt(x))
    check(tp.rsqrt, [x], 1 / np.sqrt(x), rtol=3e-16)
    check(tp.sqrt, [np.array([-4 + 0j])], np.array([2j]), atol=1e-15)


@pytest.mark.parametrize("exponent", [2, 3, 4, 5, -1, -2])
@pytest.mark.parametrize("dtype", ["float64", "complex128", "int32"])
def test_powers_of_an_array_that_nobody_else_reads(check, dtype, exponent):
    """(x + y)ⁿ, where the sum may be written over; with two readers, too."""
    if exponent < 0 and dtype == "int32":
        pytest.skip("integers have no negative powers")
    x, y = pair(dtype)
    result = (x + y) ** exponent if exponent > 0 else 1 / (x + y) ** -exponent
    check(lambda x, y: tp.integer_pow(x + y, exponent), [x, y], result, rtol=1e-12)


@pytest.mark.parametrize("dtype", REALS)
@pytest.mark.parametrize("dead", ["lo", "x", "hi"])
def test_clamp_next_to_an_array_that_nobody_else_reads(check, dtype, dead):
    """min(max(x, lo), hi), where one operand may be written over: x, or a bound, also a crossed
    one.
    """
    x, y = pair(dtype)
    lo, hi = (x - x + 3).astype(dtype), (y + 1).astype(dtype)

    def clamp(lo, x, hi, one):
        given = {"lo": lo, "x": x, "hi": hi}
        given[dead] = given[dead] * one
        return tp.clamp(given["lo"], given["x"], given["hi"])

    one = np.ones_like(x)
    check(clamp, [lo, x, hi, one], np.minimum(np.maximum(x, lo), hi))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("low, high", [(-1.0, 2.0), (2.0, -1.0), (-np.inf, 1.0), (0.0, 1.0)])
def test_a_clamp_between_known_numbers(check, low, high, dtype):
    """One call, or two where a bound is zero; nan stays, and the upper bound wins"""
    x = np.array([[-np.inf, -3.0, -0.0], [0.5, 7.0, np.nan]], dtype)

    def clamp(x):
        bounds = [tp.constant(bound, dtype, x.shape) for bound in (low, high)]
        return tp.clamp(bounds[0], x, bounds[1])

    check(clamp, [x], np.minimum(np.maximum(x, x.dtype.type(low)), x.dtype.type(high)))


BASES = [-np.inf, -1e30, -2.5, -1.0, -1e-30, -0.0, 0.0, 1e-30, 0.7, 3.0, np.inf, np.nan]
WHOLE = [-40.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 5.0, 1e10, 41.0]
OTHERS = [-0.5, 0.5, 2.5, np.inf, -np.inf, np.nan]


CLOSE = {"float32": {"rtol": 3e-7}, "float64": {"rtol": 5e-16}}


def of_the_c_library(x, y, dtype):
    """C, annex F.10.4.4: powers of numbers, one by one, in double precision."""
    with np.errstate(all="ignore"):
        one_by_one = [np.float64(a) ** np.float64(b) for a, b in zip(x.flat, y.flat, strict=True)]
        return np.array(one_by_one).reshape(x.shape).astype(dtype)


def with_sign(x):
    """The numbers, and what shows the sign of zero."""
    with np.errstate(divide="ignore", over="ignore"):
        return x, 1 / x if isinstance(x, np.ndarray) else tp.integer_pow(x, -1)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("exponents", [WHOLE, OTHERS, WHOLE + OTHERS])
def test_powers_of_signed_bases(check, dtype, exponents):
    """Signs, zeros, infinities and nan are those of the numbers, whatever else is in the array."""
    x, y = np.meshgrid(np.array(BASES, dtype), np.array(exponents, dtype))
    expected = of_the_c_library(x, y, dtype)
    check(lambda x, y: with_sign(tp.pow(x, y)), [x, y], with_sign(expected), **CLOSE[dtype])


LAYOUTS = {"one number": ((), ()), "a row": ((3,), (1,)), "a column": ((len(BASES), 1), (0, 1))}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape, axes", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("columns", [1, 3])
def test_the_layout_of_an_exponent_does_not_decide(check, columns, shape, axes, dtype):
    """x^0.5 is 0 for -0 and inf for -inf, whether one 0.5 in memory serves many bases or one"""
    x = np.tile(np.array(BASES, dtype)[:, None], columns)
    y = np.full((*shape[:-1], columns) if axes == (1,) else shape, 0.5, dtype)
    expected = of_the_c_library(x, np.full_like(x, 0.5), dtype)

    def roots(x, y):
        return with_sign(tp.pow(x, tp.broadcast_in_dim(y, x.shape, axes)))

    check(roots, [x, y], with_sign(expected), **CLOSE[dtype])


@pytest.mark.parametrize(
    "shape, exponents", [((0,), (0,)), ((2, 0), (2, 0)), ((0, 3), (1, 3)), ((0,), ())]
)
def test_powers_of_no_numbers(check, shape, exponents):
    x, y = np.zeros(shape), np.full(exponents, 0.5)
    axes = range(len(exponents))

    def powers(x, y):
        return tp.pow(x, tp.broadcast_in_dim(y, shape, axes))

    check(powers, [x, y], np.zeros(shape))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("x, root", [(-0.0, 0.0), (-np.inf, np.inf), (4.0, 2.0)])
def test_roots_of_a_number_are_those_of_arrays(check, x, root, dtype):
    check(
        lambda x, y: with_sign(tp.pow(x, y)),
        [np.array(x, dtype), np.array(0.5, dtype)],
        with_sign(np.array(root, dtype)),
    )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("exponent", [-40, -3, 5, 6, 41])
def test_integer_powers_of_signed_bases(check, dtype, exponent):
    """So for one exponent, where the sum may be written over; with two readers, too."""
    x = np.tile(np.array(BASES, dtype), 2)
    expected = of_the_c_library(x, np.full_like(x, exponent), dtype)

    def powers(x, one):
        product = tp.mul(x, one)
        return *with_sign(tp.integer_pow(product, exponent)), tp.mul(product, one)

    check(powers, [x, np.ones_like(x)], (*with_sign(expected), x), **CLOSE[dtype])


MANY = 128  # bases from which small powers are products and roots
#: bases whose powers are subnormal, infinite or zero
ENDS = {"float32": [], "float64": [-1e200, 1e-310, 1e155, 3e205]}


def many_bases(dtype):
    bases = np.array(BASES + ENDS[dtype], dtype)
    return np.resize(bases, MANY + len(bases))


def three_units(dtype):
    """Three units in the last place; a subnormal number has fewer digits."""
    info = np.finfo(dtype)
    return {"rtol": 3 * info.eps, "atol": 2 * float(info.smallest_subnormal)}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("exponent", [-12, -4, -3, -2, 3, 5, 6, 7, 12])
def test_integer_powers_of_many_bases(check, dtype, exponent):
    """Products are powers of numbers, at the ends of the range, too; also over a dead operand."""
    x = many_bases(dtype)
    expected = of_the_c_library(x, np.full_like(x, exponent), dtype)

    def powers(x, one):
        product = tp.mul(x, one)
        of_dead = tp.integer_pow(tp.mul(product, one), exponent)
        return *with_sign(tp.integer_pow(product, exponent)), of_dead, product

    results = (*with_sign(expected), expected, x)
    check(powers, [x, np.ones_like(x)], results, **three_units(dtype))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("exponent", [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5])
def test_powers_between_integers_of_many_bases(check, dtype, exponent):
    """Roots times products are powers of numbers: 0 and inf of -0 and -inf, nan below 0."""
    x = many_bases(dtype)
    expected = of_the_c_library(x, np.full_like(x, exponent), dtype)

    def powers(x, y, one):
        wide = tp.broadcast_in_dim(y, x.shape, ())
        product = tp.mul(x, one)
        return *with_sign(tp.pow(product, wide)), tp.pow(tp.mul(product, one), wide), product

    results = (*with_sign(expected), expected, x)
    check(powers, [x, np.array(exponent, dtype), np.ones_like(x)], results, **three_units(dtype))
