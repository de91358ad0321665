"""Errors about the choice of passes and about memory. Read next: ``_selection.py``."""

from __future__ import annotations

from tenferro.computegraph import TenferroError


class UnknownPassError(TenferroError, ValueError):
    """Report a name that no graph pass has. Fields: ``name``, ``names``."""


class BrokenPassError(TenferroError, RuntimeError):
    """Report a graph pass of a plugin that raised or returned another program.

    Fields: ``name`` of the pass, ``provider``, ``problem``. ``__cause__`` is what it raised.
    """


class MemoryBudgetError(TenferroError, ValueError):
    """Report a program that does not fit into its memory budget.

    Fields: ``budget`` and ``least``, the least peak that was found, in bytes; ``values``, the
    largest values at that peak.
    """
