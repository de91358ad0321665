"""W17: an ODE with controlled steps, a loop with a condition: value and derivative by a parameter.

y′ = a·y·(1 − y), y(0) = .01, to t = 10, by the pair of Bogacki and Shampine (1989) of orders 3 and
2, with tolerance 10⁻¹⁰. The derivative is taken in forward mode, through step sizes too. By hand:
NumPy's scalars, value and tangent of each operation side by side.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.harness.workload import Call, Case, Goal, Workload

END, TOLERANCE = 10.0, 1e-10


def inputs(given: tuple[float]) -> tuple[Any, ...]:
    return (np.array(given[0]),)


W = Workload(
    "W17",
    "an ODE with controlled steps: derivative in forward mode",
    cases=[Case("a = 1.2", (1.2,))],
    quick=[Case("a = 0.1", (0.1,))],
    inputs=inputs,
    goals=[Goal(1.0), Goal(1.1, contestant="tenferro xla", over="jax")],
)


def slope(a: Any, y: Any) -> Any:
    return a * y * (1 - y)


def step(a: Any, y: Any, h: Any) -> tuple[Any, Any]:
    """Return the next value, and the estimate of its error."""
    k1 = slope(a, y)
    k2 = slope(a, y + h / 2 * k1)
    k3 = slope(a, y + 3 * h / 4 * k2)
    after = y + h * (2 * k1 + 3 * k2 + 4 * k3) / 9
    k4 = slope(a, after)
    return after, h * (-5 * k1 + 6 * k2 + 8 * k3 - 9 * k4) / 72


def by_hand_step(a: Any, y: Any, dy: Any, h: Any, dh: Any) -> Any:
    def tangent_slope(y: Any, dy: Any) -> Any:
        return y * (1 - y) + a * (1 - 2 * y) * dy

    k1, d1 = slope(a, y), tangent_slope(y, dy)
    z, dz = y + h / 2 * k1, dy + dh / 2 * k1 + h / 2 * d1
    k2, d2 = slope(a, z), tangent_slope(z, dz)
    z, dz = y + 3 * h / 4 * k2, dy + 3 * dh / 4 * k2 + 3 * h / 4 * d2
    k3, d3 = slope(a, z), tangent_slope(z, dz)
    total, dtotal = 2 * k1 + 3 * k2 + 4 * k3, 2 * d1 + 3 * d2 + 4 * d3
    after, dafter = y + h * total / 9, dy + (dh * total + h * dtotal) / 9
    k4, d4 = slope(a, after), tangent_slope(after, dafter)
    total, dtotal = -5 * k1 + 6 * k2 + 8 * k3 - 9 * k4, -5 * d1 + 6 * d2 + 8 * d3 - 9 * d4
    return after, dafter, h * total / 72, (dh * total + h * dtotal) / 72


@W.contestant("numpy")
def by_hand(a: Any) -> Call:
    a = a[()]

    def value_and_tangent() -> Any:
        t, y, h = np.float64(0.0), np.float64(0.01), np.float64(0.01)
        dt = dy = dh = np.float64(0.0)
        while t < END:
            if h > END - t:
                h, dh = END - t, -dt
            after, dafter, e, de = by_hand_step(a, y, dy, h, dh)
            size = np.abs(e) + 1e-300
            grown = 0.9 * (TOLERANCE / size) ** (1 / 3)
            dgrown = -grown / 3 * np.sign(e) * de / size
            if grown < 0.2:
                grown, dgrown = 0.2, 0.0
            elif grown > 5.0:
                grown, dgrown = 5.0, 0.0
            if np.abs(e) <= TOLERANCE:
                t, dt, y, dy = t + h, dt + dh, after, dafter
            h, dh = h * grown, dh * grown + h * dgrown
        return y, dy

    return value_and_tangent


def solution(np: Any, while_loop: Any, a: Any) -> Any:
    def unfinished(carry: Any) -> Any:
        return carry[0] < END

    def advanced(carry: Any) -> Any:
        t, y, h = carry
        h = np.where(h > END - t, END - t, h)
        after, error = step(a, y, h)
        good = np.abs(error) <= TOLERANCE
        grown = 0.9 * (TOLERANCE / (np.abs(error) + 1e-300)) ** (1 / 3)
        factor = np.where(grown < 0.2, 0.2, np.where(grown > 5.0, 5.0, grown))
        return np.where(good, t + h, t), np.where(good, after, y), h * factor

    return while_loop(unfinished, advanced, (0.0, 0.01, 0.01))[1]


@W.contestant("tenferro")
def with_tenferro(a: Any) -> Call:
    import tenferro as tn

    f = tn.jit(lambda a: tn.jvp(lambda a: solution(np, tn.while_loop, a), (a,), (1.0,)))
    return lambda: f(a)


@W.contestant("tenferro xla", needs="xla")
def with_xla(a: Any) -> Call:
    import tenferro as tn

    f = tn.jit(
        lambda a: tn.jvp(lambda a: solution(np, tn.while_loop, a), (a,), (1.0,)), backend="xla"
    )
    return lambda: f(a)


@W.contestant("jax", needs="jax")
def with_jax(a: Any) -> Call:
    import jax
    import jax.numpy as jnp

    f = jax.jit(
        lambda a: jax.jvp(lambda a: solution(jnp, jax.lax.while_loop, a), (a,), (jnp.ones_like(a),))
    )
    a = jnp.asarray(a)
    return lambda: jax.block_until_ready(f(a))
