"""(exp(x) - 1)/x on XLA; the rest of the family is written in other primitives.

Read next: ``rounding.py``.
"""

from __future__ import annotations

from jax import Array

from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like.logarithms import exprel
from tenferro.primitives.logarithms import Exprel
from tenferro_xla.lowerings._numeric import widened
from tenferro_xla.lowerings.incomplete import ON

lowerings = Lowerings()


@lowerings.register(Exprel)
def lower_exprel(op: Exprel, x: Array) -> Array:
    """Take ∫₀¹ tⁿ exp(xt) dt."""
    return widened(lambda x: exprel(ON, x, op.order))(x)
