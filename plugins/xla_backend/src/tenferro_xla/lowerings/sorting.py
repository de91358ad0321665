"""Sorting on XLA: sort; ``top_k`` and ``searchsorted`` are decomposed.

``lax.sort`` has NumPy's order of real numbers: -0.0 equals 0.0 and every nan comes last. Complex
keys become three: how many parts are nan (the real part counts more), then the parts.
Read next: ``plugin.py``.
"""

from __future__ import annotations

import numpy as np
from jax import Array, lax

from tenferro.backend.lowering import Lowerings
from tenferro.primitives.sorting import Sort
from tenferro_xla.lowerings._numeric import is_nan

lowerings = Lowerings()


@lowerings.register(Sort)
def sort(op: Sort, *xs: Array) -> Array | tuple[Array, ...]:
    """Sort by keys, stably."""
    keys = [part for x in xs[: op.num_keys] for part in _real_keys(x)]
    if len(xs) == 1 and len(keys) == 3:  # the two parts are the numbers
        _, re, im = lax.sort(keys, dimension=op.dimension, is_stable=True, num_keys=3)
        return lax.complex(re, im)
    operands = xs if len(keys) == op.num_keys else (*keys, *xs)
    found = tuple(lax.sort(operands, dimension=op.dimension, is_stable=True, num_keys=len(keys)))
    return found[-1] if op.count == 1 else found[-op.count :]


def _real_keys(x: Array) -> tuple[Array, ...]:
    if x.dtype.kind != "c":
        return (x,)
    re, im = lax.real(x), lax.imag(x)
    of_re, of_im = (lax.convert_element_type(is_nan(part), np.int8) for part in (re, im))
    return lax.add(lax.add(of_re, of_re), of_im), re, im
