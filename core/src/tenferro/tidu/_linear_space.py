"""Interface of a vocabulary to differentiation: add tangents, make zeros, name tangent avals.

Nothing here knows numbers. A structural zero is ``None`` everywhere else; ``zeros`` is called only
where an operation needs a value in that place. Read next: ``_primitive.py``.
"""

from __future__ import annotations

from typing import Any, Protocol

from tenferro.computegraph import ValueKey
from tenferro.tidu._value import Value


class LinearSpace(Protocol):
    """The linear structure of a vocabulary's values.

    A space may also have ``source_text(source)``: where in the user's program an operation was
    recorded, for the notes of errors.
    """

    value: type[Value]  # the class of the values that rules receive

    def add(self, x: Value, y: Value) -> Value:
        """Emit x + y; its transpose is the identity to both."""

    def zeros(self, aval: Any) -> Value:
        """Emit the zero of a space."""

    def is_zero(self, key: ValueKey) -> bool:
        """Return True if the key is a zero made by ``zeros``."""

    def tangent_aval(self, aval: Any) -> Any:
        """Return the aval of tangents at values of ``aval``; ``NO_TANGENT`` if there are none."""


class NoTangent:
    """The answer of ``tangent_aval`` for values that cannot vary, such as integers."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "NO_TANGENT"


NO_TANGENT = NoTangent()
