"""Blocks of rows in a loop of XLA: what runs in them, and that results are those of formulas.

The cache is tiny here, so that arrays of 60 rows are divided; 7 rows or so make a block, and some
are left. Which parts of a program act on rows is core's choice, which the NumPy backend tests.
"""

import os
import re

import jax
import numpy as np
import pytest

import tenferro as tn
from tenferro import primitives as tp
from tenferro.backend.row_blocks import find_row_blocks
from tenferro.computegraph import compile_program
from tenferro_xla import _row_blocks
from tenferro_xla._loop_constants import with_broadcasts_in_loops
from tenferro_xla._row_blocks import RowBlockLoop

ROWS, CACHE = 60, 4096
BLOCK = re.compile(r"equations run \d+ of \d+ rows at a time")
TINY, NO_BLOCKS = {"cache_bytes": CACHE}, {"cache_bytes": 0}


@pytest.fixture(scope="module")
def programs(backend_with, programs_on):
    """Programs for a cache of 4,096 bytes; an array of 60 rows of 10 float64 has 4,800."""
    return programs_on(backend_with(options={"cache_bytes": CACHE}))


def blocks_of(executable):
    operations = [node.operation for node in executable.program.nodes]
    return [op for op in operations if isinstance(op, RowBlockLoop)]


def samples(*shape, dtype="float64", seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=shape)
    return (x + 1j * rng.normal(size=shape) if "complex" in dtype else x).astype(dtype)


def softened(scores, axis=1):
    """Three times the softmax along an axis: between them stand reductions of rows."""
    kept = [i for i in range(scores.ndim) if i != axis]
    for _ in range(3):
        top = tp.broadcast_in_dim(tp.reduce_max(scores, (axis,)), scores.shape, kept)
        e = tp.exp((scores - top) * 3.0)
        scores = e / tp.broadcast_in_dim(tp.reduce_sum(e, (axis,)), scores.shape, kept)
    return scores


def softened_of(x, axis=1):
    for _ in range(3):
        e = np.exp((x - x.max(axis=axis, keepdims=True)) * 3)
        x = e / e.sum(axis=axis, keepdims=True)
    return x


def chained(x, w):
    """Products by rows with sines between them, real or complex."""
    for _ in range(3):
        x = tp.sin(tp.dot_general(x, w, (1,), (0,)))
    return x


def chained_of(x, w):
    for _ in range(3):
        x = np.sin(x @ w)
    return x


