"""W9: what recording, transforming and compiling cost, in µs per operation of the primal.

Chains (as deep as long), wide sums and graphs with much sharing, of 10² … 10⁶ operations. `engine`
is the two lowest layers on a toy vocabulary (`_toy.py`), every row in a process of its own.
`tenferro` is what a user's function goes through: recorded from arrays, differentiated, and made
into the source of a Python function by the NumPy backend; JAX traces and compiles, autograd and
torch run eagerly. Materialize makes the structure by which programs are found, too. The slope is of
the total time: 1 is linear. The longest pause is that of Python's garbage collector, in all.
"""

from __future__ import annotations

import gc
import json
import math
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from benchmarks._toy import ONE, SHAPES, Number, Toy
from benchmarks.harness.launch import ROOT
from benchmarks.harness.statistics import slope
from benchmarks.harness.workload import Figure, Goal, Options, Workload, installed

SIZES = (10**2, 10**3, 10**4, 10**5, 10**6)
USERS = (10**2, 10**3, 10**4)  # sizes of what goes through arrays and peers
COMPILED = 1000  # XLA's time grows faster than its programs
LINEAR = 1.05
PATIENT = 10.0  # seconds of the budget of a case

BOTH, FRONT = "linearize + transpose", "record + materialize + compile"
W = Workload(
    "W9",
    "record, transform and compile: µs per primal operation",
    cases=[],
    quick=[],
    goals=[
        *(
            Goal(limit, case=f"{shape}, N = {count:,}", contestant="engine", figure=figure)
            for shape in SHAPES
            for count in SIZES[3:]
            for figure, limit in (
                ("record", 5e-6),
                (BOTH, 20e-6),
                ("materialize + structure", 5e-6),
                (FRONT, 10e-6),
                ("bytes", 1000),
            )
        ),
        *(
            Goal(LINEAR, case=shape, contestant="engine", figure=f"slope of {figure}")
            for shape in SHAPES
            for figure in (BOTH, FRONT)
        ),
        *(
            Goal(25e-6, case=f"{shape}, N = {count:,}", figure="source of the gradient")
            for shape in SHAPES
            for count in USERS[1:]
        ),
    ],
)


# ---- the engine on numbers ---------------------------------------------------------------------


@contextmanager
def clock(times: dict[str, float], phase: str) -> Iterator[None]:
    """Keep the shortest CPU time of a phase."""
    start = time.process_time()
    yield
    spent = time.process_time() - start
    times[phase] = min(spent, times.get(phase, math.inf))


@contextmanager
def pauses() -> Iterator[list[float]]:
    """Wall seconds of the collections of Python's garbage collector meanwhile."""
    found: list[float] = []
    start = 0.0

    def note(phase: str, info: dict[str, int]) -> None:
        nonlocal start
        if phase == "start":
            start = time.perf_counter()
        else:
            found.append(time.perf_counter() - start)

    gc.callbacks.append(note)
    yield found
    gc.callbacks.remove(note)


def run_once(make: Callable[[Number, int], Number], count: int, times: dict[str, float]) -> int:
    """All phases of one graph; how many operations it has."""
    from tenferro.computegraph import (
        Graph,
        KeyView,
        compile_program,
        input_key,
        materialize_merge,
        resolve,
    )
    from tenferro.tidu import linear_transpose, linearize, pullback

    x = Number(input_key("x", "f64"))
    with clock(times, "record"):
        y = make(x, count)
    with clock(times, "materialize + structure"):
        flat = materialize_merge(KeyView(), [y.key], inputs=[x.key])
    with clock(times, "compile"):
        program = compile_program(flat)
        size = len(program.instructions)  # made when they are asked for
    del flat, program
    view = resolve([Graph.of([x.key], [y.key])])
    with clock(times, "linearize"):
        linear = linearize(view, [y.key], [x.key])
    with clock(times, "transpose"):
        back = linear_transpose(linear)
    del linear
    output = back.linear.output_keys
    with clock(times, "materialize + structure, gradient"):
        flat = materialize_merge(resolve([back.linear]), [y.key, *output], inputs=[x.key])
    with clock(times, "compile, gradient"):
        program = compile_program(flat)
        program.instructions  # noqa: B018 - made when they are asked for
    del back, output, flat, program, view
    with clock(times, "pullback"):
        found = pullback([y.key], [x.key], [ONE], space=Toy.space)
    del found
    with clock(times, "free"):
        del y
    return size


def engine_row(shape: str, count: int, repeats: int) -> dict[str, float]:
    """Seconds and bytes per operation of one graph, in this process."""
    from tenferro.computegraph import input_key, table_size

    times: dict[str, float] = {}
    size, longest = 0, 0.0
    for _ in range(repeats):
        gc.collect()
        with pauses() as found:
            size = run_once(SHAPES[shape], count, times)
        longest = max(longest, *found, 0.0)
    gc.collect()
    left = table_size()
    tracemalloc.start()
    value = SHAPES[shape](Number(input_key("x", "f64")), count)
    gc.collect()
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del value
    times[BOTH] = times["linearize"] + times["transpose"]
    times[FRONT] = times["record"] + times["materialize + structure"] + times["compile"]
    each = {phase: spent / size for phase, spent in times.items()}
    others = {"longest pause": longest, "keys left": left, "operations": size}
    return {**each, "bytes": held / size, **others}


