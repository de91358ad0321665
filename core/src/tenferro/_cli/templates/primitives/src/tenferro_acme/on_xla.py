"""The lowerings for XLA, written in JAX and imported when a program is compiled that needs them."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from tenferro_acme.softplus import Softplus


def softplus(operation: Softplus, x: jax.Array) -> jax.Array:
    """Compute ln(e⁰ + eˣ) without overflow, in the dtype of x."""
    return jnp.logaddexp(x, jnp.zeros_like(x))
