"""Growth of the first call with the size of a program: many operands, parts and levels.

Each program is new to every cache, so recording, differentiation, compilation and planning are all
inside. CPU time of the first call for n and 10 n, and the slope log(t(10 n) / t(n)) / log(10): a
slope of 1 is proportional work, a slope of 2 is quadratic. Where arrays of n elements become large
enough for regions between two sizes (from 1,000 to 10,000), planning does more from there on: the
slope between them is above 1 (stack 1.2, parts 1.35). From 10,000 to 100,000 pauses of the garbage
collector and cache misses are in the times (stack 1.16; .99 from 10,000 to 40,000 with the
collector off); a count of calls tells them from more work.
"""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import tenferro as tn
from benchmarks.harness.workload import Figure, Goal, Options, Workload
from tenferro.primitives import optimization_barrier

W = Workload(
    "growth",
    "growth of the first call with the size of the program",
    cases=[],
    quick=[],
    goals=[Goal(1.1, figure="slope")],
)
First = Callable[[], Any]


def numbers(n: int) -> list[float]:
    return [0.5 + i / n for i in range(n)]


def concatenate(n: int) -> First:
    arrays = [np.full(2, x) for x in numbers(n)]
    return lambda: tn.grad(lambda xs: np.sum(np.concatenate(xs) ** 2))(arrays)


def stack(n: int) -> First:
    return lambda: tn.grad(lambda xs: np.sum(np.stack(xs) ** 2))(numbers(n))


def stack_forward(n: int) -> First:
    xs = tuple(numbers(n))
    return lambda: tn.jvp(lambda *xs: np.sum(np.stack(xs) ** 2), xs, xs)


def custom_rule(n: int) -> First:
    @tn.custom_vjp
    def f(*xs: Any) -> Any:
        return sum(xs)

    f.defvjp(lambda *xs: (sum(xs), ()), lambda _, g: (g,) * n)
    return lambda: tn.grad(lambda xs: f(*xs))(numbers(n))


def mapped(n: int) -> First:
    columns = [np.full(3, x) for x in numbers(n)]
    return lambda: tn.vmap(lambda *xs: np.stack([np.sin(x) for x in xs]))(*columns)


def parts(n: int) -> First:
    return lambda: tn.grad(lambda x: sum(np.sin(x[i]) for i in range(n)))(np.ones(n))


def many_outputs(n: int) -> First:
    def f(x: Any) -> list[Any]:
        return [np.sin(x * (i + 2.5)) for i in range(n)]

    return lambda: tn.vjp(f, 1.0)[1](numbers(n))


def deep(n: int) -> First:
    def f(x: Any) -> Any:
        for _ in range(n):
            x = np.sin(x)
        return np.sum(x)

    return lambda: tn.grad(f)(np.ones(2))


def wide(n: int) -> First:
    return lambda: tn.grad(lambda xs: sum(np.sin(x) for x in xs))(numbers(n))


def shared(n: int) -> First:
    def f(x: Any) -> Any:
        a = b = x
        for _ in range(n):
            a, b = a * b, np.sin(a) + b
        return np.sum(a)

    return lambda: tn.grad(f)(np.full(2, 0.01))


def jvp_rule_of_leaves(n: int) -> First:
    f = tn.custom_jvp(lambda xs: [x * 2 for x in xs])
    f.defjvp(lambda primals, tangents: (f(*primals), [t * 2 for t in tangents[0]]))
    return lambda: tn.grad(lambda xs: sum(f(xs)))(numbers(n))


def vjp_rule_of_leaves(n: int) -> First:
    f = tn.custom_vjp(lambda xs: [x * 2 for x in xs])
    f.defvjp(lambda xs: (f(xs), ()), lambda _, cts: ([ct * 2 for ct in cts],))
    return lambda: tn.grad(lambda xs: sum(f(xs)))(numbers(n))


def barrier(n: int) -> First:
    return lambda: tn.grad(lambda xs: sum(optimization_barrier(xs)))(numbers(n))


def jit_leaves(n: int) -> First:
    return lambda: tn.jit(lambda xs: [np.sin(x) for x in xs])(numbers(n))


def second_order(n: int) -> First:
    return lambda: tn.hvp(lambda xs: sum(np.sin(x) for x in xs))(numbers(n), numbers(n))


PROGRAMS: tuple[Callable[[int], First], ...] = (
    concatenate, stack, stack_forward, custom_rule, mapped, parts, many_outputs, deep, wide,
    shared, jvp_rule_of_leaves, vjp_rule_of_leaves, barrier, jit_leaves, second_order,
)  # fmt: skip
"""Each program as a function of a size, which returns its first call."""


def figures(options: Options) -> Iterator[Figure]:
    """CPU seconds of first calls, and the slopes between them."""
    sizes = [100, 1000] if options.quick else [1000, 10_000, 100_000]
    for make in PROGRAMS:
        name = make.__name__
        make(7)()
        before = 0.0
        for n in sizes:
            run = make(n)
            gc.collect()
            start = time.process_time()
            run()
            taken = time.process_time() - start
            yield Figure(f"{name}, {n}", "tenferro", "first call", taken, "s")
            if before:
                yield Figure(f"{name}, {n}", "tenferro", "slope", math.log10(taken / before), "")
            before = taken


W.figures = figures
