"""Index arrays whose positions are evenly spaced read and write what NumPy does, as slices do."""

import numpy as np
import pytest
from against_numpy import sample

import tenferro as tn
from tenferro.arrays import PROGRAMS
from tenferro.arrays.indexing.progressions import Progression, progressions_of

N = 12
I = np.arange(N)  # noqa: E741
ROWS = np.arange(4)
VECTOR, MATRIX, CUBE = (
    sample("float64", (N,)),
    sample("float64", (N, N)),
    sample("float64", (3, 4, 5)),
)

#: an array, an index of it that is a box or a few, and whether it names a position twice
EVEN = {
    "all": (VECTOR, I, False),
    "neighbours": (VECTOR, I[:-1] + 1, False),
    "every other": (VECTOR, np.arange(0, N, 2), False),
    "every third, from 1": (VECTOR, np.arange(1, N, 3), False),
    "reversed": (VECTOR, I[::-1], False),
    "reversed, every third": (VECTOR, np.arange(N - 2, 0, -3), False),
    "from the end": (VECTOR, np.arange(-5, 0), False),
    "over the end": (VECTOR, np.arange(-1, N - 1), False),
    "around": (VECTOR, (I + 1) % N, False),
    "around, far": (VECTOR, (I + 5) % N, False),
    "held at the edge": (VECTOR, np.minimum(I + 1, N - 1), True),
    "held at both": (VECTOR, np.clip(np.arange(-1, N + 1), 0, N - 1), True),
    "one": (VECTOR, np.array([3]), False),
    "two": (VECTOR, np.array([3, 9]), False),
    "two, turned": (VECTOR, np.array([9, 3]), False),
    "of rank 2": (VECTOR, np.arange(8).reshape(2, 4) + 2, False),
    "a mask": (VECTOR, I < 7, False),
    "int8": (VECTOR, np.arange(2, 9).astype("int8"), False),
    "uint64": (VECTOR, np.arange(2, 9).astype("uint64"), False),
    "a list": (VECTOR, [4, 5, 6, 7], False),
    "rows": (MATRIX, ROWS + 2, False),
    "columns": (MATRIX, (slice(None), ROWS + 2), False),
    "columns of a row": (MATRIX, (3, ROWS + 2), False),
    "rows of a column": (MATRIX, (ROWS + 2, 3), False),
    "columns around": (MATRIX, (slice(1, 5), (I - 1) % N), False),
    "a grid": (MATRIX, np.ix_(ROWS + 1, np.arange(0, N, 2)), False),
    "a grid, turned": (MATRIX, np.ix_(ROWS[::-1], ROWS + 3), False),
    "a grid, written out": (MATRIX, tuple(np.indices((4, 6))), False),
    "a diagonal": (MATRIX, (I, I), False),
    "above it": (MATRIX, (I[:-2], I[:-2] + 2), False),
    "below it": (MATRIX, (I[1:], I[:-1]), False),
    "the other": (MATRIX, (I, I[::-1]), False),
    "every other of it": (MATRIX, (I[::2], I[::2]), False),
    "its mask": (MATRIX, np.eye(N, dtype=bool), False),
    "of rank 3": (CUBE, (slice(None), ROWS, ROWS + 1), False),
    "of three axes": (CUBE, (ROWS[:3], ROWS[:3], ROWS[:3]), False),
    "of the first axes": (CUBE, (ROWS[:3], ROWS[:3]), False),
    "a new axis": (CUBE, (None, ROWS[:2], ..., slice(1, 3)), False),
    "a part of a column": (CUBE, (slice(1, 3), ROWS[1:], slice(None, None, -1)), False),
}
#: diagonals, of which only whole main ones are written through a mask
SCATTERED = {"above it", "below it", "the other", "every other of it", "of rank 3", "of three axes"}
IDS = {"argvalues": EVEN.values(), "ids": EVEN.keys()}
GATHERS = {"std::gather", "std::scatter", "std::scatter_add", "std::scatter_mul"}


def operations(function, *operands):
    graph = tn.jit(function).lower(*[tn.Aval(x.shape, x.dtype.name) for x in operands])
    return {node[0].key for node in graph.nodes}


def forms(index):
    """The index with NumPy's arrays, and with ours."""
    given = index if isinstance(index, tuple) else (index,)
    return index, tuple([tn.asarray(e) if isinstance(e, np.ndarray) else e for e in given])


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128", "int64", "bool"])
@pytest.mark.parametrize("x, index, repeats", **IDS)
def test_reads_are_those_of_numpy(x, index, repeats, dtype):
    x = (10 * x).astype(dtype)
    for form in forms(index):
        for run in (lambda f: f, tn.jit):
            got = np.asarray(run(lambda y, form=form: y[form])(tn.asarray(x)))
            assert got.dtype == x.dtype
            np.testing.assert_array_equal(got, x[index])


