"""Regions: which steps fuse, and that random programs give what their operations give one by one.

Tiles are tiny here and every buffer is poisoned before it is written, so that an element which
nobody writes, or which is read after its buffer was taken again, shows in the results.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenferro import primitives as tp
from tenferro.backend import InvalidOptionError
from tenferro_numpy.kernels.region import Region
from tenferro_numpy.kernels.tile_reductions import can_fold
from tenferro_numpy.machine.tile_size import even_rows, tiled_axis

UNARY = (tp.neg, tp.sin, tp.exp, tp.square, tp.abs, tp.floor, tp.logistic, tp.rsqrt)
BINARY = (tp.add, tp.sub, tp.mul, tp.div, tp.maximum, tp.minimum)
COMPARISONS = (tp.lt, tp.ge, tp.eq)
FOLDS = (tp.reduce_sum, tp.reduce_max, tp.reduce_min)
VALUES = (0.0, -0.0, 1.0, -1.5, 0.25, 3.0, float("inf"), float("-inf"), float("nan"), 1e-300, 200.0)
DTYPES = ("float64", "float32", "complex128", "int32", "int64")


def regions(executable):
    bound = [line.expression.bound for line in executable.plan.lines]
    return [b[0] for b in bound if b and isinstance(b[0], Region)]


def run(backend, program, arrays, **options):
    executable = backend.compile(program, program.input_avals, {"threads": 1, **options})
    return regions(executable), executable(*arrays)


# ---- what is fused -------------------------------------------------------------------------------


def test_a_value_and_its_gradient_are_one_region(backend, program):
    def both(x):
        value = tp.reduce_sum(tp.tanh(x) * tp.exp(x), (0,))
        return value, (1 - tp.square(tp.tanh(x))) * tp.exp(x) + tp.tanh(x) * tp.exp(x)

    x = np.linspace(-1, 1, 100)
    found, (value, gradient) = run(backend, program(both, x), [x], tile=16, poison=True)
    assert [(len(r.arrays), len(r.folds)) for r in found] == [(1, 1)]
    np.testing.assert_allclose(value, np.sum(np.tanh(x) * np.exp(x)), rtol=1e-14)
    expected = (1 - np.tanh(x) ** 2) * np.exp(x) + np.tanh(x) * np.exp(x)
    np.testing.assert_allclose(gradient, expected, rtol=1e-14)


@pytest.mark.parametrize("is_moved", [False, True])
@pytest.mark.parametrize("name, times", [("add", 2), ("div", 1)])
def test_a_division_is_kept_and_a_sum_is_computed_again(backend, program, name, times, is_moved):
    """q = x ∘ y is read by Σ (q - x)² and by what comes after the sum; y may be expanded there."""

    def centred(x, y):
        y = tp.broadcast_in_dim(y, x.shape, (1,)) if is_moved else y
        q = getattr(tp, name)(x, y)
        total = tp.reduce_sum(tp.square(q - x), (0, 1))
        return (q - tp.broadcast_in_dim(total, x.shape, ())) * x

    x = np.linspace(1.0, 2.0, 96).reshape(12, 8)
    y = np.linspace(2.0, 3.0, 8) if is_moved else x + 1
    made = program(centred, x, y)
    executable = backend.compile(made, made.input_avals, {"threads": 1, "tile": 16, "poison": True})
    text = executable.explain().partition("region ")[2]
    assert text.count(f" = {name} ") == times, executable.explain()
    q = x + y if name == "add" else x / y
    np.testing.assert_allclose(
        executable(x, y)[0], (q - np.sum((q - x) ** 2)) * x, rtol=1e-13, atol=1e-12
    )


def test_what_must_run_between_two_steps_parts_them(backend, program):
    """x − max x needs all of x first: the second step cannot be in the region of the first."""

    def centred(x):
        doubled = x + x
        return doubled - tp.broadcast_in_dim(tp.reduce_max(doubled, (0,)), x.shape, ())

    x = np.array([3.0, 1.0, 2.0, 5.0])
    found, (result,) = run(backend, program(centred, x), [x], tile=1, poison=True)
    assert all(len(r.writes) == 1 for r in found)
    np.testing.assert_array_equal(result, 2 * x - 10.0)


def test_explain_lists_regions(backend, program):
    made = program(lambda x: tp.reduce_sum(tp.sin(x) * x, (0,)), np.zeros(100))
    executable = backend.compile(made, made.input_avals, {"tile": 16, "threads": 2})
    text = executable.explain()
    assert "region 100 in 7 tiles of about 16 elements, up to 2 threads, gives 0 arrays" in text
    assert "    %1 = sin %0" in text
    assert executable.cost() == (300, 808)  # three operations; x read, a number written


def test_two_regions_that_meet_become_one(backend, program):
    def meeting(x, y):
        return tp.sin(tp.exp(x)) * tp.sin(tp.exp(y))

    x, y = np.linspace(0, 1, 20), np.linspace(1, 2, 20)
    found, _ = run(backend, program(meeting, x, y), [x, y], tile=4)
    assert [len(r.writes) for r in found] == [5]


def test_scratch_is_taken_again_in_place(backend, program):
    def chain(x):
        for _ in range(10):
            x = tp.sin(x)
        return x

    x = np.linspace(0, 1, 20)
    found, _ = run(backend, program(chain, x), [x], tile=4)
    assert [len(r.scratch) for r in found] == [1]


def test_a_buffer_is_not_taken_before_its_reduction_is_done(backend, program):
    def function(x):
        y = tp.sin(x)
        return tp.reduce_sum(y, (0,)), tp.exp(tp.exp(y))

    x = np.linspace(0, 1, 20)
    found, (total, _) = run(backend, program(function, x), [x], tile=4, poison=True)
    assert [(len(r.writes), len(r.folds)) for r in found] == [(3, 1)]
    np.testing.assert_allclose(total, np.sin(x).sum(), rtol=1e-14)


def test_a_selection_does_not_write_over_what_it_selects(backend, program):
    def function(x, y):
        return tp.neg(tp.select(tp.lt(x, y), tp.sin(x), y))

    x, y = np.linspace(0, 1, 20), np.linspace(1, 0, 20)
    _, (result,) = run(backend, program(function, x, y), [x, y], tile=4, poison=True)
    np.testing.assert_array_equal(result, -np.where(x < y, np.sin(x), y))


def test_a_region_that_was_joined_still_waits_for_what_its_parts_waited_for(backend, program):
    def function(x, y, z):
        first = tp.sin(x)
        top = tp.broadcast_in_dim(tp.reduce_max(first, (0,)), x.shape, ())
        met = (tp.cos(y) * top) * tp.exp(z)
        return first + met

    x, y, z = (np.linspace(i, i + 1, 20) for i in range(3))
    _, (result,) = run(backend, program(function, x, y, z), [x, y, z], tile=4, poison=True)
    expected = np.sin(x) + np.cos(y) * np.sin(x).max() * np.exp(z)
    np.testing.assert_allclose(result, expected, rtol=1e-14)


def centred(x, also):
    """A region, the largest of its values, and a region on both; `also` is read in the second."""
    first = tp.exp(x)
    top = tp.broadcast_in_dim(tp.reduce_max(first, (0, 1)), x.shape, ())
    return (first - top) * also(first)


def test_a_region_writes_into_what_nobody_reads_again(backend, program):
    x = np.linspace(0, 1, 16).reshape(4, 4)
    made = program(lambda x: centred(x, tp.sin), x)
    found, (result,) = run(backend, made, [x], tile=2, poison=True)
    assert [len(r.reuse) for r in found] == [0, 1]
    first = np.exp(x)
    np.testing.assert_array_equal(result, (first - first.max()) * np.sin(first))


def test_a_region_does_not_write_into_what_a_view_still_reads(backend, program):
    x = np.linspace(0, 1, 16).reshape(4, 4)
    made = program(lambda x: centred(x, lambda first: tp.transpose(first, (1, 0))), x)
    found, (result,) = run(backend, made, [x], tile=2, poison=True)
    assert [len(r.reuse) for r in found] == [0, 0]
    first = np.exp(x)
    np.testing.assert_array_equal(result, (first - first.max()) * first.T)


def test_a_region_does_not_write_into_what_was_left_unexpanded(backend, program):
    """A view of a part of dead memory, which is broadcast and then read."""
    x = np.arange(1.0, 19.0).reshape(2, 3, 3)

    def function(x):
        first = tp.exp(x)
        part = tp.reshape(tp.slice(first, (0, 0, 0), (1, 1, 2)), (2,))
        return tp.sin(tp.broadcast_in_dim(part, x.shape, (0,)) * tp.transpose(x, (0, 2, 1)))

    _, (result,) = run(backend, program(function, x), [x], tile=2, poison=True)
    expected = np.sin(np.exp(x[0, 0, :2])[:, None, None] * x.transpose(0, 2, 1))
    np.testing.assert_array_equal(result, expected)


def test_a_region_does_not_write_into_inputs_or_results(backend, program, checks):
    x = np.linspace(0, 1, 16).reshape(4, 4)

    def function(x):
        first = tp.exp(x)
        top = tp.broadcast_in_dim(tp.reduce_max(first, (0, 1)), x.shape, ())
        return first, (x - top) * first

    found, results = run(backend, program(function, x), [x], tile=2, poison=True)
    assert [len(r.reuse) for r in found] == [0, 0]
    checks.assert_detached(results, [x])
    np.testing.assert_array_equal(results[0], np.exp(x))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("length", [2, 10, 256, 257])
def test_sums_of_short_rows(backend, program, dtype, length):
    """By a product where the rows are short; n·eps/2 bounds any order (Higham 2002, 4.2)."""
    x = np.random.default_rng(0).normal(size=(5000, length)).astype(dtype)
    exact = x.astype("longdouble")
    for function, terms in ((lambda x: x, exact), (lambda x: x * x, exact**2)):
        bound = (length + 2) * np.finfo(dtype).eps * np.abs(terms).sum(1)
        for operand in (x, np.asfortranarray(x)):
            made = program(lambda x, f=function: tp.reduce_sum(f(x), (1,)), operand)
            _, (result,) = run(backend, made, [operand], tile=1 << 12)
            assert np.all(np.abs(result - terms.sum(1)) <= bound)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(3000, 2), (500, 32), (400, 33), (300, 4, 5)])
def test_the_largest_of_short_rows(backend, program, dtype, shape):
    """Exact, nan included, in a line and in a region."""
    x = np.random.default_rng(0).normal(size=shape).astype(dtype)
    x[::7, 1] = np.nan
    x[::5, 0] = -np.inf
    axes = tuple(range(1, len(shape)))
    for fold, expected in ((tp.reduce_max, np.max), (tp.reduce_min, np.min)):
        for function in (lambda x: x, lambda x: x * x):
            for operand in (x, np.asfortranarray(x)):
                made = program(lambda x, f=function, g=fold: g(f(x), axes), operand)
                for options in ({"tile": 0}, {"tile": 1 << 10, "poison": True}):
                    _, (result,) = run(backend, made, [operand], **options)
                    np.testing.assert_array_equal(result, expected(function(x), axis=axes))


def test_regions_of_which_one_waits_for_another_are_not_both_joined(backend, program):
    """The mask waits for the mean of p; a·a waits for nothing, and meets both in the selection."""

    def function(a, p):
        p = p * 2
        mean = tp.broadcast_in_dim(tp.reduce_sum(p, (0,)) / 100.0, p.shape, ())
        return tp.select(tp.gt(p, mean), a * a, p)

    a, p = np.linspace(-1, 1, 100), np.linspace(0, 2, 100)
    _, (result,) = run(backend, program(function, a, p), [a, p], tile=16, poison=True)
    np.testing.assert_array_equal(result, np.where(2 * p > np.mean(2 * p), a * a, 2 * p))


def test_small_arrays_are_left_alone(backend, program):
    """Up to a tile each, and eight tiles together."""

    def few(x):
        return tp.sin(tp.exp(x))

    def many(x):
        made = [tp.exp(x)]
        for _ in range(7):
            made.append(tp.sin(made[-1]))
        return tuple(made)

    for function, size, expected in ((few, 32, 0), (few, 33, 1), (many, 32, 0), (many, 33, 1)):
        x = np.linspace(0, 1, size)
        assert len(run(backend, program(function, x), [x], tile=32)[0]) == expected
    x = np.linspace(0, 1, 16)
    made = program(lambda x: (*many(x), tp.tanh(x), *many(tp.cos(x)), *many(-x)), x)
    assert len(run(backend, made, [x], tile=32)[0]) == 1


def test_lines_in_the_place_of_a_small_region_stand_where_they_are_read(backend, program):
    """A comparison that a backward sweep reads follows what lies between, as in a region."""

    def function(x, w, ct):
        first = tp.exp(x)
        large = tp.gt(first, tp.constant(0.5, "float64", x.shape))
        second = tp.dot_general(tp.maximum(first, x), w, (1,), (0,))
        back = tp.dot_general(ct * second, w, (1,), (1,))
        return second, tp.select(large, back, tp.constant(0.0, "float64", x.shape)) * first

    rng = np.random.default_rng(0)
    x, w, ct = rng.normal(size=(3, 8, 8))
    made = program(function, x, w, ct)
    executable = backend.compile(made, made.input_avals, {"tile": 64, "threads": 1})
    assert not regions(executable)
    names = [made.instructions[line.position].operation.name for line in executable.plan.lines]
    assert names.index("gt") > max(i for i, name in enumerate(names) if name == "dot_general")
    second, last = executable(x, w, ct)
    np.testing.assert_allclose(second, np.maximum(np.exp(x), x) @ w, rtol=1e-13)
    expected = np.where(np.exp(x) > 0.5, (ct * second) @ w.T, 0.0) * np.exp(x)
    np.testing.assert_allclose(last, expected, rtol=1e-12)


def test_small_regions_that_make_the_same_value_again_stay(backend, program):
    def function(x, w):
        first = tp.exp(x)
        half, rest = first * 0.5, 1 - first
        found = []
        for _ in range(2):
            w = tp.dot_general(tp.sin(half * w + rest), w, (1,), (0,))
            found.append(w)
        return tuple(found)

    x, w = np.random.default_rng(0).normal(size=(2, 8, 8))
    made = program(function, x, w)
    executable = backend.compile(made, made.input_avals, {"tile": 64, "threads": 1, "poison": True})
    assert regions(executable)
    alone = [line.positions for line in executable.plan.lines if len(line.positions) == 1]
    assert len(set(alone)) == len(alone)
    half, rest = np.exp(x) * 0.5, 1 - np.exp(x)
    first = np.sin(half * w + rest) @ w
    results = executable(x, w)
    np.testing.assert_allclose(results[0], first, rtol=1e-12)
    np.testing.assert_allclose(results[1], np.sin(half * first + rest) @ first, rtol=1e-10)


@pytest.mark.parametrize(
    "shape, axes, inside",
    [
        ((100, 3), (1,), True),  # rows lie whole in a tile
        ((100, 3), (0,), True),  # columns go over all tiles
        ((100, 3), (0, 1), True),
        ((2, 100), (1,), False),  # rows are divided, and there are several
        ((2, 100), (0, 1), True),
    ],
)
def test_which_reductions_end_in_a_region(shape, axes, inside):
    assert can_fold(axes, shape, 16) is inside


@pytest.mark.parametrize(
    "shape, expected",
    [
        ((100,), (0, 16)),
        ((100, 3), (0, 5)),
        ((2, 100), (1, 16)),
        ((3, 4, 4), (0, 1)),
        ((5, 16, 16), (1, 1)),
    ],
)
def test_tiles_are_rows_of_the_first_axis_that_has_small_ones(shape, expected):
    assert tiled_axis(shape, 16) == expected


@pytest.mark.parametrize(
    "extent, rows, expected",
    [(10, 20, 10), (100, 40, 50), (100, 34, 25), (100, 20, 13), (1600, 100, 100), (1720, 100, 102)],
)
def test_few_parts_are_a_power_of_two(extent, rows, expected):
    assert even_rows(extent, rows) == expected


@pytest.mark.parametrize("bad", [{"tile": -1}, {"tile": 2.5}, {"threads": 0}, {"threads": True}])
def test_options_are_whole_numbers(backend, program, bad):
    made = program(lambda x: x + x, np.zeros(3))
    with pytest.raises(InvalidOptionError, match="a whole number from"):
        backend.compile(made, made.input_avals, bad)


def test_a_stencil_is_one_region_with_its_shifts(backend, program):
    """Pads and concatenations of large arrays are made a tile at a time, and most not at all."""

    def function(x, y):
        left = tp.concatenate([tp.slice(x, (1,), (100,)), tp.slice(x, (0,), (1,))], 0)
        right = tp.pad(tp.slice(x, (0,), (97,)), tp.constant(0.5, "float64"), (2,), (1,), (0,))
        return (left - y) * right, right

    x, y = np.linspace(0, 1, 100), np.linspace(1, 3, 100)
    found, (first, second) = run(backend, program(function, x, y), [x, y], tile=16, poison=True)
    assert [(len(r.moves), len(r.writes)) for r in found] == [(2, 2)]
    right = np.concatenate([[0.5, 0.5], x[:97], [0.5]])
    np.testing.assert_array_equal(second, right)
    np.testing.assert_array_equal(first, (np.roll(x, -1) - y) * right)


def test_tiles_of_padding_alone_are_one_number(backend, program):
    """Where a pad covers a tile, operations read the number; reductions and results need it all."""

    def function(x, y):
        padded = tp.pad(x, tp.constant(0.5, "float64"), (40,), (57,), (0,))
        return padded * y, tp.reduce_sum(padded, (0,)), tp.reduce_max(padded * y, (0,)), padded

    x, y = np.linspace(1, 2, 3), np.linspace(1, 3, 100)
    found, results = run(backend, program(function, x, y), [x, y], tile=16, poison=True)
    assert [(len(r.moves), len(r.writes), len(r.folds)) for r in found] == [(1, 1, 2)]
    padded = np.concatenate([np.full(40, 0.5), x, np.full(57, 0.5)])
    np.testing.assert_array_equal(results[0], padded * y)
    np.testing.assert_allclose(results[1], padded.sum(), rtol=1e-14)
    np.testing.assert_array_equal(results[2], np.max(padded * y))
    np.testing.assert_array_equal(results[3], padded)


def test_the_sum_of_a_pad_adds_what_pads(backend, program):
    def function(x, y):
        padded = tp.pad(x, tp.constant(0.5, "float64"), (40,), (57,), (0,))
        return padded * y, tp.reduce_sum(padded, (0,))

    x, y = np.linspace(1, 2, 3), np.linspace(1, 3, 100)
    _, (_, total) = run(backend, program(function, x, y), [x, y], tile=16, poison=True)
    np.testing.assert_allclose(total, x.sum() + 97 * 0.5, rtol=1e-14)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex128", "int64"])
def test_squares_are_read_once(backend, program, dtype):
    """Of floats; no number changes, also where they overflow, underflow, or are none."""

    def function(x):
        return tp.neg(x * x), tp.neg(x) * x

    x = np.arange(-50, 50).astype(dtype)
    if dtype != "int64":
        x[:5] = [np.nan, np.inf, -np.inf, np.finfo(dtype).max, np.finfo(dtype).tiny]
    found, (negative, other) = run(backend, program(function, x), [x], tile=16, poison=True)
    ufuncs = [write.function for r in found for write in r.writes]
    is_float = dtype.startswith("float")
    assert ufuncs.count(np.square) == is_float
    assert ufuncs.count(np.multiply) == 2 - is_float
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(negative, np.negative(x * x))
        np.testing.assert_array_equal(other, np.negative(x) * x)


def test_the_turns_of_a_loop_are_one_region(backend, program):
    """Also with what is written by a function made for it, as a selection is."""

    def function(u):
        for _ in range(6):
            left = tp.concatenate([tp.slice(u, (1,), (100,)), tp.slice(u, (0,), (1,))], 0)
            u = tp.select(tp.lt(left, u), left * u, u - left)
        return u

    u = np.linspace(0, 1, 100)
    found, (result,) = run(backend, program(function, u), [u], tile=16, poison=True)
    assert len(found) == 6
    assert len({id(r) for r in found}) == 1
    expected = u
    for _ in range(6):
        left = np.roll(expected, -1)
        expected = np.where(left < expected, left * expected, expected - left)
    np.testing.assert_array_equal(result, expected)


def test_regions_that_write_into_other_operands_are_not_one(backend, program):
    """The first one reads an input, the others what nobody reads again."""

    def function(x):
        for _ in range(4):
            x = centred_once(x)
        return x

    def centred_once(x):
        top = tp.broadcast_in_dim(tp.reduce_max(tp.reverse(x, (0,)), (0,)), x.shape, ())
        return (x - top) * top

    x = np.linspace(0, 1, 100)
    given = x.copy()
    found, (result,) = run(backend, program(function, x), [x], tile=16, poison=True)
    assert [len(r.reuse) for r in found] == [0, 1, 1, 1]
    assert len({id(r) for r in found}) == 2
    for _ in range(4):
        given = (given - given.max()) * given.max()
    np.testing.assert_array_equal(result, given)


def test_cheap_values_are_made_again_where_fewer_arrays_are_kept(backend, program):
    """Two residuals of a step follow from its result: one array goes from region to region."""

    def around(u):
        return tp.concatenate([tp.slice(u, (1,), (100,)), tp.slice(u, (0,), (1,))], 0)

    def function(u, ct):
        first = tp.sin(u)
        half, rest = first * 0.5, 1 - first
        second = around(first) + half * rest
        product = ct * second
        back = around(product) * half - product * rest
        return tp.reduce_sum(second, (0,)), back

    u, ct = np.linspace(0, 1, 100), np.linspace(1, 2, 100)
    found, (total, back) = run(
        backend, program(function, u, ct), [u, ct], tile=16, threads=2, poison=True
    )
    assert [len(r.arrays) for r in found] == [1, 1, 1]
    first = np.sin(u)
    half, rest = first * 0.5, 1 - first
    second = np.roll(first, -1) + half * rest
    np.testing.assert_allclose(total, second.sum(), rtol=1e-14)
    product = ct * second
    np.testing.assert_array_equal(back, np.roll(product, -1) * half - product * rest)


def test_dear_values_are_not_made_again(backend, program):
    def function(u):
        first = tp.exp(u)
        again = tp.concatenate([tp.slice(first, (1,), (100,)), tp.slice(first, (0,), (1,))], 0)
        return again + tp.sin(first) * tp.tanh(first)

    u = np.linspace(0, 1, 100)
    found, _ = run(backend, program(function, u), [u], tile=16)
    assert [len(r.arrays) for r in found] == [2, 1]


def test_a_region_does_not_write_into_what_its_shifts_read(backend, program):
    def function(x):
        u = tp.exp(x)
        for _ in range(3):
            u = tp.sin(u) + tp.concatenate([tp.slice(u, (1,), (100,)), tp.slice(u, (0,), (1,))], 0)
        return u

    x = np.linspace(0, 1, 100)
    expected = np.exp(x)
    for _ in range(3):
        expected = np.sin(expected) + np.roll(expected, -1)
    _, (result,) = run(backend, program(function, x), [x], tile=16, poison=True)
    np.testing.assert_array_equal(result, expected)


# ---- layouts -------------------------------------------------------------------------------------

LAYOUTS = {
    "C": lambda a: a,
    "Fortran": np.asfortranarray,
    "strided": lambda a: np.repeat(a, 2, axis=-1)[..., ::2],
    "reversed": lambda a: a[::-1].copy()[::-1],
    "one element": lambda a: np.broadcast_to(a.flat[0], a.shape),
    "read-only": lambda a: np.frombuffer(a.tobytes(), a.dtype).reshape(a.shape),
}


@pytest.mark.parametrize("left", LAYOUTS)
@pytest.mark.parametrize("right", LAYOUTS)
@pytest.mark.parametrize("shape", [(40,), (6, 7), (2, 3, 8)])
def test_every_layout_gives_the_same(backend, program, left, right, shape):
    rng = np.random.default_rng(0)
    x, y = LAYOUTS[left](rng.normal(size=shape)), LAYOUTS[right](rng.normal(size=shape))

    def function(x, y):
        product = tp.sin(x) * y
        return product + x, tp.reduce_sum(product, tuple(range(len(shape))))

    _, (array, total) = run(backend, program(function, x, y), [x, y], tile=5, poison=True)
    np.testing.assert_array_equal(array, np.sin(x) * y + x)
    np.testing.assert_allclose(total, np.sum(np.sin(x) * y), rtol=1e-13)


def test_an_operand_given_twice_is_no_alias_of_results(backend, program, checks):
    x = np.linspace(0, 1, 30)
    made = program(lambda x, y: (x + y, x * y), x, x)
    _, results = run(backend, made, [x, x], tile=2, poison=True)
    checks.assert_detached(results, [x])
    np.testing.assert_array_equal(results[0], 2 * x)


def test_the_number_of_threads_changes_no_bit(backend, program):
    x = np.random.default_rng(1).normal(size=(500, 40))

    def function(x):
        y = tp.exp(x) * x
        return y, tp.reduce_sum(y, (0,)), tp.reduce_sum(y, (0, 1)), tp.reduce_sum(y, (1,))

    made = program(function, x)
    runs = [run(backend, made, [x], tile=512, threads=n)[1] for n in (1, 2, 5, 5)]
    assert len({tuple(r.tobytes() for r in results) for results in runs}) == 1


def test_threads_change_no_bit_of_what_reads_another_order(backend, program):
    """One operation alone, on an array by columns: what it gives lies in one order or another."""
    x, v = np.random.default_rng(1).normal(size=(80, 60)).T, np.linspace(1, 2, 80)

    def function(x, v):
        scaled = x * tp.broadcast_in_dim(v, x.shape, (1,))
        return tp.reduce_sum(scaled, (1,)), tp.dot_general(scaled, v, (1,), (0,))

    made = program(function, x, v)
    runs = [run(backend, made, [x, v], tile=64, threads=n)[1] for n in (1, 2)]
    assert len({tuple(r.tobytes() for r in results) for results in runs}) == 1


def test_an_error_in_a_thread_reaches_the_caller(backend, program):
    x = np.zeros(5000)
    made = program(lambda x: tp.sin(x) + x, x)
    executable = backend.compile(made, made.input_avals, {"tile": 10, "threads": 2})
    (region,) = regions(executable)

    def fail(*operands):
        raise MemoryError("none left")

    region.calls = [(fail, taken) for _, taken in region.calls]
    with pytest.raises(MemoryError, match="none left"):
        executable(x)


# ---- random programs -----------------------------------------------------------------------------


@st.composite
def programs(draw):
    """A function of handles over values of one shape and of shapes that expand to it."""
    rank = draw(st.integers(0, 3))
    shape = tuple(draw(st.lists(st.integers(0, 6), min_size=rank, max_size=rank)))
    dtype = draw(st.sampled_from(DTYPES))
    inputs = []
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, rank))
        inputs.append(tuple(n if draw(st.booleans()) else 1 for n in shape[start:]))
    count = draw(st.integers(1, 14))
    choices = draw(st.lists(st.integers(0, 10**6), min_size=4 * count, max_size=4 * count))
    return shape, dtype, inputs, choices


def build(shape, choices, *xs):
    """Apply the operations that the numbers choose; results are all that nobody reads."""
    full = [expand(x, shape) for x in xs]
    values, results = list(full), []
    numbers = iter(choices)
    for kind, a, b, c in zip(numbers, numbers, numbers, numbers, strict=True):
        x, y, z = (values[-1 - i % min(len(values), 5)] for i in (a, b, c))
        is_complex, is_float = x.dtype.is_complex, x.dtype.is_float
        match kind % 9:
            case 0 | 1:
                allowed = UNARY[:4] if is_complex else UNARY if is_float else (tp.neg, tp.square)
                made = allowed[b % len(allowed)](x)
            case 2 | 3:
                allowed = BINARY[:3] if not is_float else BINARY
                made = allowed[c % len(allowed)](x, y)
            case 4:
                pred = tp.eq(x, y) if is_complex else COMPARISONS[b % 3](x, y)
                made = tp.select(pred, y, z)
            case 7 if len(shape):
                made = shifted(x, b % len(shape), c % 4, a % 2)
            case 5 if len(shape):
                axes = tuple(i for i in range(len(shape)) if b >> i & 1) or (0,)
                fold = FOLDS[c % 3] if not is_complex and 0 not in shape else tp.reduce_sum
                folded = fold(x, axes)
                results.append(folded)
                kept = [i for i in range(len(shape)) if i not in axes]
                made = tp.broadcast_in_dim(folded, shape, kept)
            case 6 if is_float and b % 3 == 0:
                made = tp.convert(tp.convert(x, "float32"), x.dtype)
            case _:
                made = x + tp.constant(2, x.dtype, shape)
        values.append(made)
    return (*results, values[-1], values[len(values) // 2])


def shifted(x, axis, by, around):
    """x moved along an axis: around the end, or with zeros for what comes in."""
    by = min(by, x.shape[axis])
    cut = [n - by * (d == axis) for d, n in enumerate(x.shape)]
    start = [n - by if d == axis else 0 for d, n in enumerate(x.shape)]
    zeros = [0] * len(x.shape)
    body = tp.slice(x, zeros, cut)
    if around:
        return tp.concatenate([tp.slice(x, start, x.shape), body], axis)
    low = [by * (d == axis) for d in range(len(cut))]
    return tp.pad(body, tp.constant(0, x.dtype), low, zeros, zeros)


def expand(x, shape):
    first = len(shape) - len(x.shape)
    return tp.broadcast_in_dim(x, shape, range(first, len(shape)))


@pytest.mark.parametrize(
    "options",
    [
        {"tile": 1, "threads": 1},
        {"tile": 5, "threads": 1},
        {"tile": 3, "threads": 3, "executor": "source"},
        {"tile": 0},
    ],
    ids=str,
)
@given(made=programs(), seed=st.integers(0, 99), layout=st.sampled_from(sorted(LAYOUTS)))
@settings(max_examples=150, deadline=None)
def test_random_programs_give_what_their_operations_give(
    backend, checks, options, made, seed, layout
):
    shape, dtype, inputs, choices = made
    rng = np.random.default_rng(seed)
    with np.errstate(all="ignore"):
        arrays = [rng.choice(VALUES, size=s).astype(dtype) for s in inputs]
    if all(all(s) and len(s) for s in inputs):
        arrays = [LAYOUTS[layout](a) for a in arrays]
    before = [a.copy() for a in arrays]
    avals = [backend.aval_of(a) for a in arrays]
    program = checks.compile_function(lambda *xs: build(shape, choices, *xs), *avals)
    expected = checks.evaluate_by_contract(backend, program, arrays)
    executable = backend.compile(program, program.input_avals, {**options, "poison": True})
    results = executable(*arrays)
    checks.assert_detached(results, arrays)
    for result, value, aval in zip(results, expected, program.output_avals, strict=True):
        assert (result.shape, result.dtype.name) == (aval.shape, aval.dtype.name)
        agree(result, np.asarray(value))
    for a, copy in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(a, copy)
    assert [r.tobytes() for r in executable(*arrays)] == [r.tobytes() for r in results]


def agree(result, value):
    """Equal but for the rounding of sums, which are taken in another order."""
    if value.dtype.kind not in "fc":
        np.testing.assert_array_equal(result, value)
        return
    parts = [(result, value)] if value.dtype.kind == "f" else [
        (result.real, value.real), (result.imag, value.imag)
    ]  # fmt: skip
    rtol = 1e-4 if value.dtype.name in ("float32", "complex64") else 1e-12
    for got, want in parts:
        np.testing.assert_allclose(got, want, rtol=rtol, atol=1e-300)
