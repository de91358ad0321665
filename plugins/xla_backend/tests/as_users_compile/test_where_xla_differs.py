"""Where XLA alone would differ: nan, ties, integers, branch cuts, digits."""

import math
from decimal import Decimal, localcontext

import ml_dtypes
import numpy as np
import pytest
from operands import (
    ALL,
    COMPLEXES,
    FLOATS,
    INTEGERS,
    inf,
    nan,
    near,
    same,
    sample,
)

from tenferro.primitives import (
    Abs,
    Add,
    Argmax,
    Argmin,
    Aval,
    Clamp,
    Cumsum,
    Digamma,
    Div,
    DType,
    Erfcinv,
    IntegerPow,
    Lgamma,
    Log,
    Log1p,
    LogNdtr,
    Maximum,
    Minimum,
    Mul,
    Ndtr,
    Ndtri,
    Neg,
    Pow,
    ReduceMax,
    ReduceMin,
    ReduceSum,
    Select,
    Sign,
    Sqrt,
    bind,
)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("op", [Maximum(), Minimum()], ids=repr)
def test_nan_wins_in_the_extremum_of_two(programs, op, dtype):
    x, y = np.array([nan, 1, nan, inf], dtype), np.array([1, nan, nan, -inf], dtype)
    assert np.isnan(programs.apply(op, x, y)[:3]).all()
    large = np.full(5001, 2, dtype)
    large[1234] = nan
    assert np.isnan(programs.apply(op, large, large + 1)).nonzero()[0].tolist() == [1234]


