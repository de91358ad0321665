"""Element types: one object per dtype, and the promotion of two of them.

Promotion is the Array API's (2024.12) within a kind and NumPy's between kinds; a Python scalar is
weak: it decides the kind, never the precision. Nothing here is applied by the primitives, which
are strict; the user-level functions of ``tenferro.arrays`` call ``promote``. NumPy's dtypes are
recognized by name, so that NumPy is not imported. A string means what it means in NumPy; only what
NumPy leaves free is ours. Read next: ``_dtype_names.py``, ``_aval.py``.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import Any, Final

from tenferro.primitives._dtype_names import is_swapped, name_of_class, name_of_spelling
from tenferro.primitives._errors import UnknownDTypeError
from tenferro.primitives._source import caller, source_text

_by_name: dict[str, DType] = {}
_PYTHON_TYPES: Final = {bool: "bool", int: "int64", float: "float64", complex: "complex128"}
_CATEGORIES: Final = ("bool", "uint", "int", "float", "complex")  # by what holds what
_LETTERS: Final = {"bool": "b", "uint": "u", "int": "i", "float": "f", "complex": "c"}
_OF_NUMPY: Final = frozenset(
    "alignment base byteorder char fields flags hasobject isalignedstruct isbuiltin isnative "
    "metadata names ndim num shape str subdtype type".split()
)
_NATIVE: Final = 'x.astype(x.dtype.newbyteorder("="))'
_ACCEPTED: Final = (
    "bool, int8 … int64, uint8 … uint64, float16 … float64, bfloat16, complex64, complex128;\n"
    "             NumPy's spellings (f8, <i4, d, single), dtypes and scalar types of these;\n"
    "             short forms (f64, bf16, c128); Python's bool, int, float, complex"
)


class DType:
    """An element type; equal to NumPy's dtype and scalar type of the same name.

    >>> import tenferro as tn
    >>> tn.DType.of("float64"), tn.DType.of(complex).real_dtype, tn.DType.of("f32").complex_dtype
    (float64, float64, complex64)
    >>> tn.DType.of("f8"), tn.DType.of("<i4"), tn.DType.of("i8")  # bytes, as in NumPy
    (float64, int32, int64)
    >>> tn.float32.is_inexact, tn.float32.itemsize, tn.int32.kind, tn.int32.category
    (True, 4, 'i', 'int')
    """

    __slots__ = (
        "bits",
        "category",
        "complex_dtype",
        "is_bool",
        "is_complex",
        "is_float",
        "is_inexact",
        "is_integer",
        "itemsize",
        "kind",
        "largest",
        "name",
        "precision",
        "real_dtype",
        "short",
        "smallest_normal",
    )

    name: str
    short: str
    kind: str  # NumPy's letter: b, i, u, f or c
    category: str  # bool, int, uint, float or complex
    bits: int
    precision: int  # bits of the significand, with the leading one; 0 where the dtype is exact
    itemsize: int
    is_bool: bool
    is_integer: bool
    is_float: bool
    is_complex: bool
    is_inexact: bool
    real_dtype: DType
    complex_dtype: DType
    smallest_normal: float  # 0.0 where the dtype is exact
    largest: float  # the largest finite number; 0.0 where the dtype is exact

    def __init__(self) -> None:
        raise TypeError("dtypes are singletons; use tenferro.float64 or DType.of(...)")

    @staticmethod
    def of(x: object) -> DType:
        """Return the dtype named by a DType, a string, a NumPy dtype or scalar type, a Python type.

        Raises UnknownDTypeError: if nothing in tenferro has that name, or if the bytes of the
        elements are in the order of another machine.
        """
        found = _find(x)
        if found is None:
            raise _unknown(x)
        return found

    @property
    def dtype(self) -> Any:
        """NumPy's dtype of this name, so that NumPy takes this one: ``np.zeros(3, x.dtype)``.

        Only where the program has imported NumPy.
        """
        numpy = sys.modules.get("numpy")
        if numpy is None:
            raise AttributeError("NumPy is not imported, so this dtype has no NumPy dtype")
        return numpy.dtype(self.name)

    def __getattr__(self, name: str) -> Any:
        """Read an attribute of NumPy's dtype: ``type``, ``char``, ``str``. This imports NumPy."""
        if name in _OF_NUMPY:
            return getattr(self.dtype, name)
        raise AttributeError(f"a dtype of tenferro has no attribute {name!r}")

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{self.name} is immutable; cannot set {name!r}")

    def __repr__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        found = _find(other)  # so that `x.dtype == np.float64` says what is meant
        return NotImplemented if found is None else found is self

    __hash__ = object.__hash__

    def __reduce__(self) -> tuple[object, ...]:
        return DType.of, (self.name,)


