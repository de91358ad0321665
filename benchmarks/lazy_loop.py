"""What a long loop of lazy updates costs: time, memory, and how many programs are compiled.

Nothing in the loops asks for a value; pending graphs evaluate themselves when they have become
long. So memory must not grow and no program be compiled after the first few evaluations, whatever
numbers and positions the iterations read. CPU time per iteration; resident memory after a tenth of
the loop and at its end; programs compiled in the first tenth and after it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.harness.memory import status
from benchmarks.harness.workload import Figure, Options, Workload

SIZE = 10
Step = Callable[[list[Any], int], None]
W = Workload("lazy_loop", "a long loop of lazy updates", cases=[], quick=[])


def loops() -> dict[str, Step]:
    """Each loop as what it does to its arrays in iteration i."""
    import numpy as np

    chosen = np.random.default_rng(0).integers(SIZE, size=4096).tolist()
    rates = [0.5, 0.25, 1.0]

    def affine(a: list[Any], i: int) -> None:
        a[0] = a[0] * 0.999 + 1

    def element(a: list[Any], i: int) -> None:
        x = a[0]
        x[i % SIZE] += 1.0

    def random_element(a: list[Any], i: int) -> None:
        x = a[0]
        x[chosen[i % 4096]] += 1.0

    def equal_numbers(a: list[Any], i: int) -> None:
        a[0] = a[0] * rates[chosen[i % 4096] % 3] + rates[chosen[(i + 1) % 4096] % 3]

    def momentum(a: list[Any], i: int) -> None:
        w, m, v = a
        gradient = w * 0.5 - 1
        m = 0.9 * m + gradient
        v = 0.99 * v + 0.01 * gradient * gradient
        a[:] = w - 0.01 * m / (np.sqrt(v) + 1e-8), m, v

    return {
        "x = x * 0.999 + 1": affine,
        "x[i % n] += 1.0": element,
        "x[random] += 1.0": random_element,
        "numbers that are equal by chance": equal_numbers,
        "momentum, three arrays": momentum,
    }


def measure(name: str, step: Step, iterations: int) -> Iterator[Figure]:
    """Run one loop."""
    import numpy as np

    import tenferro as tn
    from tenferro.arrays import PROGRAMS

    arrays = [tn.asarray(np.linspace(0.0, 1.0, SIZE)) * 1 for _ in range(3)]
    marks = [(status("VmRSS"), PROGRAMS.stats.misses)]
    start = time.process_time()
    for first, last in ((0, iterations // 10), (iterations // 10, iterations)):
        for i in range(first, last):
            step(arrays, i)
        marks.append((status("VmRSS"), PROGRAMS.stats.misses))
    tn.evaluate(*arrays)
    spent = (time.process_time() - start) / iterations
    (_, p0), (early, p1), (late, p2) = marks
    yield Figure(name, "tenferro", "iteration", spent, "s")
    yield Figure(name, "tenferro", "resident", early / 2**20, "MiB")
    yield Figure(name, "tenferro", "at the end", late / 2**20, "MiB")
    yield Figure(name, "tenferro", "programs", p1 - p0)
    yield Figure(name, "tenferro", "programs later", p2 - p1)


def figures(options: Options) -> Iterator[Figure]:
    """All loops."""
    for name, step in loops().items():
        yield from measure(name, step, 10_000 if options.quick else 300_000)


W.figures = figures
