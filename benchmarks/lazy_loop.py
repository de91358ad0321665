"""What a long loop of lazy updates costs: time, memory, and how many programs are compiled.

Nothing in the loops asks for a value; pending graphs evaluate themselves when they have become
long. So memory must not grow and no program be compiled after the first few evaluations, whatever
numbers and positions the iterations read. Microseconds of CPU time per iteration; resident memory
after a tenth of the loop and at its end; programs compiled in the first tenth and after it.

    python benchmarks/lazy_loop.py [--iterations 1000000] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

SIZE = 10
Step = Callable[[list[Any], int], None]


class Figures(NamedTuple):
    """What one loop cost."""

    microseconds: float
    early_mib: float
    late_mib: float
    early_programs: int
    late_programs: int


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


def resident() -> float:
    """Resident memory of this process in MiB (Linux)."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0.0


def measure(step: Step, iterations: int) -> Figures:
    """Run one loop."""
    import numpy as np

    import tenferro as tn
    from tenferro.array import PROGRAMS

    arrays = [tn.asarray(np.linspace(0.0, 1.0, SIZE)) * 1 for _ in range(3)]
    marks = [(resident(), PROGRAMS.stats.misses)]
    start = time.process_time()
    for first, last in ((0, iterations // 10), (iterations // 10, iterations)):
        for i in range(first, last):
            step(arrays, i)
        marks.append((resident(), PROGRAMS.stats.misses))
    tn.evaluate(*arrays)
    spent = (time.process_time() - start) / iterations
    (_, p0), (early, p1), (late, p2) = marks
    return Figures(spent * 1e6, early, late, p1 - p0, p2 - p1)


def main() -> None:
    """Measure every loop and print a line each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--iterations", type=int, default=1_000_000)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    found = {}
    print(f"{'loop':34}{'µs':>7}{'MiB':>9}{'MiB end':>9}{'programs':>10}{'later':>7}")
    for name, step in loops().items():
        row = measure(step, given.iterations)
        found[name] = row._asdict()
        print(
            f"{name:34}{row.microseconds:7.1f}{row.early_mib:9.1f}{row.late_mib:9.1f}"
            f"{row.early_programs:10}{row.late_programs:7}"
        )
    if given.json:
        given.json.write_text(json.dumps(found, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
