"""W14: the Jacobian of a network with a narrow waist, 1000 → 256 → 6 → 256 → m with tanh layers.

Everything passes through 6 numbers, so the Jacobian is a product of two thin matrices: 6 rows
pulled back through the first half and 6 columns pushed through the second, as in
the hand version.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.harness.workload import Call, Case, Goal, Workload

HIDDEN, WAIST = 256, 6


def inputs(given: tuple[int, int]) -> tuple[Any, ...]:
    n, m = given
    rng = np.random.default_rng(0)
    shapes = [(HIDDEN, n), (WAIST, HIDDEN), (HIDDEN, WAIST), (m, HIDDEN)]
    weights = [rng.normal(size=shape) / np.sqrt(shape[1]) for shape in shapes]
    return rng.normal(size=n), weights


SQUARE, TALL = "1,000 to 1,000", "1,000 to 3,000"
W = Workload(
    "W14",
    "Jacobian over a waist of 6",
    cases=[Case(SQUARE, (1000, 1000)), Case(TALL, (1000, 3000))],
    quick=[Case("100 to 100", (100, 100))],
    inputs=inputs,
    goals=[
        *[Goal(1.2, case=case) for case in (SQUARE, TALL)],
        *[
            Goal(0.2, case=SQUARE, contestant=ours, over=peer)
            for ours in ("tenferro", "tenferro xla")
            for peer in ("jax jacfwd", "jax jacrev")
        ],
    ],
)


def network(np: Any, x: Any, weights: Any) -> Any:
    for weight in weights:
        x = np.tanh(weight @ x)
    return x


@W.contestant("numpy")
def by_hand(x: Any, weights: Any) -> Call:
    def jacobian() -> Any:
        values = [x]
        for weight in weights:
            values.append(np.tanh(weight @ values[-1]))
        slopes = [1 - value**2 for value in values[1:]]
        first, second, third, last = weights
        rows = ((slopes[1][:, None] * second) * slopes[0]) @ first
        columns = slopes[3][:, None] * (last @ (slopes[2][:, None] * third))
        return columns @ rows

    return jacobian


@W.contestant("tenferro")
def with_tenferro(x: Any, weights: Any) -> Call:
    import tenferro as tn

    jacobian = tn.jit(tn.jacobian(lambda x: network(np, x, weights)))
    return lambda: jacobian(x)


@W.contestant("tenferro un-jitted")
def with_tenferro_unjitted(x: Any, weights: Any) -> Call:
    import tenferro as tn

    jacobian = tn.jacobian(lambda x: network(np, x, weights))
    return lambda: jacobian(x)


@W.contestant("tenferro xla", needs="xla")
def with_xla(x: Any, weights: Any) -> Call:
    import tenferro as tn

    jacobian = tn.jit(tn.jacobian(lambda x: network(np, x, weights)), backend="xla")
    return lambda: jacobian(x)


def _with_jax(transform: str, x: Any, weights: Any) -> Call:
    import jax
    import jax.numpy as jnp

    weights = [jnp.asarray(weight) for weight in weights]
    jacobian = jax.jit(getattr(jax, transform)(lambda x: network(jnp, x, weights)))
    x = jnp.asarray(x)
    return lambda: jacobian(x).block_until_ready()


@W.contestant("jax jacfwd", needs="jax")
def with_jacfwd(x: Any, weights: Any) -> Call:
    return _with_jax("jacfwd", x, weights)


@W.contestant("jax jacrev", needs="jax")
def with_jacrev(x: Any, weights: Any) -> Call:
    return _with_jax("jacrev", x, weights)
