"""The root of every tenferro error, and the errors of the graph engine.

Each error carries its facts as fields (attributes, and together in ``fields``), so that a program
or a test can match facts instead of text. Upper layers derive their own classes from
``TenferroError``; nothing here knows tensors or derivatives. Read next: ``_operation.py``.
"""

from __future__ import annotations


class TenferroError(Exception):
    """Report a fact about the user's program; the keyword arguments become fields."""

    def __init__(self, message: str = "", **fields: object) -> None:
        super().__init__(message)
        self.fields = fields
        for name, value in fields.items():
            setattr(self, name, value)

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), str(self), self.fields)


def _rebuild(cls: type[TenferroError], message: str, fields: dict[str, object]) -> TenferroError:
    return cls(message, **fields)


class GraphError(TenferroError, ValueError):
    """Report a malformed graph or a wrong use of one."""


class UnresolvedValueError(GraphError):
    """Report a value that no graph in the view defines. Fields: ``value``, ``graphs``."""


class DuplicateInputError(GraphError):
    """Report an input key declared twice. Fields: ``input``."""


class OperandError(GraphError):
    """Report a missing, surplus or ill-typed operand. Fields: ``input``, ``got``, ``need``."""


class SerializationError(GraphError):
    """Report a file that cannot be read back. Fields: ``schema`` or ``operation``."""
