"""What derivatives ask of this vocabulary: the class of values, and sums and zeros of tangents.

Values are max-plus matrices or positions; tangents are matrices of real numbers, so positions have
none. Matrices are tuples of rows. Read next: ``operations.py``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tenferro.tidu import NO_TANGENT, FlowInput, Primitive, Value, emit

TROPICAL, POSITIONS, REAL = "tropical", "positions", "real"
Rows = tuple[tuple[Any, ...], ...]


class Kind(NamedTuple):
    """What a value is, and its shape: the aval of this vocabulary."""

    space: str
    rows: int
    columns: int


class Matrix(Value):
    """A value of a graph."""


class Space:
    """The linear space of tangents."""

    value = Matrix

    @staticmethod
    def add(x: Matrix, y: Matrix) -> Matrix:
        """Add two tangents."""
        return Add()(x, y)[0]

    @staticmethod
    def zeros(aval: Kind) -> Matrix:
        """Return a zero tangent."""
        return Zeros(aval.rows, aval.columns)()[0]

    @staticmethod
    def is_zero(key: Any) -> bool:
        """Return True if a value of a graph is a zero tangent."""
        return isinstance(key.operation, Zeros)

    @staticmethod
    def tangent_aval(aval: Kind) -> Any:
        """Return the aval of the tangents of a value."""
        return NO_TANGENT if aval.space == POSITIONS else aval._replace(space=REAL)


class Operation(Primitive):
    """An operation of this vocabulary: ``run`` computes it."""

    space = Space

    def __call__(self, *values: Matrix) -> Any:
        """Record the operation."""
        return emit(self, values, Matrix)


class Zeros(Operation):
    """A zero tangent."""

    input_count, literal = 0, True
    rows: int
    columns: int

    def abstract_eval(self) -> Kind:
        """[rows, columns]"""
        return Kind(REAL, self.rows, self.columns)

    def run(self) -> tuple[Rows]:
        """Compute it."""
        return (((0.0,) * self.columns,) * self.rows,)


class Add(Operation):
    """x + y of tangents."""

    input_count, linear = 2, ((0, 1),)

    def abstract_eval(self, x: Kind, y: Kind) -> Kind:
        """As x."""
        return x

    def run(self, x: Rows, y: Rows) -> tuple[Rows]:
        """Compute it."""
        return (
            tuple(
                tuple(a + b for a, b in zip(p, q, strict=True)) for p, q in zip(x, y, strict=True)
            ),
        )

    def transpose(self, rule: Any, cts: Any, inputs: Any) -> Any:
        """Both inputs get the cotangent."""
        return [cts[0] if isinstance(each, FlowInput) else None for each in inputs]
