"""Arrays in files: a reader and a writer of the npy format, version 1.0, on the standard library.

An array is its element type, its shape and its bytes in C order; nothing here computes with it.
What is written is what ``numpy.save`` writes. Element types that need pickle are refused, so that
loading never runs code from a file. Read next: ``values.py``.
"""

from __future__ import annotations

import ast
import re
import struct
from math import prod
from typing import BinaryIO

from tenferro._runtime.records import NamedTuple
from tenferro.computegraph._errors import SerializationError

_MAGIC = b"\x93NUMPY"
_VERSION = (1, 0)
_ALIGNMENT = 64
_GROWTH_DIGITS = 21  # room that NumPy leaves so that the first axis can grow in place
_HEADER_LIMIT = 10_000
_CHUNK = 1 << 20
_DESCR = re.compile(r"[<>|=]([biufcSVU])([0-9]{1,9})")
_NUMBERS = {"b": (1,), "i": (1, 2, 4, 8), "u": (1, 2, 4, 8), "f": (2, 4, 8, 16), "c": (8, 16, 32)}
_MOST_AXES = 64  # of an array of NumPy
_MOST_BYTES = 2**63 - 1


class StoredArray(NamedTuple):
    """An array at rest: NumPy's name of the element type, the shape, the bytes in C order.

    >>> from tenferro.storage import StoredArray
    >>> StoredArray("<i2", (3,), bytes(6)).size_bytes
    6
    """

    descr: str
    shape: tuple[int, ...]
    data: bytes

    @property
    def size_bytes(self) -> int:
        """Number of bytes that the element type and the shape require."""
        return prod(self.shape) * _item_bytes(self.descr)


def _item_bytes(descr: str) -> int:
    """Return the bytes of one element. Raises SerializationError for a type that NumPy lacks."""
    found = _DESCR.fullmatch(descr)
    if found is None or int(found[2]) not in _NUMBERS.get(found[1], (int(found[2]),)):
        raise _refused(f"the element type {descr!r} is not a plain number or string")
    return int(found[2]) * (4 if found[1] == "U" else 1)


def write_npy(file: BinaryIO, array: StoredArray) -> None:
    r"""Write an array to a binary file.

    Raises SerializationError: if the bytes are not as many as type and shape call for.

    >>> from tenferro.storage import StoredArray, write_npy
    >>> from io import BytesIO
    >>> file = BytesIO()
    >>> write_npy(file, StoredArray("|u1", (2,), b"ab"))
    >>> len(file.getvalue()), file.getvalue()[-3:]
    (130, b'\nab')
    """
    if len(array.data) != array.size_bytes:
        raise _refused(f"got {len(array.data)} bytes, need {array.size_bytes}")
    _check_shape(array.descr, array.shape)
    file.write(_header(array))
    file.write(array.data)


def read_npy(file: BinaryIO) -> StoredArray:
    """Read one array from a binary file, up to its last byte and no further.

    Raises SerializationError: for another version, a truncated file, Fortran order, objects, and
    for shapes and element types that NumPy lacks.
    """
    prefix = _read(file, 10)
    if prefix[:6] != _MAGIC:
        raise _refused("this is not an npy file")
    version = (prefix[6], prefix[7])
    if version != _VERSION:
        raise SerializationError(f"npy version {version}, need {_VERSION}", schema=version)
    (length,) = struct.unpack("<H", prefix[8:])
    if length > _HEADER_LIMIT:
        raise _refused(f"the header has {length} bytes, more than {_HEADER_LIMIT}")
    array = _parse_header(_read(file, length))
    return array._replace(data=_read(file, array.size_bytes))


def _header(array: StoredArray) -> bytes:
    text = f"{{'descr': {array.descr!r}, 'fortran_order': False, 'shape': {array.shape!r}, }}"
    if array.shape:
        text += " " * max(0, _GROWTH_DIGITS - len(repr(array.shape[0])))
    unpadded = len(_MAGIC) + 4 + len(text) + 1
    text += " " * (-unpadded % _ALIGNMENT) + "\n"
    return _MAGIC + bytes(_VERSION) + struct.pack("<H", len(text)) + text.encode("latin-1")


def _parse_header(raw: bytes) -> StoredArray:
    try:
        header = ast.literal_eval(raw.decode("latin-1").strip())
        descr, order, shape = (header.pop(k) for k in ("descr", "fortran_order", "shape"))
    except (SyntaxError, ValueError, TypeError, AttributeError, LookupError) as error:
        raise _refused("the header is not understood") from error
    except (MemoryError, RecursionError):
        raise _refused("the header is nested too deeply") from None
    if header or type(order) is not bool or type(shape) is not tuple or type(descr) is not str:
        raise _refused("the header is not understood")
    _check_shape(descr, shape)
    if order:
        raise _refused("the array is in Fortran order; store it in C order")
    return StoredArray(descr, shape, b"")


def _check_shape(descr: str, shape: tuple[int, ...]) -> None:
    """Raise SerializationError for a shape that no array of NumPy can have."""
    if len(shape) > _MOST_AXES:
        raise _refused(f"{len(shape)} axes are more than {_MOST_AXES}")
    if any(type(size) is not int or size < 0 for size in shape):
        raise _refused(f"{shape!r} is not a shape")
    if prod(size or 1 for size in shape) * max(_item_bytes(descr), 1) > _MOST_BYTES:
        raise _refused("the shape is larger than memory can be")


def _read(file: BinaryIO, size: int) -> bytes:
    """Read exactly ``size`` bytes, piecewise: a false size must not reserve memory."""
    parts = []
    left = size
    while left > 0:
        part = file.read(min(left, _CHUNK))
        if not part:
            raise _refused(f"the file is truncated: {left} of {size} bytes are missing")
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def _refused(why: str) -> SerializationError:
    return SerializationError(f"npy: {why}", reason=why)
