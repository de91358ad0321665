"""A number that takes the dtype of an array loses neither its imaginary part nor its high bits.

What NumPy refuses is refused, and the dtype of a result is NumPy's.
"""

import numpy as np
import pytest
from against_numpy import agree, case

import tenferro as tn

SMALL = np.array([100, 2], np.int8)
PAIRS = np.array([[1.0, 2.0, 4.0], [1.0, 5.0, 2.0]])
WEIGHTS = [
    {"aweights": np.array([1, 2, 3], np.float32)}, {"fweights": np.array([1, 2, 3])}, {"ddof": 0},
]  # fmt: skip
REAL = np.array([1.0, 2.0, 4.0])
BYTES = np.array([1, 2, 3], np.uint8)
TAKING = {
    "sum": lambda x, v: np.sum(x, initial=v),
    "prod": lambda x, v: np.prod(x, initial=v),
    "max": lambda x, v: np.max(x, initial=v),
    "nanmin": lambda x, v: np.nanmin(x, initial=v),
    "add.reduce": lambda x, v: np.add.reduce(x, initial=v),
    "minimum.reduce": lambda x, v: np.minimum.reduce(x, initial=v),
    "subtract.reduce": lambda x, v: np.subtract.reduce(x, initial=v),
    "insert": lambda x, v: np.insert(x, 1, v),
    "insert a list": lambda x, v: np.insert(x, [0, 1], [v, v]),
    "piecewise": lambda x, v: np.piecewise(x, [x > 1], [v]),
}
TOO_MUCH = [
    (REAL, 1 + 2j, TypeError),
    (BYTES, -3, OverflowError),  # a sum of uint8 is one of uint64
    (BYTES, float("nan"), ValueError),
    (BYTES, float("-inf"), OverflowError),
    (BYTES, 1e30, OverflowError),
]


@pytest.mark.parametrize("name", TAKING)
def test_what_the_dtype_cannot_hold_is_refused(name):
    f = TAKING[name]
    for x, value, error in TOO_MUCH:
        with pytest.raises(error):
            f(x, value)
        with pytest.raises(error) as caught:
            f(tn.asarray(x), value)
        assert isinstance(caught.value, tn.TenferroError)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.interp(x, [0.0, 1.0], [0.0, 1.0], left=1j),
        lambda x: np.nan_to_num(x, nan=1j),
        lambda x: np.piecewise(x, [x > 1], [lambda x: x * 1j]),
        lambda x: np.gradient(x, 1j),
    ],
)
def test_an_imaginary_part_is_not_dropped(f):
    with pytest.raises(tn.DTypeMismatchError):
        f(tn.asarray(REAL))


@pytest.mark.parametrize(
    "mode, keyword", [("constant", "constant_values"), ("linear_ramp", "end_values")]
)
@pytest.mark.parametrize("x, value, error", TOO_MUCH)
def test_a_padding_is_of_numbers_that_the_dtype_holds(mode, keyword, x, value, error):
    """NumPy warns of some of these, and pads with whatever number the cast gives."""
    with pytest.raises(error):
        np.pad(tn.asarray(x), 1, mode=mode, **{keyword: value})


def test_dtypes_are_those_of_numpy():
    single, truth = REAL.astype(np.float32), np.array([True, False, True])
    cases = [
        case(np.gradient, single, np.array([0.0, 1.0, 2.5])),
        case(np.gradient, single, np.float64(0.5)),
        case(np.gradient, single.astype(np.complex64), np.array([0.0, 1.0, 2.5]), edge_order=2),
        case(np.minimum.reduce, truth, initial=3, where=[True, False, True]),
        case(np.trapezoid, np.array([200, 100], np.uint8), np.array([0, 3], np.uint8)),
        case(np.trapezoid, truth, dx=np.float32(0.5)),
        case(np.polyval, np.zeros(0), single),
        case(np.polyval, np.zeros(0), truth),
        case(np.clip, 3, None, SMALL),
        case(np.clip, 3, None, single),
        *[case(np.clip, x, *bounds) for bounds in ((-999, 2), (101, 999), (-999, 999), (2, None))
          for x in (SMALL, BYTES.astype(np.uint64), REAL)],
        case(np.union1d, SMALL, 2),
        case(lambda x: np.concatenate([x, 2, 2.5], axis=None), single),
        *[case(np.cov, x, dtype=np.float32, **w) for w in WEIGHTS for x in (PAIRS, BYTES)],
        case(lambda x: np.histogram(x, 3, density=True, weights=x)[0], single),
        *[("conj", getattr(tn.asarray(x), name)(), getattr(x, name)())
          for name in ("conj", "conjugate") for x in (truth, BYTES, single, 1j * single)],
    ]  # fmt: skip
    agree(cases)


