"""W10: second derivatives of Rosenbrock's function: a Hessian times a vector, and a dense Hessian.

Σ 100 (x[i+1] − x[i]²)² + (1 − x[i])². The Hessian has three diagonals, and the hand version writes
just these; the libraries do not know that it is sparse.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.harness.peers import on_device
from benchmarks.harness.workload import Call, Case, Goal, Workload

HVP, HESSIAN = "Hessian times vector", "dense Hessian"


def inputs(given: tuple[str, int]) -> tuple[Any, ...]:
    what, n = given
    rng = np.random.default_rng(0)
    return what, rng.normal(size=n), rng.normal(size=n)


W = Workload(
    "W10",
    "Rosenbrock: Hessian times vector, dense Hessian",
    cases=[
        Case("hvp, n = 1,000", (HVP, 1000)),
        Case("Hessian, n = 100", (HESSIAN, 100), 100),
        Case("Hessian, n = 300", (HESSIAN, 300), 300),
        Case("Hessian, n = 1,000", (HESSIAN, 1000), 1000),
    ],
    quick=[Case("hvp, n = 100", (HVP, 100)), Case("Hessian, n = 30", (HESSIAN, 30))],
    inputs=inputs,
    goals=[
        Goal(1.7, case="hvp, n = 1,000"),
        Goal(3.0, case="Hessian, n = 100"),
        Goal(6.6, case="Hessian, n = 1,000"),
        Goal(1.0, contestant="tenferro xla", over="jax"),
    ],
)


def loss(np: Any, x: Any) -> Any:
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def diagonals(x: Any) -> tuple[Any, Any]:
    """The main diagonal of the Hessian, and the one beside it."""
    head = x[:-1]
    main = np.zeros_like(x)
    main[:-1] = 1200 * head**2 - 400 * x[1:] + 2
    main[1:] += 200
    return main, -400 * head


@W.contestant("numpy")
def by_hand(what: str, x: Any, v: Any) -> Call:
    def product() -> Any:
        main, beside = diagonals(x)
        found = main * v
        found[:-1] += beside * v[1:]
        found[1:] += beside * v[:-1]
        return found

    def hessian() -> Any:
        main, beside = diagonals(x)
        n = len(x)
        found = np.zeros((n, n))
        found.flat[:: n + 1] = main
        found.flat[1 :: n + 1] = beside
        found.flat[n :: n + 1] = beside
        return found

    return product if what == HVP else hessian


@W.contestant("tenferro")
def with_tenferro(what: str, x: Any, v: Any) -> Call:
    import tenferro as tn

    def f(x: Any) -> Any:
        return loss(np, x)

    product, hessian = tn.jit(tn.hvp(f)), tn.jit(tn.hessian(f))
    return (lambda: product(x, v)) if what == HVP else lambda: hessian(x)


@W.contestant("tenferro un-jitted")
def with_tenferro_unjitted(what: str, x: Any, v: Any) -> Call:
    import tenferro as tn

    def f(x: Any) -> Any:
        return loss(np, x)

    product, hessian = tn.hvp(f), tn.hessian(f)
    return (lambda: product(x, v)) if what == HVP else lambda: hessian(x)


@W.contestant("tenferro xla", needs="xla")
def with_xla(what: str, x: Any, v: Any) -> Call:
    import tenferro as tn

    def f(x: Any) -> Any:
        return loss(np, x)

    product, hessian = (tn.jit(d(f), backend="xla") for d in (tn.hvp, tn.hessian))
    x, v = on_device((x, v))
    run = (lambda: product(x, v)) if what == HVP else lambda: hessian(x)
    return lambda: run().block_until_ready()  # as JAX waits below


@W.contestant("jax", needs="jax")
def with_jax(what: str, x: Any, v: Any) -> Call:
    import jax
    import jax.numpy as jnp

    def f(x: Any) -> Any:
        return loss(jnp, x)

    product = jax.jit(lambda x, v: jax.jvp(jax.grad(f), (x,), (v,))[1])
    hessian = jax.jit(jax.hessian(f))
    x, v = jnp.asarray(x), jnp.asarray(v)
    run = (lambda: product(x, v)) if what == HVP else lambda: hessian(x)
    return lambda: run().block_until_ready()


@W.contestant("torch", needs="torch")
def with_torch(what: str, x: Any, v: Any) -> Call:
    import torch

    def f(x: Any) -> Any:
        return loss(torch, x)

    x, v = torch.from_numpy(x), torch.from_numpy(v)
    if what == HVP:
        return lambda: torch.autograd.functional.vhp(f, x, v)[1]  # type: ignore[no-untyped-call]
    hessian = torch.func.hessian(f)
    return lambda: hessian(x)


@W.contestant("autograd", needs="autograd")
def with_autograd(what: str, x: Any, v: Any) -> Call:
    import autograd
    import autograd.numpy as anp

    def f(x: Any) -> Any:
        return loss(anp, x)

    product, hessian = autograd.hessian_vector_product(f), autograd.hessian(f)
    return (lambda: product(x, v)) if what == HVP else lambda: hessian(x)
