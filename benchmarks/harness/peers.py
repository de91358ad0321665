"""The contestants that are written like NumPy: tenferro, JAX and autograd, from one function.

`loss(np, *inputs)` gets the namespace of each. Torch has other names, and so a function of its own
in every workload. Both contestants on XLA, JAX and our backend, get arrays of JAX; W12 measures
both with NumPy's arrays, too. Where these contestants differ by more than their names (control
flow, static arguments), the workload writes them out instead of using this.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .workload import Call, Workload

Loss = Callable[..., Any]


def numpy_like(
    workload: Workload,
    loss: Loss,
    argnums: int | tuple[int, ...] = 0,
    value: bool = True,
    eager: bool = True,
    only: tuple[str, ...] = ("tenferro", "tenferro xla", "jax", "autograd"),
) -> None:
    """Enter value and gradient of a loss (the gradient alone without `value`) for each library."""

    def tenferro(*inputs: Any) -> Call:
        f = transformed(loss, argnums, value)
        return lambda: f(*inputs)

    def tenferro_jit(*inputs: Any) -> Call:
        import tenferro as tn

        f = tn.jit(transformed(loss, argnums, value))
        return lambda: f(*inputs)

    def tenferro_xla(*inputs: Any) -> Call:
        import tenferro as tn

        f = tn.jit(transformed(loss, argnums, value), backend="xla")
        arrays = on_device(inputs)
        return lambda: ready(f(*arrays))

    def jax(*inputs: Any) -> Call:
        import jax
        import jax.numpy as jnp

        derive = jax.value_and_grad if value else jax.grad
        f = jax.jit(derive(lambda *given: loss(jnp, *given), argnums))
        arrays = on_device(inputs)
        return lambda: ready(f(*arrays))

    def autograd(*inputs: Any) -> Call:
        import autograd
        import autograd.numpy as anp

        derive = autograd.value_and_grad if value else autograd.grad
        f = derive(lambda *given: loss(anp, *given), argnums)
        return lambda: f(*inputs)

    entries = [("tenferro", "", tenferro_jit), ("tenferro un-jitted", "", tenferro)]
    entries += [("tenferro xla", "xla", tenferro_xla), ("jax", "jax", jax)]
    entries += [("autograd", "autograd", autograd)]
    for name, peer, make in entries:
        if name in only or (eager and name == "tenferro un-jitted"):
            workload.contestant(name, needs=peer)(make)


def on_device(inputs: Any) -> Any:
    """Return the inputs as arrays of JAX, which both contestants on XLA get."""
    import jax
    import jax.numpy as jnp

    return jax.tree.map(jnp.asarray, inputs)


def ready(results: Any) -> Any:
    """Wait for results on XLA, and return them."""
    import jax

    return jax.block_until_ready(results)


def transformed(loss: Loss, argnums: int | tuple[int, ...], value: bool) -> Callable[..., Any]:
    """tenferro's derivative of a loss, whose names are those of NumPy itself."""
    import tenferro as tn

    return (tn.value_and_grad if value else tn.grad)(lambda *given: loss(np, *given), argnums)
