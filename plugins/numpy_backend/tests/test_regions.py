"""Regions: which steps fuse, which may write over what, and which are made again.

Tiles are tiny here and every buffer is poisoned before it is written, so that an element which
nobody writes, or which is read after its buffer was taken again, shows in the results.
"""

import numpy as np
import pytest
from region_programs import regions, run

from tenferro import primitives as tp
from tenferro_numpy import backend as numpy_backend
from tenferro_numpy.kernels import lines as kernel_lines
from tenferro_numpy.machine import tile_size


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


def test_a_sign_does_not_write_over_its_operand(backend, program):
    """`np.sign` branches for each element there, and is vectorized elsewhere."""

    def function(x, y):
        return tp.sign(x * y) * 3.0, tp.sign(tp.sin(y))

    x, y = np.array([-1.0, 0.0, np.nan, 2.0] * 5), np.array([1.0, -1.0, 1.0, -2.0] * 5)
    for tile in (0, 4, 64):
        made = program(function, x, y)
        executable = backend.compile(made, made.input_avals, {"tile": tile})
        for found, expected in zip(executable(x, y), function_in_numpy(x, y), strict=True):
            np.testing.assert_array_equal(found, expected)
        lines = [line for line in executable.plan.lines if np.sign in line.expression.bound]
        assert all(line.operands.count(line.operands[0]) == 1 for line in lines)
        signs = [(r, w) for r in regions(executable) for w in r.writes if w.function is np.sign]
        assert len(lines) + len(signs) == 2
        for region, write in signs:
            place = region.reuse.get(write.out - region.operand_count)
            assert not {write.out, place} & set(write.operands)


def function_in_numpy(x, y):
    return np.sign(x * y) * 3.0, np.sign(np.sin(y))


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


def test_regions_that_differ_in_their_reduction_alone_are_two(backend, program):
    """s = Σ tanh(c x) comes before max tanh(s y), which has the same lines."""

    def both(x, y, c):
        def part(x, factor):
            return tp.tanh(x * tp.broadcast_in_dim(factor, x.shape, ()))

        total = tp.reduce_sum(part(x, c), (0,))
        return total, tp.reduce_max(part(y, total), (0,))

    x, y, c = np.linspace(-1.0, 2.0, 100), np.linspace(-2.0, 1.0, 100), np.array(0.3)
    made = program(both, x, y, c)
    found, (total, most) = run(backend, made, [x, y, c], tile=16, poison=True)
    assert [r.arrays for r in found] == [(), ()]
    np.testing.assert_allclose(total, np.sum(np.tanh(0.3 * x)), rtol=1e-13)
    np.testing.assert_allclose(most, np.max(np.tanh(total * y)), rtol=1e-13)


@pytest.mark.parametrize("kind", ["read-only", "one row"])
def test_a_region_writes_only_into_memory_that_it_may_write_to(backend, program, kind):
    """A plan takes the memory of a dead operand, for which a lowering may have given a view."""

    def function(x):
        y = tp.broadcast_in_dim(tp.reduce_max(x, (0,)), x.shape, (1,))
        return tp.exp(y) * y + tp.sin(y)

    x = np.linspace(-1.0, 0.5, 144).reshape(12, 12)
    (region,), _ = run(backend, program(function, x), [x], tile=16, poison=True)
    assert region.reuse == {0: 0}
    given = x if kind == "read-only" else x[:1].copy()
    given.flags.writeable = kind != "read-only"
    whole = np.broadcast_to(given, x.shape).copy()
    np.testing.assert_allclose(region(given), np.exp(whole) * whole + np.sin(whole), rtol=1e-14)
    np.testing.assert_array_equal(given, whole[: len(given)])


@pytest.mark.parametrize("kept, most", [(True, 6 << 12), (False, 1 << 13)], ids=["kept", "new"])
def test_lines_that_stay_in_half_of_the_cache_are_left_alone(
    backend, program, monkeypatch, kept, most
):
    """Two arrays of six tiles in half of 24; 64 KiB each where freed arrays go to the system."""
    tile = (1 << 12) if kept else (1 << 20)
    monkeypatch.setattr(numpy_backend, "largest_tile", lambda: tile)
    monkeypatch.setattr(tile_size, "largest_tile", lambda: tile)
    monkeypatch.setattr(tile_size, "cache_of_core", lambda: 24 * 8 * tile)
    monkeypatch.setattr(kernel_lines, "are_freed_arrays_kept", lambda: kept)
    for size in (most, most + 1):
        x = np.linspace(0, 1, size)
        found, _ = run(backend, program(lambda x: (tp.exp(x), tp.sin(tp.exp(x))), x), [x])
        assert len(found) == (size > most)


def test_a_region_that_pads_is_kept_however_small(backend, program, monkeypatch):
    """It reads the zeros from one number; a line would make an array of them."""
    tile = 1 << 12
    monkeypatch.setattr(numpy_backend, "largest_tile", lambda: tile)
    monkeypatch.setattr(tile_size, "largest_tile", lambda: tile)
    x, zero = np.linspace(0, 1, 2 * tile), tp.constant(0.0, "float64")
    for function, count in (
        (lambda x: tp.exp(tp.sin(x)), 0),
        (lambda x: tp.exp(tp.sin(tp.pad(x, zero, (1,), (1,), (0,)))), 1),
    ):
        found, _ = run(backend, program(function, x), [x])
        assert len(found) == count


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