@pytest.mark.parametrize("name", EVEN)
def test_neither_gathers_nor_scatters_are_recorded(name):
    x, index, _ = EVEN[name]
    v = x[index]
    for function in (lambda x, v: x[index], tn.grad(lambda x, v: np.sum(x[index] * v))):
        assert not operations(function, x, v) & GATHERS
    for function in (
        lambda x, v: tn.asarray(x).at[index].add(v),
        lambda x, v: tn.asarray(x).at[index].set(v),
        tn.grad(lambda x, v: np.sum(tn.asarray(x).at[index].set(v) ** 2), argnums=(0, 1)),
    ):
        assert bool(operations(function, x, v) & GATHERS) == (name in SCATTERED)


@pytest.mark.parametrize("transform", [lambda f: f, tn.jit], ids=["plain", "jit"])
@pytest.mark.parametrize("x, index, repeats", **IDS)
def test_derivatives_go_back_to_where_elements_came_from(x, index, repeats, transform):
    v = np.arange(1.0, 1 + x[index].size).reshape(x[index].shape)

    def f(x):
        return np.sum(v * x[index] ** 3)

    gradient, twice = np.zeros_like(x), np.zeros_like(x)
    np.add.at(gradient, index, 3 * v * x[index] ** 2)
    np.add.at(twice, index, 6 * v * x[index])
    np.testing.assert_allclose(transform(tn.grad(f))(x), gradient, rtol=1e-13)
    second = transform(lambda x: tn.jvp(tn.grad(f), (x,), (np.ones_like(x),))[1])
    np.testing.assert_allclose(second(x), twice, rtol=1e-13)


@pytest.mark.parametrize("transform", [lambda f: f, tn.jit], ids=["plain", "jit"])
@pytest.mark.parametrize("x, index, repeats", **IDS)
def test_writes_are_those_of_numpy(x, index, repeats, transform):
    v = np.arange(1.0, 1 + x[index].size).reshape(x[index].shape)
    put, summed, scaled, least = (x.copy() for _ in range(4))
    put[index] = v
    np.add.at(summed, index, v)
    np.multiply.at(scaled, index, v)
    np.minimum.at(least, index, v / 20)
    for want, how in [
        (put, lambda x, v: tn.asarray(x).at[index].set(v)),
        (summed, lambda x, v: tn.asarray(x).at[index].add(v)),
        (scaled, lambda x, v: tn.asarray(x).at[index].multiply(v)),
        (least, lambda x, v: tn.asarray(x).at[index].min(v / 20)),
    ]:
        np.testing.assert_allclose(transform(how)(x, v), want, rtol=1e-14)


@pytest.mark.parametrize("name", ["set", "add", "multiply"])
@pytest.mark.parametrize("x, index, repeats", **IDS)
def test_derivatives_of_writes_agree_with_differences(x, index, repeats, name):
    v = np.linspace(0.5, 1.5, x[index].size).reshape(x[index].shape)
    write = tn.jit(lambda x, v: getattr(tn.asarray(x).at[index], name)(v) ** 2)
    tn.check_grads(write, (x, v), order=2 if x.ndim == 1 else 1)


@pytest.mark.parametrize("transform", [lambda f: f, tn.jit], ids=["plain", "jit"])
def test_what_is_not_added_to_keeps_its_sign(transform):
    x = np.full(N, -0.0)
    for index in (I[1:5], slice(1, 5), slice(None, None, 2), (I + 1) % N):
        found = transform(
            lambda x, index=index: tn.asarray(x).at[index].add(np.full(x[index].shape, -0.0))
        )
        assert np.signbit(np.asarray(found(x))).all()
    complex_ = transform(lambda x: tn.asarray(x).at[I[1:5]].add(1.0))(x + 0j * -1)
    np.testing.assert_array_equal(
        np.signbit(np.asarray(complex_).real)[5:], np.signbit((x + 0j * -1).real)[5:]
    )


