"""Compare what tenferro computes with what NumPy computes: value, dtype and shape.

All arrays of a table are evaluated in one program, so that a backend compiles once per test.
"""

import warnings

import numpy as np

import tenferro as tn

REAL = ("float32", "float64")
COMPLEX = ("complex64", "complex128")
INEXACT = REAL + COMPLEX
NUMERIC = (*INEXACT, "int32", "int64")
ALL = (*NUMERIC, "bool")
ORDERED = (*REAL, "int32", "int64", "bool")  # complex numbers have no order here
SHAPES = ((), (0,), (3,), (2, 1, 3))
TOLERANCE = {"float32": 2e-5, "complex64": 2e-5, "float64": 1e-12, "complex128": 1e-12}


def sample(dtype, shape=(3,), low=-2.0, high=2.0, seed=0):
    """Irregular numbers between low and high; the same at every call."""
    count = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    wave = np.asarray(low + (high - low) * (0.5 + 0.5 * np.sin(2.4 * count + 1.3 * seed + 0.4)))
    if dtype in COMPLEX:
        return np.asarray(wave + 1j * np.cos(1.7 * count + seed), dtype)
    if dtype == "bool":
        return np.asarray(wave > (low + high) / 2)
    return np.asarray(np.round(wave * 3) if dtype in ("int32", "int64") else wave, dtype)


def case(function, *operands, **keywords):
    """The function on Arrays, beside the same on NumPy arrays."""
    ours = [tn.asarray(x) if isinstance(x, np.ndarray) else x for x in operands]
    return function.__name__, function(*ours, **keywords), quietly(function, *operands, **keywords)


def expression_cases(text, variables):
    """One case per line; on our side the variables are Arrays, while `n.x` stays NumPy's."""
    ours = {name: tn.asarray(x) for name, x in variables.items()}
    both = {"np": np, "n": type("Operands", (), variables)}
    return [
        (line, eval(line, {**both, **ours}), quietly(eval, line, {**both, **variables}))
        for line in map(str.strip, text.strip().splitlines())
    ]


def quietly(function, *operands, **keywords):
    """What NumPy computes, without its warnings."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*operands, **keywords)


def agree(cases):
    """In each case (name, Array, NumPy's result) both are the same."""
    for name, got, _ in cases:
        assert type(got) is tn.Array, name
    tn.evaluate(*[got for _, got, _ in cases])
    for name, got, want in cases:
        same(np.asarray(got), np.asarray(want), name)


def same(got, want, name=""):
    """Dtype and shape are equal; values are, within the precision of the dtype."""
    assert (got.dtype, got.shape) == (want.dtype, want.shape), name
    bound = TOLERANCE.get(want.dtype.name, 0)
    np.testing.assert_allclose(got, want, rtol=bound, atol=bound, err_msg=name)
