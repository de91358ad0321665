"""Row blocks: what runs in them, and that random programs give what they give whole.

Caches are tiny here (64 bytes for each element of a tile), and every buffer is poisoned before it
is written.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenferro import primitives as tp
from tenferro.backend.row_blocks import find
from tenferro_numpy.execution.codegen_chunks import FILENAME
from tenferro_numpy.row_blocks import RowBlockLoop

ROWS, TILE = 60, 64  # a cache of 4,096 bytes; arrays of 60 rows of 10 float64 are 4,800


def blocks(executable):
    bound = [line.expression.bound for line in executable.plan.lines]
    return [b[0] for b in bound if b and isinstance(b[0], RowBlockLoop)]


def run(backend, program, arrays, **options):
    given_options = {"threads": 1, "tile": TILE, "poison": True, **options}
    executable = backend.compile(program, program.input_avals, given_options)
    return blocks(executable), executable(*arrays)


def softened(scores):
    """Three times the softmax of each row: between them stand reductions of rows."""
    for _ in range(3):
        top = tp.broadcast_in_dim(tp.reduce_max(scores, (1,)), scores.shape, (0,))
        e = tp.exp((scores - top) * 3.0)
        scores = e / tp.broadcast_in_dim(tp.reduce_sum(e, (1,)), scores.shape, (0,))
    return scores


def samples(columns=10, rows=ROWS):
    return np.random.default_rng(0).normal(size=(rows, columns))


def softened_of(x):
    for _ in range(3):
        e = np.exp((x - x.max(axis=1, keepdims=True)) * 3.0)
        x = e / e.sum(axis=1, keepdims=True)
    return x


# ---- what runs in blocks -------------------------------------------------------------------------


def test_the_rows_of_a_softmax_are_one_block(backend, program):
    x = samples()
    found, (result,) = run(backend, program(softened, x), [x])
    assert [(b.extent, len(b.stacked), len(b.joined)) for b in found] == [(ROWS, 1, 0)]
    np.testing.assert_allclose(result, softened_of(x), rtol=1e-12)


def test_rows_lie_along_the_axis_that_saves_most(backend, program):
    """Products [60, 50, 2] could run along 50, which more bytes have; softmaxes before cannot"""

    def products(x, w, y):
        z = tp.broadcast_in_dim(softened(x), (ROWS, 50, 2), (0, 1))
        moved = tp.dot_general(z, w, (2,), (1,), (1,), (0,))
        again = tp.dot_general(moved, w, (2,), (1,), (0,), (0,))
        return tp.reduce_sum(again * again, (1, 2)), tp.reduce_sum(tp.exp(y), (1, 2))

    rng = np.random.default_rng(1)
    x, w, y = samples(50), rng.normal(size=(50, 2, 2)), rng.normal(size=(50, 20, 20))
    given_program = program(products, x, w, y)
    found, (result, sums) = run(backend, given_program, [x, w, y], tile=8 * TILE)
    assert [b.extent for b in found] == [ROWS]
    moved = np.einsum("nk,kij,kjl->nkl", softened_of(x), w, w)
    np.testing.assert_allclose(result, (moved**2).sum(axis=(0, 2)), rtol=1e-12)
    np.testing.assert_allclose(sums, np.exp(y).sum(axis=(1, 2)), rtol=1e-12)


def test_products_and_sums_over_rows_are_in_the_block(backend, program):
    """What a gradient of a loss over samples does: only sums leave the block."""

    def function(x, w):
        scores = tp.dot_general(x, w, (1,), (1,))
        p = softened(scores)
        value = tp.reduce_sum(tp.log(p), (0, 1))
        return value, tp.dot_general(p, x, (0,), (0,)), tp.reduce_max(p, (0,))

    x, w = samples(4), samples(4, rows=5)
    found, (value, gradient, largest) = run(backend, program(function, x, w), [x, w])
    assert [(len(b.stacked), len(b.joined)) for b in found] == [(0, 3)]
    p = softened_of(x @ w.T)
    np.testing.assert_allclose(value, np.sum(np.log(p)), rtol=1e-12)
    np.testing.assert_allclose(gradient, p.T @ x, rtol=1e-12)
    np.testing.assert_allclose(largest, p.max(axis=0), rtol=1e-12)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_rows_may_lie_along_any_axis(backend, program, axis):
    """Scores by samples in columns, in rows, and as a batch of products in between."""

    def function(x, w):
        if axis == 2:  # [3, 5, ROWS]
            scores = tp.dot_general(w, x, (2,), (1,), (0,), (0,))
        elif axis == 1:  # [3, ROWS, 5]
            scores = tp.dot_general(x, w, (1,), (2,), (0,), (0,))
        else:  # [ROWS, 3, 5]
            scores = tp.transpose(tp.dot_general(x, w, (1,), (2,), (0,), (0,)), (1, 0, 2))
        over = 1 if axis == 2 else 2
        kept = [i for i in range(3) if i != over]
        for _ in range(3):
            top = tp.broadcast_in_dim(tp.reduce_max(scores, (over,)), scores.shape, kept)
            e = tp.exp((scores - top) * 3.0)
            scores = e / tp.broadcast_in_dim(tp.reduce_sum(e, (over,)), scores.shape, kept)
        return tp.reduce_sum(tp.log(scores), (axis,)), tp.reduce_max(scores, (0, 1, 2))

    x = np.random.default_rng(1).normal(size=(3, 4, ROWS))
    w = np.random.default_rng(2).normal(size=(3, 5, 4))
    found, (logs, largest) = run(backend, program(function, x, w), [x, w])
    assert [(b.extent, len(b.stacked), len(b.joined)) for b in found] == [(ROWS, 0, 2)]
    p = np.stack([softened_of(each) for each in np.swapaxes(w @ x, 1, 2)])  # [3, ROWS, 5]
    logarithms = np.log(p).sum(1)
    np.testing.assert_allclose(largest, p.max(), rtol=1e-12)
    np.testing.assert_allclose(logs, logarithms, rtol=1e-11)


def test_what_follows_from_a_sum_is_the_next_block(backend, program):
    """Rows minus their mean need all rows first."""

    def function(x):
        p = softened(x)
        mean = tp.reduce_sum(p, (0,)) * (1 / ROWS)
        return softened(p - tp.broadcast_in_dim(mean, p.shape, (1,)))

    x = samples()
    found, (result,) = run(backend, program(function, x), [x])
    assert [(len(b.stacked), len(b.joined)) for b in found] == [(1, 1), (1, 0)]
    p = softened_of(x)
    np.testing.assert_allclose(result, softened_of(p - p.mean(axis=0)), rtol=1e-12)


def test_one_array_may_be_read_by_rows_and_whole(backend, program):
    def function(x):
        return softened(tp.dot_general(x, x, (1,), (1,)))

    x = samples(1, rows=16)
    found, (result,) = run(backend, program(function, x), [x], tile=64)
    (block,) = found
    assert block.by_rows == 1
    np.testing.assert_allclose(result, softened_of(x @ x.T), rtol=1e-12)


def test_batches_of_matrices_are_rows(backend, program):
    def function(x, y):
        z = tp.dot_general(x, y, (2,), (1,), (0,), (0,))
        return tp.reduce_sum(tp.dot_general(tp.sin(z), x, (2,), (1,), (0,), (0,)), (1, 2))

    x, y = samples(9).reshape(ROWS, 3, 3), samples(9).reshape(ROWS, 3, 3)
    found, (result,) = run(backend, program(function, x, y), [x, y])
    assert len(found) == 1
    np.testing.assert_allclose(result, (np.sin(x @ y) @ x).sum((1, 2)), rtol=1e-12, atol=1e-14)


def test_what_needs_all_rows_of_a_value_waits_for_it(backend, program):
    """The block that makes a column cannot read all of it."""

    def function(x, v):
        column = tp.tanh(tp.dot_general(x, v, (1,), (0,)))
        return softened(tp.dot_general(column, column, (1,), (1,))), softened(
            tp.broadcast_in_dim(column, x.shape, (0, 1)) * x
        )

    x, v = samples(), samples(1, rows=10)
    _, (first, second) = run(backend, program(function, x, v), [x, v], tile=512)
    column = np.tanh(x @ v)
    np.testing.assert_allclose(first, softened_of(column @ column.T), rtol=1e-12)
    np.testing.assert_allclose(second, softened_of(column * x), rtol=1e-12)


def test_the_other_axis_of_a_square_is_no_row(backend, program):
    def function(x):
        p = softened(x)
        t = tp.transpose(p, (1, 0))
        return softened(t - p), tp.dot_general(t, p, (1,), (1,))

    x = samples(40, rows=40)
    found, results = run(backend, program(function, x), [x], tile=384)
    assert found
    p = softened_of(x)
    for result, value in zip(results, (softened_of(p.T - p), p.T @ p.T), strict=True):
        np.testing.assert_allclose(result, value, rtol=1e-12)


def test_another_batch_axis_is_no_row(backend, program):
    def function(x):
        inner = tp.dot_general(x, x, (2,), (2,), (1,), (1,))
        return tp.reduce_sum(tp.exp(inner) * inner, (1, 2)), tp.reduce_sum(inner, (2,))

    x = samples(32, rows=32).reshape(32, 32, 1) / 9
    _, results = run(backend, program(function, x), [x], tile=5000)
    inner = np.einsum("ijk,ljk->jil", x, x)
    for result, value in zip(
        results, (np.sum(np.exp(inner) * inner, axis=(1, 2)), inner.sum(axis=2)), strict=True
    ):
        np.testing.assert_allclose(result, value, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(
    "name, function",
    [
        ("one region", lambda x: tp.reduce_sum(tp.exp(x) * x, (1,))),
        ("a product alone", lambda x: tp.dot_general(x, tp.reduce_sum(x, (0,)), (1,), (0,))),
        ("integers", lambda x: softened(tp.convert(tp.convert(x, "int64"), "float64"))),
    ],
)
def test_what_gains_nothing_is_not_divided(backend, program, name, function):
    """Integers may raise, so they stay outside: the rest of that program is one block."""
    x = samples()
    found, _ = run(backend, program(function, x), [x])
    assert len(found) == (name == "integers")


def test_what_others_read_is_no_gain(backend, program):
    """A block that gives nearly all that it makes would copy it, and save nothing."""

    def function(x, w):
        y = tp.dot_general(x, w, (1,), (0,))
        z = tp.dot_general(tp.sin(y), w, (1,), (0,))
        return y, z, tp.exp(z)

    x, w = samples(), samples(10, rows=10)
    assert run(backend, program(function, x, w), [x, w], tile=128)[0] == []


def test_large_partial_sums_are_not_made_once_per_block(backend, program):
    """Layers whose gradients are as large as their activations: b blocks write them b times."""
    layers = 10

    def gradients(x, *weights):
        hidden = [x]
        for w in weights:
            hidden.append(tp.tanh(tp.dot_general(hidden[-1], w, (1,), (0,))))
        ct, found = hidden[-1], []
        for w, h, y in zip(weights[::-1], hidden[-2::-1], hidden[:0:-1], strict=True):
            inner = ct * (1.0 - y * y)
            found.append(tp.dot_general(h, inner, (0,), (0,)))
            ct = tp.dot_general(inner, w, (1,), (1,))
        return tuple(found)

    rng = np.random.default_rng(0)
    for size, count in ((10, 0), (4, 1)):
        arrays = [rng.normal(size=(50 * ROWS, size)), *rng.normal(size=(layers, size, size))]
        found, _ = run(backend, program(gradients, *arrays), arrays, tile=2 * TILE)
        assert len(found) == count


def test_few_rows_and_small_arrays_are_not_divided(backend, program):
    small = samples(10)
    assert run(backend, program(softened, small), [small], tile=4096)[0] == []
    long = samples(2000, rows=9)
    assert run(backend, program(softened, long), [long])[0] == []
    assert run(backend, program(softened, small), [small], tile=0)[0] == []
    assert run(backend, program(softened, small), [small], debug=True)[0] == []


def test_blocks_of_two_extents_do_not_wait_for_each_other(backend, program):
    """Each needs a mean of the other before its second half."""

    def second_half(p, mean):
        return tp.reduce_sum(softened(p - tp.broadcast_in_dim(mean, p.shape, (1,))), (0,))

    def function(x, y):
        p, q = softened(x), softened(y)
        means = [tp.reduce_sum(a, (0,)) * (1.0 / a.shape[0]) for a in (p, q)]
        return second_half(p, means[1]), second_half(q, means[0])

    x, y = samples(), samples(rows=50)
    _, results = run(backend, program(function, x, y), [x, y])
    p, q = softened_of(x), softened_of(y)
    expected = softened_of(p - q.mean(axis=0)), softened_of(q - p.mean(axis=0))
    for result, value in zip(results, expected, strict=True):
        np.testing.assert_allclose(result, value.sum(axis=0), rtol=1e-12)


def test_rows_follow_from_what_is_alive_not_from_the_length(backend, program):
    def function(times):
        def repeated(x):
            for _ in range(times):
                x = softened(x)
            return x

        return repeated

    x = samples()
    rows = [run(backend, program(function(n), x), [x])[0][0].rows for n in (1, 10)]
    assert rows[0] == rows[1]


def test_views_for_others_stay_with_them(backend, program):
    """What only a later block reads is made there, not given as an array of its own."""

    def function(x, a):
        for i in range(3):
            p = softened(x * tp.broadcast_in_dim(a * (1.0 + i), x.shape, ()))
            mean = tp.broadcast_in_dim(tp.reduce_sum(p, (0,)), p.shape, (1,))
            x = p - mean * 0.01
        return tp.reduce_sum(x, (0,))

    x, a = samples(), np.array(2.0)
    found, _ = run(backend, program(function, x, a), [x, a])
    assert [len(b.stacked) for b in found] == [1, 1, 1]


def test_what_is_no_gain_hides_no_block_behind_it(backend, program):
    def function(x):
        total = tp.reduce_sum(x, (0, 1))
        return softened(x * tp.broadcast_in_dim(total, x.shape, ()))

    x = samples() / 99
    found, (result,) = run(backend, program(function, x), [x])
    assert len(found) == 1
    np.testing.assert_allclose(result, softened_of(x * x.sum()), rtol=1e-12)


@pytest.mark.parametrize(
    "cache, tile, rows",
    [
        (2048, 0, 4),
        (4096, 0, 8),
        (4096, 1024, 8),
        (4096, 3072, 15),
        (4096, 4096, 30),
        (8192, 8192, 30),
        (1 << 15, 1 << 15, 0),
    ],
)
def test_a_tile_takes_the_bytes_that_it_may_take(program, cache, tile, rows):
    """60 rows of 160 bytes in a power of two of tiles: at least two if halves of the cache do."""
    found = find.find_row_blocks(program(softened, samples()), cache, tile=tile)
    assert [block.rows for block in found] == [rows] * bool(rows)


@pytest.mark.parametrize("links", [20, 60])
def test_a_chain_of_products_is_not_searched_link_by_link(program, monkeypatch, links):
    """The number of searches does not grow with the chain."""

    def chain(x, a):
        for _ in range(links):  # contracts the rows, so that each link ends a block of the last one
            x = tp.dot_general(x, a, (0,), (0,))
        return x

    searches = []
    search = find._Search
    monkeypatch.setattr(find, "_Search", lambda *args: searches.append(1) or search(*args))
    x = samples(columns=ROWS)
    assert not find.find_row_blocks(program(chain, x, x), 1 << 18)
    assert 1 <= len(searches) <= 4


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
def test_arrays_without_elements(backend, program, shape):
    def function(x):
        e = tp.exp(x)
        return e - tp.broadcast_in_dim(tp.reduce_sum(e, (1,)), shape, (0,))

    x = np.zeros(shape)
    assert run(backend, program(function, x), [x])[1][0].shape == shape


def test_the_report_names_the_row_blocks(backend, program):
    x = samples()
    made = program(softened, x)
    executable = backend.compile(made, made.input_avals, {"threads": 1, "tile": TILE})
    (block,) = blocks(executable)
    text = executable.explain()
    assert f"{ROWS} rows in {-(-ROWS // block.rows)} tiles of {block.rows}, gives 1 arrays" in text
    assert "= exp %" in text.rpartition("tiles of")[2]


# ---- how they run --------------------------------------------------------------------------------


def test_the_number_of_threads_changes_no_bit(backend, program):
    def function(x):
        p = softened(x)
        return p, tp.reduce_sum(p, (0,)), tp.reduce_sum(p * x, (0, 1))

    x = samples(rows=1000)
    made = program(function, x)
    runs = [run(backend, made, [x], threads=n)[1] for n in (1, 2, 5, 5)]
    assert len({tuple(r.tobytes() for r in results) for results in runs}) == 1


def test_many_runs_compile_the_source_and_give_the_same(backend, program):
    x = samples(rows=61)
    made = program(softened, x)
    executable = backend.compile(made, made.input_avals, {"threads": 1, "tile": TILE})
    results = {executable(x)[0].tobytes() for _ in range(100)}
    assert len(results) == 1


def test_operands_of_every_layout(backend, program):
    def function(x, w):
        return softened(tp.dot_general(x, w, (1,), (0,)))

    x, w = samples(4), samples(10, rows=4)
    _, (expected,) = run(backend, program(function, x, w), [x, w])
    for left in (np.asfortranarray(x), np.repeat(x, 2, axis=0)[::2], x[::-1].copy()[::-1]):
        for right in (np.asfortranarray(w), np.repeat(w, 2, axis=1)[:, ::2]):
            _, (result,) = run(backend, program(function, x, w), [left, right])
            np.testing.assert_allclose(result, expected, rtol=1e-12)


@pytest.mark.parametrize("executor", ["interpret", "source"])
def test_an_error_in_a_block_names_its_equation(backend, program, executor):
    """Not the one whose line has the number of the block's own generated line."""
    x = samples()
    made = program(lambda x: softened(tp.reverse(tp.reverse(x, (1,)), (0,))), x)
    options = {"threads": 1, "tile": TILE, "executor": executor}
    executable = backend.compile(made, made.input_avals, options)
    (block,) = blocks(executable)
    names = {}
    source = "def fail(*operands):\n\n    raise MemoryError('none left')"
    exec(compile(source, FILENAME, "exec"), names)
    block.runs = dict.fromkeys(block.runs, names["fail"])
    for _ in range(2):
        with pytest.raises(MemoryError, match="none left") as caught:
            executable(x)
        (note,) = [note for note in caught.value.__notes__ if "equation" in note]
        assert "= reduce_max" in note


