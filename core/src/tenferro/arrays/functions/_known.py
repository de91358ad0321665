"""Values that must be known while a program is written, since shapes depend on them.

Outside ``jit`` they are evaluated then. NumPy works out positions from them; elements are gathered
at these positions in the graph, so that derivatives flow.
"""

from __future__ import annotations

import sys
from typing import Any

from tenferro.arrays.errors import ConcretizationError, UnknownOperandError, at_user_line
from tenferro.arrays.functions.indexing import take
from tenferro.arrays.handle.array import Array
from tenferro.arrays.handle.convert import as_array


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