def engine(options: Options) -> Iterator[Figure]:
    """The engine by shape and size, each in a fresh process, and how each shape grows.

    The largest size takes minutes, and so is left to a budget for which that is right.
    """
    sizes = SIZES[:2] if options.quick else SIZES if options.budget >= PATIENT else SIZES[:-1]
    for shape in SHAPES:
        points: dict[str, list[tuple[float, float]]] = {BOTH: [], FRONT: []}
        for count in sizes:
            repeats = max(2, min(5, 10**6 // count))  # the first finds memory that nobody had
            command = [sys.executable, "-m", "benchmarks.w09_engine", shape, str(count)]
            done = subprocess.run(
                [*command, str(repeats)], capture_output=True, text=True, check=True, cwd=ROOT
            )
            row = json.loads(done.stdout)
            operations = row.pop("operations")
            for name, value in row.items():
                unit = {"bytes": "B", "keys left": ""}.get(name, "s")
                yield Figure(f"{shape}, N = {count:,}", "engine", name, value, unit)
            for phase, found in points.items():
                if count >= 1000:  # below that the clock and the fixed cost are what is seen
                    found.append((operations, operations * row[phase]))
        for phase, found in points.items():
            if len(found) > 1:
                yield Figure(shape, "engine", f"slope of {phase}", slope(found))


# ---- what users' functions go through ----------------------------------------------------------


def functions(np: Any) -> dict[str, Callable[[Any, int], Any]]:
    """The same shapes on arrays, in the namespace of each library."""

    def chain(x: Any, count: int) -> Any:
        for _ in range(count):
            x = np.sin(x)
        return np.sum(x)

    def wide(x: Any, count: int) -> Any:
        terms = [(i + 2.0) * x for i in range(count // 2)]
        while len(terms) > 1:
            pairs = [a + b for a, b in zip(terms[::2], terms[1::2], strict=False)]
            terms = pairs + terms[len(terms) & ~1 :]
        return np.sum(terms[0])

    def dag(x: Any, count: int) -> Any:
        values = [x, 0.5 * np.sin(x)]
        for i in range(count - 2):
            left, right = values[-1], values[-2 - i % 2]
            values.append(0.5 * left + right if i % 2 else left * right)
        return np.sum(values[-1])

    return {"chain": chain, "wide": wide, "dag": dag}


def users(options: Options) -> Iterator[Figure]:
    """tenferro and its peers by shape and size."""
    sizes = USERS[:1] if options.quick else USERS
    for shape in SHAPES:
        for count in sizes:
            case = f"{shape}, N = {count:,}"
            yield from of(case, "tenferro", count, ours(shape, count, options))
            for peer, measured in PEERS.items():
                if peer in options.peers and installed(peer):
                    yield from of(case, peer, count, measured(shape, count))


def of(case: str, name: str, count: int, times: dict[str, float]) -> Iterator[Figure]:
    """Figures per operation."""
    for figure, spent in times.items():
        yield Figure(case, name, figure, spent / count, "s")


def ours(shape: str, count: int, options: Options) -> dict[str, float]:
    """Record, differentiate, compile by the NumPy backend; the shortest of some runs."""
    import numpy as np

    import tenferro as tn
    from tenferro.backend import host
    from tenferro.computegraph import compile_program

    x, f = tn.Aval((10,), "float64"), functions(np)[shape]
    backend, times = host().backend("numpy"), dict[str, float]()
    for _ in range(1 if options.quick else 3):
        with clock(times, "trace"):
            tn.trace(lambda x: f(x, count), x)
        with clock(times, "trace of the gradient"):
            graph = tn.trace(tn.grad(lambda x: f(x, count)), x).graph
        program = compile_program(graph)
        for name, executor in (("source of the gradient", "source"), ("interpreted", "interpret")):
            with clock(times, name):
                backend.compile(program, program.input_avals, {"executor": executor}).prepare()
    return times


def of_jax(shape: str, count: int) -> dict[str, float]:
    """The trace of the gradient, and its compilation by XLA where that ends."""
    import jax
    import jax.numpy as jnp

    times: dict[str, float] = {}
    f = jax.jit(jax.grad(lambda x: functions(jnp)[shape](x, count)))
    x = jnp.ones(10)
    with clock(times, "trace of the gradient"):
        traced = f.trace(x)
    if count <= COMPILED:
        with clock(times, "XLA's compile"):
            traced.lower().compile()
    return times


def of_autograd(shape: str, count: int) -> dict[str, float]:
    """A gradient, eagerly."""
    import autograd
    import autograd.numpy as anp

    times: dict[str, float] = {}
    for _ in range(3):
        with clock(times, "eager gradient"):
            autograd.grad(lambda x: functions(anp)[shape](x, count))(anp.ones(10))
    return times


def of_torch(shape: str, count: int) -> dict[str, float]:
    """A gradient, eagerly."""
    import torch

    times: dict[str, float] = {}
    for _ in range(3):
        x = torch.ones(10, dtype=torch.float64, requires_grad=True)
        with clock(times, "eager gradient"):
            torch.autograd.grad(functions(torch)[shape](x, count), x)
    return times


PEERS = {"jax": of_jax, "torch": of_torch, "autograd": of_autograd}


def figures(options: Options) -> Iterator[Figure]:
    """Both parts."""
    yield from engine(options)
    yield from users(options)


W.figures = figures

if __name__ == "__main__":
    print(json.dumps(engine_row(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
