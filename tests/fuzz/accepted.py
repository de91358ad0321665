"""Differences from NumPy and JAX that are no fault, each with its reason."""

from __future__ import annotations

import re
from typing import NamedTuple

from programs import Program

__all__ = ["ACCEPTED", "accepted"]


class Class(NamedTuple):
    """A class of differences: what is in the message, what is in the program, and the reason."""

    message: str
    text: str
    reason: str


ACCEPTED = [
    Class(
        r"DTypeMismatchError: \w+: not defined for complex",
        "",
        "Refused: complex numbers have no order here; NumPy compares their parts.",
    ),
    Class(
        "DTypeMismatchError: setitem: the rule casting='same_kind'",
        "",
        "Refused: an assignment never drops a fraction or an imaginary part without a word.",
    ),
    Class(
        "DivisionByZeroError|an integer to a negative power",
        "",
        "Refused: an integer divided by zero has no value; NumPy gives 0 and a warning.",
    ),
    Class(
        "^jit: (ConcretizationError|TracedConversionError)",
        "",
        "Refused: a shape or branch that depends on values is unknown while a function is traced.",
    ),
    Class(
        r"UnsupportedFunctionError: np\.([a-z_]+\.)*sliding_window_view",
        "sliding_window_view",
        "Refused: not covered.",
    ),
    Class(
        "does not fit into u?int",
        "",
        "Refused: a Python integer that the dtype cannot hold; NumPy wraps or compares it.",
    ),
    Class(
        "einsum: label '.' has two sizes", "np.einsum", "Refused: NumPy repeats an axis of size 1."
    ),
    Class("interp: places are real", "np.interp", "Refused: NumPy drops the imaginary part."),
    Class(
        "AxisError: take",
        "np.take",
        "Refused: a number has no axis; NumPy takes it for a vector of one element.",
    ),
    Class(
        "dtype int8, NumPy's int64",
        r"\*\*",
        "A power of one bool: NumPy gives int64 for a scalar and int8 for an array of rank 0. Both "
        "are one thing here, and behave as the array.",
    ),
    Class(
        "(?s)gradient .*NumPy's.*nan",
        "np.linalg.norm",
        "The derivative of a norm at 0 is 0; JAX gives nan.",
    ),
    Class(
        "(?s)gradient .*NumPy's.*nan",
        "np.linalg.cholesky",
        "A matrix that is not symmetric: JAX takes (A + Aᴴ)/2, which may be indefinite; tenferro "
        "and NumPy read the lower triangle.",
    ),
    Class(
        "OutOfBoundsError: index -?[0-9]+ is out of bounds for axis [0-9] of size 0",
        "np.take",
        "Refused: NumPy does not look at the index where the result is empty.",
    ),
    Class(
        "ImmutableArrayError: np.[a-z_]+ cannot write an Array into memory",
        "",
        "Refused: NumPy's array, here of a function of shapes alone, cannot hold an Array.",
    ),
    Class(
        "ShapeMismatchError: setitem: the value is larger .*\n  got .*\\[(0|.*,0).*",
        "",
        "Refused: NumPy does not compare the shapes where nothing is assigned.",
    ),
    Class(
        "dtype float64, NumPy's float(16|32)",
        r"(v[0-9]+) = np\.(copy|array)\(\w+\)\n +\1 ([-+*/]|\*\*|//)= ",
        "A copy of a number stays a number here; NumPy makes an array of rank 0, of a fixed dtype.",
    ),
    Class(
        r"values [\[\]TrueFals \n]+, NumPy's [\[\]TrueFals \n]+$",
        r"np\.signbit\(",
        "The sign of a nan: IEEE 754 leaves it open, and compilers choose differently.",
    ),
]


def accepted(made: Program, message: str) -> Class | None:
    """Return the class that a difference belongs to, or None."""
    for known in ACCEPTED:
        if re.search(known.message, message) and re.search(known.text, made.text):
            return known
    return None
