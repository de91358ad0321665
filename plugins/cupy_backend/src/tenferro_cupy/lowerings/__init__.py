"""What CuPy does with the standard set: `numpy_like`, and replacements where CuPy differs.

The namespace is a parameter everywhere, so that the same code runs on a stand-in without a device.
Read next: `indexing.py`.
"""

from __future__ import annotations

from typing import Any

from tenferro.backend import numpy_like
from tenferro.backend.lowering import Lowering, Lowerings
from tenferro_cupy.lowerings import elementwise, indexing, reduction

__all__ = ["lowerings"]


def lowerings(cupy: Any, erf: Any = None) -> tuple[Lowering, ...]:
    """The lowerings of the standard set over CuPy, or over what stands in for it.

    `erf` is CuPy's own unless given.
    """
    own = Lowerings()
    elementwise.register(own, erf)
    reduction.register(own, cupy)
    indexing.register(own, cupy)
    replaced = {record.primitive for record in own}
    shared = numpy_like.lowerings(cupy)
    return (*(record for record in shared if record.primitive not in replaced), *own)
