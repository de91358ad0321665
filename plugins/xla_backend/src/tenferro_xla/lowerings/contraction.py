"""Contraction on XLA: dot_general, always in the full precision of its dtype.

Without ``precision`` a GPU or TPU may multiply float32 in fewer bits; the highest is asked for in
every instruction, because the setting of JAX is the user's and none of our business.
"""

from __future__ import annotations

import numpy as np
from jax import Array, lax

from tenferro.backend.lowering import Lowerings
from tenferro.primitives.contraction import DotGeneral

lowerings = Lowerings()


@lowerings.register(DotGeneral)
def dot_general(op: DotGeneral, lhs: Array, rhs: Array) -> Array:
    """Contract; the result has the preferred dtype, and is summed in it."""
    return lax.dot_general(
        lhs,
        rhs,
        ((op.lhs_contract, op.rhs_contract), (op.lhs_batch, op.rhs_batch)),
        precision=lax.Precision.HIGHEST,
        preferred_element_type=np.dtype(op.preferred.name) if op.preferred else lhs.dtype,
    )
