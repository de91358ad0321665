"""Lowerings of the standard set for any namespace `xp` that is shaped like NumPy.

One module per family, each with `register(lowerings, xp)`, which is called when a primitive of the
family runs first. The modules import no array library: `xp` is handed in, and only names and
keywords are used that NumPy and CuPy both have. Results have the dtype of their aval, but may be
views; whoever hands them to a user copies what aliases. A backend registers its own lowering where
it knows better. Special functions are registered by each backend, since no namespace has them.
Read next: `arithmetic.py`, then `contraction.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import Any

from tenferro.backend.lowering import Lowerings

__all__ = ["FAMILIES", "SPECIAL", "family", "lowerings", "promised"]

# the primitives that each module lowers
# generated: lowered primitives
FAMILIES = {
    "arithmetic": (
        "abs add cbrt clamp div integer_pow maximum minimum mul neg pow rsqrt sign sqrt square sub"
    ),
    "bitwise": "bitwise_and bitwise_not bitwise_or bitwise_xor shift_left shift_right",
    "callback": "debug_callback host_callback",
    "comparison": "eq ge gt le logical_and logical_not logical_or logical_xor lt ne select",
    "complex": "complex conj imag real",
    "constants": "constant iota table",
    "contraction": "dot_general",
    "control": "bound checkpoint scan switch while_loop",
    "cumulative": "cumlogsumexp cummax cummin cumprod cumsum",
    "elementwise": "exp exp2 expm1 log log10 log1p log2 logaddexp logistic",
    "fft": "fft irfft rfft",
    "hyperbolic": "acosh asinh atanh cosh sinh tanh",
    "indexing": "dynamic_slice dynamic_update_slice gather scatter scatter_add",
    "linalg": (
        "det eig eigh eigvals eigvalsh lu_permutation matrix_function pivoted_qr qr svd svdvals"
    ),
    "random": "random_bits threefry2x32",
    "reduction": "argmax argmin reduce_and reduce_max reduce_min reduce_or reduce_prod reduce_sum",
    "rounding": "ceil copysign floor is_finite nextafter rem round",
    "scattering": "scatter_max scatter_min scatter_mul",
    "sharding": "sharding_constraint",
    "sorting": "searchsorted sort",
    "structural": (
        "bitcast broadcast_in_dim concatenate convert optimization_barrier pad reshape reverse "
        "slice stop_gradient transpose"
    ),
    "trigonometric": "acos asin atan atan2 cos hypot sin tan",
}
# end generated
# registered by each backend, with what finds a function of scipy
SPECIAL = ("special", "gammas", "incomplete", "normal", "bessel", "logarithms")


def lowerings(xp: Any) -> Lowerings:
    """Collect the lowerings of all families for the namespace `xp`."""
    return promised(FAMILIES, lambda name, collected: family(name).register(collected, xp))


def promised(
    families: Mapping[str, str], register: Callable[[str, Lowerings], object]
) -> Lowerings:
    """Make lowerings of standard primitives; `register(family, lowerings)` collects a family's."""
    collected = Lowerings()
    for name, primitives in families.items():
        keys = [f"std::{primitive}" for primitive in primitives.split()]
        collected.later(keys, partial(register, name))
    return collected


def family(name: str) -> Any:
    """Import the module of a family."""
    return import_module(f"{__name__}.{name}")
