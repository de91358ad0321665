"""NumPy's spellings of dtypes: ``f8``, ``<i4``, ``d``, ``single``.

A letter with a number counts bytes, as the type codes and array-protocol strings of NumPy do; a
letter alone and a word are types of C, whose sizes are those of this machine. Read next:
``_dtype.py``.
"""

from __future__ import annotations

import sys
from struct import calcsize
from typing import Final

_BYTES: Final = {"int": ("i", (1, 2, 4, 8)), "uint": ("u", (1, 2, 4, 8)), "float": ("f", (2, 4, 8))}
_LETTERS: Final = "bhilq"  # signed integers of C, as module struct has them; unsigned: capitals
_WORDS: Final = {
    **{"byte": "b", "short": "h", "intc": "i", "long": "l", "longlong": "q", "intp": "p"},
    **{"ubyte": "B", "ushort": "H", "uintc": "I", "ulong": "L", "ulonglong": "Q", "uintp": "P"},
    **{"half": "e", "single": "f", "double": "d", "csingle": "F", "cdouble": "D"},
    **{"int": "i8", "uint": "u8", "float": "f8", "complex": "c16", "bool_": "?", "int_": "p"},
}
_CLASSES: Final = ("bool_", "intc", "uintc", "longlong", "ulonglong")  # scalar types, some systems
_SWAPPED: Final = ">" if sys.byteorder == "little" else "<"


def _codes() -> dict[str, str]:
    """Return the dtype's name for each code that may follow a byte order."""
    found = {"?": "bool", "b1": "bool", "c8": "complex64", "c16": "complex128"}
    found |= {"e": "float16", "f": "float32", "d": "float64", "F": "complex64", "D": "complex128"}
    for kind, (letter, sizes) in _BYTES.items():
        found |= {f"{letter}{size}": f"{kind}{8 * size}" for size in sizes}
    for letter in _LETTERS:
        found[letter] = f"int{8 * calcsize(letter)}"
        found[letter.upper()] = f"uint{8 * calcsize(letter)}"
    pointer = 8 * calcsize("P")
    return found | {"p": f"int{pointer}", "P": f"uint{pointer}"}


_CODES: Final = _codes()
_NAMES: Final = {word: _CODES[code] for word, code in _WORDS.items()}


def name_of_spelling(text: str) -> str:
    """Return the dtype that NumPy reads in a string, of either byte order; empty if none.

    >>> name_of_spelling("f8"), name_of_spelling("<i2"), name_of_spelling("half")
    ('float64', 'int16', 'float16')
    """
    code = text[1:] if text[:1] in ("<", ">", "=", "|") else text
    return _CODES.get(code) or _NAMES.get(text, "")


def name_of_class(name: str) -> str:
    """Return the dtype whose scalar type has this name; the name itself if it is not an alias.

    >>> name_of_class("longlong"), name_of_class("float32"), name_of_class("d")
    ('int64', 'float32', 'd')
    """
    return _NAMES[name] if name in _CLASSES else name


def is_swapped(x: object) -> bool:
    """Return True if a string or a NumPy dtype has the other byte order."""
    if isinstance(x, str):
        name = name_of_spelling(x)
        return x[:1] == _SWAPPED and name not in ("", "bool", "int8", "uint8")
    return getattr(getattr(x, "dtype", x), "isnative", True) is False
