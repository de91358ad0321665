"""The command line; ``tenferro --help`` lists its commands, and ``--json`` prints data.

Read next: ``commands.py``.
"""

from tenferro._cli.commands import main

__all__ = ["main"]
