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

FAMILIES = {  # the primitives that each module lowers
    "arithmetic": (
        "add sub mul neg abs sign maximum minimum pow square sqrt cbrt div clamp integer_pow rsqrt"
    ),
    "elementwise": "exp log exp2 log2 log10 logaddexp expm1 log1p logistic",
    "trigonometric": "sin cos tan asin acos atan atan2 hypot",
    "hyperbolic": "sinh cosh tanh asinh acosh atanh",
    "rounding": "floor ceil round rem is_finite nextafter copysign",
    "bitwise": "bitwise_and bitwise_or bitwise_xor bitwise_not shift_left shift_right",
    "comparison": "eq ne lt le gt ge logical_and logical_or logical_not logical_xor select",
    "complex": "real imag conj complex",
    "constants": "constant iota table",
    "structural": (
        "reshape transpose broadcast_in_dim slice reverse bitcast optimization_barrier "
        "stop_gradient pad concatenate convert"
    ),
    "reduction": "reduce_sum reduce_prod reduce_max reduce_min reduce_and reduce_or argmax argmin",
    "cumulative": "cumsum cumprod cummax cummin cumlogsumexp",
    "contraction": "dot_general",
    "linalg": "det lu_permutation eig eigvals eigh eigvalsh matrix_function qr svd svdvals",
    "fft": "fft rfft irfft",
    "indexing": "gather scatter_add scatter dynamic_slice dynamic_update_slice",
    "scattering": "scatter_mul scatter_max scatter_min",
    "sorting": "sort searchsorted",
    "random": "threefry2x32 random_bits",
    "callback": "host_callback debug_callback",
}
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
