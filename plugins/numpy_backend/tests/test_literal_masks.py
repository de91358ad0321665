"""Triangles and diagonals of medium matrices are cut out by bits, as NumPy gives them."""

import numpy as np
import pytest

import tenferro as tn
from tenferro import primitives as tp

N = 40
SPECIAL = [0.0, -0.0, 1.0, -2.5, np.nan, np.inf, -np.inf, 5e-324]


def triangle(x):
    return tp.ge(tp.iota(x.shape, 0, "int64"), tp.iota(x.shape, 1, "int64"))


def zeros(x):
    return tp.constant(0, x.aval.dtype, x.shape)


def first_row(x):
    row = tp.reshape(tp.slice(x, (0, 0), (1, N), (1, 1)), (N,))
    return tp.broadcast_in_dim(row, x.shape, (1,))


CUTS = {
    "lower": lambda x: tp.select(triangle(x), x, zeros(x)),
    "upper": lambda x: tp.select(triangle(x), zeros(x), x),
    "both": lambda x: (tp.select(triangle(x), x, zeros(x)), tp.select(triangle(x), zeros(x), x)),
    "dead": lambda x: tp.select(triangle(x), tp.reverse(x, (0,)), zeros(x)),
    "transposed": lambda x: tp.select(triangle(x), tp.transpose(x, (1, 0)), zeros(x)),
    "row": lambda x: tp.select(triangle(x), first_row(x), zeros(x)),
}
WANTED = {
    "lower": np.tril,
    "upper": lambda x: np.triu(x, 1),
    "both": lambda x: (np.tril(x), np.triu(x, 1)),
    "dead": lambda x: np.tril(x[::-1]),
    "transposed": lambda x: np.tril(x.T),
    "row": lambda x: np.tril(np.broadcast_to(x[0], x.shape)),
}


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int32", "float32", "float64", "c16"])
@pytest.mark.parametrize("name", CUTS)
def test_cuts_keep_every_bit(backend, program, name, dtype):
    with np.errstate(all="ignore"):
        x = np.random.default_rng(0).choice(SPECIAL, (N, N)).astype(dtype)
    kept = x.copy()
    made = program(CUTS[name], x)
    wanted = WANTED[name](x)
    for options in ({}, {"poison": True}, {"executor": "source"}):
        results = backend.compile(made, made.input_avals, options)(x)
        for found, want in zip(
            results, wanted if isinstance(wanted, tuple) else (wanted,), strict=True
        ):
            assert found.dtype == want.dtype
            assert np.ascontiguousarray(found).tobytes() == np.ascontiguousarray(want).tobytes()
    assert x.tobytes() == kept.tobytes()


@pytest.mark.parametrize("k", [-2, -1, 0, 1, 2])
@pytest.mark.parametrize("shape", [(3, 5), (5, 3), (N, N), (2, 4, 4), (0, 3)])
@pytest.mark.parametrize("cut", ["tril", "triu"])
def test_triangles_are_those_of_numpy(cut, shape, k):
    x = np.random.default_rng(1).choice(SPECIAL, shape)
    f = tn.jit(lambda x: getattr(np, cut)(x, k), backend="numpy")
    np.testing.assert_array_equal(f(x), getattr(np, cut)(x, k))
    np.testing.assert_array_equal(np.signbit(f(x)), np.signbit(getattr(np, cut)(x, k)))


@pytest.mark.parametrize("cut, k", [("tril", -1), ("triu", 1)])
def test_triangles_beside_the_diagonal_are_known(cut, k):
    """No line compares rows with columns, as none does for the main diagonal"""
    text = tn.jit(lambda x: getattr(np, cut)(x, k), backend="numpy").explain(np.ones((N, N)))
    lines = text[text.index("def program") :]
    assert lines.count("\n        ") == 2, lines  # the selection and the result
