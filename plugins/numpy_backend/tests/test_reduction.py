"""Reductions against NumPy: axes, dtypes, empty, NaN, ties."""

import numpy as np
import pytest

import tenferro as tn
from tenferro import primitives as tp

X = np.array([[[3, 1, 2], [4, 1, 5]], [[9, 2, 6], [5, 3, 5]]])
AXES = [(), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)]


@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("dtype", ["int8", "int32", "uint8", "float32", "float64", "complex64"])
@pytest.mark.parametrize("name", ["reduce_sum", "reduce_prod"])
def test_sum_and_product(check, name, dtype, axes):
    x = X.astype(dtype)
    reference = {"reduce_sum": np.sum, "reduce_prod": np.prod}[name]
    expected = reference(x, axis=axes, dtype=dtype)
    check(
        lambda x: getattr(tp, name)(x, axes),
        [x],
        expected,
        rtol=1e-5 if x.dtype.kind in "fc" else 0,
    )


@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("dtype", ["bool", "int8", "float32"])
@pytest.mark.parametrize("name", ["reduce_max", "reduce_min"])
def test_extremes(check, name, dtype, axes):
    """Largest and smallest elements are NumPy's, along all axes"""
    x = (X > 3) if dtype == "bool" else X.astype(dtype)
    reference = {"reduce_max": np.max, "reduce_min": np.min}[name]
    check(lambda x: getattr(tp, name)(x, axes), [x], reference(x, axis=axes))


def test_empty(check):
    """A sum of nothing is 0, a product 1; the extremes of no rows are an empty array"""
    x = np.empty((0, 3), "float32")
    check(lambda x: tp.reduce_sum(x, (0,)), [x], np.zeros(3, "float32"))
    check(lambda x: tp.reduce_prod(x, (0, 1)), [x], np.float32(1))
    check(lambda x: tp.reduce_max(x, (1,)), [x], np.empty(0, "float32"))


def test_rank_zero(check):
    """A number without axes is its own sum"""
    check(lambda x: tp.reduce_sum(x, ()), [np.float32(3)], np.float32(3))


@pytest.mark.parametrize("name", ["reduce_max", "reduce_min"])
def test_nan_wins(check, name):
    """An extreme is nan if any element is"""
    x = np.array([[1.0, np.nan], [0.0, 2.0]])
    expected = getattr(np, name.removeprefix("reduce_"))(x, axis=0)
    check(lambda x: getattr(tp, name)(x, (0,)), [x], expected)


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64"])
@pytest.mark.parametrize("name", ["argmax", "argmin"])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_positions(check, name, dtype, axis):
    """The place of the first extreme is NumPy's, in the dtype that is asked for"""
    expected = getattr(np, name)(X, axis).astype(dtype)
    check(lambda x: getattr(tp, name)(x, axis, dtype), [X], expected)


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_first_and_nan_win_positions(check, name):
    x = np.array([1.0, np.nan, 1.0, np.nan])
    check(lambda x: getattr(tp, name)(x, 0), [x], np.int64(1))
    check(lambda x: getattr(tp, name)(x, 0), [np.array([2, 2, 2])], np.int64(0))


def test_pairwise_summation(check):
    """2²⁰ · 0.1 in float32 to 1e-6: sums are added in pairs"""
    x = np.full(1 << 20, 0.1, "float32")
    check(lambda x: tp.reduce_sum(x, (0,)), [x], np.float32(0.1) * np.float32(1 << 20), rtol=1e-6)


