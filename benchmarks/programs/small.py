"""GradBench's short evaluations: hello, lse, llsq, ode and det.

They differ in what they stress: one operation, one array, a least-squares sum, a loop over small
arrays, and several hundred operations on scalars. Read next: `kmeans.py`.
"""

from __future__ import annotations

from typing import Any

import numpy

from benchmarks.formulations.library import Formulations, Library
from benchmarks.harness.workload import Case

STEPS = 20  # of Runge and Kutta


def random(seed: int, *shape: int) -> Any:
    """Return numbers with a normal distribution."""
    return numpy.random.default_rng(seed).normal(size=shape)


def program(name: str, inputs: Any, size: Any, small: Any, argnums: Any = 0) -> Formulations:
    """Return an empty program with one case in full and one in small size."""
    return Formulations(
        inputs, [Case(name, (name, size))], [Case(f"{name}, small", (name, small))], argnums
    )


HELLO = program("hello", lambda x: (x,), 3.0, 2.0)


@HELLO.way("square")
def square(lib: Library, x: Any) -> Any:
    """The square of a number."""
    return x * x


LSE = program("lse", lambda n: (random(0, n),), 2000, 20)


@LSE.way("shifted")
def log_sum_exp(lib: Library, x: Any) -> Any:
    """The logarithm of a sum of exponentials, shifted by the largest."""
    np = lib.np
    top = np.max(x)
    return top + np.log(np.sum(np.exp(x - top)))


def polynomial(size: tuple[int, int]) -> tuple[Any, ...]:
    """Coefficients, and equidistant points."""
    points, terms = size
    return random(0, terms), numpy.linspace(-1.0, 1.0, points)


LLSQ = program("llsq", polynomial, (100, 8), (10, 3))


@LLSQ.way("powers")
def least_squares(lib: Library, x: Any, t: Any) -> Any:
    """The squared distances of a polynomial from the sign function."""
    np = lib.np
    powers = t[:, None] ** numpy.arange(len(x))
    return np.sum((np.sign(t) - powers @ x) ** 2) / 2


ODE = program("ode", lambda n: (numpy.linspace(1.0, 1.2, n),), 50, 4)


@ODE.way("RK4")
def last_of_chain(lib: Library, x: Any) -> Any:
    """y'₀ = x₀, y'ᵢ = xᵢ yᵢ₋₁ from 0 to 2: the last of y."""
    np, h = lib.np, 2.0 / STEPS

    def slope(y: Any) -> Any:
        return np.concatenate([x[:1], x[1:] * y[:-1]])

    y = np.zeros(len(x))
    for _ in range(STEPS):
        k1 = slope(y)
        k2 = slope(y + h / 2 * k1)
        k3 = slope(y + h / 2 * k2)
        k4 = slope(y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y[-1]


DET = program("det", lambda n: (random(0, n, n),), 5, 3)


@DET.way("by minors")
def determinant(lib: Library, a: Any) -> Any:
    """Expand by minors of the first row: n! products of numbers."""

    def minor(row: int, columns: tuple[int, ...]) -> Any:
        if len(columns) == 1:
            return a[row, columns[0]]
        total = 0.0
        for i, column in enumerate(columns):
            term = a[row, column] * minor(row + 1, columns[:i] + columns[i + 1 :])
            total = total - term if i % 2 else total + term
        return total

    return minor(0, tuple(range(len(a))))
