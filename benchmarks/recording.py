"""What it costs to record one operation on an Array through the public functions.

Promotion, broadcasting and the user's line are included, evaluation is not. The result is dropped
at once, so each repetition records (and frees) a new value. Microseconds of CPU time, the minimum
over repeats, the operations taking turns. NumPy's own call on ten elements stands beside it.

    python benchmarks/recording.py [--repeats 15] [--count 2000] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

GOAL = 5.0


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


def measure(repeats: int, count: int) -> dict[str, tuple[float, float]]:
    """Microseconds per call: tenferro's recording, and NumPy's evaluation."""
    found = operations()
    best = {name: [float("inf")] * 2 for name in found}
    for _ in range(repeats):
        for name, pair in found.items():
            for i, call in enumerate(pair):
                best[name][i] = min(best[name][i], seconds(call, count) / count * 1e6)
    return {name: (row[0], row[1]) for name, row in best.items()}


def seconds(call: Callable[[], Any], count: int) -> float:
    """CPU seconds of many calls."""
    turns = range(count)
    start = time.process_time()
    for _ in turns:
        call()
    return time.process_time() - start


def main() -> None:
    """Run and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--json", type=Path, default=None)
    options = parser.parse_args()
    table = measure(options.repeats, options.count)
    print(f"{'µs of CPU time per call':26}{'recorded':>10}{'NumPy':>10}{'ratio':>8}")
    for name, (ours, theirs) in table.items():
        mark = "" if ours <= GOAL else f"   above {GOAL:g}"
        print(f"{name:26}{ours:10.2f}{theirs:10.2f}{ours / theirs:8.1f}{mark}")
    if options.json:
        options.json.write_text(json.dumps(table, indent=1))


if __name__ == "__main__":
    main()
