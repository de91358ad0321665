"""Work grows with the size of a program: twice the operands, about twice the Python calls."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tenferro as tn

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


PROGRAMS = [
    gradient_of_concatenate,
    gradient_of_stack,
    tangent_of_stack,
    second_order_of_stack,
    gradient_through_a_custom_rule,
    mapped_concatenate,
    gradient_of_parts,
]


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
