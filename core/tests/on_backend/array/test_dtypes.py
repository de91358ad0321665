"""Dtypes beside NumPy's: spellings, classes of scalars, and operands of the other byte order."""

import sys

import numpy as np
import pytest

import tenferro as tn
from tenferro.primitives import UnknownDTypeError

SWAPPED = ">" if sys.byteorder == "little" else "<"
X = tn.asarray(np.ones(2, "float32"))
OTHER = np.array([1.0, 2.0], SWAPPED + "f8")
CODES = ["i1", "i8", "u1", "u8", "f2", "f4", "f8", "c8", "c16", "?", "d", "=i4", "half", "int"]


@pytest.mark.parametrize("code", CODES)
def test_a_function_takes_numpys_spelling(code):
    """Creation, conversion and limits read a string as NumPy does"""
    want = np.zeros(2, code).dtype
    assert tn.zeros(2, dtype=code).dtype == want
    assert X.astype(code).dtype == want
    assert np.asarray(tn.zeros(2, dtype=code)).dtype == want
    assert tn.zeros(2, dtype=code).dtype.kind == want.kind


@pytest.mark.parametrize(
    "others",
    [
        (np.float32,),
        (np.float64,),
        (np.int8,),
        (np.complex64, 2),
        (np.bool_,),
        (float,),
        (np.int64,),
    ],
)
def test_the_class_of_a_scalar_counts_as_a_dtype(others):
    """result_type of an array and a class, through NumPy and directly, in any order"""
    want = np.result_type(np.ones(2, "float32"), *others)
    assert tn.result_type(X, *others) == want
    assert np.result_type(X, *others) == want
    assert tn.result_type(*others, X) == want
    assert tn.can_cast(others[0], "c16") == np.can_cast(others[0], "c16")


def test_the_class_of_a_scalar_is_no_array():
    with pytest.raises(tn.UnknownOperandError):
        tn.sin(np.float32)


def test_the_limits_of_a_class_are_those_of_its_dtype():
    assert tn.finfo(np.float32).max == np.finfo(np.float32).max
    assert tn.iinfo(np.uint64).max == np.iinfo("u8").max == tn.iinfo("u8").max


@pytest.mark.parametrize(
    "use",
    [
        lambda x: tn.asarray(x),
        lambda x: tn.sum(x),
        lambda x: X + x,
        lambda x: x + X,
        lambda x: np.add(X, x),
        lambda x: tn.result_type(X, x),
        lambda x: X.astype(x.dtype),
        lambda x: tn.zeros(2, dtype=x.dtype.str),
        lambda x: tn.grad(lambda a: (a * a).sum())(x),
        lambda x: tn.grad(lambda a: (a * x).sum())(np.ones(2)),
        lambda x: tn.grad(lambda a, b: (a * b).sum())(np.ones(2), x),
        lambda x: tn.jvp(lambda a: a * a, (x,), (np.ones(2),)),
        lambda x: tn.vmap(lambda a: a * a)(x),
        lambda x: tn.jit(lambda a: a * a)(x),
    ],
)
def test_the_other_order_of_bytes_is_refused_at_the_users_line(use):
    """The error names what to write, and that works"""
    with pytest.raises(UnknownDTypeError) as error:
        use(OTHER)
    assert 'x.astype(x.dtype.newbyteorder("="))' in str(error.value)
    assert error.value.need == "float64 in the order of this machine"
    assert any("test_dtypes.py" in note for note in error.value.__notes__)
    use(OTHER.astype(OTHER.dtype.newbyteorder("=")))


def test_one_byte_has_no_order():
    assert tn.asarray(np.array([1], SWAPPED + "i1")).dtype == "int8"


def test_numpy_takes_these_dtypes_where_it_takes_its_own():
    assert np.issubdtype(X.dtype, np.floating)
    assert np.zeros(2, X.dtype).dtype.kind == X.dtype.kind == "f"