@pytest.mark.parametrize("x, index, repeats", **IDS)
def test_batches_and_bodies_of_loops(x, index, repeats):
    many = np.stack([x, 2 * x, x**2])
    want = np.stack([each[index] for each in many])
    np.testing.assert_array_equal(tn.jit(tn.vmap(lambda x: x[index]))(many), want)
    if isinstance(index, np.ndarray) and index.dtype == bool:
        return
    total = np.sum(want, axis=0)
    start = np.zeros_like(total)
    looped = tn.jit(lambda many: tn.scan(lambda c, x: (c + x[index], None), start, many)[0])
    np.testing.assert_allclose(looped(many), total, rtol=1e-14)
    gradient = tn.grad(lambda many: np.sum(looped(many) ** 2))(many)
    np.testing.assert_allclose(
        gradient, tn.vmap(tn.grad(lambda x: np.sum(2 * total * x[index])))(many), rtol=1e-12
    )


OTHERS = {
    "random": np.array([5, 1, 8, 2, 11, 0, 7, 4, 3]),
    "one twice": np.array([1, 1, 1, 1]),
    "a square": np.arange(3) ** 2,
    "windows": np.arange(4)[:, None] + np.arange(3),
    "many pieces": np.arange(24) % 3,
    "nothing": np.zeros(0, int),
}


@pytest.mark.parametrize("index", OTHERS.values(), ids=OTHERS)
def test_other_positions_are_gathered_as_before(index):
    for run in (lambda f: f, tn.jit):
        np.testing.assert_array_equal(run(lambda x: x[index])(VECTOR), VECTOR[index])
    if index.size:
        assert "std::gather" in operations(lambda x: x[index], VECTOR)


def test_what_is_outside_is_refused_as_before():
    for index in (np.arange(N) + 1, np.arange(-N - 1, 0), (I, I + 1)):
        x = MATRIX if isinstance(index, tuple) else VECTOR
        for run in (lambda f: f, tn.jit):
            with pytest.raises(tn.OutOfBoundsError):
                run(lambda x, index=index: x[index])(tn.asarray(x))
    empty = tn.zeros((0, 3))
    assert empty[np.zeros(0, int)].shape == (0, 3)
    with pytest.raises(tn.OutOfBoundsError):
        empty[np.arange(1)]


def test_positions_with_a_mode_may_lie_outside():
    x = tn.asarray(VECTOR)
    want = VECTOR.copy()
    want[2:] += 1
    np.testing.assert_array_equal(x.at[I + 2].add(1.0, mode="drop"), want)
    np.testing.assert_array_equal(x.at[I + 2].get(mode="clip"), VECTOR.take(I + 2, mode="clip"))


def test_an_unjitted_loop_compiles_one_program_whatever_positions_it_reads():
    """Under ``jit``, which records once, positions are part of the program; elsewhere, data"""
    x = tn.asarray(np.arange(40.0))

    def read(at):
        found = np.asarray(np.sin(x[at]) + 0.25 * x.at[at].add(1.5)[at])
        np.testing.assert_allclose(found, np.sin(at) + 0.25 * (at + 1.5))

    read(np.arange(9))
    before = PROGRAMS.stats.misses
    for at in (np.arange(3, 12), np.arange(31, 40), np.arange(9)[::-1], np.arange(9) ** 2 % 40):
        if len({*at.tolist()}) == 9:
            read(at)
    assert PROGRAMS.stats.misses == before


@pytest.mark.parametrize(
    "positions, most, want",
    [
        ([4], 1, [(4, 1, 1)]),
        ([4, 5, 6], 1, [(4, 3, 1)]),
        ([6, 4, 2, 0], 1, [(6, 4, -2)]),
        ([0, 1, 3], 1, None),
        ([1, 2, 3, 4, 5, 0], 2, [(1, 5, 1), (0, 1, 1)]),
        ([1, 2, 3, 4, 5, 0], 1, None),
        ([0, 0, 1, 2, 3, 3], 3, [(0, 1, 1), (0, 4, 1), (3, 1, 1)]),
        ([5, 4, 3, 2, 1, 9], 2, [(5, 5, -1), (9, 1, 1)]),
        ([3, 3, 3, 3], 4, None),
    ],
    ids=str,
)
def test_progressions(positions, most, want):
    """Positions as (start, count, step) of at most so many progressions, or None"""
    found = progressions_of(np.array(positions), most)
    assert found == (None if want is None else [Progression(*each) for each in want])


def test_the_array_may_change_after_it_was_recorded():
    """As for every index under ``jit``, positions are read when the function is recorded"""
    index = np.arange(5)
    function = tn.jit(lambda x: x[index])
    np.testing.assert_array_equal(function(VECTOR), VECTOR[:5])
    index += 1
    np.testing.assert_array_equal(function(VECTOR), VECTOR[:5])