def _find(x: object) -> DType | None:
    """Return the dtype that something names in the byte order of this machine."""
    if type(x) is DType:
        return x
    return None if is_swapped(x) else _by_name.get(_dtype_name(x))


def _dtype_name(x: Any) -> str:
    """Return the name that ``x`` has for a dtype, of either byte order; it may be unknown."""
    if isinstance(x, str):
        return x if x in _by_name else name_of_spelling(x)
    if isinstance(x, type):
        return _PYTHON_TYPES.get(x) or name_of_class(x.__name__)
    x = getattr(x, "dtype", x)  # jax names its dtypes by callables that have one
    name = getattr(x, "name", "")
    return name if isinstance(name, str) else ""


_INSTEAD = {
    "O": "lists of different lengths, or with None in them, make such an array: write equal\n"
    "             lengths and NaN, then `np.array(x, dtype=float)`",
    "U": "write `x.astype(float)`, which reads numbers from strings",
    "S": "write `x.astype(float)`, which reads numbers from strings",
    "T": "write `x.astype(float)`, which reads numbers from strings",
    "M": "write seconds since a first time, `(x - x[0]) / np.timedelta64(1, 's')`",
    "m": "write seconds, `x / np.timedelta64(1, 's')`",
    "V": "pass the fields one by one, `x['name']`",
    "f": "write `x.astype(np.float64)`",
    "c": "write `x.astype(np.complex128)`",
}
"""What to write instead of an array of NumPy, by the kind of its dtype."""


def _instead_of(x: object) -> str:
    return _INSTEAD.get(str(getattr(x, "kind", "")), "")


def _unknown(x: object) -> UnknownDTypeError:
    """Make the error about an unknown dtype, with the user's line."""
    found = _by_name.get(_dtype_name(x))
    if found is None:
        fact, need, hint = "no such dtype", _ACCEPTED, _instead_of(x)
    else:
        fact = "the bytes of the elements are in the order of another machine"
        need, hint = f"{found} in the order of this machine", f"`{_NATIVE}`"
    error = UnknownDTypeError.of("dtype", fact, got=repr(x), need=need, hint=hint, value=x)
    line = source_text(caller())
    if line is not None:
        error.add_note(f"  from       {line}")
    return error


