"""Scalar functions where naive formulas fail: near zero, far out, complex."""

import math

import numpy as np
import pytest

import tenferro as tn
from tenferro import primitives as tp

SMOOTH = ["exp", "log", "expm1", "log1p", "sin", "cos", "tan", "tanh"]


@pytest.mark.parametrize("shape", [(), (4,), (0, 2)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("name", SMOOTH)
def test_against_numpy(check, name, dtype, shape):
    """Functions are those of double precision, to eight units of the last place"""
    x = np.array([0.3, 1.2, 0.7, 2.1])[: int(np.prod(shape))].reshape(shape).astype(dtype)
    x = x * (1 - 0.3j) if x.dtype.kind == "c" else x
    wide = np.complex128(x) if x.dtype.kind == "c" else np.float64(x)
    eps = np.finfo(dtype).eps
    check(getattr(tp, name), [x], getattr(np, name)(wide).astype(dtype), rtol=8 * eps)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_logistic_is_accurate_everywhere(check, dtype):
    x = np.array([-700, -80, -1, -0.0, 0, 1, 40, 1e30, -1e30, np.inf, -np.inf, np.nan], dtype)
    if dtype == "float32":
        x[0] = -87
    expected = [math.exp(v) / (1 + math.exp(v)) if v < 0 else 1 / (1 + math.exp(-v)) for v in x]
    check(tp.logistic, [x], np.array(expected, dtype), rtol=4 * np.finfo(dtype).eps)


def test_logistic_of_denormal_results(check):
    check(tp.logistic, [np.array([-740.0])], np.array([math.exp(-740.0)]), rtol=1e-2)


def test_logistic_complex(check):
    """1/(1 + e⁻ᶻ), where e⁻ᶻ overflows as well"""
    z = np.array([0.5 + 1j, -800 + 1j, 800 - 2j, -3 + 0.1j])
    near = 1 / (1 + np.exp(-z[[0, 3]]))
    expected = np.array([near[0], np.exp(z[1]), 1, near[1]])
    check(tp.logistic, [z], expected, rtol=1e-14, atol=1e-300)


def test_direct_lowering_of_logistic_warns_of_nothing(backend, recwarn):
    op = tp.Logistic()
    for x in (np.array([-1e4, 1e4]), np.array([-1e4 + 1j, 1e4 - 1j])):
        backend.lowerings.lookup(op, [backend.aval_of(x)])(op, x)
    assert not [w for w in recwarn if "overflow" in str(w.message)]


@pytest.mark.parametrize(
    "z", [1e-10 + 1e-12j, 1e-9j, -1e-8 + 1e-8j, 1e-20 + 0j, 0.3 - 0.4j, 5 + 2j]
)
def test_complex_log1p_and_expm1_keep_digits_near_zero(check, z):
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(50):
        log1p, expm1 = complex(mpmath.log1p(z)), complex(mpmath.expm1(z))
    check(tp.log1p, [np.array([z])], np.array([log1p]), atol=4e-16 * abs(log1p))
    check(tp.expm1, [np.array([z])], np.array([expm1]), atol=8e-16 * abs(expm1))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(), (5,)])
def test_erf(check, dtype, shape):
    """erf is that of Python's math"""
    x = np.array([-2, -0.5, 0, 1, 4], dtype)[: int(np.prod(shape))].reshape(shape)
    expected = np.vectorize(math.erf, otypes=[dtype])(x)
    check(tp.erf, [x], expected, rtol=4 * np.finfo(dtype).eps)


def test_warnings_are_silenced_and_the_users_setting_survives(run):
    with np.errstate(all="raise"):
        (result,) = run(lambda x: tp.log(x * x), np.array([0.0, 1e200]))
        with pytest.raises(FloatingPointError):
            np.log(np.zeros(1))
    assert result.tolist() == [-math.inf, math.inf]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", [3, 40, 5000])
def test_logistic_has_the_bits_of_the_shared_formula(backend, program, dtype, size):
    """exp(min(x, 0)) / (1 + exp(-|x|)), in new memory, in that of others, and in tiles"""
    special = [0.0, -0.0, math.inf, -math.inf, -745.0, -740.0, 90.0, 710.0, 5e-324]
    with np.errstate(all="ignore"):
        x = np.array([*np.linspace(-30, 30, size), *special]).astype(dtype)
        one, zero = np.ones((), dtype), np.zeros((), dtype)
        expected = np.exp(np.minimum(x, zero)) / (np.exp(-np.abs(x)) + one)
    made = program(lambda x: (tp.logistic(x), tp.logistic(tp.neg(tp.neg(tp.mul(x, x))))), x)
    for options in ({"tile": 0}, {"tile": 512, "threads": 1, "poison": True}):
        run = backend.compile(made, made.input_avals, options)
        for given in (x, x[::-1].copy()[::-1]):
            first, second = run(given)
            assert first.tobytes() == expected.tobytes()
            assert np.all(second >= 0.5)


def test_logistic_is_computed_tile_by_tile():
    x = np.linspace(-3.0, 3.0, 600_000)
    slope = tn.grad(lambda x: np.sum(tn.special.expit(x) ** 3))
    assert "region 600,000" in tn.jit(slope, backend="numpy", options={"threads": 1}).explain(x)
