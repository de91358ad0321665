"""The command line: ``plugins``, ``primitives``, ``doctor``; ``--json`` prints the same as data.

Read next: ``commands.py``.
"""

from tenferro._cli.commands import main

__all__ = ["main"]
