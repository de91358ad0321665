"""Stand-ins for parameters: hashable values that are equal where the parameters are the same.

Python's ``==`` finds 1, 1.0 and True equal, and 0.0 and -0.0, and finds nan unequal to itself.
Read next: ``_operation.py``.
"""

from __future__ import annotations

import struct
from typing import Any


def canonical(value: object) -> object:
    """Return a hashable stand-in for a parameter; equal stand-ins mean equal parameters."""
    cls = type(value)
    if cls is int:
        return (
            value  # bare; every other stand-in is a tuple that begins with a class or holds these
        )
    if cls is float:
        is_unique = value and value == value  # there are two zeros, and many a nan
        return float, value if is_unique else struct.pack("<d", value)
    if cls is complex:
        return complex, struct.pack("<dd", value.real, value.imag)  # type: ignore[attr-defined]
    if cls is tuple:
        for item in value:  # type: ignore[attr-defined]
            if type(item) is not int:
                return tuple([canonical(item) for item in value])  # type: ignore[attr-defined]
        return value
    if cls is frozenset:
        return cls, cls([canonical(item) for item in value])  # type: ignore[attr-defined]
    return _of_class(cls, value)


_DISTINCT = frozenset((bool, str, bytes, type(None)))  # equal ones of a class are one value


def _of_class(cls: type, value: Any) -> object:
    """Return the stand-in for a value of another class: numbers of NumPy and records may compare
    equal though they, or parts of them, differ.
    """
    if cls in _DISTINCT:
        return cls, value
    parts: object
    if issubclass(cls, (float, complex)):
        parts = canonical(float(value) if issubclass(cls, float) else complex(value))
    elif cls.__module__ == "numpy" and cls.__hash__ is not None:  # float32(-0.0), no array
        parts = repr(value)
    elif issubclass(cls, tuple):
        parts = canonical(tuple(value))
    elif fields := getattr(cls, "__dataclass_fields__", None):
        names = [name for name, field in fields.items() if field.compare]
        parts = tuple([canonical(getattr(value, name)) for name in names])
    else:
        return cls, value
    try:
        hash(parts)
    except TypeError:  # the class hashes less than it holds
        return cls, value
    return cls, parts, value if value == value else None  # nan
