"""Functions of JAX in programs of tenferro: called while XLA's program is traced.

Read next: ``plugin.py``.
"""

from __future__ import annotations

from typing import Any

from jax import Array

from tenferro.backend.lowering import Lowerings
from tenferro_xla._jax_call import JaxCall

lowerings = Lowerings()


@lowerings.register(JaxCall)
def jax_call(op: JaxCall, *xs: Array) -> Any:
    """Call the function."""
    found = tuple(op.function(*xs))
    return found[0] if len(found) == 1 else found
