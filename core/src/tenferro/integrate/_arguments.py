"""Arguments of integrals and initial value problems, checked: numbers, counts and times.

Read next: ``_initial_value.py``.
"""

from __future__ import annotations

from operator import index
from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.handle.array import Array, evaluable
from tenferro.arrays.promotion.broadcast import double_if_exact
from tenferro.primitives import DTypeMismatchError, InvalidParameterError


def real_array(function: str, name: str, x: Any) -> Array:
    """Return a real array of inexact numbers.

    Raises DTypeMismatchError: for complex numbers, whose imaginary part would be lost.
    """
    found = double_if_exact(x)
    if found.dtype.is_complex:
        raise at_user_line(DTypeMismatchError.of(
            function, f"{name} is complex", got=found.aval, need="real numbers",
            dtypes=(found.dtype,),
        ))  # fmt: skip
    return found


def count_of(function: str, name: str, value: Any) -> int:
    """Return an integer of 1 or more.

    Raises InvalidParameterError.
    """
    try:
        found = index(value)
    except TypeError:
        found = 0
    if found < 1 or isinstance(value, bool):
        need = "an integer of 1 or more"
        raise at_user_line(refused(function, f"{name} is out of range", name, value, need))
    return found


def check_inside(function: str, name: str, times: Array, t0: Array, t1: Array) -> None:
    """Check times that are known, of an interval that is known.

    Raises InvalidParameterError.
    """
    if not all([evaluable(t.key) for t in (t0, t1, times)]):
        return
    a, b, at = [t._concrete("the order of times") for t in (t0, t1, times)]
    if ((at < min(a, b)) | (at > max(a, b))).any():
        need = f"times from {float(a)} to {float(b)}"
        raise at_user_line(refused(function, "a time is outside of t_span", name, at, need))


def refused(
    function: str, fact: str, parameter: str, value: Any, need: str
) -> InvalidParameterError:
    """Make the error about the value of a parameter."""
    return InvalidParameterError.of(
        function, fact, got=f"{parameter}={value!r}", need=need, parameter=parameter, value=value
    )
