"""The first call of a loop of a length that never came before, beside autograd.

Nothing of such a call is in a cache: the function is recorded, differentiated and run once, as
autograd does at each call. CPU time, the contestants in turn at each length, the median over the
lengths. The second call of each length stands beside it, and what a user pays who makes both.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
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


def numbers(xp: Any) -> tuple[Loss, Any, Sequence[int]]:
    """The logistic map with a growing rate, on a list of numbers."""

    def loss(parameters: Any, steps: int) -> Any:
        rate, growth, x = parameters
        total = 0.0
        for _ in range(steps):
            x = rate * x * (1.0 - x)
            rate = rate + growth * xp.exp(-x)
            total = total + (x - 0.5) ** 2
        return total / steps

    return loss, [2.8, 0.001, 0.3], range(60, 120, 3)


def stacked_states(xp: Any) -> tuple[Loss, Any, Sequence[int]]:
    """An oscillator of 8 masses, whose states are gathered in a list and stacked in the end."""
    import numpy as np

    start = np.random.RandomState(4).randn(8)

    def loss(stiffness: Any, steps: int) -> Any:
        place, speed = start, 0.0 * start
        states = []
        for _ in range(steps):
            speed = speed - 0.01 * stiffness * place
            place = place + 0.1 * speed
            states.append(place)
        return xp.mean(xp.stack(states) ** 2)

    return loss, np.linspace(1.0, 3.0, 8), range(60, 120, 3)


def runge_kutta(xp: Any) -> tuple[Loss, Any, Sequence[int]]:
    """Four-stage Runge-Kutta steps of a field of 6 dimensions."""
    import numpy as np

    start = np.random.RandomState(5).randn(6)

    def loss(weights: Any, steps: int) -> Any:
        def field(state: Any) -> Any:
            return xp.tanh(xp.dot(weights, state)) - 0.5 * state

        state, h = start, 0.05
        for _ in range(steps):
            k1 = field(state)
            k2 = field(state + h / 2 * k1)
            k3 = field(state + h / 2 * k2)
            k4 = field(state + h * k3)
            state = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return xp.sum(state**2)

    return loss, np.random.RandomState(6).randn(6, 6) * 0.4, range(20, 50, 2)


def kalman_filter(xp: Any) -> tuple[Loss, Any, Sequence[int]]:
    """The likelihood of positions in the plane, by a Kalman filter of 4 × 4 matrices."""
    import numpy as np

    seen = np.random.RandomState(7).randn(100, 2)
    see = np.eye(2, 4)
    noise, unit = 0.1 * np.eye(2), np.eye(4)

    def loss(moves: Any, count: int) -> Any:
        mean, covariance = np.zeros(4), np.eye(4)
        total = 0.0
        for position in seen[:count]:
            mean = xp.dot(moves, mean)
            covariance = xp.dot(xp.dot(moves, covariance), moves.T) + 0.01 * unit
            error = position - xp.dot(see, mean)
            spread = xp.dot(xp.dot(see, covariance), see.T) + noise
            inverse = xp.linalg.inv(spread)
            gain = xp.dot(xp.dot(covariance, see.T), inverse)
            mean = mean + xp.dot(gain, error)
            covariance = xp.dot(unit - xp.dot(gain, see), covariance)
            total = total + xp.dot(error, xp.dot(inverse, error)) + xp.linalg.slogdet(spread)[1]
        return total

    return loss, np.eye(4) + 0.1 * np.eye(4, k=2), range(15, 35, 1)


def letters(xp: Any) -> tuple[Loss, Any, Sequence[int]]:
    """The likelihood of a word's letters under a recurrent network, which reads rows of a table."""
    import numpy as np

    random = np.random.RandomState(8)
    text = random.randint(0, 26, 200)

    def loss(table: Any, count: int) -> Any:
        mixing, vectors = table[:12], table[12:]
        state = vectors[0]
        total = 0.0
        for here, following in pairwise(text[: count + 1]):
            state = xp.tanh(xp.dot(mixing, state) + vectors[here])
            scores = xp.dot(vectors, state)
            total = total + xp.log(xp.sum(xp.exp(scores))) - scores[following]
        return total / count

    return loss, random.randn(38, 12) * 0.3, range(20, 60, 2)


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


PROGRAMS = (
    recurrence,
    flow,
    hidden_states,
    numbers,
    stacked_states,
    runge_kutta,
    kalman_filter,
    letters,
)


def figures(options: Options) -> Iterator[Figure]:
    """Medians of CPU time, and their ratios."""
    import numpy as np

    for program in PROGRAMS:
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
        for name in gradients:
            pairs = zip(taken[name, "first call"], taken[name, "second call"], strict=True)
            taken[name, "both calls"] = [first + second for first, second in pairs]
        medians = {key: median(values) for key, values in taken.items()}
        for (name, call), value in medians.items():
            yield Figure(program.__name__, name, call, value, "s")
            if name == "autograd":
                ratio = medians["tenferro", call] / value
                yield Figure(program.__name__, "tenferro", f"{call}, ratio", ratio, "")


W.figures = figures
