"""Errors about arrays; each names the place in the user's program and what to write instead.

Read next: ``handle/array.py``.
"""

from __future__ import annotations

from tenferro.computegraph import TenferroError
from tenferro.primitives._boundary import at_user_line as at_user_line
from tenferro.primitives._errors import InvalidParameterError


def unknown_option(function: str, option: str, value: object, need: str) -> InvalidParameterError:
    """Make the error about a value that an option of a function does not have."""
    return InvalidParameterError.of(
        function, f"there is no such {option}", got=repr(value), need=need, parameter=option,
        value=value,
    )  # fmt: skip


class ConcretizationError(TenferroError, TypeError):
    """Report that a value is wanted where only its shape is known. Fields: ``aval``, ``asked``."""


class LeakedArrayError(ConcretizationError):
    """Report an Array of a traced function that outlived the call. Fields: also ``argument``."""


class TracedConversionError(TenferroError, TypeError):
    """Report a conversion of a traced value. Fields: ``aval``, ``asked``, ``function``."""


class UnsupportedFunctionError(TenferroError, TypeError):
    """Report a NumPy function that is not covered. Fields: ``function``, ``nearest``."""


class ImmutableArrayError(TenferroError, TypeError):
    """Report an attempt to write an Array into memory of NumPy. Field: ``function``."""


class LostAssignmentError(TenferroError, TypeError):
    """Report an assignment into a temporary array: ``x[0][1] = v``. Field: ``aval``."""


class CapturedAssignmentError(TenferroError, TypeError):
    """Report an assignment to an outer Array in a loop or branch. Fields: ``aval``, ``body``."""


class CopyAssignmentWarning(UserWarning):
    """Say that an array is assigned into that would be a view of another one in NumPy."""


class UnsupportedAttributeError(TenferroError, AttributeError):
    """Report an attribute of other arrays that Arrays lack. Fields: ``attribute``, ``instead``."""


class UnknownOperandError(TenferroError, TypeError):
    """Report a value that is not an array, a scalar or a sequence of them. Field: ``value``."""


class SparseResultError(TenferroError, ValueError):
    """Report what cannot be had as a sparse matrix, or from one. Fields: ``elements``.

    ``elements`` are the entries of the matrix, or those of the argument or output of a derivative.
    """
