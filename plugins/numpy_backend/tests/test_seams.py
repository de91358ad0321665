"""Ufuncs of rolled arrays: by parts where that saves copies, with the numbers of NumPy."""

import numpy as np
import pytest

from tenferro import primitives as tp
from tenferro_numpy.plan_passes.fusion import seams

TILE = 256  # elements; arrays of a quarter are worth a region, and lines up to a whole one
N = 12
X = np.linspace(-1.0, 2.0, N * N)
M = X.reshape(N, N)


def roll(x, shift, axis=0):
    return joined(x, [-shift % x.shape[axis], x.shape[axis], 0, -shift % x.shape[axis]], axis)


def joined(x, ends, axis=0):
    """Concatenate slices of x, from one end to the next."""

    def part(begin, end):
        low, high = [0] * x.ndim, [*x.shape]
        low[axis], high[axis] = begin, end
        return tp.slice(x, tuple(low), tuple(high))

    pairs = zip(ends[::2], ends[1::2], strict=True)
    return tp.concatenate([part(*pair) for pair in pairs], axis)


def turned(x):
    return tp.transpose(x, (1, 0))


def constant(x, value):
    return tp.constant(value, x.dtype, x.shape)


def read_twice(x):
    rolled = roll(x, 1)
    return (rolled + x) * rolled


def repeated(x):
    row = tp.broadcast_in_dim(tp.slice(x, (0, 0), (1, N)), (N, N), (0, 1))
    return roll(x, 1) - row


#: by name: the function, the same in NumPy, the argument, the parts of ufuncs that run by parts
PROGRAMS = {
    "ring": (lambda x: roll(x, 1) + roll(x, -1), lambda x: np.roll(x, 1) + np.roll(x, -1), X, [3]),
    "alone": (lambda x: roll(x, 5), lambda x: np.roll(x, 5), X, []),
    "one operand": (lambda x: tp.neg(roll(x, 5)), lambda x: -np.roll(x, 5), X, [2]),
    "number": (lambda x: constant(x, 2.0) - roll(x, 5), lambda x: 2.0 - np.roll(x, 5), X, [2]),
    "same place": (lambda x: x * roll(x, 5), lambda x: x * np.roll(x, 5), X, [2]),
    "mask": (lambda x: tp.lt(roll(x, 1), x), lambda x: np.roll(x, 1) < x, X, [2]),
    "largest": (
        lambda x: tp.maximum(roll(x, 1), roll(x, 7)),
        lambda x: np.maximum(np.roll(x, 1), np.roll(x, 7)),
        X,
        [3],
    ),
    "repeated row": (repeated, lambda m: np.roll(m, 1, 0) - m[:1], M, []),
    "three pieces": (
        lambda x: joined(x, [9, N * N, 3, 9, 0, 3]) - roll(x, 1),
        lambda x: np.concatenate([x[9:], x[3:9], x[:3]]) - np.roll(x, 1),
        X,
        [4],
    ),
    "empty piece": (
        lambda x: joined(x, [9, N * N, 9, 9, 0, 9]) + x,
        lambda x: np.concatenate([x[9:], x[:9]]) + x,
        X,
        [2],
    ),
    "rows": (
        lambda m: roll(m, 1) + roll(m, -2),
        lambda m: np.roll(m, 1, 0) + np.roll(m, -2, 0),
        M,
        [3],
    ),
    "columns": (
        lambda m: roll(m, 1, 1) * roll(m, -2, 1),
        lambda m: np.roll(m, 1, 1) * np.roll(m, -2, 1),
        M,
        [3],
    ),
    "transposed": (
        lambda m: roll(turned(m), 1, 1) - turned(m),
        lambda m: np.roll(m.T, 1, 1) - m.T,
        M,
        [2],
    ),
    "rows and columns": (
        lambda m: roll(m, 1) + roll(m, 1, 1),
        lambda m: np.roll(m, 1, 0) + np.roll(m, 1, 1),
        M,
        [2],
    ),
    "complex": (lambda x: roll(x, 1) * x, lambda x: np.roll(x, 1) * x, X[:99] + 1j, [2]),
    "single": (lambda x: roll(x, 1) + x, lambda x: np.roll(x, 1) + x, X.astype("float32"), [2]),
    "read twice": (read_twice, lambda x: (np.roll(x, 1) + x) * np.roll(x, 1), X, []),
    "by a number of the line": (
        lambda x: tp.convert(roll(x, 1), "bool"),
        lambda x: np.roll(x, 1).astype(bool),
        X,
        [],
    ),
    "square": (lambda x: tp.mul(*[roll(x, 1)] * 2), lambda x: np.roll(x, 1) ** 2, X, []),
}


@pytest.fixture
def short(monkeypatch):
    """Let short arrays run by parts, too."""
    monkeypatch.setattr(seams, "_MIN_ELEMENTS_PER_PART", 1)


@pytest.mark.parametrize("name", PROGRAMS)
def test_parts_give_the_numbers_of_the_whole(backend, program, short, name):
    """f by parts = f of NumPy, to the bit; the memory of dead arrays is written to again."""
    function, reference, given, counts = PROGRAMS[name]
    made = program(lambda x: function(tp.neg(x)), given)
    executable = backend.compile(made, made.input_avals, {"tile": TILE, "threads": 1})
    bound = [line.expression.bound[0] for line in executable.plan.lines if line.expression.bound]
    bound = [getattr(function, "__self__", function) for function in bound]
    found = [one for one in bound if isinstance(one, seams.PartwiseUfunc)]
    assert [len(one.parts) for one in found] == counts
    for _ in range(2):
        (result,) = executable(given)
        np.testing.assert_array_equal(result, reference(-given), strict=True)


def test_a_concatenation_that_is_a_result_stays(backend, program, short):
    made = program(lambda x: (rolled := roll(x, 5), rolled + x), X)
    executable = backend.compile(made, made.input_avals, {"tile": TILE, "threads": 1})
    for result, reference in zip(executable(X), [np.roll(X, 5), np.roll(X, 5) + X], strict=True):
        np.testing.assert_array_equal(result, reference, strict=True)


@pytest.mark.parametrize("size", [TILE, 2 * TILE])
def test_larger_arrays_run_in_tiles(backend, program, short, size):
    """Lines of arrays that do not stay in the cache would go through memory once for each."""
    made = program(lambda x: roll(x, 1) + roll(x, -1), np.ones(size))
    executable = backend.compile(made, made.input_avals, {"tile": TILE, "threads": 1})
    kinds = [type(b) for line in executable.plan.lines for b in line.expression.bound]
    assert (seams.PartwiseUfunc in kinds) == (size == TILE)


def test_short_parts_are_copied_together(backend, program):
    """A call for each part costs more than a copy of a short array."""
    least = 2 * seams._MIN_ELEMENTS_PER_PART
    for size in (least - 1, least):
        made = program(lambda x: roll(x, 1) + x, np.ones(size))
        executable = backend.compile(made, made.input_avals, {"threads": 1})
        kinds = [type(b) for line in executable.plan.lines for b in line.expression.bound]
        assert (seams.PartwiseUfunc in kinds) == (size == least)
