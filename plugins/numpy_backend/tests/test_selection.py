"""Selection: bit for bit what `np.where` gives, for every dtype, layout and pair of operands."""

import numpy as np
import pytest

from tenferro import primitives as tp
from tenferro_numpy.lowerings.selection import choose

SPECIAL = [0.0, -0.0, 1.0, -2.5, float("nan"), float("inf"), float("-inf"), 5e-324]
DTYPES = (
    "bool int8 uint8 int16 int32 uint32 int64 uint64 float16 float32 float64 complex64 complex128"
)


def numbers(dtype, size, seed):
    rng = np.random.default_rng(seed)
    with np.errstate(all="ignore"):
        return rng.choice(SPECIAL, size).astype(dtype)


def bits(x):
    return np.ascontiguousarray(x).tobytes()


@pytest.mark.parametrize("size", [7, 5000])
@pytest.mark.parametrize("dtype", DTYPES.split())
def test_selection_is_exact(backend, program, dtype, size):
    condition = np.random.default_rng(2).random(size) < 0.5
    x, y = numbers(dtype, size, 0), numbers(dtype, size, 1)
    made = program(tp.select, condition, x, y)
    for options in ({"tile": 0}, {"tile": 512, "threads": 1, "poison": True}):
        run = backend.compile(made, made.input_avals, options)
        for mask in (condition, ~condition, np.zeros_like(condition), np.repeat(condition, 2)[::2]):
            for a, b in ((x, y), (y[::-1], x), (x, x)):
                assert bits(run(mask, a, b)[0]) == bits(np.where(mask, a, b))


@pytest.mark.parametrize("dtype", ["int32", "float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("value", [0.0, -0.0, float("nan"), 3.0])
@pytest.mark.parametrize("side", ["left", "right", "both"])
def test_selection_beside_one_number(dtype, value, side):
    condition = np.random.default_rng(2).random(4000) < 0.5
    with np.errstate(all="ignore"):
        one = np.asarray(value).astype(dtype)
    x, y = numbers(dtype, 4000, 0), numbers(dtype, 4000, 1)
    a, b = (one if side in ("left", "both") else x), (one if side in ("right", "both") else y)
    out = np.empty(4000, dtype)
    choose(condition, a, b, out)
    assert bits(out) == bits(np.where(condition, a, b))


@pytest.mark.parametrize("dtype", ["int32", "float32", "float64", "complex128"])
@pytest.mark.parametrize("shape", [(400, 1), (1, 10), (10,)])
def test_selection_beside_zero_expands_the_other(dtype, shape):
    condition = np.random.default_rng(2).random((400, 10)) < 0.5
    x, zero = numbers(dtype, 400, 0)[: np.prod(shape)].reshape(shape), np.zeros((), dtype)
    for a, b in ((x, zero), (zero, x)):
        out = np.empty((400, 10), dtype)
        choose(condition, a, b, out)
        assert bits(out) == bits(np.where(condition, a, b))


@pytest.mark.parametrize("dtype", DTYPES.split())
@pytest.mark.parametrize("shape", [(40, 50), (3, 5)])
@pytest.mark.parametrize("zero", [0, -0.0])
def test_selection_beside_a_literal_zero(backend, program, dtype, shape, zero):
    """In the memory of the other branch, where that is dead; its elements may be expanded."""
    size = int(np.prod(shape))
    condition = np.random.default_rng(2).random(shape) < 0.5
    x, row = numbers(dtype, size, 0).reshape(shape), numbers(dtype, shape[1], 1)
    value = np.asarray(zero).astype(dtype)

    def function(condition, x, row):
        none = tp.constant(value.item(), dtype, shape)
        wide = tp.broadcast_in_dim(row, shape, (1,))
        dead = tp.select(condition, x, wide)
        kept, dropped = tp.select(condition, x, none), tp.select(condition, none, wide)
        return kept, dropped, tp.select(condition, none, dead), tp.select(condition, none, none)

    made = program(function, condition, x, row)
    wide = np.broadcast_to(row, shape)
    expected = (
        np.where(condition, x, value),
        np.where(condition, value, wide),
        np.where(condition, value, wide),
        np.full(shape, value),
    )
    for options in ({"tile": 0}, {"tile": 64, "threads": 1, "poison": True}):
        for order in (np.ascontiguousarray, np.asfortranarray):
            mask, values = order(condition), order(x)
            results = backend.compile(made, made.input_avals, options)(mask, values, row)
            for result, wanted in zip(results, expected, strict=True):
                assert bits(result) == bits(wanted)
            assert bits(values) == bits(x)


def test_a_dead_branch_is_cleared_in_place(backend, program):
    def function(x):
        nothing = tp.constant(0.0, "float64", x.shape)
        return tp.select(tp.lt(x, nothing), nothing, tp.exp(x))

    x = np.linspace(-1, 1, 2000)
    made = program(function, x)
    executable = backend.compile(made, made.input_avals, {"tile": 0})
    assert executable.plan.lines[-1].expression.memory_of is not None
    np.testing.assert_array_equal(executable(x)[0], np.where(x < 0, 0, np.exp(x)))


@pytest.mark.parametrize("dims", [(0,), (1,)])
@pytest.mark.parametrize("is_kept", [True, False])
def test_a_dead_branch_is_cleared_in_place_by_a_condition_that_expands(check, dims, is_kept):
    def function(condition, x):
        nothing = tp.constant(0.0, "float64", x.shape)
        wide, dead = tp.broadcast_in_dim(condition, x.shape, dims), tp.neg(x)
        branches = (dead, nothing) if is_kept else (nothing, dead)
        return tp.select(wide, *branches)

    x, condition = np.linspace(-1, 1, 1600).reshape(40, 40), np.arange(40) % 3 == 0
    wide = condition[:, None] if dims == (0,) else condition
    expected = np.where(wide, -x, 0.0) if is_kept else np.where(wide, 0.0, -x)
    check(function, (condition, x), expected)


@pytest.mark.parametrize("dtype", ["int32", "float32", "float64", "complex64"])
@pytest.mark.parametrize(
    "x, y",
    [
        (1.0, 0.5),
        (0.0, 1.0),
        (1.0, 0.0),
        (-1.0, 1.0),
        (0.0, -0.0),
        (-0.0, 0.0),
        (-0.0, 1.0),
        (0.1, 0.3),
        (1e30, 1e-30),
        (3e38, -3e38),
        (float("inf"), 1.0),
        (0.0, float("nan")),
    ],
)
def test_selection_between_two_literals(backend, program, dtype, x, y):
    """By arithmetic only where c·(x - y) + y is x or y to the last bit"""
    condition = np.random.default_rng(2).random((40, 50)) < 0.5
    with np.errstate(all="ignore"):
        numbers = [np.asarray(value).astype(dtype) for value in (x, y)]

    def function(condition, z):
        first, second = [tp.constant(v.item(), dtype, (40, 50)) for v in numbers]
        chosen = tp.select(condition, first, second)
        return chosen, tp.mul(chosen, z)

    z = np.ones((40, 50), dtype)
    made = program(function, condition, z)
    expected = np.where(condition, *numbers)
    for options in ({"tile": 0}, {"tile": 512, "threads": 1, "poison": True}):
        run = backend.compile(made, made.input_avals, options)
        for mask in (condition, ~condition, np.zeros_like(condition), condition[::-1]):
            wanted = expected if mask is condition else np.where(mask, *numbers)
            assert bits(run(mask, z)[0]) == bits(wanted)
