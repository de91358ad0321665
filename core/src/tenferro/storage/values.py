"""Parameters, abstract values and names as JSON, exactly.

Every value comes back as it was: 1, 1.0 and True stay distinct, floats are written in hexadecimal,
a nan keeps its bits, a tuple stays a tuple. Types of upper layers travel through a ``Codec`` that
the caller passes; what a text may name is decided by the caller, never by the text. Read next:
``serialize.py``.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping, MutableMapping
from hashlib import sha256
from io import BytesIO
from typing import Any, NoReturn

from tenferro._runtime.records import NamedTuple
from tenferro.computegraph._errors import SerializationError
from tenferro.storage.npy import StoredArray, write_npy

_NESTING = 64
_PLAIN_INT = 2**53  # larger ones are not exact in every reader of JSON


class Codec(NamedTuple):
    """Codec of a type of an upper layer, to and from values that the engine can write.

    Both functions must be deterministic; ``encode`` may give None, bool, int, float, complex,
    str, bytes, tuples and frozensets of them, arrays, graphs, and values of other codecs.
    """

    type: type
    encode: Callable[[Any], object]
    decode: Callable[[Any], object]


Codecs = Mapping[str, Codec]
_PLAIN: dict[type, Callable[[Any], object]] = {
    type(None): lambda value: value,
    bool: lambda value: value,
    str: lambda value: value,
    int: lambda value: value if -_PLAIN_INT < value < _PLAIN_INT else {"int": hex(value)},
    float: lambda value: {"float": _float_text(value)},
    complex: lambda value: {"complex": [_float_text(value.real), _float_text(value.imag)]},
    bytes: lambda value: {"bytes": value.hex()},
}
_TAGGED: dict[str, Callable[[Any], object]] = {
    "int": lambda text: int(text, 16),
    "float": lambda text: _float(text),
    "complex": lambda parts: _complex(*parts),
    "bytes": bytes.fromhex,
}


class ValueWriter:
    """Turns values into JSON; arrays go into a separate mapping.

    ``nested`` writes a graph or fragment among the values, and gives ``None`` for anything else.
    """

    def __init__(
        self,
        codecs: Codecs | None,
        arrays: MutableMapping[str, StoredArray] | None,
        nested: Callable[[Any], object],
    ) -> None:
        self._tags = {codec.type: (tag, codec.encode) for tag, codec in (codecs or {}).items()}
        self._arrays = arrays
        self._nested = nested

    def __call__(self, value: Any, depth: int = 0) -> object:
        """Return the value as JSON."""
        cls = type(value)
        if cls in _PLAIN:
            return _PLAIN[cls](value)
        check_nesting(depth)
        if cls is tuple:
            return [self(item, depth + 1) for item in value]
        if cls is frozenset:
            return {"frozenset": sorted((self(item, depth + 1) for item in value), key=dump)}
        if cls is StoredArray:
            return {"array": self._store(value)}
        nested = self._nested(value)
        if nested is not None:
            return nested
        tag, encode = self._codec(cls, value)
        return {"as": tag, "value": self(encode(value), depth + 1)}

    def _codec(self, cls: type, value: object) -> tuple[str, Callable[[Any], object]]:
        if cls not in self._tags:
            raise SerializationError(
                f"{cls.__module__}.{cls.__qualname__} cannot be written: {brief(value)}\n"
                "  hint       pass a Codec for this type",
                value=value,
                type=cls,
            )
        return self._tags[cls]

    def _store(self, array: StoredArray) -> str:
        if self._arrays is None:
            raise SerializationError(
                "an array lies among the parameters\n"
                "  hint       pass arrays={} and store what is put there with write_npy",
                value=array,
            )
        file = BytesIO()
        write_npy(file, array)
        name = sha256(file.getvalue()).hexdigest()
        self._arrays[name] = array
        return name


class ValueReader:
    """Turns JSON back into values, trusting nothing that it reads."""

    def __init__(
        self,
        codecs: Codecs | None,
        arrays: Mapping[str, StoredArray] | None,
        nested: Callable[[Any, int], object],
        fragment: Callable[[Any], object],
    ) -> None:
        """``nested`` reads a graph, and ``fragment`` finds one by its number."""
        self._codecs = codecs or {}
        self._arrays = arrays or {}
        self._nested = nested
        self._fragment = fragment

    def __call__(self, item: Any, depth: int = 0) -> Any:
        """Return the value behind some JSON."""
        if item is None or type(item) in (bool, str, int):
            return item
        check_nesting(depth)
        if type(item) is list:
            return tuple([self(part, depth + 1) for part in item])
        if type(item) is dict and item.keys() == {"as", "value"}:
            return self._decode(item["as"], self(item["value"], depth + 1))
        if type(item) is not dict or len(item) != 1:
            malformed("value", item)
        ((tag, body),) = item.items()
        if tag == "frozenset" and type(body) is list:
            return frozenset(self(part, depth + 1) for part in body)
        if tag == "graph":
            return self._nested(body, depth + 1)
        if tag == "fragment":
            return self._fragment(body)
        return self._array(body) if tag == "array" else _tagged(tag, body)

    def _array(self, name: Any) -> StoredArray:
        if type(name) is not str or name not in self._arrays:
            raise SerializationError(f"the array {brief(name)} is missing", array=name)
        return self._arrays[name]

    def _decode(self, tag: Any, value: object) -> object:
        if type(tag) is not str or tag not in self._codecs:
            raise SerializationError(f"no codec is named {brief(tag)}", codec=tag)
        try:
            return self._codecs[tag].decode(value)
        except Exception as error:
            raise SerializationError(
                f"the codec {tag!r} refuses {brief(value)}: {error}", codec=tag, value=value
            ) from error


def _tagged(tag: str, body: Any) -> object:
    if tag not in _TAGGED:
        raise SerializationError(f"unknown kind of value {brief(tag)}", value=tag)
    try:
        return _TAGGED[tag](body)
    except (TypeError, ValueError, OverflowError, AttributeError, struct.error):
        malformed(tag, body)


def _float_text(value: float) -> str:
    """Return hexadecimal text, as ``float.hex``; a nan with its bits."""
    return value.hex() if value == value else f"nan:{struct.pack('>d', value).hex()}"


def _float(text: str) -> float:
    if text.startswith("nan:"):
        (value,) = struct.unpack(">d", bytes.fromhex(text[4:]))
        return float(value)
    return float.fromhex(text)


def _complex(real: str, imag: str) -> complex:
    return complex(_float(real), _float(imag))


def parse(text: str | bytes) -> Any:
    """JSON without floats, which stand in it as text; raises SerializationError."""
    if not isinstance(text, (str, bytes, bytearray)):
        raise SerializationError(f"need text, got {brief(text)}", schema=None)
    try:
        return json.loads(text, parse_constant=_refuse, parse_float=_refuse)
    except RecursionError:
        raise SerializationError("the text is nested too deeply", schema=None) from None
    except ValueError as error:
        raise SerializationError(f"this is not JSON: {error}", schema=None) from error


def _refuse(text: str) -> NoReturn:
    raise ValueError(f"{brief(text)} stands bare in the text")


def dump(item: object) -> str:
    """JSON in ASCII without blanks: one text for one value."""
    return json.dumps(item, separators=(",", ":"), allow_nan=False)


def check_nesting(depth: int) -> None:
    """Raise SerializationError where values lie too deep in each other."""
    if depth >= _NESTING:
        raise SerializationError(f"a value is nested more than {_NESTING} deep", depth=depth)


def malformed(where: str, item: object) -> NoReturn:
    """Raise SerializationError about a part of the text."""
    raise SerializationError(f"malformed {where}: {brief(item)}", where=where, value=item)


def brief(item: object) -> str:
    """Return the value on one line of bounded length."""
    text = repr(item)
    return text if len(text) <= 80 else f"{text[:77]}…"