PROGRAMS = {
    "rows": (softened, softened_of, [samples(ROWS, 10)], (1, 0)),
    "columns": (
        lambda x: softened(x, 0),
        lambda x: softened_of(x, 0),
        [samples(10, ROWS)],
        (1, 0),
    ),
    "single precision": (softened, softened_of, [samples(ROWS, 20, dtype="float32")], (1, 0)),
    "a prime number of rows": (softened, softened_of, [samples(61, 10)], (1, 0)),
    "sums and extrema of rows": (
        lambda x: (
            tp.reduce_sum(softened(x), (0,)),
            tp.reduce_max(softened(x), (0,)),
            tp.reduce_min(softened(x), (0, 1)),
        ),
        lambda x: (
            softened_of(x).sum(0),
            softened_of(x).max(0),
            softened_of(x).min(),
        ),
        [samples(ROWS, 10)],
        (0, 3),
    ),
    "products over rows": (
        lambda x, w: tp.dot_general(softened(tp.dot_general(x, w, (1,), (0,))), x, (0,), (0,)),
        lambda x, w: softened_of(x @ w).T @ x,
        [samples(ROWS, 4), samples(4, 10, seed=1)],
        (0, 1),
    ),
    "complex numbers": (
        lambda x, w: tp.reduce_sum(chained(x, w), (0,)),
        lambda x, w: chained_of(x, w).sum(0),
        [samples(200, 5, dtype="complex128") / 4, samples(5, 5, dtype="complex128") / 4],
        (0, 1),
    ),
    "truth": (
        lambda x: tp.reduce_max(tp.gt(softened(x), tp.constant(0.3, "float64", x.shape)), (0,)),
        lambda x: (softened_of(x) > 0.3).max(0),
        [samples(ROWS, 10)],
        (0, 1),
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_results_are_those_of_the_formula(programs, name):
    function, formula, arrays, (stacked, joined) = PROGRAMS[name]
    executable = programs.compile(function, *[tp.Aval(x.shape, x.dtype.name) for x in arrays])
    (block,) = blocks_of(executable)
    assert (len(block.stacked), len(block.joined)) == (stacked, joined)
    assert block.extent > 2 * block.rows
    results, expected = executable(*arrays), formula(*arrays)
    tolerance = 2e-5 if arrays[0].dtype == np.float32 else 1e-11
    for got, value in zip(results, expected if len(results) > 1 else [expected], strict=True):
        assert got.dtype == value.dtype
        np.testing.assert_allclose(got, value, rtol=tolerance, atol=tolerance)


def test_nan_and_infinities_of_one_row_reach_what_is_joined(programs):
    """The sum and both extrema, wherever the row is; infinity times 0 is nan."""

    def function(x, w):
        for _ in range(6):
            x = tp.dot_general(x, w, (1,), (0,))
        return [reduce(x, (0,)) for reduce in (tp.reduce_sum, tp.reduce_max, tp.reduce_min)]

    plain, w = samples(200, 5), np.eye(5)
    executable = programs.compile(function, *[tp.Aval(a.shape, "float64") for a in (plain, w)])
    assert blocks_of(executable)
    for value in (1.0, np.nan, np.inf, -np.inf):
        for row in (0, 100, 199):
            x = plain.copy()
            x[row, 3] = value
            with np.errstate(invalid="ignore"):
                y = x @ w @ w
            expected = y.sum(0), y.max(0), y.min(0)
            for got, want in zip(executable(x, w), expected, strict=True):
                np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-13)


def test_extrema_of_infinities_are_infinite(programs):
    """Nothing else is in the rows: what the first block is joined with must not show."""

    def function(x):
        for _ in range(3):
            x = tp.maximum(x, tp.broadcast_in_dim(tp.reduce_min(x, (1,)), x.shape, (0,)))
        return tp.reduce_max(x, (0,)), tp.reduce_min(x, (0,))

    for value in (np.inf, -np.inf):
        x = np.full((ROWS, 20), value)
        executable = programs.compile(function, tp.Aval(x.shape, "float64"))
        assert blocks_of(executable)
        assert all((np.asarray(result) == value).all() for result in executable(x))


def test_a_program_without_gain_or_with_callbacks_is_as_it_was(programs):
    printed = []

    def noisy(x):
        tp.debug_callback(lambda x: printed.append(x.shape), x)
        seen = tp.host_callback(lambda x: x, [tp.Aval(x.shape, "float64")], x)
        return softened(seen[0] if isinstance(seen, (tuple, list)) else seen)

    aval = tp.Aval((ROWS, 10), "float64")
    assert blocks_of(programs.compile(softened, aval))
    assert not blocks_of(programs.compile(noisy, aval))
    assert not blocks_of(programs.compile(softened, tp.Aval((4, 4), "float64")))
    assert not blocks_of(programs.compile(softened, tp.Aval((0, 10), "float64")))


def test_values_that_two_results_need_are_in_blocks(programs):
    """XLA would write out both factors, their product and the square, to read them again.

    Regions with several results would not, nor does XLA where only one result is asked for.
    """

    def loss_and_slope(x):
        square = x * x
        t, e = tp.tanh(x), tp.exp(-square)
        total = tp.reduce_sum(t * e + tp.log1p(square), (0,))
        return total, (1.0 - t * t) * e + x * (t * e) + x / (square + 1.0)

    aval = tp.Aval((3000,), "float64")
    x = samples(3000)
    square, t, e = x * x, np.tanh(x), np.exp(-x * x)
    executable = programs.compile(loss_and_slope, aval)
    assert len(blocks_of(executable)) == 1
    assert not find_row_blocks(executable._whole, CACHE)
    assert not blocks_of(programs.compile(lambda x: loss_and_slope(x)[1], aval))
    total, slope = map(np.asarray, executable(x))
    np.testing.assert_allclose(total, np.sum(t * e + np.log1p(square)), rtol=1e-13)
    np.testing.assert_allclose(
        slope, (1 - t * t) * e + x * t * e + x / (square + 1), rtol=1e-12, atol=1e-15
    )


def test_a_loop_that_saves_little_is_not_made(programs):
    """Core finds a block in both; where the arrays are small, a larger cache holds the rest."""
    for rows, count in ((24, 0), (ROWS, 1)):
        executable = programs.compile(softened, tp.Aval((rows, 10), "float64"))
        assert find_row_blocks(executable._whole, CACHE)
        assert len(blocks_of(executable)) == count


def test_operands_that_each_block_reads_whole_are_counted(programs):
    """Every block reads all weights of layers; where they are wide, that is more than it saves."""

    def layers(x, *weights):
        hidden = [x]
        for w in weights:
            hidden.append(tp.tanh(tp.dot_general(hidden[-1], w, (1,), (0,))))
        for w, h in zip(weights[::-1], hidden[::-1], strict=False):  # all of them wait for this
            x = tp.tanh(tp.dot_general(x * h, w, (1,), (1,)))
        return tp.reduce_sum(x, (1,))

    for rows, width, count in ((200, 20, 0), (800, 5, 1)):
        shapes = (rows, width), *[(width, width)] * 16
        avals = [tp.Aval(shape, "float64") for shape in shapes]
        executable = programs.compile(layers, *avals, cache_bytes=1 << 15)
        assert len(blocks_of(executable)) == count


@pytest.mark.parametrize(
    "shape, count",
    [((50, 100, 1), 0), ((50, 1, 100), 1), ((50, 400, 1), 1), ((1, 400, 10), 1)],
    ids=["many products", "rows last", "from far memory", "one product"],
)
def test_calls_that_each_block_makes_again_are_counted(programs, shape, count):
    """A product per example, with little for each to do, costs more than a near cache does."""
    axis = 1 if shape[1] == 1 else 2  # of what is contracted

    def chained(x, w):
        for _ in range(3):
            y = tp.dot_general(x, w, (axis,), (1,), (0,), (0,))
            y = tp.sin(y if axis == 2 else tp.transpose(y, (0, 2, 1)))
            x = y / tp.broadcast_in_dim(tp.reduce_sum(y, (0,)), y.shape, (1, 2))
        return x

    avals = [tp.Aval(s, "float64") for s in (shape, (shape[0], shape[axis], shape[axis]))]
    executable = programs.compile(chained, *avals, cache_bytes=1 << 15)
    assert len(blocks_of(executable)) == count


@pytest.mark.parametrize("processors", [1, None, 4])
def test_systems_without_affinity_count_processors(monkeypatch, processors):
    """A system that does not tell their number has one."""
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: processors)
    assert _row_blocks.cache_of_processors() == (processors or 1) << 21


