"""The kit as its authors use it: what a run of the suite tests, and how to add to it.

`register_profile` and `register_cases` do for a program or a test what an entry point of the group
`tenferro.conformance` does for an installed distribution. Read `running/selection.py` next.
"""

from __future__ import annotations

from tenferro_conformance.running.backends import register_profile
from tenferro_conformance.running.selection import Kit, Selection, register_cases

__all__ = ["Kit", "Selection", "register_cases", "register_profile"]
