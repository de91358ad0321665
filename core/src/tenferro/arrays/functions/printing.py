"""Texts of arrays, and whether they share memory (never)."""

from __future__ import annotations

from typing import Any

from tenferro.arrays.functions._known import known, numpy_module
from tenferro.arrays.handle.array import evaluable
from tenferro.arrays.handle.convert import as_array
from tenferro.arrays.registry import covers


def _text(function: str, x: Any, **options: Any) -> str:
    """Return the text that NumPy's function writes, or shape and dtype if values are unknown."""
    found = as_array(x)
    if not evaluable(found.key):
        return repr(found)
    value = known(found, function, "")
    numpy = numpy_module(function)
    given = {name: option for name, option in options.items() if option is not None}
    text: str = getattr(numpy, function)(numpy.asarray(value), **given)
    return text


@covers("array_repr")
def array_repr(
    arr: Any,
    max_line_width: int | None = None,
    precision: int | None = None,
    suppress_small: bool | None = None,
) -> str:
    """Return the string representation of an array with its dtype, as in NumPy.

    >>> import tenferro as tn
    >>> tn.array_repr(tn.asarray(1.0)).startswith("array(1.")
    True
    """
    return _text(
        "array_repr",
        arr,
        max_line_width=max_line_width,
        precision=precision,
        suppress_small=suppress_small,
    )


@covers("array_str")
def array_str(
    a: Any,
    max_line_width: int | None = None,
    precision: int | None = None,
    suppress_small: bool | None = None,
) -> str:
    """Return a string of the array's elements, as in NumPy."""
    return _text(
        "array_str",
        a,
        max_line_width=max_line_width,
        precision=precision,
        suppress_small=suppress_small,
    )


@covers("array2string")
def array2string(
    a: Any,
    max_line_width: int | None = None,
    precision: int | None = None,
    suppress_small: bool | None = None,
    separator: str = " ",
    prefix: str = "",
    *,
    formatter: Any = None,
    threshold: int | None = None,
    edgeitems: int | None = None,
    sign: str | None = None,
    floatmode: str | None = None,
    suffix: str = "",
    legacy: Any = None,
) -> str:
    """Return a string of the array's elements, with all of NumPy's options."""
    return _text(
        "array2string",
        a,
        max_line_width=max_line_width,
        precision=precision,
        suppress_small=suppress_small,
        separator=separator,
        prefix=prefix,
        formatter=formatter,
        threshold=threshold,
        edgeitems=edgeitems,
        sign=sign,
        floatmode=floatmode,
        suffix=suffix,
        legacy=legacy,
    )


@covers("may_share_memory", "shares_memory")
def shares_memory(a: Any, b: Any, max_work: Any = None) -> bool:
    """Return False: arrays are values and share no writable memory."""
    return False
