"""Random programs give what their operations give one by one, in tiles of every size."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from region_programs import LAYOUTS

from tenferro import primitives as tp

UNARY = (tp.neg, tp.sin, tp.exp, tp.square, tp.abs, tp.floor, tp.logistic, tp.rsqrt)
BINARY = (tp.add, tp.sub, tp.mul, tp.div, tp.maximum, tp.minimum)
COMPARISONS = (tp.lt, tp.ge, tp.eq)
FOLDS = (tp.reduce_sum, tp.reduce_max, tp.reduce_min)
VALUES = (0.0, -0.0, 1.0, -1.5, 0.25, 3.0, float("inf"), float("-inf"), float("nan"), 1e-300, 200.0)
DTYPES = ("float64", "float32", "complex128", "int32", "int64")


@st.composite
def programs(draw):
    """A function of handles over values of one shape and of shapes that expand to it."""
    rank = draw(st.integers(0, 3))
    shape = tuple(draw(st.lists(st.integers(0, 6), min_size=rank, max_size=rank)))
    dtype = draw(st.sampled_from(DTYPES))
    inputs = []
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, rank))
        inputs.append(tuple(n if draw(st.booleans()) else 1 for n in shape[start:]))
    count = draw(st.integers(1, 14))
    choices = draw(st.lists(st.integers(0, 10**6), min_size=4 * count, max_size=4 * count))
    return shape, dtype, inputs, choices


def build(shape, choices, *xs):
    """Apply the operations that the numbers choose; results are all that nobody reads."""
    full = [expand(x, shape) for x in xs]
    values, results = list(full), []
    numbers = iter(choices)
    for kind, a, b, c in zip(numbers, numbers, numbers, numbers, strict=True):
        x, y, z = (values[-1 - i % min(len(values), 5)] for i in (a, b, c))
        is_complex, is_float = x.dtype.is_complex, x.dtype.is_float
        match kind % 9:
            case 0 | 1:
                allowed = UNARY[:4] if is_complex else UNARY if is_float else (tp.neg, tp.square)
                made = allowed[b % len(allowed)](x)
            case 2 | 3:
                allowed = BINARY[:3] if not is_float else BINARY
                made = allowed[c % len(allowed)](x, y)
            case 4:
                pred = tp.eq(x, y) if is_complex else COMPARISONS[b % 3](x, y)
                made = tp.select(pred, y, z)
            case 7 if len(shape):
                made = shifted(x, b % len(shape), c % 4, a % 2)
            case 5 if len(shape):
                axes = tuple(i for i in range(len(shape)) if b >> i & 1) or (0,)
                fold = FOLDS[c % 3] if not is_complex and 0 not in shape else tp.reduce_sum
                folded = fold(x, axes)
                results.append(folded)
                kept = [i for i in range(len(shape)) if i not in axes]
                made = tp.broadcast_in_dim(folded, shape, kept)
            case 6 if is_float and b % 3 == 0:
                made = tp.convert(tp.convert(x, "float32"), x.dtype)
            case _:
                made = x + tp.constant(2, x.dtype, shape)
        values.append(made)
    return (*results, values[-1], values[len(values) // 2])


def shifted(x, axis, by, around):
    """x moved along an axis: around the end, or with zeros for what comes in."""
    by = min(by, x.shape[axis])
    cut = [n - by * (d == axis) for d, n in enumerate(x.shape)]
    start = [n - by if d == axis else 0 for d, n in enumerate(x.shape)]
    zeros = [0] * len(x.shape)
    body = tp.slice(x, zeros, cut)
    if around:
        return tp.concatenate([tp.slice(x, start, x.shape), body], axis)
    low = [by * (d == axis) for d in range(len(cut))]
    return tp.pad(body, tp.constant(0, x.dtype), low, zeros, zeros)


def expand(x, shape):
    first = len(shape) - len(x.shape)
    return tp.broadcast_in_dim(x, shape, range(first, len(shape)))


@pytest.mark.parametrize(
    "options",
    [
        {"tile": 1, "threads": 1},
        {"tile": 5, "threads": 1},
        {"tile": 3, "threads": 3, "executor": "source"},
        {"tile": 0},
    ],
    ids=str,
)
@given(made=programs(), seed=st.integers(0, 99), layout=st.sampled_from(sorted(LAYOUTS)))
@settings(max_examples=150, deadline=None)
def test_random_programs_give_what_their_operations_give(
    backend, checks, options, made, seed, layout
):
    shape, dtype, inputs, choices = made
    rng = np.random.default_rng(seed)
    with np.errstate(all="ignore"):
        arrays = [rng.choice(VALUES, size=s).astype(dtype) for s in inputs]
    if all(all(s) and len(s) for s in inputs):
        arrays = [LAYOUTS[layout](a) for a in arrays]
    before = [a.copy() for a in arrays]
    avals = [backend.aval_of(a) for a in arrays]
    program = checks.compile_function(lambda *xs: build(shape, choices, *xs), *avals)
    expected = checks.evaluate_by_contract(backend, program, arrays)
    executable = backend.compile(program, program.input_avals, {**options, "poison": True})
    results = executable(*arrays)
    checks.assert_detached(results, arrays)
    for result, value, aval in zip(results, expected, program.output_avals, strict=True):
        assert (result.shape, result.dtype.name) == (aval.shape, aval.dtype.name)
        agree(result, np.asarray(value))
    for a, copy in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(a, copy)
    assert [r.tobytes() for r in executable(*arrays)] == [r.tobytes() for r in results]


def agree(result, value):
    """Equal but for the rounding of sums, which are taken in another order."""
    if value.dtype.kind not in "fc":
        np.testing.assert_array_equal(result, value)
        return
    parts = [(result, value)] if value.dtype.kind == "f" else [
        (result.real, value.real), (result.imag, value.imag)
    ]  # fmt: skip
    rtol = 1e-4 if value.dtype.name in ("float32", "complex64") else 1e-12
    for got, want in parts:
        np.testing.assert_allclose(got, want, rtol=rtol, atol=1e-300)
