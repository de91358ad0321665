"""A contraction under a memory limit needs the memory of one part, and so does its gradient."""

import tracemalloc

import numpy as np
import pytest

import tenferro as tn

SIZE = 48
SUBSCRIPTS, PATH = "ab,cd,ac,bd,ad->", ["einsum_path", (0, 1), (0, 3), (0, 1), (0, 1)]


def peak(call):
    """The bytes that a call needs at most at a time, after a first one."""
    call()
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("is_gradient", [False, True], ids=["value", "gradient"])
def test_memory_is_that_of_one_part(is_gradient):
    """The first pair is an outer product of SIZE⁴ elements; the limit is SIZE³."""
    xs = [np.random.default_rng(i).normal(size=(SIZE, SIZE)) for i in range(5)]
    found = {}
    for limit in (None, SIZE**3):
        contract = tn.contract_expression(SUBSCRIPTS, *xs, optimize=PATH, memory_limit=limit)
        value = lambda *xs, contract=contract: tn.sin(contract(*xs))  # noqa: E731
        call = tn.jit(tn.grad(value, tuple(range(5))) if is_gradient else value)
        found[limit] = peak(
            lambda call=call: np.asarray(call(*xs)[0] if is_gradient else call(*xs))
        )
    assert found[None] > 8 * SIZE**4
    assert found[SIZE**3] < 6 * 8 * SIZE**3
