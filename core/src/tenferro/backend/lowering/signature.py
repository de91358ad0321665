"""The key, version and dtypes by which the lowering of an operation is looked up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenferro.computegraph import Operation, infer

__all__ = ["Dtypes", "dtypes_of", "key_of", "version_of"]

Dtypes = tuple[str, ...] | None


def key_of(operation: Operation | type) -> str:
    """Return the key of a primitive; the name of an operation that has none."""
    return getattr(operation, "key", "") or str(operation.name)  # type: ignore[union-attr]


def version_of(cls: type) -> int:
    """Return the version of a primitive class."""
    return int(getattr(cls, "version", 1))


def dtypes_of(operation: Operation, avals: Sequence[Any] | None) -> Dtypes:
    """Return the names that ``Lowering.dtypes`` is compared with."""
    if avals is None:
        return None
    described = avals or infer(operation, ())
    try:
        return tuple([aval.dtype.name for aval in described])
    except AttributeError:
        return tuple([_name_of_dtype(aval) for aval in described])


def _name_of_dtype(aval: Any) -> str:
    dtype = getattr(aval, "dtype", None)
    return str(getattr(dtype, "name", dtype))