SHAPES = [
    ((5,), (0,)), ((300,), (0,)), ((5000,), (0,)), ((7, 3), (0,)), ((7, 3), (1,)),
    ((7, 3), (0, 1)), ((300, 3), (1,)), ((3000, 4), (0,)), ((3000, 4), (1,)), ((4, 5, 6), (0,)),
    ((4, 5, 6), (1,)), ((4, 5, 6), (2,)), ((4, 5, 6), (0, 1)), ((4, 5, 6), (1, 2)),
    ((4, 5, 6), (0, 2)), ((4, 5, 6), (0, 1, 2)), ((4, 0), (1,)), ((0, 4), (0, 1)), ((1, 1), (0,)),
]  # fmt: skip
LAYOUTS = {
    "rows": np.ascontiguousarray,
    "columns": np.asfortranarray,
    "strided": lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
    "backwards": lambda x: x[::-1],
    "repeated": lambda x: np.broadcast_to(x[:1], x.shape),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
@pytest.mark.parametrize("shape, axes", SHAPES)
def test_sums_of_any_size_and_layout(check, shape, axes, dtype, layout):
    """A sum is exact to its last places, whichever routine takes it: here all of them are"""
    x = LAYOUTS[layout]((np.arange(np.prod(shape)) % 17 - 8).reshape(shape).astype(dtype))
    check(lambda x: tp.reduce_sum(x, axes), [x], np.sum(x, axis=axes, dtype=dtype))


@pytest.mark.parametrize("number", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("shape, axes", [((6,), (0,)), ((4, 3), (0,)), ((4, 3), (1,))])
def test_sums_of_numbers_without_a_value(check, shape, axes, number):
    """Only the sums that they are part of have no value"""
    x = np.ones(shape)
    x[(1, *[0] * (x.ndim - 1))] = number
    check(lambda x: tp.reduce_sum(x, axes), [x], np.sum(x, axis=axes))


@pytest.mark.parametrize("layout", ["rows", "columns", "backwards"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "uint8"])
@pytest.mark.parametrize("shape", [(1,), (9,), (5, 4), (40, 3), (2, 3, 4)])
@pytest.mark.parametrize("name", ["max", "min"])
def test_extremes_of_all_elements_and_of_short_rows(check, name, shape, dtype, layout):
    x = (np.arange(np.prod(shape)) * 7 % 31).reshape(shape).astype(dtype)
    x = LAYOUTS[layout](x)
    for axes in (tuple(range(x.ndim)), (x.ndim - 1,)):
        expected = getattr(np, name)(x, axis=axes)
        check(lambda x, axes=axes: getattr(tp, f"reduce_{name}")(x, axes), [x], expected)


def test_the_first_nan_is_the_largest_and_the_smallest(check):
    x = np.array([1.0, np.nan, np.inf, -np.inf])
    for reduce in (tp.reduce_max, tp.reduce_min):
        check(lambda x, reduce=reduce: reduce(x, (0,)), [x], np.float64(np.nan))


# shape, axes: short axes in the middle, together with the last one, and one whose extent is 1
POOLED = [
    ((40, 2, 3), (1,)), ((4, 5, 2, 5, 2, 6), (2, 4)), ((32, 2, 32, 2), (1, 3)),
    ((40, 3, 8, 1), (1, 3)), ((40, 9, 2), (1,)), ((40, 10, 2), (1,)), ((40, 1, 2), (1,)),
    ((6, 40, 3), (1,)), ((6, 5, 4, 3), (1, 2)), ((2, 3, 6, 32), (2,)), ((6, 300, 33), (1,)),
]  # fmt: skip


POOLS = [(name, dtype) for name in ("max", "min") for dtype in ("float32", "int32", "bool")]
POOLS += [("sum", dtype) for dtype in ("float16", "float64", "complex128", "int32")]


@pytest.mark.parametrize("name, dtype", POOLS)
@pytest.mark.parametrize("shape, axes", POOLED)
def test_short_axes_in_the_middle(check, shape, axes, name, dtype):
    """Whole numbers, which every order of the terms adds to the same; also of columns"""
    x = (np.arange(np.prod(shape)) * 7 % 11 - 5).reshape(shape).astype(dtype)
    expected = getattr(np, name)(x, axis=axes, **({"dtype": dtype} if name == "sum" else {}))
    for y in (x, np.asfortranarray(x)):
        check(lambda y: getattr(tp, f"reduce_{name}")(y, axes), [y], expected, rtol=0)


def test_sums_over_a_middle_axis_keep_numbers_without_a_value_to_themselves(check):
    """A product sums them, and each column has terms of its own"""
    x = np.ones((4, 7, 3))
    x[1, 2, 1], x[2, 3, 0], x[3, :2, 2] = np.nan, np.inf, [np.inf, -np.inf]
    text = tn.jit(lambda x: tn.sum(x, axis=1), backend="numpy").explain(x)
    assert "if r0.flags.c_contiguous" in text
    expected = np.ones((4, 3)) * 7
    expected[1, 1], expected[2, 0], expected[3, 2] = np.nan, np.inf, np.nan
    check(lambda x: tp.reduce_sum(x, (1,)), [x], expected)


@pytest.mark.parametrize("tile", [1, 50, 10_000])
@pytest.mark.parametrize("shape, axes", POOLED)
def test_short_axes_in_the_middle_of_tiles(shape, axes, tile):
    """A sum and a maximum of a product, in regions of tiles that cut the first axis"""
    x = np.cos(np.arange(np.prod(shape) * 3.0)).reshape(3 * shape[0], *shape[1:])

    def pools(x):
        y = x * (x + 1)
        return np.sum(y, axis=axes), np.max(y, axis=axes)

    found = tn.jit(pools, backend="numpy", options={"tile": tile})(x)
    for result, need in zip(found, pools(x), strict=True):
        np.testing.assert_allclose(result, need, rtol=1e-14, atol=1e-15)
