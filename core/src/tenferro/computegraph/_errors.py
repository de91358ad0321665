"""The root of every tenferro error, and the errors of the graph engine.

Each error carries its facts as fields (attributes, and together in ``fields``), so that a program
or a test can match facts instead of text. Upper layers derive their own classes from
``TenferroError``; nothing here knows tensors or derivatives. Read next: ``_operation.py``.
"""

from __future__ import annotations

from importlib import import_module


class TenferroError(Exception):
    """Report a fact about the user's program; the keyword arguments become fields."""

    def __init__(self, message: str = "", **fields: object) -> None:
        super().__init__(message)
        self.fields = fields
        for name, value in fields.items():
            setattr(self, name, value)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle fields and notes; a field that cannot be pickled becomes its text."""
        message = self.args[0] if self.args else ""
        fields = {name: _picklable(value) for name, value in self.fields.items()}
        return _rebuild, (type(self), message, fields, tuple(getattr(self, "__notes__", ())))


def _picklable(value: object) -> object:
    try:
        import_module("pickle").dumps(value)
    except Exception:  # whatever a value's own __reduce__ raises: the error itself must arrive
        return repr(value)
    return value


def _rebuild(
    cls: type[TenferroError], message: str, fields: dict[str, object], notes: tuple[str, ...] = ()
) -> TenferroError:
    error = cls(message, **fields)
    for note in notes:
        error.add_note(note)
    return error


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
