"""Errors about indices: outside their axis, or no index at all."""

from __future__ import annotations

from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.computegraph import TenferroError


class OutOfBoundsError(TenferroError, IndexError):
    """Report an index outside its axis. Fields: ``axis``, ``index``, ``size``."""


class IndexKindError(TenferroError, IndexError):
    """Report something that is not an index, or too many of them. Fields: ``index``, ``shape``."""


def outside(axis: int, i: int, n: int) -> OutOfBoundsError:
    """Make the error about an index outside its axis."""
    error = OutOfBoundsError(
        f"index {i} is out of bounds for axis {axis} of size {n}", axis=axis, index=i, size=n
    )
    return at_user_line(error)


def no_index(entry: Any, what: object) -> IndexKindError:
    """Make the error about something that is not an index."""
    error = IndexKindError(
        f"{what} is not an index\n"
        f"  got        {entry!r:.60}\n"
        "  need       an integer, a slice, an ellipsis, None, or an array of integers or bools",
        index=entry,
        shape=None,
    )
    return at_user_line(error)
