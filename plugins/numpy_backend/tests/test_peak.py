"""Memory that programs are accounted for: what liveness says, and what is measured."""

import tracemalloc

import numpy as np
import pytest

from tenferro import primitives as tp

X = np.ones(20_000)
SIZE = X.nbytes


def tree(x):
    left, right = tp.sin(x), tp.cos(x)
    return tp.exp(tp.reverse(left, (0,)) + right)


def kept(x):
    values = []
    for _ in range(5):
        x = tp.sin(x)
        values.append(x)
    for value in reversed(values):
        x = x * value
    return x


def narrowed(x):
    for _ in range(4):
        x = tp.convert(tp.convert(x, "float32"), "float64")
    return x


def waiting(x):
    """The memory of the sine waits for the cosine, while there is another array."""
    first = tp.reduce_sum(tp.sin(x), (0,))
    second = tp.reduce_sum(tp.convert(x, "float32"), (0,))
    return first, second, tp.cos(x)


def updated(x):
    for i in range(5):
        x = tp.dynamic_update_slice(x, tp.constant(7.0, "float64", (1,)), [i])
    return x


@pytest.mark.parametrize(
    "function, arrays",
    [
        (tree, 2),
        (kept, 5),
        (updated, 1),
        (narrowed, 1.5),
        (waiting, 1.5),
        (lambda x: (x * 2.0, x + 1.0), 2),
        (lambda x: tp.reverse(x, (0,)), 0),
        (lambda x: tp.reduce_sum(x * x, (0,)), 1),
    ],
)
@pytest.mark.parametrize("executor", ["interpret", "source"])
def test_the_peak_is_what_is_measured(backend, program, function, arrays, executor):
    """Copies of results that would be views are not accounted: there are none but the reversed."""
    made = program(function, X)
    executable = backend.compile(made, made.input_avals, {"executor": executor, "tile": 0})
    peak = executable.plan.peak
    assert peak.bytes == arrays * SIZE
    executable(X)
    tracemalloc.start()
    executable(X)
    measured = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert abs(measured - max(arrays, 1) * SIZE) < SIZE / 4


BUFFER = 10 * np.getbufsize()  # bytes, and some, of a reduction within NumPy
ROWS = np.random.default_rng(0).normal(size=(10_000, 80))


def softened(scores):
    for _ in range(3):
        top = tp.broadcast_in_dim(tp.reduce_max(scores, (1,)), scores.shape, (0,))
        e = tp.exp(scores - top)
        scores = e / tp.broadcast_in_dim(tp.reduce_sum(e, (1,)), scores.shape, (0,))
    return scores


def one_sum(x):
    return tp.reduce_sum(softened(x), (0, 1))


def rows_and_sums(x):
    p = softened(x)
    return p, tp.reduce_sum(p * x, (0,)), tp.dot_general(p, x, (0,), (0,))


def waiting(x):
    """An array is alive while the block runs, and read after it."""
    y = tp.reshape(tp.reverse(x, (1,)) + x, (80, 10_000))
    found = tp.dot_general(softened(x), x, (0,), (0,))
    factor = tp.broadcast_in_dim(tp.reduce_sum(found, (1,)), y.shape, (0,))
    return found, tp.reduce_max(y * factor, (0, 1))


def products(x):
    """Every part of the rows keeps what it found, until all are joined."""
    p = softened(x)
    return tuple([tp.dot_general(p, q, (0,), (0,)) for q in (x, p, p * p)])


@pytest.mark.parametrize("function", [one_sum, rows_and_sums, waiting, products])
@pytest.mark.parametrize("tile", [1 << 13, 1 << 14, 1 << 16])
@pytest.mark.parametrize("executor", ["interpret", "source"])
def test_what_blocks_of_rows_make_is_in_the_peak(backend, program, function, tile, executor):
    made = program(function, ROWS)
    options = {"executor": executor, "tile": tile, "threads": 1}
    executable = backend.compile(made, made.input_avals, options)
    assert "rows in" in executable.explain()
    peak = executable.plan.peak.bytes
    for _ in range(3):
        executable(ROWS)
    tracemalloc.start()
    executable(ROWS)
    measured = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert abs(measured - peak) < BUFFER


def test_blocks_of_several_threads_are_alive_at_once(backend, program):
    made = program(one_sum, ROWS)
    one, three = (
        backend.compile(made, made.input_avals, {"tile": 1 << 10, "threads": n}).plan.peak.bytes
        for n in (1, 3)
    )
    assert 2.5 * one < three < 3.5 * one


def test_explain_says_where_the_peak_is(backend, program):
    made = program(tree, X)
    text = backend.compile(made, made.input_avals, {"tile": 0}).explain()
    assert "320,000 bytes of arrays at once" in text
    second = [line for line in str(made).split("\n") if "cos" in line or "sin" in line][1]
    assert f"at {' '.join(second.split())}\n" in text


def test_the_largest_program_is_in_the_statistics(backend, program):
    backend._plans.clear()
    assert backend.memory_stats()["largest_program"] == 0
    for function in (tree, updated):
        made = program(function, X)
        backend.compile(made, made.input_avals, {"tile": 0})
    stats = backend.memory_stats()
    assert stats["largest_program"] == 2 * SIZE
    assert stats.get("in_use", 0) <= stats.get("peak", 0) * 1.1
