"""Tolerance classes measure what they say, below one unit in the last place too."""

from unittest import mock

import numpy as np
import pytest

from tenferro_conformance.cases.case import Stored
from tenferro_conformance.cases.tolerances import (
    TABLE,
    bound_of,
    measure,
    require,
    require_equal,
    same_bits,
)
from tenferro_conformance.errors import ToleranceError
from tenferro_conformance.judging.laws import require_double_transpose
from tenferro_conformance.profile import Tol

inf, nan = float("inf"), float("nan")


def _stored(data, dtype="float64", low=None):
    return Stored(shape=(len(data),), dtype=dtype, data=tuple(data), low=low)


@pytest.mark.parametrize(
    "got, want, low, ulp",
    [
        (1.0, 1.0, 0.0, 0.0),
        (1.0 + 2**-52, 1.0, 0.0, 1.0),
        (1.0, 1.0, 2.0**-54, 0.25),
        (2.0, 2.0, -(2.0**-53), 0.25),
    ],
)
def test_units_in_the_last_place(got, want, low, ulp):
    assert measure(np.array([got]), _stored([want], low=(low,)), tol="rounded").measured == ulp


def test_single_precision_is_measured_against_double():
    found = measure(np.array([0.1], "float32"), _stored([0.1], "float32"), tol="rounded")
    assert 0.0 < found.measured < 0.5


@pytest.mark.parametrize(
    "got, want",
    [
        ([nan], [1.0]),
        ([1.0], [nan]),
        ([inf], [-inf]),
        ([inf], [1e308]),
        ([1.0], [inf]),
        ([1.0 + 2**-51], [1.0]),
    ],
)
def test_what_is_beyond(got, want):
    with pytest.raises(ToleranceError):
        require(np.array(got), _stored(want), "x", tol="rounded")


def test_wrong_dtype_and_shape_are_infinitely_far():
    assert measure(np.zeros(2, "float32"), _stored([0, 0]), tol="reduction").measured == inf
    assert measure(np.zeros((2, 1)), _stored([0, 0]), tol="reduction").measured == inf


def test_overflow_of_the_dtype_is_infinity():
    require(np.array([inf], "float32"), _stored([1e40], "float32"), "x", tol="rounded")


def test_exact_distinguishes_zeros_but_not_nans():
    assert not same_bits(np.array([0.0]), np.array([-0.0]))
    assert same_bits(np.array([nan, -0.0]), np.array([-nan, -0.0]))
    with pytest.raises(ToleranceError):
        require_equal(np.array([1 + 0j]), np.array([complex(1, -0.0)]), "x")


def test_sums_are_measured_by_the_sum_of_magnitudes():
    scale = _stored([200.0])
    assert measure(
        np.array([1e-14]), _stored([0.0]), tol="reduction", size=8, scale=scale
    ).is_within
    assert not measure(
        np.array([1e-12]), _stored([0.0]), tol="reduction", size=8, scale=scale
    ).is_within


def test_complex_products_are_measured_normwise():
    z = _stored([1 + 1e-20j], "complex128")
    assert measure(np.array([1 + 1e-16j]), z, tol="complex").is_within
    assert not measure(np.array([1 + 1e-16j]), z, tol="rounded").is_within


@pytest.mark.parametrize(
    "tol, size, order, bound",
    [("rounded", 1, 0, 1), ("elementary", 1, 2, 64), ("reduction", 8, 0, 12), ("reduction_serial",
        8, 0, 32),
     ("contraction", 5, 0, 20), ("contraction", 5, 1, 80), ("exact", 9, 3, 0)],
)  # fmt: skip
def test_bounds(tol, size, order, bound):
    """The bound of a tolerance class grows with the size and with the order, as the table says"""
    assert bound_of(tol, "float64", size, order) == bound


def test_integers_are_exact_whatever_the_class():
    assert bound_of("rounded", "int32") == 0


def test_an_override_replaces_the_bound_or_the_class():
    assert bound_of("elementary", "float32", override=Tol(ulp=6, reason="r")) == 6
    want, got = _stored([1.0]), np.array([1 + 10 * 2.0**-52])
    assert measure(got, want, tol="elementary", override=Tol(tol="special", reason="r")).is_within


def test_half_precision_has_its_own_column():
    assert {column for row in TABLE.values() for column in row} >= {"float16", "bfloat16"}
    with pytest.raises(KeyError):
        bound_of("complex", "float16")


@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16"])
def test_the_map_transposed_twice_is_measured_by_its_numbers(dtype):
    """|(Jᵀ)ᵀ v − J v| is compared with the largest of v and J v, in every dtype."""
    real = np.dtype(getattr(pytest.importorskip("ml_dtypes"), dtype, dtype))
    v, jv = np.array([-2.0, 0.5], real), np.array([1.5, 1.0], real)
    out = mock.Mock(**{"fed.return_value": [v], "all.return_value": [jv]})
    require_double_transpose(out)
    assert out.require_close.call_args.kwargs["scale"] == 2.0
