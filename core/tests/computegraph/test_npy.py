"""The npy format 1.0, as its specification says: magic, version, length, header, bytes."""

import ast
import io
import struct

import pytest

from tenferro.computegraph import SerializationError
from tenferro.storage import StoredArray, read_npy, write_npy

# as numpy.save(numpy.array([[1, 2, 3]], dtype="<i2")) writes it
GOLDEN = (
    b"\x93NUMPY\x01\x00v\x00"
    b"{'descr': '<i2', 'fortran_order': False, 'shape': (1, 3), }"
    + b" " * 58
    + b"\n"
    + b"\x01\x00\x02\x00\x03\x00"
)
ARRAY = StoredArray("<i2", (1, 3), struct.pack("<3h", 1, 2, 3))


def written(array):
    file = io.BytesIO()
    write_npy(file, array)
    return file.getvalue()


def read(data):
    return read_npy(io.BytesIO(data))


def with_header(text, data=b""):
    header = text.encode("latin-1")
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


HUGE = [(1,) * 65, (0,) * 3000, (10**30,), (0, 10**30), (2**62, 0), (-1,), (True,), (1.0,), ("1",)]


@pytest.mark.parametrize("shape", HUGE, ids=lambda shape: str(shape)[:20])
def test_a_shape_that_no_array_has_is_refused(shape):
    with pytest.raises(SerializationError):
        read(with_header(f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape!r}, }}"))
    with pytest.raises(SerializationError):
        written(StoredArray("<f8", shape, b""))


@pytest.mark.parametrize("descr", ["<f3", "<f0", "<c1", "|b2", "<i3", "<u16", "|O8", "<x4", "f8"])
def test_an_element_type_that_numpy_lacks_is_refused(descr):
    with pytest.raises(SerializationError, match="element type"):
        read(with_header(f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': (0,), }}"))


def test_a_file_is_what_numpy_writes():
    assert written(ARRAY) == GOLDEN


def test_a_file_of_numpy_is_read():
    assert read(GOLDEN) == ARRAY


@pytest.mark.parametrize("shape", [(), (0,), (5,), (2, 0, 3), (123456789, 0), (1,) * 32])
def test_a_header_is_as_the_specification_says(shape):
    data = written(StoredArray("<f8", shape, bytes(StoredArray("<f8", shape, b"").size_bytes)))
    (length,) = struct.unpack("<H", data[8:10])
    header = data[10 : 10 + length]
    assert (data[:8], (10 + length) % 64, header[-1:]) == (b"\x93NUMPY\x01\x00", 0, b"\n")
    assert ast.literal_eval(header.decode()) == {
        "descr": "<f8",
        "fortran_order": False,
        "shape": shape,
    }


@pytest.mark.parametrize(
    "array",
    [
        ARRAY,
        StoredArray("|b1", (2,), b"\x01\x00"),
        StoredArray(">c16", (), bytes(range(16))),
        StoredArray("<f4", (0, 3), b""),
        StoredArray("<V2", (3,), b"abcdef"),
        StoredArray("<U1", (1,), b"a\x00\x00\x00"),
        StoredArray("|u1", (3 << 20,), bytes(3 << 20)),
    ],
    ids=lambda array: f"{array.descr}{array.shape}",
)
def test_a_round_trip_is_exact(array):
    assert read(written(array)) == array


def test_arrays_follow_each_other_in_one_file():
    file = io.BytesIO(written(ARRAY) + written(ARRAY._replace(shape=(3,))))
    assert [read_npy(file).shape for _ in range(2)] == [(1, 3), (3,)]


@pytest.mark.parametrize("order", ["descr shape fortran_order", "shape fortran_order descr"])
def test_the_order_of_the_header_does_not_matter(order):
    items = {"descr": "'<i2'", "fortran_order": "False", "shape": "(1, 3)"}
    text = "{" + ", ".join(f"'{name}': {items[name]}" for name in order.split()) + "}"
    assert read(with_header(text, ARRAY.data)) == ARRAY


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"not an npy file at all",
        GOLDEN[:9],
        GOLDEN[:50],
        GOLDEN[:-1],
        with_header("{'descr': '<f8', 'fortran_order': True, 'shape': (2, 2)}", bytes(32)),
        with_header("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", bytes(8)),
        with_header("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': ()}", bytes(8)),
        with_header("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}", bytes(8)),
        with_header("{'descr': '<f8', 'fortran_order': False, 'shape': (True,)}", bytes(8)),
        with_header("{'descr': '<f8', 'fortran_order': False, 'shape': 3}", bytes(24)),
        with_header("{'descr': '<f8', 'fortran_order': False}", bytes(24)),
        with_header("{'descr': '<f8', 'fortran_order': 0, 'shape': (), 'more': 1}", bytes(8)),
        with_header("__import__('os').getcwd()"),
        with_header("[" * 9000),
        with_header("-" * 9000 + "1"),
        with_header(" " * 20_000),
        with_header("{'descr': '<f8', 'fortran_order': False, 'shape': (10**12,)}", bytes(8)),
        with_header("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,)}", b"8"),
    ],
)
def test_a_malformed_file_is_refused(data):
    with pytest.raises(SerializationError) as error:
        read(data)
    assert error.value.reason


def test_a_false_size_reserves_no_memory():
    class Short(io.BytesIO):
        def read(self, size=-1):
            assert size <= 1 << 20
            return super().read(size)

    text = "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,)}"
    with pytest.raises(SerializationError, match="truncated"):
        read_npy(Short(with_header(text, bytes(3 << 20))))


@pytest.mark.parametrize("version", [(2, 0), (3, 0), (1, 1)])
def test_another_version_is_refused(version):
    with pytest.raises(SerializationError) as error:
        read(GOLDEN[:6] + bytes(version) + GOLDEN[8:])
    assert error.value.schema == version


@pytest.mark.parametrize(
    "array", [ARRAY._replace(data=b"short"), ARRAY._replace(descr="|O"), ARRAY._replace(shape=(4,))]
)
def test_an_array_that_does_not_fit_is_not_written(array):
    with pytest.raises(SerializationError):
        written(array)
