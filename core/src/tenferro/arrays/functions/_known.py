"""Values that must be known while a program is written, since shapes depend on them.

Outside ``jit`` they are evaluated then. NumPy works out positions from them; elements are gathered
at these positions in the graph, so that derivatives flow.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from tenferro.arrays.errors import (
    ConcretizationError,
    TracedConversionError,
    UnknownOperandError,
    at_user_line,
)
from tenferro.arrays.functions.indexing import take
from tenferro.arrays.handle.array import Array
from tenferro.arrays.handle.convert import as_array
from tenferro.arrays.handle.looks import Find, found_in, is_observed


def known(x: Any, function: str, instead: str) -> Any:
    """Return the value of an operand as a NumPy array; a Python scalar is returned unchanged.

    Raises ConcretizationError: with what to write instead, where the value is only traced.
    """
    if isinstance(x, (bool, int, float, complex)):
        return x
    found = x if isinstance(x, Array) else as_array(x)
    try:
        return found._concrete(f"np.{function}")
    except ConcretizationError as error:
        error.add_note(f"  instead    {instead}")
        raise


def parameter(x: Any, asked: str) -> Any:
    """Return the value of a parameter without a derivative; what is not an Array, unchanged.

    Raises TracedConversionError: for a float of an open transform, whose derivative would be lost;
    ConcretizationError: for an integer that is only traced.
    """
    if not isinstance(x, Array):
        return x
    if not x.dtype.is_inexact:
        return x._concrete(asked)
    try:
        return x._to_numpy(asked)
    except TracedConversionError:
        raise at_user_line(_by_parameter(x, asked)) from None


def _by_parameter(x: Array, asked: str) -> TracedConversionError:
    return TracedConversionError(
        f"{asked}: there is no derivative with respect to this parameter\n"
        f"  got        {x.aval}, on which a transform is open\n"
        "  need       a number, or an array that does not vary\n"
        "  hint       differentiate with respect to other arguments, or make a constant of it: "
        "`tenferro.stop_gradient(x)`",
        aval=x.aval,
        asked=asked,
        function=asked,
    )


def found_of(xs: Sequence[Any], find: Find, function: str, instead: str) -> Sequence[Any]:
    """Return what ``find`` computes of the values of operands: integers, and arrays of numbers.

    The arrays are NumPy's where the values are known. While ``jit(dynamic=True)`` traces, they are
    Arrays of these shapes.

    Raises ConcretizationError: with what to write instead, where a value is only traced.
    """
    answer = None
    if is_observed():
        answer = found_in([as_array(x) for x in xs], find, f"np.{function}")
    return find(*[known(x, function, instead) for x in xs]) if answer is None else answer


def elements(x: Array, places: Any, axis: int = 0) -> Array:
    """Take the elements at known positions along an axis."""
    found: Array = take(x, as_array(places), axis)
    return found


def numpy_module(function: str) -> Any:
    """NumPy, which the program has imported: who has arrays of known values has it."""
    numpy = sys.modules.get("numpy")
    if numpy is None:
        error = UnknownOperandError(
            f"{function}: positions are computed by NumPy, which is not imported\n"
            "  hint       `import numpy`",
            value=None,
        )
        raise at_user_line(error)
    return numpy
