"""Code that all families share: native dtypes, casts, kinds of dtypes.

Read next: `arithmetic.py`.
"""

from __future__ import annotations

from typing import Any

from tenferro.primitives import DType

__all__ = ["cast", "is_complex", "is_integer", "native_dtype"]


def native_dtype(xp: Any, dtype: DType) -> Any:
    """Return the dtype object that `xp` uses for one of ours: it has the same name."""
    return getattr(xp, dtype.name)


def cast(xp: Any, x: Any, dtype: DType) -> Any:
    """Copy to another dtype: complex to real takes the real part, anything to bool is `!= 0`."""
    if dtype.is_bool:
        return xp.astype(x, xp.bool) if is_bool(xp, x) else x != 0
    if is_complex(xp, x) and not dtype.is_complex:
        x = xp.real(x)
    return xp.astype(x, native_dtype(xp, dtype))


def is_bool(xp: Any, x: Any) -> bool:
    """Return True if an array is boolean."""
    return bool(xp.isdtype(x.dtype, "bool"))


def is_complex(xp: Any, x: Any) -> bool:
    """Return True if an array is complex."""
    return bool(xp.isdtype(x.dtype, "complex floating"))


def is_integer(xp: Any, x: Any) -> bool:
    """Return True if an array has integers, signed or not."""
    return bool(xp.isdtype(x.dtype, "integral"))