def _new(category: str, name: str, short: str, bits: int, precision: int = 0) -> DType:
    """Make a dtype; its limits follow from its bits and its precision.

    IEEE 754-2019, table 3.5; bfloat16 is built likewise.
    """
    exponent = (bits // 2 if category == "complex" else bits) - precision  # bits of it
    top = 2.0 ** (2 ** (exponent - 1) - 1) if precision else 0.0  # the largest power of two
    dtype = object.__new__(DType)
    values: dict[str, object] = {
        "kind": _LETTERS[category],
        "category": category,
        "name": name,
        "short": short,
        "bits": bits,
        "precision": precision,
        "itemsize": max(bits // 8, 1),
        "is_bool": category == "bool",
        "is_integer": category in ("int", "uint"),
        "is_float": category == "float",
        "is_complex": category == "complex",
        "is_inexact": category in ("float", "complex"),
        "real_dtype": dtype,
        "complex_dtype": dtype,
        "smallest_normal": 2 / top if precision else 0.0,
        "largest": (2.0 - 2.0 ** (1 - precision)) * top,
    }
    for attribute, value in values.items():
        object.__setattr__(dtype, attribute, value)
    _by_name[name] = dtype
    if short not in ("i8", "u8"):  # eight bytes in NumPy: printed here, not read
        _by_name[short] = dtype
    return dtype


bool_ = _new("bool", "bool", "bool", 1)
int8 = _new("int", "int8", "i8", 8)
int16 = _new("int", "int16", "i16", 16)
int32 = _new("int", "int32", "i32", 32)
int64 = _new("int", "int64", "i64", 64)
uint8 = _new("uint", "uint8", "u8", 8)
uint16 = _new("uint", "uint16", "u16", 16)
uint32 = _new("uint", "uint32", "u32", 32)
uint64 = _new("uint", "uint64", "u64", 64)
float16 = _new("float", "float16", "f16", 16, 11)
bfloat16 = _new("float", "bfloat16", "bf16", 16, 8)
float32 = _new("float", "float32", "f32", 32, 24)
float64 = _new("float", "float64", "f64", 64, 53)
complex64 = _new("complex", "complex64", "c64", 64, 24)
complex128 = _new("complex", "complex128", "c128", 128, 53)

for _real, _complex in ((float32, complex64), (float64, complex128)):
    object.__setattr__(_real, "complex_dtype", _complex)
    object.__setattr__(_complex, "real_dtype", _real)
for _narrow in (float16, bfloat16):
    object.__setattr__(_narrow, "complex_dtype", complex64)
for _exact in (bool_, int8, int16, int32, int64, uint8, uint16, uint32, uint64):
    object.__setattr__(_exact, "complex_dtype", complex128)


@cache
def _promote(a: DType, b: DType) -> DType:
    """Return the smallest dtype that holds both, as in NumPy; ``a`` is of the lower kind."""
    if a is b or a.is_bool:
        return b
    if a.category == b.category:
        return _wider(a, b)
    if b.category == "int":  # a is unsigned: the next wider signed type, which int64 is the last of
        bits = max(2 * a.bits, b.bits)
        return float64 if bits > 64 else _by_name[f"int{bits}"]
    if a.is_integer:
        return _promote_integer_with_inexact(a, b)
    return _wider(a, b.real_dtype).complex_dtype


def _wider(a: DType, b: DType) -> DType:
    """Return the wider one of one kind; float16 and bfloat16 promote to float32."""
    if a is not b and a.bits == b.bits:
        return float32
    return a if a.bits > b.bits else b


def _promote_integer_with_inexact(a: DType, b: DType) -> DType:
    """Promote an integer of n bits to a float of 2n bits, at most float64."""
    needed = {8: b.real_dtype, 16: float32}.get(a.bits, float64)
    wide = _wider(needed, b.real_dtype)
    return wide.complex_dtype if b.is_complex else wide


_Promotable = DType | bool | int | float | complex | type


def promote(a: _Promotable, b: _Promotable) -> DType:
    """Return the result dtype of ``a`` and ``b``, each a DType or a weak Python scalar (or type).

    >>> from tenferro.primitives import complex128, float32, int64, int8, promote, uint8
    >>> promote(int8, uint8), promote(int64, float32), promote(float32, complex128)
    (int16, float64, complex128)
    >>> promote(float32, 2), promote(int8, 0.5), promote(float32, 1j), promote(1, 2.0)
    (float32, float64, complex64, float64)
    """
    left, right = _weak_name(a), _weak_name(b)
    if left is None and right is None:
        return promote_dtypes(DType.of(a), DType.of(b))
    if left is not None and right is not None:
        return promote_dtypes(_by_name[left], _by_name[right])
    return _promote_weak(DType.of(b), left) if left else _promote_weak(DType.of(a), str(right))


def promote_dtypes(a: DType, b: DType) -> DType:
    """``promote`` for two dtypes."""
    ordered = _CATEGORIES.index(a.category) <= _CATEGORIES.index(b.category)
    return _promote(a, b) if ordered else _promote(b, a)


def _weak_name(x: object) -> str | None:
    """Return the default dtype of a Python scalar or scalar type; ``None`` for a proper dtype."""
    return _PYTHON_TYPES.get(x if isinstance(x, type) else type(x))


def _promote_weak(dtype: DType, weak: str) -> DType:
    """Promote a dtype with a Python scalar whose default dtype is called ``weak``."""
    other = _by_name[weak]
    category = "int" if dtype.category == "uint" else dtype.category
    if _CATEGORIES.index(other.category) <= _CATEGORIES.index(category):
        return dtype
    return dtype.complex_dtype if other.is_complex else other
