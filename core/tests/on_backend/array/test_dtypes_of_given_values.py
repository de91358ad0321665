"""A number that takes the dtype of an array loses neither its imaginary part nor its high bits.

What NumPy refuses is refused, and the dtype of a result is NumPy's.
"""

import numpy as np
import pytest
from against_numpy import agree, case

import tenferro as tn

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
        *[("conj", getattr(tn.asarray(x), name)(), getattr(x, name)())
          for name in ("conj", "conjugate") for x in (truth, BYTES, single, 1j * single)],
    ]  # fmt: skip
    agree(cases)
