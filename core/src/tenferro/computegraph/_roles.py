"""Roles: whether a node computes a value or carries linear flow, and through which inputs.

The role belongs to a node's identity: a product whose second factor is a tangent is not the
product of two values, although both evaluate alike. Read next: ``_keys.py``.
"""

from __future__ import annotations


class OperationRole:
    """Base of the two roles."""

    __slots__ = ()


class Primary(OperationRole):
    """The role of a node that computes a value; there is one instance, ``PRIMARY``."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "PRIMARY"

    def __reduce__(self) -> str:
        return "PRIMARY"


PRIMARY = Primary()


class Linearized(OperationRole):
    """The role of a linear node: which inputs are active, and in which direction flow runs.

    Equal roles are the same object.

    >>> from tenferro.computegraph import Linearized
    >>> Linearized((False, True)) is Linearized((False, True))
    True
    """

    __slots__ = ("active_mask", "transposed")
    active_mask: tuple[bool, ...]
    transposed: bool

    def __new__(cls, active_mask: tuple[bool, ...], transposed: bool = False) -> Linearized:
        found = _roles.get((active_mask, transposed))
        if found is not None:
            return found
        role = object.__new__(cls)
        role.active_mask = active_mask
        role.transposed = transposed
        return _roles.setdefault((active_mask, transposed), role)

    def __repr__(self) -> str:
        return f"Linearized({self.active_mask}, transposed={self.transposed})"

    def __reduce__(self) -> tuple[object, ...]:
        return Linearized, (self.active_mask, self.transposed)


_roles: dict[tuple[tuple[bool, ...], bool], Linearized] = {}
