"""What a region computes, tile by tile: reductions, pads, layouts of operands, threads.

Tiles are tiny here and every buffer is poisoned before it is written, so that an element which
nobody writes, or which is read after its buffer was taken again, shows in the results.
"""

import numpy as np
import pytest
from region_programs import LAYOUTS, regions, run

from tenferro import primitives as tp
from tenferro.backend import InvalidOptionError
from tenferro.backend.row_blocks import even_rows
from tenferro_numpy.kernels.region import _has_rows
from tenferro_numpy.kernels.tile_reductions import can_fold
from tenferro_numpy.machine.tile_size import tiled_axis


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

    x = np.arange(-100, 100).astype(dtype)
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


SQUARE = np.arange(64.0).reshape(8, 8)


@pytest.mark.parametrize(
    "operand, is_in_one_tile",
    [
        (SQUARE, True),
        (SQUARE[1:, :-1], True),
        (SQUARE[::2], True),
        (SQUARE.T, False),
        (SQUARE[:, ::2], False),
        (SQUARE[::-1], False),
        (SQUARE[:, ::-1], False),
        (np.broadcast_to(SQUARE[0], (8, 8)), False),
        (np.broadcast_to(SQUARE[:, :1], (8, 8)), False),
    ],
    ids=["C", "cut", "rows", "F", "columns", "rows back", "columns back", "one row", "one column"],
)
def test_rows_with_gaps_are_done_in_one_tile(operand, is_in_one_tile):
    assert _has_rows(operand) is is_in_one_tile


def test_rows_with_gaps_give_the_bits_of_those_without(backend, program):
    whole = np.random.default_rng(0).normal(size=(97, 96))
    cut = whole[1:, :-1]

    def function(x):
        y = tp.sqrt(tp.exp(x * x) + x * x)
        return y, tp.reduce_sum(y, (0, 1)), tp.reduce_sum(y, (1,))

    made = program(function, cut)
    _, found = run(backend, made, [cut], tile=1 << 14, poison=True)
    _, wanted = run(backend, made, [cut.copy()], tile=1 << 14, poison=True)
    for x, y in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(x, y)


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