MADE_ARRAYS = {
    "sum": np.sum, "max": np.max, "reshape": lambda n: np.reshape(n, ()), "copy": np.copy,
    "clip": lambda n: np.clip(n, 0, 9), "stack": lambda n: np.stack([n, n])[0],
    "positive": np.positive, "around": np.around, "power": lambda n: np.power(n, 1),
    "where": lambda n: np.where(True, n, n), "broadcast": lambda n: np.broadcast_arrays(n, n)[1],
    "einsum": lambda n: np.einsum("->", n), "full_like": lambda n: np.full_like(n, n),
    "minimum": lambda n: np.minimum.reduce(n, axis=()), "deg2rad": np.deg2rad,
    "flip": np.flip, "double": lambda n: 2 * np.sum(n), "real": np.real, "abs": abs,
}  # fmt: skip


@pytest.mark.parametrize("number", [3, 2.5])
@pytest.mark.parametrize("name", MADE_ARRAYS)
def test_a_function_of_a_number_is_an_array(name, number):
    """np.sum(3) * x has NumPy's dtype, also where 3 is an argument of a transform; 3 * x is x's."""

    def f(n, x):
        return MADE_ARRAYS[name](n) * x

    for x in (SMALL, SMALL.astype(np.float32)):
        got, want = tn.jit(f)(number, x), f(number, x)
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=1e-6)


@pytest.mark.parametrize(
    "f",
    [
        lambda n, x: np.polyval(x, n),
        lambda n, x: np.clip(n, None, x),
        lambda n, x: np.add.outer(x, n),
        lambda n, x: np.percentile(x, n),
    ],
)
def test_traced_numbers_have_the_dtype_of_given_ones(f):
    for x in (SMALL, SMALL.astype(np.float32)):
        got, want = tn.jit(f)(3, x), f(3, x)
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=1e-6)


def test_a_quantile_at_a_number_of_numpy_has_its_dtype():
    single = tn.asarray(REAL.astype(np.float32))
    assert np.percentile(single, np.float64(50)).dtype == np.float64  # float32 before NumPy 2.4
    assert np.percentile(single, 50).dtype == np.float32


@pytest.mark.parametrize("values", [[-1.5, 0.25, np.inf], [1e20, 1e20, 1.0], [-np.inf, 2, 3]])
def test_interp_has_the_value_of_a_point_there(values):
    points = np.arange(3.0)
    np.testing.assert_array_equal(np.interp(tn.asarray(points), points, np.array(values)), values)
    slopes = tn.grad(lambda x: np.interp(x, points, np.array([1.0, 2.0, 5.0])).sum())(points)
    np.testing.assert_array_equal(slopes, [1.0, 3.0, 3.0])


def test_traced_positions_out_of_bounds_stay_out_of_bounds():
    rows, columns = tn.jit(lambda i: np.unravel_index(i, (2, 3)))(np.array([7, 3]))
    np.testing.assert_array_equal([rows, columns], [[2, 1], [1, 0]])
    flat = tn.jit(lambda i, j: np.ravel_multi_index((i, j), (2, 3)))
    places = flat(np.array([7, 0, 1, 0]), np.array([1, 4, 2, -1]))
    np.testing.assert_array_equal(places, [6, 6, 5, 6])


@pytest.mark.parametrize("x", [2, True, 2.0, np.int8(2), np.array([2.0], "f")])
@pytest.mark.parametrize("y", [3, np.int8(3), np.array([3], "i1"), np.array([3])])
def test_powers_of_two_have_the_dtype_of_numpys(x, y):
    """A Python integer times 2 to an array is float16; to a Python integer, float64"""
    assert np.asarray(tn.ldexp(x, y)).dtype == np.ldexp(x, y).dtype


def test_refused_as_numpy_refuses():
    with pytest.raises(tn.TenferroError, match="uint64"):
        np.ldexp(tn.asarray(REAL), np.array([2**63], np.uint64))
    with pytest.raises(ValueError, match="ddof"):
        np.cov(tn.asarray(PAIRS), ddof=1.5)
