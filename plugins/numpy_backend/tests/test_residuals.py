"""Large values that are made again: which they are, that bits stay, what memory a sweep takes."""

import tracemalloc

import numpy as np
import pytest

from tenferro import primitives as tp
from tenferro_numpy import _residuals

X = np.linspace(0.1, 0.9, 40)
TILED = {"tile": 16, "threads": 1, "poison": True}


def sweep(count, read):
    """A long loop forward, and one backward that reads again what the former read."""

    def function(x):
        kept = []
        for _ in range(count):
            kept.append(read(x))
            x = tp.sin(rolled(x)) * 0.5
            for value in kept[-1]:
                x = x + value
        g = x
        for values in reversed(kept):
            for value in values:
                g = tp.tanh(rolled(g)) * value
        return g

    return function


def rolled(x):
    """What no region can contain."""
    n = x.shape[0]
    return tp.concatenate((tp.slice(x, (1,), (n,)), tp.slice(x, (0,), (1,))), 0)


def two_of_one(x):
    return x * 0.01, 1.0 - x


def by_hand(count):
    x, kept = X, []
    for _ in range(count):
        kept.append((x * 0.01, 1.0 - x))
        x = np.sin(np.roll(x, -1)) * 0.5 + kept[-1][0] + kept[-1][1]
    g = x
    for values in reversed(kept):
        for value in values:
            g = np.tanh(np.roll(g, -1)) * value
    return g


@pytest.mark.parametrize("executor", ["interpret", "source"])
def test_values_are_what_they_were(backend, program, executor):
    made = program(sweep(100, two_of_one), X)
    results = [
        backend.compile(made, made.input_avals, {"executor": executor, **tiles})(X)[0].tobytes()
        for tiles in ({"tile": 0}, TILED)
    ]
    assert results[0] == results[1]
    np.testing.assert_allclose(np.frombuffer(results[0]), by_hand(100), rtol=1e-12)


def test_one_array_is_kept_for_several_values(backend, program, monkeypatch):
    """Bytes at the peak, with and without: two arrays per turn become one."""
    x = np.linspace(0.1, 0.9, 20_000)
    peaks = []
    for late in (_residuals._LATE, 10**9):
        monkeypatch.setattr(_residuals, "_LATE", late)
        backend._plans.clear()
        made = program(sweep(200, two_of_one), x)
        executable = backend.compile(made, made.input_avals, {"threads": 1, "tile": 20_000})
        executable(x)
        tracemalloc.start()
        executable(x)
        peaks.append(tracemalloc.get_traced_memory()[1] / x.nbytes)
        tracemalloc.stop()
    backend._plans.clear()
    assert peaks[0] < 0.62 * peaks[1]


def regions_of_long_ago(backend, made):
    lines = backend.compile(made, made.input_avals, TILED).plan.lines
    positions = [line.positions for line in lines if line.positions]
    return sum(max(p) - min(p) > 2 * _residuals._LATE for p in positions)


def test_what_is_made_again_is_cheap_and_saves_memory(backend, program):
    """Not a single value of an array that nobody else keeps, nor one that costs an exponential."""
    for read, is_made_again in (
        (two_of_one, True),
        (lambda x: (x * 0.01,), False),
        (lambda x: (x, x * 0.01), True),
        (lambda x: (tp.exp(x), tp.cos(x)), False),
        (lambda x: ((x * 0.01) * (1.0 - x), 2.0 * x), True),
    ):
        found = regions_of_long_ago(backend, program(sweep(100, read), X))
        assert (found > 50) is is_made_again


def test_what_is_read_soon_is_kept(backend, program):
    assert not regions_of_long_ago(backend, program(sweep(3, two_of_one), X))


def test_values_of_an_input_and_results(check):
    """An input is kept by its owner; a result stays one."""

    def function(x):
        cheap, result = x * 3.0, x + 1.0
        y = x
        for _ in range(200):
            y = tp.sin(y)
        return y * cheap + result, result, x * 7.0

    y = X
    for _ in range(200):
        y = np.sin(y)
    check(function, [X], (y * (X * 3.0) + (X + 1.0), X + 1.0, X * 7.0), rtol=1e-14)