@pytest.mark.parametrize("size", [1, 7, 8, 100, 4097, 70001])
def test_nan_wins_in_the_extremum_of_many(programs, size):
    """Once an array is large enough to be vectorized, XLA's own reduction drops a nan."""
    cases = [(op, dtype) for op in (ReduceMax((0,)), ReduceMin((0,))) for dtype in FLOATS]
    executable = programs.compile(
        lambda *xs: [bind(op, x) for (op, _), x in zip(cases, xs, strict=True)],
        *[Aval((size,), dtype) for _, dtype in cases],
    )
    for place in {0, size // 2, size - 1}:
        xs = [sample(dtype, size) for _, dtype in cases]
        for x in xs:
            x[place] = nan
        for case, found in zip(cases, executable(*xs), strict=True):
            assert np.isnan(np.asarray(found)), case


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
        kinds = ("int64", "int32")
        want = numpy(x, axis=1)
        programs.expect([(op(1, DType.of(kind)), x, want.astype(kind)) for kind in kinds])


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
    """Integers are computed modulo 2ⁿ"""
    ends = np.iinfo(dtype)
    x = np.array([ends.max, ends.min], dtype)
    one = np.ones(2, dtype)
    with np.errstate(over="ignore"):
        power = (3 * one) ** 40
    programs.expect(
        [
            (Add(), x, one, np.array([ends.min, ends.min + 1], dtype)),
            (Neg(), x, np.array([-ends.max, ends.min], dtype)),
            (Abs(), x, np.array([ends.max, ends.min], dtype)),
            (Mul(), x, 2 * one, np.array([-2, 0], dtype)),
            (IntegerPow(40), 3 * one, power),
        ]
    )


@pytest.mark.parametrize("dtype", [*INTEGERS, "uint8"])
def test_integers_have_powers(programs, dtype):
    x = np.array([2, 3, 0, 0, 1, 10, 7], dtype)
    y = np.array([5, 40, 0, 3, 9, 1, 0], dtype)
    none = np.zeros(0, dtype)
    with np.errstate(over="ignore"):
        rows = [(Pow(), x, y, x**y), (Pow(), none, none, none)]
    rows.append((Pow(), *np.array([3, 4, 81], dtype)))
    if dtype != "uint8":
        x, y = np.array([-2, -1, -1, 1, 2, 0], dtype), np.array([3, -3, -4, -5, -1, -1], dtype)
        rows.append((Pow(), x, y, np.array([-8, -1, 1, 1, 0, 0], dtype)))
    programs.expect(rows)


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


def log_of_successor(x):
    """ln(1 + x) in at least 40 digits more than 1 + x loses, rounded at the end."""
    with localcontext() as context:
        context.prec = 60 if abs(x) > 1e-20 else 360
        return float((1 + Decimal(x)).ln())


def test_log1p_keeps_its_digits(programs):
    """`lax.log1p` is wrong by 128 ulp around -0.3 before jax 0.12; 1 + x rounds near 0."""
    tiny = [1e-300, 1e-17, 6e-17, 2e-16, 1e-9, 3e-8, 1e-5, 1e-3]
    tiny += [-v for v in tiny]
    x = np.concatenate([np.linspace(-0.97, 3, 2003), tiny])
    want = np.array([log_of_successor(v) for v in x.tolist()])
    special = np.array([-0.0, 0.0, -1, -2, inf, nan])
    found, at_special = programs.apply_to_each(Log1p(), [(x,), (special,)])
    np.testing.assert_array_max_ulp(found, want, maxulp=2)
    same(at_special, np.array([-0.0, 0.0, -inf, nan, inf, nan]))
    assert np.signbit(at_special[0])


@pytest.mark.parametrize("dtype", FLOATS)
def test_inverses_keep_their_digits_next_to_their_zero(programs, dtype):
    """erfinv d = √π/2 d (1 + π d²/12 + …), which is erfcinv(1 - d) and √½ ndtri(½ + d/2)"""
    d = 2.0 ** -np.arange(14, 23)
    d = np.concatenate([d, -d, [0.0]])
    want = math.sqrt(math.pi) / 2 * d * (1 + math.pi * d**2 / 12)
    for op, x, factor in ((Erfcinv(), 1 - d, 1.0), (Ndtri(), 0.5 + d / 2, math.sqrt(0.5))):
        found = programs.apply(op, x.astype(dtype)) * factor
        np.testing.assert_allclose(found, want, rtol=4 * np.finfo(dtype).eps, atol=0)


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


@pytest.mark.parametrize("dtype", FLOATS)
def test_integer_powers_keep_their_digits(programs, dtype):
    x = np.linspace(0.5, 1.5, 211).astype(dtype)
    x = np.concatenate([x, -x])
    exponents = [-9, -3, -1, 2, 4, 5, 6, 7, 8, 17, 50]
    results = programs.apply_all([(IntegerPow(exponent), x.copy()) for exponent in exponents])
    for exponent, found in zip(exponents, results, strict=True):
        exact = x.astype(np.longdouble) ** exponent
        ulps = np.abs(found - exact) / np.spacing(np.abs(exact).astype(dtype))
        assert ulps.max() < 2.5, exponent


@pytest.mark.parametrize("dtype", FLOATS)
def test_integer_powers_of_what_is_not_finite(programs, dtype):
    """A correction of digits must not make nan of inf - inf"""
    large = float(np.finfo(dtype).max) / 4
    x = np.array([0.0, -0.0, inf, -inf, nan, large, -large, 1.0, -1.0], dtype)
    with np.errstate(all="ignore"):
        programs.expect([(IntegerPow(n), x, x**n) for n in (5, 8)])


@pytest.mark.parametrize("dtype", ["int32", "uint8"])
def test_powers_of_integers_with_large_exponents(programs, dtype):
    """Modulo 2ⁿ an odd base keeps bits, whatever the exponent"""
    x, y = np.array([0, 1, 2, 3, 5, 7, 13], dtype), np.array([0, 64, 7, 40, 70, 2, 100], dtype)
    same(programs.apply(Pow(), x, y), x**y)


#: ln |Γ| next to its zeros 1 and 2, and ψ next to its zero 1.4616…: mpmath, 40 digits.
GAMMA_LOGARITHMS = {
    Lgamma(): {
        1 + 2.0**-20: -5.504750066148867e-07,
        1 - 2.0**-11: 0.00028203972446050205,
        2 + 2.0**-11: 0.00020651453791454435,
        2 - 2.0**-20: -4.0319826848018475e-07,
        0.5: 0.5723649429247001,
        3.25: 0.9358019311087253,
        -0.75: 1.5757045971498584,
    },
    Digamma(): {
        1.4616241455078125: -7.740884285788248e-06,
        1.46875: 0.006865411470735777,
        0.75: -1.0858608797864722,
        5.5: 1.6110931485817512,
        -1 + 2.0**-12: -4095.5765699410586,
        -2 - 2.0**-12: 4096.922077559462,
        -0.75: -2.894120200042932,
    },
}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("op", GAMMA_LOGARITHMS, ids=repr)
def test_logarithms_of_gamma_keep_their_digits_next_to_zeros_and_poles(programs, op, dtype):
    """`lax.lgamma` and `lax.digamma` have no digits left there."""
    x, want = (np.array(part, dtype) for part in zip(*GAMMA_LOGARITHMS[op].items(), strict=True))
    np.testing.assert_array_max_ulp(programs.apply(op, x), want, maxulp=4)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("op", [ReduceSum((0,)), Cumsum(0, False)], ids=repr)
def test_sums_of_half_precision_round_once(programs, op, dtype):
    """Added up in bfloat16, ones stay at 256"""
    ones = np.ones(4096, ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
    assert np.max(programs.apply(op, ones).astype("float64")) == 4096


#: Φ and ln Φ in the lower tail: mpmath, 40 digits.
NORMAL_TAILS = {
    Ndtr(): {
        -1.4375: 0.0752879864124234,
        -6.3125: 1.3728173111051323e-10,
        -10.875: 7.582789612263252e-28,
    },
    LogNdtr(): {
        -9.9375: -52.602088927379455,
        -10.0625: -53.86435072700529,
        -1000.0: -500007.82669481216,
    },
}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("op", NORMAL_TAILS, ids=repr)
def test_tails_of_the_normal_distribution_keep_their_digits(programs, op, dtype):
    """`lax.erfc` rounds the exponent, and ln Φ is a series from -10 on"""
    x, want = (np.array(part, dtype) for part in zip(*NORMAL_TAILS[op].items(), strict=True))
    np.testing.assert_array_max_ulp(programs.apply(op, x), want, maxulp=8)


def test_clamp_with_crossed_bounds_and_nan(programs):
    lo, x, hi = np.array([2.0, 0, nan, 0]), np.array([0.0, nan, 1, 1]), np.array([1.0, 1, 2, nan])
    same(programs.apply(Clamp(), lo, x, hi), np.minimum(np.maximum(x, lo), hi))


def test_select_leaves_the_untaken_branch(programs):
    pred = np.array([True, False])
    pairs = [(sample(dtype, 2), sample(dtype, 2, seed=1)) for dtype in ALL]
    programs.expect([(Select(), pred, x, y, np.where(pred, x, y)) for x, y in pairs])
