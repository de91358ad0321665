"""Errors of the vocabulary: shapes, dtypes and parameters without a meaning.

Each error carries its facts as fields; the text is the first three lines of the house template
(who and what, got, need). ``bind`` adds the equation and the user's line as a note, so nothing
here knows where an error was raised. Read next: ``_checks.py``.
"""

from __future__ import annotations

from typing import Self

from tenferro.computegraph import TenferroError


class RefusalError(TenferroError):
    """Report operands or parameters that a primitive has no meaning for.

    Fields: ``operation`` (its name), ``got``, ``need``, and what the subclass adds. Outside of a
    public function also ``function``: the name of that function, with which the text begins.

    >>> import tenferro as tn
    >>> print(tn.ShapeMismatchError.of("add", "shapes differ", got="(2,), (3,)", need="one shape"))
    add: shapes differ
      got        (2,), (3,)
      need       one shape
    """

    operation: str
    got: str
    need: str

    @classmethod
    def of(
        cls,
        operation: str,
        fact: str,
        *,
        got: object,
        need: str,
        hint: str = "",
        **fields: object,
    ) -> Self:
        """Make the error, whose text follows the house template."""
        message = f"{operation}: {fact}\n  got        {got}\n  need       {need}"
        message += f"\n  hint       {hint}" if hint else ""
        return cls(message, operation=operation, got=str(got), need=need, **fields)


class ShapeMismatchError(RefusalError, ValueError):
    """Report shapes that do not fit together. Field: ``shapes``, one per operand."""

    shapes: tuple[tuple[int, ...], ...]


class DTypeMismatchError(RefusalError, TypeError):
    """Report dtypes that differ, or that an operation is not defined for. Field: ``dtypes``."""

    dtypes: tuple[object, ...]


class InvalidParameterError(RefusalError, ValueError):
    """Report a parameter outside its range. Fields: ``parameter``, ``value``."""

    parameter: str
    value: object


class AxisError(InvalidParameterError, IndexError):
    """Report an axis that the operand lacks or that is named twice. Fields as its parent."""


class ShardingError(RefusalError, ValueError):
    """Report a mesh or a spec without a meaning. Fields: ``mesh``, ``spec``, ``dimension``.

    ``dimension`` is the number of the dimension that is meant, or None.
    """

    mesh: object
    spec: object
    dimension: int | None


class UnknownDTypeError(RefusalError, TypeError):
    """Report something that names no dtype of tenferro. Field: ``value``."""

    value: object


class ArgumentError(TenferroError):
    """Report arguments that a public function cannot use. Field: ``function``, its name."""

    function: str


class ArgumentTypeError(ArgumentError, TypeError):
    """Report an argument of a type that a public function cannot use."""


class ArgumentValueError(ArgumentError, ValueError):
    """Report an argument whose value a public function cannot use."""


class ArgumentIndexError(ArgumentError, IndexError):
    """Report a position or an axis that an argument does not have."""


class ArgumentOverflowError(ArgumentValueError, OverflowError):
    """Report a number that is too large for what it stands for."""


class ArgumentBufferError(ArgumentError, BufferError):
    """Report memory that cannot be shared as the arguments ask for."""


class InternalError(TenferroError, RuntimeError):
    """Report a bug in tenferro: an error of Python that no argument explains.

    Fields: ``function``, the public function that was called; ``error``, the class and the text of
    Python's error; ``place``, where it was raised. The traceback has all frames.
    """

    function: str
    error: str
    place: str


class OffloadError(TenferroError, OSError):
    """Report a loop whose rows cannot be stored in a file. Fields: ``directory``, ``bytes``."""

    @classmethod
    def of(cls, directory: str, size: int, reason: str) -> OffloadError:
        """Make the error of a file of that size."""
        return cls(
            f"scan: cannot store {size:,} bytes in a temporary file\n"
            f"  got        {reason} in {directory}\n"
            "  need       a directory that exists, on a disc with so much room\n"
            "  hint       `tn.offload(directory)` chooses another one",
            directory=directory,
            bytes=size,
        )


class StepLimitError(TenferroError, RuntimeError):
    """Report a loop that has not ended within its bound. Fields: ``steps``."""

    @classmethod
    def of(cls, steps: int) -> StepLimitError:
        """Make the error of a loop with that bound."""
        return cls(
            f"while_loop: the condition still holds after {steps} steps\n"
            "  hint       a larger `max_steps`, or a condition that ends",
            steps=steps,
        )
