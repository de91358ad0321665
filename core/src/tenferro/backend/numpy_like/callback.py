"""Functions of the user on the host, for a NumPy-shaped namespace.

They are given copies on the host, and may keep or change them. Read next: `plugins/numpy_backend`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like._common import native_dtype
from tenferro.primitives.callback import (
    DebugCallback,
    HostCallback,
    check_results,
    in_stated_dtype,
    stated_results,
)

__all__ = ["register"]


def register(lowerings: Lowerings, xp: Any) -> None:
    """Register the callback family."""
    copied: Callable[[Any], Any] = getattr(xp, "asnumpy", xp.array)

    @lowerings.register(HostCallback)
    def host_callback(op: HostCallback, *xs: Any) -> Any:
        found = op.function(*[copied(x) for x in xs])
        arrays = [
            xp.array(in_stated_dtype(op, xp.asarray(x), aval, native_dtype(xp, aval.dtype)))
            for x, aval in zip(stated_results(op, found), op.results, strict=True)
        ]
        check_results(op, arrays, lambda x: x.shape)
        return arrays[0] if len(arrays) == 1 else tuple(arrays)

    @lowerings.register(DebugCallback)
    def debug_callback(op: DebugCallback, *xs: Any) -> Any:
        op.function(*[copied(x) for x in xs])
        return xp.ones((), "bool")
