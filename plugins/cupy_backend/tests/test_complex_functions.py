"""Functions of complex numbers in kernels: errors beside 60 digits, and special values of C99."""

import functools

import mpmath
import numpy as np
import pytest
from functions_on_cpu import functions_of
from on_cpu import compiler

from tenferro import primitives as tp

pytestmark = pytest.mark.skipif(compiler.COMPILER is None, reason="there is no C++ compiler")

#: largest error in units in the last place of the size of the result, as the header states it
BOUNDS = {
    "exp": 2, "sqrt": 2, "log": 2, "sin": 2, "cos": 2, "sinh": 2, "cosh": 2, "tan": 3, "tanh": 3,
    "asin": 3, "acos": 3, "atan": 3, "asinh": 3, "acosh": 3, "atanh": 3,
}  # fmt: skip
OPERATIONS = {name: getattr(tp, name.capitalize())() for name in BOUNDS}
EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, -3.0, 30.0, -30.0, 800.0, np.inf, -np.inf, np.nan]


@functools.cache
def functions(dtype):
    return functions_of(OPERATIONS, dtype)


def computed(name, x):
    return functions(x.dtype.name)[name](x)


def numbers(dtype):
    """Numbers of many sizes, some beside 1 in size, some beside poles and zeros."""
    rng = np.random.default_rng(7)
    size = 10.0 ** rng.uniform(-8, 1.2, 150)
    z = size * np.exp(1j * rng.uniform(-np.pi, np.pi, 150))
    beside_one = np.exp(1j * rng.uniform(-np.pi, np.pi, 60)) * (1 + rng.uniform(-1e-6, 1e-6, 60))
    beside_poles = np.pi / 2 * np.array([1, 3, -1]) + 1e-3 * np.array([1j, 1 + 1j, -1j])
    near = 10.0 ** rng.uniform(-20, -3, 40)  # of branch points and cuts
    beside_points = np.array([1, -1, 1j, -1j])[:, None] + near * np.exp(6j * np.arange(1, 41))
    axes = np.concatenate([near, rng.uniform(0, 3, 40)])
    beside_cuts = axes[::-1] * np.array([[1], [1j], [-1], [-1j]]) + near[0] * (1 + 1j)
    found = [z, beside_one, beside_poles, 1j * beside_poles, beside_points, beside_cuts]
    return np.concatenate([x.ravel() for x in found]).astype(dtype)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", BOUNDS)
def test_errors_are_those_that_the_header_states(name, dtype):
    """|f(z) - w| ≤ bound · ulp(|w|)"""
    z = numbers(dtype)
    real = {"complex64": np.float32, "complex128": np.float64}[dtype]
    with mpmath.workdps(60):
        exact = [getattr(mpmath, name)(mpmath.mpc(complex(x))) for x in z]
        errors = [
            abs(mpmath.mpc(complex(y)) - w) / float(np.spacing(real(float(abs(w)))))
            for y, w in zip(computed(name, z), exact, strict=True)
        ]
    assert max(errors) <= BOUNDS[name], float(max(errors))


def same(a, b):
    """Equal parts, with the signs of zeros; numbers may differ in their last bits."""
    with np.errstate(all="ignore"):
        close = np.isclose(a, b, rtol=1e-14, atol=0, equal_nan=True)
    return close & ((a != 0) | (np.signbit(a) == np.signbit(b)))


@pytest.mark.parametrize("name", BOUNDS)
def test_special_values_are_numpys(name):
    """Zeros with their signs, infinities, NaN, and what would overflow on the way"""
    z = np.array([complex(a, b) for a in EDGES for b in EDGES])
    with np.errstate(all="ignore"):
        want = getattr(np, name)(z)
    got = computed(name, z)
    wrong = ~(same(got.real, want.real) & same(got.imag, want.imag))
    rows = [(x, g, w) for x, g, w in zip(z[wrong], got[wrong], want[wrong], strict=True)]
    assert not rows, "\n".join(map(str, rows))
