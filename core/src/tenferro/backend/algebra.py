"""Backends from one object: the operations of an algebra, under their names.

``OperandAlgebra`` is the part of the vocabulary that derivatives close over: whoever implements it
over max-plus numbers, intervals or rationals can run contractions and their derivatives without
writing a backend. What an algebra lacks is missing by name, and nothing stands in for it.
Read next: ``lowering/table.py``.
"""

from __future__ import annotations

from typing import Any, Protocol

from tenferro.backend._errors import UnsupportedError
from tenferro.backend.base import Backend
from tenferro.backend.lowering import Implementation, Lowering, LoweringTable
from tenferro.backend.records import BackendInfo
from tenferro.computegraph import Operation
from tenferro.primitives import __all__ as names_of_primitives
from tenferro.primitives._aval import Aval

OPERATIONS = (
    "add",
    "mul",
    "neg",
    "conj",
    "dot_general",
    "reduce_sum",
    "transpose",
    "reshape",
    "broadcast_in_dim",
    "gather",
    "scatter_add",
)

VOCABULARY = frozenset(names_of_primitives)


class OperandAlgebra(Protocol):
    """The eleven operations, each taking operands and, by keyword, the primitive's parameters.

    An algebra may have any other primitive of the standard set under its name: ``constant(*,
    value, dtype, shape)`` makes full arrays, ``maximum``, ``reduce_max``, ``argmax`` serve ordered
    algebras, ``exp`` and ``log`` others. ``asoperand``, ``to_numpy``, ``aval_of`` and ``owns`` mean
    what they mean for a ``Backend``.
    """

    def add(self, x: Any, y: Any) -> Any:
        """x + y, elementwise."""

    def mul(self, x: Any, y: Any) -> Any:
        """x · y, elementwise."""

    def neg(self, x: Any) -> Any:
        """−x."""

    def conj(self, x: Any) -> Any:
        """Return the conjugate of x."""

    def dot_general(self, lhs: Any, rhs: Any, **parameters: Any) -> Any:
        """Contract two operands; the output's axes are (batch, lhs free, rhs free)."""

    def reduce_sum(self, x: Any, *, axes: tuple[int, ...]) -> Any:
        """Sum over axes."""

    def transpose(self, x: Any, *, permutation: tuple[int, ...]) -> Any:
        """x with its axes permuted."""

    def reshape(self, x: Any, *, shape: tuple[int, ...]) -> Any:
        """x in another shape."""

    def broadcast_in_dim(
        self, x: Any, *, shape: tuple[int, ...], dimensions: tuple[int, ...]
    ) -> Any:
        """x repeated into a shape; axis i of x becomes axis ``dimensions[i]``."""

    def gather(self, x: Any, indices: Any, **parameters: Any) -> Any:
        """Return slices of x at indices."""

    def scatter_add(self, x: Any, indices: Any, updates: Any, **parameters: Any) -> Any:
        """x with updates added at indices."""


class AlgebraBackend(Backend):
    """The backend whose lowerings are the methods of one object, and nothing else.

    The object need not have every operation of ``OperandAlgebra``; programs that need one it lacks
    raise MissingLoweringError with that name.
    """

    def __init__(self, algebra: object, *, name: str | None = None) -> None:
        self.algebra = algebra
        kind = type(algebra).__name__
        self.name = name or kind.lower()
        self.info = BackendInfo(
            name=self.name,
            summary=f"the algebra {kind}",
            passes="none",  # what holds for numbers need not hold here: 0 may not be the zero
        )
        self.provider = type(algebra).__module__
        advice = f"a method of {kind} under the primitive's name: docs/add_an_algebra.md"
        self.lowerings = LoweringTable(self.name, lowerings_of(algebra), advice=advice)

    def _own(self, name: str) -> Any:
        return getattr(self.algebra, name, None)

    def asoperand(self, value: Any, aval: Aval) -> Any:
        """Convert a value with the algebra's method; without one, return the value itself."""
        own = self._own("asoperand")
        return value if own is None else own(value, aval)

    def to_numpy(self, operand: Any) -> Any:
        """Convert an operand to NumPy with the algebra's method; without one, raise
        UnsupportedError.
        """
        own = self._own("to_numpy")
        if own is None:
            raise UnsupportedError(
                f"{self.name}: its operands cannot be converted to NumPy\n"
                f"  hint       define `to_numpy(operand)` on {type(self.algebra).__name__}",
                backend=self.name,
                feature="to_numpy",
                instead="",
            )
        return own(operand)

    def aval_of(self, operand: Any) -> Aval:
        """Return the algebra's aval of an operand; by default its own shape and dtype."""
        own = self._own("aval_of")
        return Aval(operand.shape, operand.dtype) if own is None else own(operand)

    def owns(self, value: Any) -> bool:
        """Ask the algebra; by default it owns nothing, so the backend is chosen by name only."""
        own = self._own("owns")
        return False if own is None else bool(own(value))


def lowerings_of(algebra: object) -> list[Lowering]:
    """Return the lowerings that an algebra consists of, for the hook ``tenferro_lowerings``."""
    provider = type(algebra).__module__
    return [
        Lowering(f"std::{name}", _lowering(getattr(algebra, name)), provider=provider)
        for name in operations_of(algebra)
    ]


def operations_of(algebra: object) -> list[str]:
    """Return the names of an algebra's methods that are primitives of the standard set.

    >>> class Numbers:
    ...     def add(self, x, y): ...
    ...     def reduce_max(self, x, *, axes): ...
    ...     def helper(self): ...
    >>> operations_of(Numbers())
    ['add', 'reduce_max']
    """
    named = [name for name in dir(algebra) if not name.startswith("_")]
    known = [name for name in named if _class_name(name) in VOCABULARY]
    return [name for name in known if callable(getattr(algebra, name, None))]


def _class_name(key: str) -> str:
    """Return the name of a primitive's class: ``ReduceSum`` for ``reduce_sum``."""
    return "".join([word[:1].upper() + word[1:] for word in key.split("_")])


def _lowering(method: Implementation) -> Implementation:
    """Wrap an algebra's method as a lowering: the operation's parameters become keywords."""

    def lowering(operation: Operation, *operands: Any) -> Any:
        return method(*operands, **operation.parameters)

    return lowering