# ---- what users write ----------------------------------------------------------------------------


def loss(w, x):
    """The sum of the logarithms of sums of exponentials; its gradient is xᵀ p, p the softmax."""
    scores = x @ w
    top = scores.max(axis=1, keepdims=True)
    return np.sum(np.log(np.sum(np.exp(scores - top), axis=1)) + top[:, 0])


def softmax(scores):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def pushed(p, t):
    """The derivative of the softmax p in the direction t of its scores."""
    return p * (t - (p * t).sum(axis=-1, keepdims=True))


def test_gradients_products_with_the_hessian_and_batches():
    x, w, v = samples(200, 3), samples(3, 7, seed=1), samples(3, 7, seed=2)
    p = softmax(x @ w)
    gradient = tn.jit(tn.grad(loss), backend="xla", options=TINY)
    assert "of 200 rows at a time" in gradient.explain(w, x)
    np.testing.assert_allclose(gradient(w, x), x.T @ p, rtol=1e-11)

    def along(w, v, x):
        return np.sum(tn.grad(loss)(w, x) * v)

    product = tn.jit(tn.grad(along), backend="xla", options=TINY)
    np.testing.assert_allclose(product(w, v, x), x.T @ pushed(p, x @ v), rtol=1e-11, atol=1e-12)
    many = tn.jit(tn.vmap(tn.grad(loss), in_axes=(0, None)), backend="xla", options=TINY)
    both = np.stack([x.T @ p, x.T @ softmax(x @ v)])
    np.testing.assert_allclose(many(np.stack([w, v]), x), both, rtol=1e-11)


