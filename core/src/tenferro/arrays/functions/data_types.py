"""Functions of dtypes: their limits, kinds and promotion.

``result_type`` and ``can_cast`` state the promotion that every function here applies
(``primitives/_dtype.py``); ``finfo`` and ``iinfo`` the limits of a format, from IEEE 754-2019,
Table 3.5, and for bfloat16 from its eight bits of significand and exponent range of float32.
"""

from __future__ import annotations

from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays.errors import at_user_line
from tenferro.arrays.handle.array import SCALARS, Array
from tenferro.arrays.handle.convert import as_array, is_operand
from tenferro.arrays.numpy_protocols.writing import CASTINGS, may_cast
from tenferro.arrays.promotion.broadcast import common_dtype
from tenferro.arrays.registry import covers
from tenferro.primitives import DType, DTypeMismatchError, promote_dtypes

_KINDS = {
    "bool": ("bool",),
    "signed integer": ("int",),
    "unsigned integer": ("uint",),
    "integral": ("int", "uint"),
    "real floating": ("float",),
    "complex floating": ("complex",),
    "numeric": ("int", "uint", "float", "complex"),
}


class FloatInfo(NamedTuple):
    """Limits of a floating dtype; of a complex dtype, those of its parts."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: DType


class IntegerInfo(NamedTuple):
    """Limits of an integer dtype."""

    bits: int
    max: int
    min: int
    dtype: DType


def finfo(type: Any) -> FloatInfo:
    """Return the limits of a floating or complex dtype, or of an array's dtype.

    Raises DTypeMismatchError: for integers and bools.

    >>> import tenferro as tn
    >>> tn.finfo("float32").eps
    1.1920928955078125e-07
    """
    dtype = _dtype_of(type)
    if not dtype.is_inexact:
        raise _wrong_kind("finfo", dtype, "a floating or complex dtype (`iinfo` for integers)")
    real = dtype.real_dtype
    eps = 2.0 ** (1 - real.precision)
    return FloatInfo(real.bits, eps, real.largest, -real.largest, real.smallest_normal, real)


def iinfo(type: Any) -> IntegerInfo:
    """Return the limits of an integer dtype, or of an array's dtype.

    Raises DTypeMismatchError: for other kinds.

    >>> import tenferro as tn
    >>> tn.iinfo("uint8").max
    255
    """
    dtype = _dtype_of(type)
    if not dtype.is_integer:
        raise _wrong_kind("iinfo", dtype, "an integer dtype (`finfo` for floats)")
    low = 0 if dtype.category == "uint" else -(2 ** (dtype.bits - 1))
    return IntegerInfo(dtype.bits, low + 2**dtype.bits - 1, low, dtype)


def isdtype(dtype: Any, kind: Any) -> bool:
    """Return True if a dtype is of a kind: a dtype, a kind's name, or a tuple of these.

    The names are bool, signed integer, unsigned integer, integral, real floating, complex floating
    and numeric.

    >>> import tenferro as tn
    >>> tn.isdtype("float32", "real floating"), tn.isdtype("int8", ("bool", "integral"))
    (True, True)
    """
    found = DType.of(dtype)
    if isinstance(kind, tuple):
        return any([isdtype(found, one) for one in kind])
    if isinstance(kind, str) and kind in _KINDS:
        return found.category in _KINDS[kind]
    if isinstance(kind, str):
        raise at_user_line(ValueError(f"{kind!r} is not a kind; the kinds are {', '.join(_KINDS)}"))
    return found is DType.of(kind)


@covers("result_type")
def result_type(*arrays_and_dtypes: Any) -> DType:
    """Return the dtype of an operation on these arrays and dtypes; Python scalars are weak.

    >>> import tenferro as tn
    >>> tn.result_type("float32", 2), tn.result_type("int8", "uint8")
    (float32, int16)
    """
    if not arrays_and_dtypes:
        raise at_user_line(ValueError("result_type needs at least one array or dtype"))
    given = [x if _has_elements(x) else DType.of(x) for x in arrays_and_dtypes]
    arrays = [x if type(x) in SCALARS else as_array(x) for x in given if type(x) is not DType]
    dtypes = [x for x in given if type(x) is DType]
    if not arrays:
        return _promoted(dtypes)
    if not dtypes:
        return common_dtype(arrays)
    strong = [x for x in arrays if type(x) not in SCALARS]
    weak = [x for x in arrays if type(x) in SCALARS]
    joint = _promoted([*dtypes, *[x.dtype for x in strong]])
    return common_dtype([as_array(0).astype(joint), *weak])


def _promoted(dtypes: list[DType]) -> DType:
    found = dtypes[0]
    for dtype in dtypes[1:]:
        found = promote_dtypes(found, dtype)
    return found


@covers("can_cast")
def can_cast(from_: Any, to: Any, casting: str = "safe") -> bool:
    """Return True if values of one dtype may be cast to another under a casting rule.

    ``casting`` is "no", equiv, safe (promotion of both is ``to``), same_kind or unsafe.

    >>> import tenferro as tn
    >>> tn.can_cast("int32", "float64"), tn.can_cast("float64", "float32")
    (True, False)
    """
    if casting not in CASTINGS:
        names = ", ".join(CASTINGS)
        raise at_user_line(ValueError(f"casting is one of {names}, not {casting!r}"))
    return may_cast(_dtype_of(from_), DType.of(to), casting)


def promote_types(type1: Any, type2: Any) -> DType:
    """Return the smallest dtype to which both can be cast safely.

    >>> import tenferro as tn
    >>> tn.promote_types("int64", "float32")
    float64
    """
    return promote_dtypes(DType.of(type1), DType.of(type2))


def _dtype_of(x: Any) -> DType:
    return as_array(x).dtype if isinstance(x, Array) or is_operand(x) else DType.of(x)


def _has_elements(x: Any) -> bool:
    return isinstance(x, Array) or type(x) in SCALARS or is_operand(x)


def _wrong_kind(function: str, dtype: DType, need: str) -> DTypeMismatchError:
    fact = f"{dtype} has no such limits"
    error = DTypeMismatchError.of(function, fact, got=dtype, need=need, dtypes=(dtype,))
    return at_user_line(error)
