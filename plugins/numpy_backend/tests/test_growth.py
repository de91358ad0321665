"""Work grows with the size of a program: twice the operands, about twice the Python calls."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tenferro as tn
from tenferro.passes import _driver
from tenferro.primitives import host_callback, optimization_barrier

SMALL, LARGE = 150, 600


def calls_of(run: Callable[[], Any]) -> int:
    """Count the calls and resumptions of Python functions, and calls of C functions."""
    count = 0

    def event(frame: Any, kind: str, argument: Any) -> None:
        nonlocal count
        count += kind in ("call", "c_call")

    before = sys.getprofile()
    gc.collect()
    sys.setprofile(event)
    try:
        run()
    finally:
        sys.setprofile(before)
    return count


def lines_of(run: Callable[[], Any]) -> int:
    """Count the lines that are run, each turn of a comprehension among them."""
    count = 0

    def event(frame: Any, kind: str, argument: Any) -> Any:
        nonlocal count
        count += 1
        return event

    before = sys.gettrace()
    gc.collect()
    sys.settrace(event)
    try:
        run()
    finally:
        sys.settrace(before)
    return count


def numbers(n: int) -> list[float]:
    return [0.5 + i / n for i in range(n)]


def gradient_of_concatenate(n: int) -> Any:
    arrays = [np.full(2, x) for x in numbers(n)]
    return lambda: tn.grad(lambda xs: np.sum(np.concatenate(xs) ** 2))(arrays)


def gradient_of_stack(n: int) -> Any:
    return lambda: tn.grad(lambda xs: np.sum(np.stack(xs) ** 2))(numbers(n))


def tangent_of_stack(n: int) -> Any:
    xs = tuple(numbers(n))
    return lambda: tn.jvp(lambda *xs: np.sum(np.stack(xs) ** 2), xs, xs)


def second_order_of_stack(n: int) -> Any:
    return lambda: tn.hvp(lambda xs: np.sum(np.stack(xs) ** 3))(numbers(n), numbers(n))


def gradient_through_a_custom_rule(n: int) -> Any:
    @tn.custom_vjp
    def f(*xs: Any) -> Any:
        return sum(xs)

    f.defvjp(lambda *xs: (sum(xs), ()), lambda _, g: (g,) * n)
    return lambda: tn.grad(lambda xs: f(*xs))(numbers(n))


def mapped_concatenate(n: int) -> Any:
    columns = [np.full(3, x) for x in numbers(n)]
    return lambda: tn.vmap(lambda *xs: np.stack([np.sin(x) for x in xs]))(*columns)


def gradient_of_parts(n: int) -> Any:
    return lambda: tn.grad(lambda x: sum(np.sin(x[i]) for i in range(n)))(np.ones(n))


def gradient_of_multi_dot(n: int) -> Any:
    matrices = [np.ones((2 + i % 2, 2 + (i + 1) % 2)) for i in range(n)]
    return lambda: tn.grad(lambda xs: np.sum(np.linalg.multi_dot(xs)))(matrices)


def gradient_of_einsum(n: int) -> Any:
    def chain(xs: Any) -> Any:
        operands = [given for i, x in enumerate(xs) for given in (x, [i, i + 1])]
        return np.sum(np.einsum(*operands, [0, n]))

    return lambda: tn.grad(chain)([np.eye(2)] * n)


def gradient_of_block(n: int) -> Any:
    arrays = [np.full(2, x) for x in numbers(n)]
    return lambda: tn.grad(lambda xs: np.sum(np.block(xs) ** 2))(arrays)


def gradient_of_broadcast_arrays(n: int) -> Any:
    arrays = [np.full(2, x) for x in numbers(n)]
    return lambda: tn.grad(lambda xs: sum(np.sum(y) for y in np.broadcast_arrays(*xs)))(arrays)


def gradient_of_select(n: int) -> Any:
    arrays = [np.full(2, x) for x in numbers(n)]
    return lambda: tn.grad(lambda xs: np.sum(np.select([x > 0.7 for x in xs], xs)))(arrays)


def gradient_of_choose(n: int) -> Any:
    arrays, which = [np.full(2, x) for x in numbers(n)], np.array([1, 3])
    return lambda: tn.grad(lambda xs: np.sum(np.choose(which, xs)))(arrays)


def gradient_of_split(n: int) -> Any:
    return lambda: tn.grad(lambda x: sum(np.sum(y**2) for y in np.split(x, n)))(np.ones(2 * n))


def gradient_of_assignments(n: int) -> Any:
    def f(x: Any) -> Any:
        y = np.zeros(n) + x
        for i in range(n):
            y[i] = y[i] * 2
        return np.sum(y)

    return lambda: tn.grad(f)(1.0)


def gradient_behind_a_barrier(n: int) -> Any:
    return lambda: tn.grad(lambda xs: sum(optimization_barrier([np.sin(x) for x in xs])))(
        numbers(n)
    )


def mapped_barrier(n: int) -> Any:
    columns = [np.full(3, x) for x in numbers(n)]
    return lambda: tn.vmap(lambda *xs: list(optimization_barrier([np.sin(x) for x in xs])))(
        *columns
    )


def tangent_of_a_custom_rule_with_many_results(n: int) -> Any:
    @tn.custom_jvp
    def f(*xs: Any) -> Any:
        return [x * 2 for x in xs]

    f.defjvp(lambda xs, ts: ([x * 2 for x in xs], [t * 2 for t in ts]))
    return lambda: tn.jvp(lambda xs: sum(f(*xs)), (numbers(n),), (numbers(n),))


def gradient_through_jit_with_many_results(n: int) -> Any:
    f = tn.jit(lambda *xs: [np.sin(x) for x in xs])
    return lambda: tn.grad(lambda xs: sum(f(*xs)))(numbers(n))


def doubled_by_a_jvp_rule() -> Any:
    f = tn.custom_jvp(lambda xs: [x * 2 for x in xs])
    f.defjvp(lambda primals, tangents: (f(*primals), [t * 2 for t in tangents[0]]))
    return f


def doubled_by_a_vjp_rule() -> Any:
    f = tn.custom_vjp(lambda xs: [x * 2 for x in xs])
    f.defvjp(lambda xs: (f(xs), ()), lambda _, cts: ([ct * 2 for ct in cts],))
    return f


def squared_by_a_linear_rule() -> Any:
    product = tn.custom_linear(
        lambda ds, xs: [d * x for d, x in zip(ds, xs, strict=True)],
        lambda ds, cts: [d * ct for d, ct in zip(ds, cts, strict=True)],
    )
    return lambda xs: product(xs, xs)


def behind_a_barrier() -> Any:
    return lambda xs: list(optimization_barrier(xs))


def called_on_the_host() -> Any:
    def doubled(*xs: Any) -> Any:
        return tuple([np.asarray(x) * 2 for x in xs])

    def f(xs: Any) -> Any:
        arrays = [tn.asarray(x) for x in xs]
        avals = [x.key.aval for x in arrays]
        return list(host_callback(doubled, avals, *arrays))

    return f


def leaves(make: Callable[[], Any], transform: Callable[[Any], Any]) -> Any:
    """A transform of one operation that takes n leaves of a pytree and returns n."""

    def program(n: int) -> Any:
        f, xs = make(), numbers(n)
        return lambda: transform(f)(xs)

    program.__name__ = f"{transform.__name__}_of_leaves_{make.__name__}"
    return program


def read_one_by_one(f: Any) -> Any:
    return lambda xs: [float(y) for y in f([tn.asarray(x) for x in xs])]


def jit(f: Any) -> Any:
    return tn.jit(f)


def mapped(f: Any) -> Any:
    return lambda xs: tn.vmap(f)([np.full(3, x) for x in xs])


def grad_of_sum(f: Any) -> Any:
    return tn.grad(lambda xs: sum(f(xs)))


def grad_of_sum_under_jit(f: Any) -> Any:
    return tn.grad(tn.jit(lambda xs: sum(f(xs))))


def grad_of_grad(f: Any) -> Any:
    return grad_of_sum(grad_of_sum(lambda xs: [y * y for y in f(xs)]))


def mapped_grad(f: Any) -> Any:
    return mapped(grad_of_sum(f))


def pullback(f: Any) -> Any:
    return lambda xs: tn.vjp(f, xs)[1](xs)


def tangents(f: Any) -> Any:
    return lambda xs: tn.linearize(f, xs)[1](xs)


LEAVES = [
    *[leaves(make, read_one_by_one) for make in (squared_by_a_linear_rule, called_on_the_host)],
    *[leaves(make, jit) for make in (behind_a_barrier, called_on_the_host)],
    *[leaves(make, mapped) for make in (doubled_by_a_vjp_rule, called_on_the_host)],
    *[leaves(doubled_by_a_jvp_rule, transform) for transform in (tangents, mapped_grad)],
    *[leaves(doubled_by_a_vjp_rule, transform) for transform in (pullback, grad_of_sum_under_jit)],
    *[leaves(squared_by_a_linear_rule, transform) for transform in (grad_of_sum, pullback)],
    *[leaves(behind_a_barrier, transform) for transform in (tangents, grad_of_grad)],
]


def log1pexp() -> Any:
    f = tn.custom_jvp(lambda x: np.log1p(np.exp(x)))
    f.defjvps(lambda dx, y, x: dx / (1 + np.exp(-x)))
    return f


def weighted() -> Any:
    f = tn.custom_vjp(lambda x: x * 1.0)
    f.defvjp(lambda x: (f(x), x), lambda x, ct: (np.cos(x) * ct,))
    return f


def divided() -> Any:
    solve = tn.custom_linear(lambda d, x: x / d, lambda d, ct: ct / d)
    return lambda x: solve(x + 2.0, x)


def repeated(make: Callable[[], Any], transform: Callable[[Any], Any]) -> Any:
    """A transform of a chain of calls of one function with a rule."""

    def program(n: int) -> Any:
        f = make()

        def chain(x: Any) -> Any:
            for _ in range(n // 2):
                x = f(x)
            return np.sum(x)

        return lambda: transform(chain)(np.ones(2))

    program.__name__ = f"{transform.__name__}_of_{make.__name__}"
    return program


def grad(f: Any) -> Any:
    return tn.grad(f)


def jit_of_grad(f: Any) -> Any:
    return tn.jit(tn.grad(f))


def grad_of_jit(f: Any) -> Any:
    return tn.grad(tn.jit(f))


def second_order(f: Any) -> Any:
    return lambda x: tn.hvp(f)(x, x)


CHAINS = [
    repeated(make, transform)
    for make in (log1pexp, weighted, divided)
    for transform in (grad, jit_of_grad, grad_of_jit, second_order)
]

PROGRAMS = [
    *CHAINS,
    gradient_of_concatenate,
    gradient_of_stack,
    tangent_of_stack,
    second_order_of_stack,
    gradient_through_a_custom_rule,
    mapped_concatenate,
    gradient_of_parts,
    gradient_of_multi_dot,
    gradient_of_einsum,
    gradient_of_block,
    gradient_of_broadcast_arrays,
    gradient_of_select,
    gradient_of_choose,
    gradient_of_split,
    gradient_of_assignments,
    gradient_behind_a_barrier,
    mapped_barrier,
    tangent_of_a_custom_rule_with_many_results,
    gradient_through_jit_with_many_results,
]


@pytest.fixture(autouse=True)
def loops_are_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare programs of which all are long enough for the pass `roll`"""
    monkeypatch.setattr(_driver, "_LEAST_EQUATIONS", 100)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_work_is_proportional_to_the_number_of_operands(
    program: Callable[[int], Callable[[], Any]],
) -> None:
    """calls(4n) ≤ 4.6 calls(n): a slope of 1.1"""
    with tn.use("numpy"):
        program(5)()
        small = calls_of(program(SMALL))
        large = calls_of(program(LARGE))
    assert large <= 4.6 * small


@pytest.mark.parametrize("program", LEAVES, ids=lambda program: program.__name__)
def test_lines_run_are_proportional_to_operands_and_results(
    program: Callable[[int], Callable[[], Any]],
) -> None:
    """lines(4n) ≤ 4.6 lines(n)"""
    with tn.use("numpy"):
        program(5)()
        small = lines_of(program(SMALL))
        large = lines_of(program(LARGE))
    assert large <= 4.6 * small