def test_donated_operands_and_numbers_beside_blocks():
    x = samples(200, 10)
    step = tn.jit(
        lambda w, x, rate: w - rate * tn.grad(loss)(w, x),
        backend="xla",
        donate_argnums=0,
        options=TINY,
    )
    w = samples(10, 4)
    expected = w - 0.5 * x.T @ softmax(x @ w)
    np.testing.assert_allclose(step(w, x, 0.5), expected, rtol=1e-11)


# ---- with and without blocks ---------------------------------------------------------------------


def attention(q, k):
    return np.sum(softmax(np.tanh(q @ k)) * np.tanh(q @ k))


def layers(w, x):
    for _ in range(2):
        x = np.tanh(x @ w)
        x = x / (1 + np.sum(x * x, axis=-1, keepdims=True))
    return np.sum(x * x)


def waves(w, x):
    """Real, of complex numbers."""
    for _ in range(2):
        x = np.sin(x @ w)
        x = x / (1 + np.sum(np.abs(x) ** 2, axis=-1, keepdims=True))
    return np.sum(np.abs(x) ** 2)


def in_a_loop(w, x):
    def step(total, _):
        return total + layers(w, x + total), None

    return tn.scan(step, np.sum(x) * 0, None, length=2)[0]


def in_a_branch(w, x):
    def step(total, _):
        added = tn.cond(np.sum(total) > -1, lambda t: layers(w, x + t), lambda t: t, total)
        return total + added, None

    return tn.scan(step, np.sum(x) * 0, None, length=2)[0]


def in_a_while(w, x):
    return tn.while_loop(lambda t: t < 1e3, lambda t: t + layers(w, x + t), np.sum(x) * 0)


def along(function):
    """The derivative along ones of the gradient's sum, by reverse mode once more."""
    return tn.grad(lambda w, x: np.sum(tn.grad(function)(w, x)))


def real_along(function):
    return tn.grad(lambda w, x: np.sum(np.abs(tn.grad(function)(w, x)) ** 2))


def batched(function):
    return tn.vmap(tn.grad(function), in_axes=(None, 0))


def jitted_inside(function):
    inner = tn.jit(function, options=NO_BLOCKS)
    return tn.value_and_grad(lambda w, x: 2 * inner(w, x) + inner(w, x))


W, X = samples(6, 6), samples(800, 6, seed=1)
#: name: loss, transform, parameters, rows, number of blocks (None: some)
WITH_AND_WITHOUT = {
    "value": (layers, lambda f: f, W, X, None),
    "gradient": (layers, tn.grad, W, X, None),
    "by rows": (layers, lambda f: tn.grad(f, 1), W, X, None),
    "attention": (attention, lambda f: tn.value_and_grad(f, (0, 1)), X, samples(6, 9), None),
    "second order": (layers, along, W, X, None),
    "third order": (layers, lambda f: along(lambda w, x: np.sum(tn.grad(f)(w, x))), W, X, None),
    "forward over reverse": (
        layers, lambda f: lambda w, x: tn.jvp(lambda w: tn.grad(f)(w, x), (w,), (w,)), W, X, None,
    ),
    "float32": (layers, tn.grad, W.astype("f4"), X.astype("f4"), None),
    "complex": (waves, tn.grad, samples(6, 6, dtype="c16") / 4, samples(800, 6, dtype="c16"), None),
    "complex, second order": (
        waves, real_along, samples(6, 6, dtype="c16") / 4, samples(800, 6, dtype="c16"), None,
    ),
    "vmap": (layers, batched, W, samples(3, 800, 6), None),
    "jit of jit": (layers, jitted_inside, W, X, None),
    "in a scan": (in_a_loop, lambda f: f, W, X, None),
    "in a scan that stores its rows": (in_a_loop, tn.value_and_grad, W, X, 0),
    "in a branch in a scan": (in_a_branch, tn.value_and_grad, W, X, None),
    "in a loop with a condition": (in_a_while, lambda f: f, W, X, None),
    "a prime number of rows": (layers, tn.grad, W, samples(811, 6), None),
    "no rows": (layers, tn.value_and_grad, W, samples(0, 6), 0),
    "one row": (layers, tn.value_and_grad, W, samples(1, 6), 0),
}  # fmt: skip


