"""Functions that the Array API standard requires of a namespace for inspection.

``tenferro`` itself is the namespace that arrays name. The standard is that of December 2024
(data-apis.org/array-api/2024.12); nothing here computes.
"""

from __future__ import annotations

from typing import Any

from tenferro.arrays.functions.data_types import isdtype
from tenferro.primitives import (
    DType,
    bool_,
    complex64,
    complex128,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)

__array_api_version__ = "2024.12"
_BOOL = {"bool": bool_}
_SIGNED = {"int8": int8, "int16": int16, "int32": int32, "int64": int64}
_UNSIGNED = {"uint8": uint8, "uint16": uint16, "uint32": uint32, "uint64": uint64}
_REAL = {"float32": float32, "float64": float64}
_COMPLEX = {"complex64": complex64, "complex128": complex128}
_ALL = {**_BOOL, **_SIGNED, **_UNSIGNED, **_REAL, **_COMPLEX}


class NamespaceInfo:
    """Capabilities and dtypes of this namespace; made by ``__array_namespace_info__()``."""

    def capabilities(self) -> dict[str, Any]:
        """Return the optional parts of the standard that are supported.

        Shapes may depend on data, and arrays may index with bools, wherever values are known:
        everywhere but under ``jit`` and ``vmap``.
        """
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> str:
        """Return the device of new arrays. Values made by tenferro appear where they are used."""
        return "cpu"

    def devices(self) -> list[str]:
        """Return the devices on which arrays can be created."""
        return ["cpu"]

    def default_dtypes(self, *, device: Any = None) -> dict[str, DType]:
        """Return the dtype that each kind has by default."""
        return {
            "real floating": float64,
            "complex floating": complex128,
            "integral": int64,
            "indexing": int64,
        }

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, DType]:
        """Return the standard's dtypes by name, all or those of a kind."""
        if kind is None:
            return dict(_ALL)
        return {name: dtype for name, dtype in _ALL.items() if isdtype(dtype, kind)}


def __array_namespace_info__() -> NamespaceInfo:
    """Return the inspection object of the Array API standard.

    >>> import tenferro as tn
    >>> tn.__array_namespace_info__().default_dtypes()["real floating"]
    float64
    """
    return NamespaceInfo()
