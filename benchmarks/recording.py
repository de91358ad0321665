"""What it costs to record one operation on an Array through the public functions.

Promotion, broadcasting and the user's line are included, evaluation is not. The result is dropped
at once, so each repetition records (and frees) a new value. NumPy's own call on ten elements stands
beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.harness.measure import by_turns
from benchmarks.harness.workload import MEDIAN, Figure, Goal, Options, Workload, with_spread

W = Workload(
    "recording",
    "recording one operation on an array of 10 elements",
    cases=[],
    quick=[],
    goals=[Goal(5e-6, MEDIAN, figure="call")],
)


def operations() -> dict[str, tuple[Callable[[], Any], Callable[[], Any]]]:
    """For each operation its recording, and what NumPy does on plain arrays."""
    import numpy as np

    import tenferro as tn

    a, b, m = np.linspace(0.5, 2.0, 10), np.linspace(1.0, 3.0, 10), np.ones((10, 10))
    x, y, w = tn.asarray(a), tn.asarray(b), tn.asarray(m)
    return {
        "tn.sin(x)": (lambda: tn.sin(x), lambda: np.sin(a)),
        "np.sin(x)": (lambda: np.sin(x), lambda: np.sin(a)),
        "-x": (lambda: -x, lambda: -a),
        "x + y": (lambda: x + y, lambda: a + b),
        "x + 2.0": (lambda: x + 2.0, lambda: a + 2.0),
        "2.0 * x": (lambda: 2.0 * x, lambda: 2.0 * a),
        "x ** 2": (lambda: x**2, lambda: a**2),
        "x * ndarray": (lambda: x * b, lambda: a * b),
        "ndarray * x": (lambda: b * x, lambda: b * a),
        "x > 0": (lambda: x > 0, lambda: a > 0),
        "x[:, None] + y": (lambda: w + y, lambda: m + b),
        "np.sum(x)": (lambda: np.sum(x), lambda: np.sum(a)),
        "np.mean(x)": (lambda: np.mean(x), lambda: np.mean(a)),
        "x[3]": (lambda: x[3], lambda: a[3]),
        "x[1:-1]": (lambda: x[1:-1], lambda: a[1:-1]),
        "w @ y": (lambda: w @ y, lambda: m @ b),
        "w.T": (lambda: w.T, lambda: m.T),
        "x.reshape(2, 5)": (lambda: x.reshape(2, 5), lambda: a.reshape(2, 5)),
        "np.where(x > 0, x, y)": (lambda: np.where(x > 0, x, y), lambda: np.where(a > 0, a, b)),
    }


def figures(options: Options) -> Iterator[Figure]:
    """Seconds of a call: tenferro's recording, and NumPy's evaluation."""
    for name, calls in operations().items():
        pair = dict(zip(("tenferro", "numpy"), calls, strict=True))
        short = Options(quick=options.quick, budget=0.0)
        for contestant, times in by_turns(pair, short).items():
            yield Figure(name, contestant, "call", min(times["cpu"]), "s")


W.figures = lambda options: with_spread(figures(options))
