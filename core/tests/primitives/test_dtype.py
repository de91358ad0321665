"""Dtypes: singletons, names, and the promotion of the Array API with NumPy's mixed kinds."""

import pickle
import sys
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
    """Names, Python's types and dtypes of other libraries are found"""
    assert DType.of(named) is DType.of(name)


@pytest.mark.parametrize(
    "named", ["float80", "", None, str, object(), SimpleNamespace(name="float64", isnative=False)]
)
def test_unknown_dtypes_are_refused(named):
    with pytest.raises(UnknownDTypeError) as error:
        DType.of(named)
    assert error.value.value is named


ORDERS = ("<", ">") if sys.byteorder == "little" else (">", "<")
SPELLINGS = [
    *"b1 i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16".split(),
    *"? b h i l q B H I L Q e f d F D p P".split(),
    *"bool int float complex uint bool_ int_ intp uintp byte short intc long longlong".split(),
    *"ubyte ushort uintc ulong ulonglong half single double csingle cdouble".split(),
    *"int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64".split(),
    *"complex64 complex128 =f8 |f8 |b1 =? <i1 >i1 <u1 >u1 <? >?".split(),
    *[ORDERS[0] + code for code in "i8 f4 c16 d l Q".split()],
]
OURS = {"i16": "int16", "i32": "int32", "i64": "int64", "u16": "uint16", "u32": "uint32"}
OURS |= {"u64": "uint64", "f16": "float16", "bf16": "bfloat16", "f32": "float32"}
OURS |= {"f64": "float64", "c64": "complex64", "c128": "complex128"}


@pytest.mark.parametrize("text", SPELLINGS)
def test_strings_mean_what_they_mean_in_numpy(text):
    """A letter with a number counts bytes: i8 is int64"""
    numpy = pytest.importorskip("numpy")
    assert DType.of(text).name == numpy.dtype(text).name
    assert DType.of(numpy.dtype(text)) is DType.of(text)
    assert DType.of(numpy.dtype(text).type) is DType.of(text)


@pytest.mark.parametrize("text, name", OURS.items())
def test_short_forms_as_avals_print_them(text, name):
    """What NumPy leaves free is read as it is printed"""
    assert DType.of(text).name == name
    assert DType.of(text).short == text


def test_one_byte_is_printed_in_bits_and_not_read_so():
    assert str(p.Aval((2,), "int8")) == "i8[2]"
    assert DType.of("i8") is p.int64
    assert DType.of("u8") is p.uint64


@pytest.mark.parametrize("named", ["<float64", "=half", "<<f8", "f3", "i3", "c4", "b2", "<", "S8"])
def test_what_numpy_refuses_is_refused(named):
    """An order of bytes goes before a code, and only one"""
    with pytest.raises(UnknownDTypeError, match="NumPy's spellings"):
        DType.of(named)


def test_letters_are_spellings_only_as_strings():
    """A class or an object that happens to be called ``d`` is no dtype"""
    for named in (type("d", (), {}), SimpleNamespace(name="f8")):
        with pytest.raises(UnknownDTypeError):
            DType.of(named)


@pytest.mark.parametrize("code, name", [("f8", "float64"), ("i2", "int16"), ("D", "complex128")])
def test_the_other_order_of_bytes_is_refused_with_the_remedy(code, name):
    """The error names the dtype, what to write, and the user's line"""
    swapped = SimpleNamespace(name=name, isnative=False)
    for named in (ORDERS[1] + code, swapped, SimpleNamespace(dtype=swapped)):
        with pytest.raises(UnknownDTypeError) as error:
            DType.of(named)
        assert error.value.value is named
        assert error.value.need == f"{name} in the order of this machine"
        assert 'hint       `x.astype(x.dtype.newbyteorder("="))`' in str(error.value)
        assert "test_dtype.py" in error.value.__notes__[0]


def test_kinds_are_the_letters_of_numpy():
    """x.dtype.kind == 'f' asks what it asks of NumPy; bfloat16 is a float"""
    numpy = pytest.importorskip("numpy")
    for text in SPELLINGS:
        assert DType.of(text).kind == numpy.dtype(text).kind
        assert DType.of(text).itemsize == numpy.dtype(text).itemsize
    assert (p.bfloat16.kind, p.bfloat16.itemsize) == ("f", 2)


def test_categories_are_words():
    found = {dtype.name: dtype.category for dtype in map(DType.of, OURS)}
    assert found.pop("bfloat16") == "float"
    assert all(name.startswith(category) for name, category in found.items())
    assert p.bool_.category == "bool"


def test_dtypes_are_equal_to_what_names_them():
    """Other things are unequal, without an error"""
    assert p.int64 == "i8"
    assert p.int8 != "i8"
    assert p.float64 != ORDERS[1] + "f8"
    assert p.float64 != "nothing"
    assert p.float64 != None  # noqa: E711


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
