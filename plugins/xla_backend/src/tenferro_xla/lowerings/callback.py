"""Functions of the user on the host: ``pure_callback``, for effects ordered ``io_callback``.

What they raise reaches the caller as it was raised, see ``_raised.py``.
Read next: ``plugin.py``.
"""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
from jax import Array

from tenferro.backend.lowering import Lowerings
from tenferro.primitives.callback import (
    DebugCallback,
    HostCallback,
    check_results,
    in_stated_dtype,
    stated_results,
)
from tenferro_xla._not_public import io_callback
from tenferro_xla._raised import keeping

lowerings = Lowerings()
_Result: Any = jax.ShapeDtypeStruct


@lowerings.register(HostCallback)
def host_callback(op: HostCallback, *xs: Array) -> Any:
    """Call a pure function on NumPy arrays."""

    @keeping
    def call(*arrays: Any) -> Any:
        found = stated_results(op, op.function(*map(np.array, arrays)))
        pairs = zip(found, op.results, strict=True)
        results = [
            in_stated_dtype(op, np.asarray(x), aval, np.dtype(aval.dtype.name)) for x, aval in pairs
        ]
        check_results(op, results, np.shape)
        return tuple(results)

    shapes = tuple(_Result(aval.shape, aval.dtype.name) for aval in op.results)
    found = jax.pure_callback(call, shapes, *xs)
    return found[0] if len(found) == 1 else tuple(found)


@lowerings.register(DebugCallback)
def debug_callback(op: DebugCallback, *xs: Array) -> Any:
    """Call a function for its effect, in the order of the program."""

    @keeping
    def call(*arrays: Any) -> Any:
        op.function(*map(np.array, arrays))
        return np.ones((), bool)

    return io_callback(call, _Result((), bool), *xs, ordered=True)
