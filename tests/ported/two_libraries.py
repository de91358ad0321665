"""The names that the ported programs use, in both libraries.

What differs between the columns is what a port needs.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import tenferro as tn

jax.config.update("jax_enable_x64", True)


class Ours:
    """tenferro, with NumPy's own functions."""

    np = np
    zeros, asarray = tn.zeros, tn.asarray  # Arrays, which have `at` and take traced indices
    grad, vjp, jvp, vmap, jit = tn.grad, tn.vjp, tn.jvp, tn.vmap, tn.jit
    jacobian, jacfwd = tn.jacobian, tn.jacfwd
    stop_gradient = tn.stop_gradient
    scan, while_loop, fori_loop, cond = tn.scan, tn.while_loop, tn.fori_loop, tn.cond
    associative_scan = tn.associative_scan
    custom_vjp = tn.custom_vjp
    custom_root, custom_linear_solve = tn.custom_root, tn.custom_linear_solve


class Theirs:
    """JAX."""

    np = jnp
    zeros, asarray = jnp.zeros, jnp.asarray
    grad, vjp, jvp, vmap, jit = jax.grad, jax.vjp, jax.jvp, jax.vmap, jax.jit
    jacobian, jacfwd = jax.jacobian, jax.jacfwd
    stop_gradient = lax.stop_gradient
    scan, while_loop, fori_loop, cond = lax.scan, lax.while_loop, lax.fori_loop, lax.cond
    associative_scan = lax.associative_scan
    custom_vjp = jax.custom_vjp
    custom_root, custom_linear_solve = lax.custom_root, lax.custom_linear_solve
