"""Lowerings of the standard set for any namespace `xp` of the Array API standard.

Only names of the standard (2024.12) are used, and dtypes are objects that only `xp` understands: no
kinds, no item sizes, no methods of NumPy's arrays. `numpy_like` is the flavour for libraries that
have those. The families here are what a first gradient needs, indexing, branches and loops. The
standard has neither `std::complex` nor `std::bitcast`: a backend registers its own, and may replace
any other in the list. Of writing at repeated positions it hands in the innermost function.
Read next: `_common.py`, then `arithmetic.py`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like import family, promised

__all__ = ["FAMILIES", "lowerings"]

# the primitives that each module lowers
FAMILIES = {
    "arithmetic": (
        "abs add cbrt clamp div integer_pow maximum minimum mul neg pow rsqrt sign sqrt square sub"
    ),
    "bitwise": "bitwise_and bitwise_not bitwise_or bitwise_xor shift_left shift_right",
    "comparison": "eq ge gt le logical_and logical_not logical_or logical_xor lt ne select",
    "complex": "conj imag real",
    "constants": "constant iota table",
    "contraction": "dot_general",
    "control": "switch while_loop",
    "elementwise": "exp exp2 expm1 log log10 log1p log2 logaddexp logistic",
    "hyperbolic": "acosh asinh atanh cosh sinh tanh",
    "indexing": "dynamic_slice dynamic_update_slice gather",
    "reduction": "argmax argmin reduce_and reduce_max reduce_min reduce_or reduce_prod reduce_sum",
    "rounding": "ceil copysign floor is_finite nextafter rem round",
    "structural": (
        "broadcast_in_dim concatenate convert optimization_barrier pad reshape reverse slice "
        "stop_gradient transpose"
    ),
    "sharding": "sharding_constraint",
    "trigonometric": "acos asin atan atan2 cos hypot sin tan",
}
_OF_NUMPY_LIKE = ("comparison", "control", "sharding")  # they have the same names in both


def lowerings(xp: Any) -> Lowerings:
    """Collect the lowerings of all families for the namespace `xp`."""
    return promised(FAMILIES, lambda name, collected: _family(name).register(collected, xp))


def _family(name: str) -> Any:
    shared = name in _OF_NUMPY_LIKE
    return family(name) if shared else import_module(f"{__name__}.{name}")
