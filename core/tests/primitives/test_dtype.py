"""Dtypes: singletons, names, and the promotion of the Array API with NumPy's mixed kinds."""

import pickle
from types import SimpleNamespace

import pytest

from tenferro import primitives as p
from tenferro.primitives import DType, UnknownDTypeError, promote

# Array API 2024.12, "Type promotion rules"; below, what it leaves open and NumPy defines.

ARRAY_API = [
    ("int8", "int8", "int8"),
    ("int8", "int16", "int16"),
    ("int8", "int32", "int32"),
    ("int8", "int64", "int64"),
    ("int16", "int16", "int16"),
    ("int16", "int32", "int32"),
    ("int16", "int64", "int64"),
    ("int32", "int32", "int32"),
    ("int32", "int64", "int64"),
    ("int64", "int64", "int64"),
    ("uint8", "uint8", "uint8"),
    ("uint8", "uint16", "uint16"),
    ("uint8", "uint32", "uint32"),
    ("uint8", "uint64", "uint64"),
    ("uint16", "uint16", "uint16"),
    ("uint16", "uint32", "uint32"),
    ("uint16", "uint64", "uint64"),
    ("uint32", "uint32", "uint32"),
    ("uint32", "uint64", "uint64"),
    ("uint64", "uint64", "uint64"),
    ("int8", "uint8", "int16"),
    ("int8", "uint16", "int32"),
    ("int8", "uint32", "int64"),
    ("int16", "uint8", "int16"),
    ("int16", "uint16", "int32"),
    ("int16", "uint32", "int64"),
    ("int32", "uint8", "int32"),
    ("int32", "uint16", "int32"),
    ("int32", "uint32", "int64"),
    ("int64", "uint8", "int64"),
    ("int64", "uint16", "int64"),
    ("int64", "uint32", "int64"),
    ("float32", "float32", "float32"),
    ("float32", "float64", "float64"),
    ("float64", "float64", "float64"),
    ("complex64", "complex64", "complex64"),
    ("complex64", "complex128", "complex128"),
    ("complex128", "complex128", "complex128"),
    ("float32", "complex64", "complex64"),
    ("float32", "complex128", "complex128"),
    ("float64", "complex64", "complex128"),
    ("float64", "complex128", "complex128"),
    ("bool", "bool", "bool"),
]
NUMPY = [
    ("bool", "int8", "int8"),
    ("bool", "complex64", "complex64"),
    ("int8", "uint64", "float64"),
    ("int64", "uint64", "float64"),
    ("int8", "float16", "float16"),
    ("int16", "float16", "float32"),
    ("int32", "float16", "float64"),
    ("int16", "float32", "float32"),
    ("int32", "float32", "float64"),
    ("uint8", "float32", "float32"),
    ("uint64", "float32", "float64"),
    ("int64", "float64", "float64"),
    ("int16", "complex64", "complex64"),
    ("int32", "complex64", "complex128"),
    ("float16", "float32", "float32"),
    ("float16", "complex64", "complex64"),
    ("bfloat16", "float16", "float32"),
    ("bfloat16", "float32", "float32"),
    ("bfloat16", "int8", "bfloat16"),
    ("bfloat16", "complex64", "complex64"),
]
WEAK = [
    ("int8", 1, "int8"),
    ("uint8", 1, "uint8"),
    ("float32", 1, "float32"),
    ("float32", True, "float32"),
    ("bool", True, "bool"),
    ("bool", 1, "int64"),
    ("bool", 1.0, "float64"),
    ("int32", 1.0, "float64"),
    ("float16", 1.0, "float16"),
    ("bfloat16", 2, "bfloat16"),
    ("complex64", 1.0, "complex64"),
    ("float32", 1j, "complex64"),
    ("float16", 1j, "complex64"),
    ("int8", 1j, "complex128"),
    ("float32", float, "float32"),
]


@pytest.mark.parametrize("a, b, result", ARRAY_API + NUMPY)
def test_promotion_of_two_dtypes(a, b, result):
    """promote(a, b) = promote(b, a), as the standard and NumPy have it"""
    expected = DType.of(result)
    assert promote(DType.of(a), DType.of(b)) is expected
    assert promote(DType.of(b), DType.of(a)) is expected


@pytest.mark.parametrize("dtype, scalar, result", WEAK)
def test_python_scalars_are_weak(dtype, scalar, result):
    """A Python scalar decides the kind, never the precision"""
    assert promote(DType.of(dtype), scalar) is DType.of(result)
    assert promote(scalar, DType.of(dtype)) is DType.of(result)


def test_two_python_scalars_have_default_dtypes():
    assert promote(1, 2) is p.int64
    assert promote(1, 2.0) is p.float64
    assert promote(True, False) is p.bool_
    assert promote(1.0, 1j) is p.complex128


def test_promotion_is_associative_within_a_kind():
    """Signed integers, floats with complex numbers: the order of joining does not matter"""
    for names in (("int8", "int16", "int64"), ("float32", "float64", "complex64")):
        a, b, c = map(DType.of, names)
        assert promote(promote(a, b), c) is promote(a, promote(b, c))


def test_matches_numpy():
    """Every pair that NumPy knows"""
    numpy = pytest.importorskip("numpy")
    names = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64".split()
    names += ["complex64", "complex128"]
    for a in names:
        for b in names:
            assert promote(DType.of(a), DType.of(b)).name == numpy.promote_types(a, b).name


@pytest.mark.parametrize(
    "named, name",
    [
        ("float64", "float64"),
        ("f32", "float32"),
        ("c128", "complex128"),
        (float, "float64"),
        (int, "int64"),
        (bool, "bool"),
        (complex, "complex128"),
        (SimpleNamespace(name="int8", isnative=True), "int8"),  # a numpy.dtype
        (type("float32", (), {}), "float32"),  # numpy.float32
        (SimpleNamespace(dtype=SimpleNamespace(name="bfloat16")), "bfloat16"),  # jax.numpy.bfloat16
    ],
)
def test_dtype_of(named, name):
    assert DType.of(named) is DType.of(name)


@pytest.mark.parametrize(
    "named", ["float80", "", None, str, object(), SimpleNamespace(name="float64", isnative=False)]
)
def test_unknown_dtypes_are_refused(named):
    with pytest.raises(UnknownDTypeError) as error:
        DType.of(named)
    assert error.value.value is named


def test_dtypes_are_singletons():
    assert pickle.loads(pickle.dumps(p.float32)) is p.float32
    with pytest.raises(TypeError):
        DType()
    with pytest.raises(AttributeError):
        p.float32.bits = 64


def test_parts_of_complex_dtypes():
    assert p.complex64.real_dtype is p.float32
    assert p.float64.complex_dtype is p.complex128
    assert p.int8.real_dtype is p.int8
    assert (p.complex64.itemsize, p.bool_.itemsize, p.bool_.short) == (8, 1, "bool")