# ---- random programs -----------------------------------------------------------------------------

UNARY = (tp.neg, tp.sin, tp.tanh, tp.square)


def _spread(x, like, axis=0):
    return tp.broadcast_in_dim(x, like.shape, (axis,))


def _turned(x):
    matrices = tp.reshape(x, (x.shape[0], 2, 3))
    return tp.reshape(tp.transpose(matrices, (0, 2, 1)), x.shape)


def _shifted(x, sums):
    if not sums:
        return x
    row = tp.reduce_sum(sums[-1], (0,)) if sums[-1].ndim > 1 else sums[-1]
    return x + _spread(row, x, 1)


def _columns(x):
    return tp.transpose(x, (1, 0))


def _scaled_columns(x, y):
    """Samples stand in columns: each is scaled by a sum of its own."""
    columns = _columns(x)
    return _columns(columns * _spread(tp.reduce_sum(_columns(y), (0,)), columns, 1))


STEPS = (  # of two arrays, the weights, and the sums over all rows so far
    lambda a, b, w, sums: UNARY[len(sums) % 4](a),
    lambda a, b, w, sums: a * b - a,
    lambda a, b, w, sums: tp.dot_general(a, w, (1,), (0,)),
    lambda a, b, w, sums: a * _spread(tp.reduce_sum(b, (1,)), a),
    lambda a, b, w, sums: _shifted(a, sums),
    lambda a, b, w, sums: tp.reverse(a, (0,)),
    lambda a, b, w, sums: _turned(b),
    lambda a, b, w, sums: _scaled_columns(a, b),
    lambda a, b, w, sums: _columns(tp.dot_general(w, _columns(a), (0,), (0,))),
    lambda a, b, w, sums: a - _spread(tp.reduce_max(tp.real(b), (1,)), a),
    lambda a, b, w, sums: tp.select(tp.lt(a, b), a, a * 0.0),
)
SUMS = (
    lambda a, b: tp.dot_general(a, b, (0,), (0,)),
    lambda a, b: tp.reduce_sum(a, (0,)),
    lambda a, b: tp.reduce_sum(_columns(a) * _columns(b), (1,)),
)


