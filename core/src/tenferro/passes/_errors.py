"""Errors about the choice of passes. Read next: ``_selection.py``."""

from __future__ import annotations

from tenferro.computegraph import TenferroError


class UnknownPassError(TenferroError, ValueError):
    """Report a name that no graph pass has. Fields: ``name``, ``names``."""
