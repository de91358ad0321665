"""Traces: the time during which a transform records a function.

A key lists the traces on which it depends. While one is open, its values may still be
differentiated or mapped. Read next: ``_pin.py``.
"""

from __future__ import annotations

from tenferro.computegraph import ValueKey
from tenferro.tidu._value import fresh_id


class Trace:
    """The time during which a function is being recorded for a transform.

    ``abstract``: the arguments have no values, so that what is recorded serves many calls.
    ``sealed`` names a transform whose arguments have no values for anybody once it is closed.
    ``hidden``: no derivative flows yet; values are recorded, and may be converted as if they were
    not. ``converted`` is the user's line that did so. ``evaluated`` are results of factorizations
    that the function looked at, which the program of the transform reads instead of computing them.
    """

    __slots__ = ("abstract", "converted", "evaluated", "hidden", "id", "open", "sealed")

    def __init__(self, abstract: bool = False, sealed: str = "", hidden: bool = False) -> None:
        self.id = fresh_id()
        self.open = True
        self.abstract = abstract
        self.sealed = sealed
        self.hidden = hidden
        self.converted = ""
        self.evaluated: tuple[ValueKey, ...] = ()

    def __repr__(self) -> str:
        return f"<{'open' if self.open else 'closed'} trace {self.id.serial}>"