@st.composite
def programs(draw):
    """A function of samples and weights, made of what acts on rows and what does not."""
    dtype = draw(st.sampled_from(("float64", "float32", "complex128")))
    allowed = len(STEPS) - 2 * (dtype == "complex128")
    step = st.tuples(st.integers(0, allowed + 1), st.integers(0, 99), st.integers(0, 99))
    choices = draw(st.lists(step, max_size=14))

    def function(x, w):
        pool, sums = [x], []
        for kind, i, j in choices:
            a, b = pool[i % len(pool)], pool[j % len(pool)]
            if kind < 2:
                sums.append(SUMS[kind](a, b))
            else:
                pool.append(STEPS[kind - 2](a, b, w, sums))
        return (*pool[-2:], *sums, tp.reduce_sum(pool[-1], (0, 1)))

    return function, dtype, draw(st.integers(40, 70))


@settings(max_examples=150, deadline=None)
@given(made=programs(), threads=st.integers(1, 3))
def test_random_programs_give_what_they_give_whole(backend, checks, made, threads):
    function, dtype, rows = made
    rng = np.random.default_rng(0)
    x = (rng.normal(size=(rows, 6)) / 3).astype(dtype)
    w = (rng.normal(size=(6, 6)) / 3).astype(dtype)
    compiled = checks.compile_function(function, backend.aval_of(x), backend.aval_of(w))
    _, expected = run(backend, compiled, [x, w], tile=0)
    _, results = run(backend, compiled, [x, w], threads=threads)
    tight = 2e-4 if dtype == "float32" else 1e-11
    for result, value in zip(results, expected, strict=True):
        assert result.dtype == value.dtype
        scale = np.max(np.abs(value), initial=1.0)
        if np.isfinite(scale):
            np.testing.assert_allclose(result, value, rtol=tight, atol=tight * scale)
