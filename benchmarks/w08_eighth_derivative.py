"""W8: the eighth derivative of tanh(x·sin x): equations, and the time to record and transform.

By nesting forward mode eight times, and reverse mode over itself eight times. Simplification during
the transforms, not after them, decides how fast the numbers grow. JAX's equations are those of its
trace, where XLA would start; the value is compared with Taylor arithmetic by hand.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.harness.workload import Figure, Goal, Options, Workload, installed

ORDERS = (2, 4, 6, 8)
POINT = 0.7
Function = Callable[[Any], Any]

W = Workload(
    "W8",
    "order-8 derivative of tanh(x·sin x)",
    cases=[],
    quick=[],
    goals=[
        Goal(260, case="order 8, forward", figure="equations"),
        Goal(5e-3, case="order 8, forward", figure="trace"),
        Goal(1700, case="order 8, reverse", figure="equations"),
        Goal(0.1, case="order 8, reverse", figure="trace"),
    ],
)


def derivative_by_hand(order: int) -> float:
    """From the coefficients of Taylor series: y' = (1 − y²) u' for y = tanh u, u = x sin x."""
    x = [POINT, 1.0] + [0.0] * order
    sine = [math.sin(POINT + k * math.pi / 2) / math.factorial(k) for k in range(order + 1)]
    u = [sum(x[i] * sine[k - i] for i in range(k + 1)) for k in range(order + 1)]
    y, slope = [math.tanh(u[0])], [1 - math.tanh(u[0]) ** 2]
    for k in range(1, order + 1):
        y.append(sum(i * u[i] * slope[k - i] for i in range(1, k + 1)) / k)
        slope.append(-sum(y[i] * y[k - i] for i in range(k + 1)))
    return y[order] * math.factorial(order)


def ours(mode: str, order: int) -> Function:
    """tenferro's derivative."""
    import tenferro as tn

    def forward(f: Function) -> Function:
        return lambda x: tn.jvp(f, (x,), (1.0,))[1]

    def f(x: Any) -> Any:
        return np.tanh(x * np.sin(x))

    for _ in range(order):
        f = forward(f) if mode == "forward" else tn.grad(f)
    return f


def theirs(mode: str, order: int) -> Function:
    """JAX's derivative."""
    import jax
    import jax.numpy as jnp

    def forward(f: Function) -> Function:
        return lambda x: jax.jvp(f, (x,), (1.0,))[1]

    def f(x: Any) -> Any:
        return jnp.tanh(x * jnp.sin(x))

    for _ in range(order):
        f = forward(f) if mode == "forward" else jax.grad(f)
    return f


def equations(jaxpr: Any) -> int:
    """Equations of JAX, those of called programs counted where they are called."""
    total = 0
    for equation in jaxpr.eqns:
        inner = [p.jaxpr for p in equation.params.values() if hasattr(p, "jaxpr")]
        total += sum(map(equations, inner)) if inner else 1
    return total


def shortest(call: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """CPU seconds of the shortest of some calls, and what the last one gave."""
    best, result = math.inf, None
    for _ in range(repeats):
        start = time.process_time()
        result = call()
        best = min(best, time.process_time() - start)
    return best, result


def figures(options: Options) -> Iterator[Figure]:
    """Equations and seconds by mode and order."""
    import tenferro as tn

    orders = ORDERS[:1] if options.quick else ORDERS
    for mode in ("forward", "reverse"):
        for order in orders:
            case, f = f"order {order}, {mode}", ours(mode, order)
            seconds, graph = shortest(lambda f=f: tn.trace(f, tn.Aval((), "float64")), 5)
            np.testing.assert_allclose(f(POINT), derivative_by_hand(order), rtol=1e-7)
            yield Figure(case, "tenferro", "equations", len(graph), "equations", order)
            yield Figure(case, "tenferro", "trace", seconds, "s", order)
        if "jax" in options.peers and installed("jax"):
            yield from of_jax(mode, orders)


def of_jax(mode: str, orders: tuple[int, ...]) -> Iterator[Figure]:
    """The same of JAX."""
    import jax

    for order in orders:
        case, f = f"order {order}, {mode}", theirs(mode, order)
        seconds, jaxpr = shortest(lambda f=f: jax.make_jaxpr(f)(POINT), 1)
        yield Figure(case, "jax", "equations", equations(jaxpr.jaxpr), "equations", order)
        yield Figure(case, "jax", "trace", seconds, "s", order)


W.figures = figures
