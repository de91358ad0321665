"""What the choice of passes refuses. Read next: ``_selection.py``."""

from __future__ import annotations

from tenferro.computegraph import TenferroError


class UnknownPassError(TenferroError, ValueError):
    """Report a name that no graph pass has. Fields: ``name``, ``names``."""