@pytest.mark.parametrize("name", WITH_AND_WITHOUT)
def test_blocks_change_no_value_and_no_derivative(name):
    loss, transform, w, x, blocks = WITH_AND_WITHOUT[name]
    tiny = tn.jit(transform(loss), backend="xla", options={"cache_bytes": 1 << 15})
    whole = tn.jit(transform(loss), backend="xla", options=NO_BLOCKS)
    counts = [len(BLOCK.findall(f.explain(w, x))) for f in (tiny, whole)]
    assert counts == [blocks, 0] or (blocks is None and counts[0] > counts[1] == 0)
    tolerance = 1e-4 if w.dtype == np.float32 else 1e-11
    for got, want in zip(leaves(tiny(w, x)), leaves(whole(w, x)), strict=True):
        assert got.dtype == want.dtype
        assert got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


def test_a_loop_writes_out_no_broadcast_of_what_it_reads():
    """A row is read by every step: 8 numbers for each of 32 centres, and not 256 of each row."""
    x, w = samples(4000, 8), samples(32, 8, seed=1)

    def distances(w):
        return np.sum(np.sqrt(1 + np.sum((x[:, None, :] - w[None]) ** 2, axis=2)))

    def descended(w):
        return tn.scan(lambda w, _: (w - 1e-4 * tn.grad(distances)(w), None), w, None, length=3)[0]

    def until(w):
        return tn.while_loop(
            lambda c: c[1] < 3, lambda c: (c[0] - 1e-4 * tn.grad(distances)(c[0]), c[1] + 1), (w, 0)
        )[0]

    expected = w
    for _ in range(3):
        away = expected[None] - x[:, None, :]
        expected = expected - 1e-4 * np.sum(away / np.sqrt(1 + (away**2).sum(2))[..., None], axis=0)
    whole = 0.5 if jax.__version_info__ >= (0, 10) else 1.25  # older XLA writes the difference out
    for function in (descended, until):
        jitted = tn.jit(function, backend="xla")
        (row,) = [line for line in jitted.explain(w).splitlines() if "temporary bytes" in line]
        assert int(row.split()[-1]) < x.nbytes * 32 * whole
        np.testing.assert_allclose(jitted(w), expected, rtol=1e-11)


def test_a_loop_is_given_no_array_of_equal_numbers():
    """Those of a constant, and of a number that is broadcast: the body makes them"""
    x, w = samples(4000, 8), samples(32, 8, seed=1)

    def step(w, half):
        return np.sum(np.tanh(x @ w.T) * 0.5 + half, axis=0)[:, None] * w / 1e3

    def looped(w, half):
        ended = tn.scan(lambda w, _: (step(w, half), None), w, None, length=2)[0]
        return tn.while_loop(lambda w: np.sum(w) > 1e9, lambda w: step(w, half), ended)

    jitted = tn.jit(looped, backend="xla")
    program = with_broadcasts_in_loops(compile_program(jitted.lower(w, 0.25)))
    loops = [n for n in program.nodes if n.operation.name in ("scan", "while_loop")]
    assert len(loops) == 2
    for node in loops:
        read = [program.avals[slot].size for slot in node.inputs]
        assert max(read) == x.size
        assert len(node.operation.bodies[-1][1].input_avals) == len(read)
    expected = w
    for _ in range(2):
        expected = np.sum(np.tanh(x @ expected.T) * 0.5 + 0.25, axis=0)[:, None] * expected / 1e3
    np.testing.assert_allclose(jitted(w, 0.25), expected, rtol=1e-11)


def leaves(tree):
    return [x for part in tree for x in leaves(part)] if isinstance(tree, tuple) else [tree]


def test_a_cache_of_no_bytes_makes_no_blocks(programs):
    """The option of a compilation wins over that of the configuration."""
    aval = tp.Aval((ROWS, 10), "float64")
    assert blocks_of(programs.compile(softened, aval))
    assert not blocks_of(programs.compile(softened, aval, cache_bytes=0))
