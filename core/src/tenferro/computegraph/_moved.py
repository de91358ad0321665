"""Public names that have moved to other packages.

They are found here, with a ``DeprecationWarning`` that says where they are now. A name is removed
with the next generation of the API.
"""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any

_STORAGE = (
    "SCHEMA Codec StoredArray fingerprint from_json operation_name read_npy to_json write_npy"
)


def moved(name: str) -> Any:
    """Return the object of a name that has moved; ``None`` for any other name."""
    if name not in _STORAGE.split():
        return None
    text = f"tenferro.computegraph.{name} has moved to tenferro.storage.{name}"
    warnings.warn(text, DeprecationWarning, stacklevel=4)
    return getattr(import_module("tenferro.storage"), name)
