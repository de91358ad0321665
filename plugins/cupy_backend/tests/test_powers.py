"""Powers in kernels: errors beside 60 digits, NumPy's special values, integers that wrap."""

import functools

import mpmath
import numpy as np
import pytest
from functions_on_cpu import functions_of
from on_cpu import compiler

from tenferro import primitives as tp

pytestmark = pytest.mark.skipif(compiler.COMPILER is None, reason="there is no C++ compiler")

EXPONENTS = (0, 1, 2, 5, 16, 17, 40, 150, -1, -3, -16, -20)
INTEGERS = ["int8", "int64", "uint8", "uint32"]
PARTS = [0.0, -0.0, 1.0, -1.0, 0.5, -3.0, 30.0, 100.0, np.inf, -np.inf, np.nan]


@functools.cache
def functions(dtype):
    """`pow`, and powers with each of `EXPONENTS` that the dtype has."""
    fixed = [n for n in EXPONENTS if n >= 0 or np.dtype(dtype).kind in "fc"]
    return functions_of({"pow": tp.Pow()} | {n: tp.IntegerPow(n) for n in fixed}, dtype)


def numbers(count, largest, seed):
    rng = np.random.default_rng(seed)
    size = 10.0 ** rng.uniform(-3, largest, count)
    return size * np.exp(1j * rng.uniform(-np.pi, np.pi, count))


def pairs(dtype):
    """Bases and exponents: complex, real, and integer ones, and bases of size 1."""
    x, y = numbers(240, 3, 1), numbers(240, 1, 2)
    y[:60] = y[:60].real
    y[60:120] = np.rint(3 * y[60:120].real)
    x[100:160] /= abs(x[100:160]) * (1 + 1e-6)
    with np.errstate(all="ignore"):
        size = abs(x**y)
    is_fit = (size > 1e-30) & (size < 1e30)
    return x[is_fit].astype(dtype), y[is_fit].astype(dtype)


def errors(got, x, exponents):
    """|z - x^y| in units in the last place of |x^y|, and |y log x|, for each element."""
    rows, real = [], x.real.dtype.type
    with mpmath.workdps(60):
        for value, base, exponent in zip(got, x, exponents, strict=True):
            log = mpmath.mpc(complex(exponent)) * mpmath.log(mpmath.mpc(complex(base)))
            w = mpmath.exp(log)
            unit = float(np.spacing(real(float(abs(w)))))
            rows.append((float(abs(mpmath.mpc(complex(value)) - w)) / unit, float(abs(log))))
    return np.array(rows).T


def test_errors_in_complex128_are_those_that_the_header_states():
    """|z - x^y| ≤ (2 + n) ulp for y = ±n, else (3 + 2 |y log x|) ulp"""
    x, y = pairs("complex128")
    found, size = errors(functions("complex128")["pow"](x, y), x, y)
    is_integer = (y.imag == 0) & (y.real == np.rint(y.real)) & (abs(y) < 100)
    assert np.all(found <= np.where(is_integer, 2 + abs(y), 3 + 2 * size))


def test_errors_in_complex64_are_those_that_the_header_states():
    """|z - x^y| ≤ 1 ulp"""
    x, y = pairs("complex64")
    assert errors(functions("complex64")["pow"](x, y), x, y)[0].max() <= 1


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("n", EXPONENTS)
def test_errors_of_fixed_powers_are_those_that_the_header_states(n, dtype):
    """|z - x^n| ≤ (2 + |n|) ulp, or (3 + 2 |n log x|) ulp for |n| ≥ 100"""
    x = numbers(50, -0.5, 5) ** 0.1
    x = (x / abs(x) ** 0.5).astype(dtype)
    found, size = errors(functions(dtype)[n](x), x, np.full(x.shape, n))
    assert np.all(found <= (2 + abs(n) if abs(n) < 100 else 3 + 2 * size))


def same(a, b):
    """Equal parts, with the signs of zeros; numbers may differ in their last bits."""
    with np.errstate(all="ignore"):
        close = np.isclose(a, b, rtol=1e-12, atol=0, equal_nan=True)
    return close & ((a != 0) | (np.signbit(a) == np.signbit(b)))


def test_special_values_are_numpys():
    """Zeros with their signs, infinities and NaN in each of four parts: 0^0 = 1"""
    z = np.array([complex(a, b) for a in PARTS for b in PARTS])
    x, y = [np.ascontiguousarray(a.ravel()) for a in np.meshgrid(z, z)]
    with np.errstate(all="ignore"):
        want = np.power(x, y)
    got = functions("complex128")["pow"](x, y)
    wrong = ~(same(got.real, want.real) & same(got.imag, want.imag))
    rows = [*zip(x[wrong], y[wrong], got[wrong], want[wrong], strict=True)]
    assert not rows, "\n".join(map(str, rows[:20]))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_wrap(dtype):
    """x^y modulo 2^bits, and of integers with a fixed exponent"""
    info = np.iinfo(dtype)
    bases = [0, 1, 2, 3, 10, info.max, info.min, info.min + 1]
    x, y = [np.ascontiguousarray(a.ravel()).astype(dtype) for a in np.meshgrid(bases, range(70))]
    want = [
        (pow(int(a), int(b)) - info.min) % 2**info.bits + info.min
        for a, b in zip(x, y, strict=True)
    ]
    assert functions(dtype)["pow"](x, y).tolist() == want
    for n in [n for n in EXPONENTS if n >= 0]:
        want = [(pow(int(a), n) - info.min) % 2**info.bits + info.min for a in x]
        assert functions(dtype)[n](x).tolist() == want


@pytest.mark.parametrize("dtype", [d for d in INTEGERS if d.startswith("int")])
def test_negative_powers_of_integers_are_truncated(dtype):
    """x^-n = 0 except of 1 and -1"""
    x = np.array([1, -1, -1, 2, -3, 0], dtype)
    y = np.array([-2, -1, -2, -1, -1, -1], dtype)
    assert functions(dtype)["pow"](x, y).tolist() == [1, -1, 1, 0, 0, 0]


def test_a_fixed_exponent_is_exact_where_the_dtype_does_not_hold_it():
    """x^4097 in float16, where 4097 would be 4096"""
    (power,) = functions_of({4097: tp.IntegerPow(4097)}, "float16").values()
    assert power(np.array([-1, 1], "float16")).tolist() == [-1, 1]
