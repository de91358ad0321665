"""Lowerings, one for each primitive: functions ``(operation, *operands) -> operand``.

``numpy_like`` has them for any array library that is shaped like NumPy. What such a library does
differently is registered after it; what it cannot do is left out, and is then decomposed or
reported as missing. Read next: ``profile.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tenferro.backend import Lowering, numpy_like
from tenferro_acme.arrays import AcmeArray

# Branches and loops run the lowerings of their bodies, so they take this backend's own arrays.
AS_THEY_ARE = ("std::switch", "std::while_loop")
# These would index and stack NumPy's arrays. Left out, they decompose.
LEFT_OUT = ("std::checkpoint", "std::scan")


def lowerings() -> list[Lowering]:
    """Return the lowerings of all primitives that run on this backend."""
    return [
        record
        if record.primitive in AS_THEY_ARE
        else Lowering(record.primitive, on_own_arrays(record))
        for record in numpy_like.lowerings(np)
        if record.primitive not in LEFT_OUT
    ]


def on_own_arrays(record: Lowering) -> Callable[..., Any]:
    """Make a lowering on this backend's arrays of one on NumPy's."""

    def lowering(operation: Any, *operands: AcmeArray) -> Any:
        function: Any = record.target
        with np.errstate(all="ignore"):  # 1/0 is infinity, and no warning
            found = function(operation, *[operand.data for operand in operands])
        if operation.output_count == 1:
            return AcmeArray(np.asarray(found))
        return tuple([AcmeArray(np.asarray(each)) for each in found])

    return lowering
