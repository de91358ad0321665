"""The API generation that core offers to plugins; its own module, since ``import tenferro`` reads
it.

Minor +1 adds a hook, an argument, a method or a field with a default; major +1 removes, renames or
changes a meaning. It is independent of the version of the distribution. Read next: ``records.py``.
"""

from __future__ import annotations

API_VERSION: tuple[int, int] = (1, 0)
