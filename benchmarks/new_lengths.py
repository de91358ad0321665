"""The first call of a loop of a length that never came before, beside autograd.

Nothing of such a call is in a cache: the function is recorded, differentiated and run once, as
autograd does at each call. CPU time, the contestants in turn at each length, the median over the
lengths; the second call of the same lengths beside it.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import Any

from benchmarks.harness.workload import Figure, Goal, Options, Workload, installed

W = Workload(
    "new_lengths",
    "first calls of loops of new lengths",
    cases=[],
    quick=[],
    goals=[Goal(1.5, figure="first call, ratio")],
)
#: the loss of an argument and a number of steps, in the functions of a module
Loss = Callable[[Any, int], Any]


def recurrence(xp: Any) -> tuple[Loss, Any, Sequence[int]]:
    """A recurrent network of 10 units."""
    import numpy as np

    random = np.random.RandomState(0)
    start = random.randn(10)

    def loss(weights: Any, steps: int) -> Any:
        state = start
        for _ in range(steps):
            state = xp.tanh(xp.dot(weights, state)) + 0.1 * state
        return xp.sum(state**2)

    return loss, random.randn(10, 10) * 0.3, range(100, 160, 3)


def flow(xp: Any) -> tuple[Loss, Any, Sequence[int]]:
    """Sweeps of Jacobi's method for a potential around a body, on a periodic grid of 30 × 40."""
    import numpy as np

    source = np.random.RandomState(1).randn(30, 40)

    def neighbours(x: Any) -> Any:
        return sum(xp.roll(x, shift, axis) for axis in (0, 1) for shift in (1, -1))

    def loss(body: Any, sweeps: int) -> Any:
        free = 1.0 / (1.0 + xp.exp(body))
        weight = neighbours(free) + 1e-3
        potential = 0.0 * source
        for _ in range(sweeps):
            mean = (source + neighbours(potential * free)) / weight
            potential = free * mean + (1.0 - free) * potential
        return xp.mean(potential**2)

    return loss, np.random.RandomState(2).randn(30, 40), range(20, 60, 2)


def hidden_states(xp: Any) -> tuple[Loss, Any, Sequence[int]]:
    """The likelihood of observations under a hidden Markov chain of 20 states, by logarithms."""
    import numpy as np

    random = np.random.RandomState(3)
    seen = random.randint(0, 50, 1000)

    def total(x: Any, axis: int) -> Any:
        most = xp.max(x, axis=axis, keepdims=True)
        return xp.sum(most, axis=axis) + xp.log(xp.sum(xp.exp(x - most), axis=axis))

    def loss(table: Any, count: int) -> Any:
        moves, symbols = table[:, :20], table[:, 20:]
        state = symbols[:, 0]
        for symbol in seen[:count]:
            state = total(state[:, None] + moves, 0) + symbols[:, symbol]
        return total(state, 0)

    return loss, np.log(random.rand(20, 70)), range(40, 100, 3)


def contestants(program: Callable[[Any], Any], peers: Sequence[str]) -> dict[str, Any]:
    """The gradients of a program by library, warmed up on short loops."""
    import numpy as np

    import tenferro as tn

    loss, argument, _ = program(np)
    found = {"tenferro": tn.grad(loss)}
    if "autograd" in peers and installed("autograd"):
        import autograd
        import autograd.numpy as anp

        found["autograd"] = autograd.grad(program(anp)[0])
    for gradient in found.values():
        gradient(argument, 7)
        gradient(argument, 9)
    return found


def seconds(gradient: Any, argument: Any, length: int) -> tuple[float, Any]:
    """CPU time of a call, and its result."""
    gc.collect()
    begin = time.process_time()
    result = gradient(argument, length)
    return time.process_time() - begin, result


def figures(options: Options) -> Iterator[Figure]:
    """Medians of CPU time, and their ratios."""
    import numpy as np

    for program in (recurrence, flow, hidden_states):
        _, argument, lengths = program(np)
        gradients = contestants(program, options.peers)
        taken: dict[tuple[str, str], list[float]] = {}
        for length in lengths[:: 4 if options.quick else 1]:
            for call in ("first call", "second call"):
                results = []
                for name, gradient in gradients.items():
                    time_taken, result = seconds(gradient, argument, length)
                    taken.setdefault((name, call), []).append(time_taken)
                    results.append(result)
                np.testing.assert_allclose(results[-1], results[0], rtol=1e-7, atol=1e-12)
        medians = {key: median(values) for key, values in taken.items()}
        for (name, call), value in medians.items():
            yield Figure(program.__name__, name, call, value, "s")
            if name == "autograd":
                ratio = medians["tenferro", call] / value
                yield Figure(program.__name__, "tenferro", f"{call}, ratio", ratio, "")


W.figures = figures
