"""Dead memory is written to again: what may be overwritten, and that nothing else ever is.

A loop of updates must not copy its array; inputs, literals, results and what the code of others has
seen must stay as they are. Random programs of updates, views and elementwise lines are compared
with their operations called one by one, in every executor.
"""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenferro import primitives as tp
from tenferro.backend import Lowerings, LoweringTable
from tenferro_numpy.backend import NumpyBackend

X = np.arange(1.0, 7.0)
EXECUTORS = [{"executor": "interpret"}, {"executor": "source"}]
DIMS = {
    "update_window_dims": (),
    "inserted_window_dims": (0,),
    "scatter_dims_to_operand_dims": (0,),
}
SCATTERS = (tp.scatter, tp.scatter_add, tp.scatter_mul, tp.scatter_max, tp.scatter_min)


def put(x, value, index):
    """x with one element replaced."""
    start = tp.constant(index, "int64", ())
    return tp.dynamic_update_slice(x, tp.reshape(value, (1,)), [start])


def lines_of(backend, made):
    options = {"tile": 0, "without": ("short_arrays",)}
    return backend.compile(made, made.input_avals, options).plan.lines


def copies(lines):
    """How many updates copy their array."""
    return sum(line.expression.update is not None for line in lines)


def in_place(lines):
    return sum(line.expression.memory_of is not None for line in lines)


# ---- updates -------------------------------------------------------------------------------------


def updates(kind, count):
    """A loop of updates of one array by elements of another."""

    def function(x, v):
        for i in range(count):
            value = tp.reshape(tp.slice(v, (i % 3,), (i % 3 + 1,)), ())
            if kind == "slice":
                x = put(x, value, i % 5)
            elif kind == "pad":
                x = x + tp.pad(
                    tp.reshape(value, (1,)), 0.0, (i % 5,), (x.shape[0] - 1 - i % 5,), (0,)
                )
            else:
                index = tp.reshape(tp.constant(i % 5, "int64", ()), (1,))
                x = kind(x, index, value, mode="drop", **DIMS)
        return x

    return function


@pytest.mark.parametrize("kind", ["slice", "pad", *SCATTERS])
def test_a_loop_of_updates_copies_its_array_once(backend, program, kind):
    for count in (5, 50):
        lines = lines_of(backend, program(updates(kind, count), X, X[:3]))
        assert copies(lines) == 1
        assert in_place(lines) == count - 1


@pytest.mark.parametrize("options", EXECUTORS)
@pytest.mark.parametrize("kind", ["slice", "pad", *SCATTERS])
def test_a_loop_of_updates_takes_memory_for_one_array(backend, program, kind, options):
    x, v = np.ones(100_000), np.array([1.0, 2.0, 3.0])
    made = program(updates(kind, 20), x, v)
    executable = backend.compile(made, made.input_avals, {**options, "tile": 0})
    executable(x, v)
    tracemalloc.start()
    (result,) = executable(x, v)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert x.nbytes <= peak < 1.2 * x.nbytes
    np.testing.assert_array_equal(x, 1.0)
    assert not np.shares_memory(result, x)


@pytest.mark.parametrize("kind", ["slice", "pad", *SCATTERS])
def test_updates_give_what_their_definitions_give(checks, backend, program, kind):
    made = program(updates(kind, 7), X, X[:3])
    expected = checks.evaluate_by_contract(backend, made, [X, X[:3]])
    for options in EXECUTORS:
        for result in (backend.compile(made, made.input_avals, options)(X, X[:3])[0],) * 2:
            np.testing.assert_array_equal(result, expected[0])


def test_an_update_of_what_is_read_later_is_a_copy(check):
    def function(x, v):
        y = x * 2.0
        z = put(y, v, 1)
        w = put(z, v, 2)
        return w + y, tp.reduce_sum(z, (0,))

    y = X * 2
    z, w = y.copy(), y.copy()
    z[1], w[1:3] = 9.0, 9.0
    check(function, [X, np.array(9.0)], (w + y, z.sum()))


def test_an_update_of_what_a_live_view_shows_is_a_copy(backend, program, check):
    def function(x, v):
        y = x * 2.0
        view = tp.reshape(tp.slice(y, (0,), (4,)), (4, 1))
        z = put(y, v, 1)
        return z, tp.sin(view)

    z = X * 2
    view = z[:4].copy()
    z[1] = 9.0
    check(function, [X, np.array(9.0)], (z, np.sin(view).reshape(4, 1)))
    assert copies(lines_of(backend, program(function, X, np.array(9.0)))) == 1


def test_an_update_by_a_view_of_itself(check):
    def function(x):
        y = x * 2.0
        moved = tp.dynamic_update_slice(y, tp.slice(y, (0,), (4,)), [1])
        return tp.dynamic_update_slice(moved, tp.reverse(tp.slice(moved, (0,), (4,)), (0,)), [2])

    y = X * 2
    moved = y.copy()
    moved[1:5] = y[:4]
    last = moved.copy()
    last[2:6] = moved[:4][::-1]
    check(function, [X], last)


def test_an_update_of_what_was_only_expanded_is_a_copy(check):
    """A large broadcast is a view in which many elements are one."""

    def function(x):
        wide = tp.broadcast_in_dim(x * 2.0, (1000, 6), (1,))
        return tp.dynamic_update_slice(wide, tp.broadcast_in_dim(x, (1, 6), (1,)), [3, 0])

    wide = np.tile(X * 2, (1000, 1))
    wide[3] = X
    check(function, [X], wide)


def test_a_scatter_of_an_array_into_itself(check):
    def function(x):
        y = x * 2.0
        places = tp.reshape(tp.reverse(tp.iota((6,), 0, "int64"), (0,)), (6, 1))
        return tp.scatter_add(y, places, y, mode="drop", **DIMS)

    check(function, [X], X * 2 + (X * 2)[::-1])


@pytest.mark.parametrize("options", EXECUTORS)
def test_inputs_and_literals_stay(backend, program, options):
    def function(x, v):
        zeros = tp.constant(0.0, "float64", (6,))
        return put(x, v, 0), put(zeros, v, 1), put(put(zeros, v, 2), v, 3)

    made = program(function, X, np.array(9.0))
    executable = backend.compile(made, made.input_avals, options)
    before = X.copy()
    first = [r.copy() for r in executable(X, np.array(9.0))]
    second = executable(X, np.array(9.0))
    np.testing.assert_array_equal(X, before)
    assert [r.tobytes() for r in first] == [r.tobytes() for r in second]
    assert [list(r) for r in first[1:]] == [[0, 9, 0, 0, 0, 0], [0, 0, 9, 9, 0, 0]]


@pytest.mark.parametrize("options", EXECUTORS)
def test_what_the_code_of_others_has_seen_stays(backend, program, options):
    """A lowering of a third party, or a callback, may keep the arrays that it was given."""
    kept = []

    def keep(op, x):
        kept.append((x, x.copy()))
        return x

    lowerings = Lowerings()
    lowerings.register(tp.Sin)(keep)
    own = NumpyBackend(backend.config)
    own.name = "numpy"
    own.lowerings = LoweringTable("numpy", [*lowerings, *_standard()])

    def function(x, v):
        y = x * 2.0
        seen = tp.sin(y)
        return tp.reduce_sum(seen, (0,)) + 0.0 * v, put(y, v, 1)

    made = program(function, X, np.array(9.0))
    for tile in (0, 2):
        own.compile(made, made.input_avals, {**options, "tile": tile})(X, np.array(9.0))
    assert len(kept) == 2
    for array, copy in kept:
        np.testing.assert_array_equal(array, copy)


def _standard():
    from tenferro_numpy.lowerings import lowerings

    return [record for record in lowerings() if record.primitive != "std::sin"]


# ---- sums with padded terms ----------------------------------------------------------------------


def second_differences(x):
    """The transpose of x[2:] − 2 x[1:-1] + x[:-2], written as it is recorded."""
    n = x.shape[0]
    terms = [
        tp.pad(x, 0.0, (2,), (0,), (0,)),
        tp.pad(-2.0 * x, 0.0, (1,), (1,), (0,)),
        tp.pad(x, 0.0, (0,), (2,), (0,)),
    ]
    assert terms[0].shape == (n + 2,)
    return terms


@pytest.mark.parametrize("order", ["left", "right", "pairs", "minus"])
def test_padded_terms_are_added_to_windows(backend, program, check, order):
    def function(x, y):
        a, b, c = second_differences(x)
        if order == "left":
            return ((y * 3.0 + a) + b) + c
        if order == "right":
            return a + (b + (c + y * 3.0))
        if order == "pairs":
            return (y * 3.0 + a) + (b + c)
        return (y * 3.0 - a) - (b + c)

    y = np.linspace(0, 1, 8)
    sign = -1 if order == "minus" else 1
    expected = y * 3
    for start, factor in ((2, 1), (1, -2), (0, 1)):
        expected[start : start + 6] += sign * factor * X
    check(function, [X, y], expected, rtol=1e-14, atol=1e-14)
    lines = lines_of(backend, program(function, X, y))
    assert in_place(lines) >= 3
    assert copies(lines) == 0
    assert len(lines) == 5


def test_padded_terms_alone(check):
    def function(x):
        a, b, c = second_differences(x)
        return (a + b) + c, a + b

    expected = np.zeros(8)
    for start, factor in ((2, 1), (1, -2)):
        expected[start : start + 6] += factor * X
    third = expected.copy()
    third[:6] += X
    check(function, [X], (third, expected), rtol=1e-14, atol=1e-14)


def test_padding_that_is_no_window_stays(check):
    """Cropped, of another value, read twice, an output, or of nothing."""

    def function(x, y):
        cropped = tp.pad(x, 0.0, (-1,), (3,), (0,))
        ones = tp.pad(x, 1.0, (1,), (1,), (0,))
        twice = tp.pad(x, 0.0, (2,), (0,), (0,))
        spread = tp.pad(tp.slice(x, (0,), (3,)), 0.0, (1,), (2,), (1,))
        nothing = tp.pad(tp.slice(x, (2,), (2,)), 0.0, (4,), (4,), (0,))
        return y + cropped, y + ones, twice + y, tp.exp(twice), y + spread, y + nothing, twice - y

    y = np.linspace(0, 1, 8)
    cropped = np.concatenate([X[1:], np.zeros(3)])
    ones = np.concatenate([[1.0], X, [1.0]])
    twice = np.concatenate([np.zeros(2), X])
    spread = np.zeros(8)
    spread[1:6:2] = X[:3]
    expected = (y + cropped, y + ones, twice + y, np.exp(twice), y + spread, y, twice - y)
    check(function, [X, y], expected, rtol=1e-15)


# ---- elementwise lines ---------------------------------------------------------------------------


@pytest.mark.parametrize("options", EXECUTORS)
def test_a_chain_of_small_arrays_needs_no_new_memory(backend, program, options):
    def function(x, a):
        for _ in range(200):
            x = tp.sin(x) * a + tp.maximum(x, a)
        return x

    made = program(function, X, X)
    lines = lines_of(backend, made)
    assert len(lines) - in_place(lines) <= 3


def test_a_concatenation_goes_where_an_array_died(backend, program, check):
    def function(x):
        for _ in range(6):
            rolled = tp.concatenate((tp.slice(x, (1,), (6,)), tp.slice(x, (0,), (1,))), 0)
            x = tp.sin(x * rolled)
        return x

    x = X
    for _ in range(6):
        x = np.sin(x * np.roll(x, -1))
    check(function, [X], x, rtol=1e-12)
    lines = lines_of(backend, program(function, X))
    joined = [line for line in lines if "concatenate" in repr(line.expression.bound)]
    assert [line.expression.memory_of is None for line in joined].count(True) <= 2


def test_a_value_that_is_kept_is_not_written_over(check):
    def function(x):
        kept = []
        for _ in range(4):
            x = tp.sin(x)
            kept.append(x)
            x = x * x
        y = x
        for value in reversed(kept):
            y = y * tp.cos(value) + value
        return y, kept[1]

    x, kept = X, []
    for _ in range(4):
        x = np.sin(x)
        kept.append(x)
        x = x * x
    y = x
    for value in reversed(kept):
        y = y * np.cos(value) + value
    check(function, [X], (y, kept[1]), rtol=1e-15)


# ---- random programs -----------------------------------------------------------------------------

SHAPE = (2, 3)
CHOICES = st.lists(st.tuples(*[st.integers(0, 30)] * 4), min_size=3, max_size=25)


def step(choice, vectors, squares, scalars):
    """One more value, made of those there are; what a choice means is its numbers' business."""
    kind, i, j, k = choice
    v, w = vectors[i % len(vectors)], vectors[j % len(vectors)]
    m, s = squares[j % len(squares)], scalars[k % len(scalars)]
    start = tp.constant(k % 7, "int64", ())
    some = tp.slice(w, (k % 3,), (k % 3 + 3,))
    index = tp.reshape(tp.constant(k % 8, "int64", ()), (1,))
    vector = [
        lambda: v + w,
        lambda: v * w,
        lambda: tp.sin(v),
        lambda: -v,
        lambda: tp.maximum(v, w),
        lambda: tp.select(tp.lt(v, w), w, v),
        lambda: tp.reverse(v, (0,)),
        lambda: tp.reshape(m, (6,)),
        lambda: tp.reshape(tp.transpose(m, (1, 0)), (6,)),
        lambda: tp.broadcast_in_dim(s, (6,), ()),
        lambda: v + tp.pad(some, 0.0, (k % 4,), (3 - k % 4,), (0,)),
        lambda: v - tp.pad(some, 0.0, (0,), (1,), (1,)),
        lambda: tp.pad(some, 0.0, (3,), (0,), (0,)) + tp.pad(some, 0.0, (1,), (2,), (0,)),
        lambda: tp.dynamic_update_slice(v, some, [start]),
        lambda: put(v, s, k % 6),
        lambda: SCATTERS[k % 5](v, index, s, mode=("drop", "clip")[k % 2], **DIMS),
        lambda: tp.concatenate((some, tp.slice(v, (0,), (3,))), 0),
    ]
    square = [
        lambda: tp.reshape(v, SHAPE),
        lambda: tp.exp(-tp.abs(m)),
        lambda: m * tp.broadcast_in_dim(some, SHAPE, (1,)),
        lambda: m + tp.reshape(v, SHAPE),
    ]
    scalar = [
        lambda: tp.reduce_sum(v, (0,)),
        lambda: tp.reshape(tp.dynamic_slice(v, [start], (1,)), ()),
        lambda: s * s,
        lambda: tp.tanh(s),
    ]
    makers = [(vectors, f) for f in vector] + [(squares, f) for f in square]
    makers += [(scalars, f) for f in scalar]
    values, make = makers[kind % len(makers)]
    values.append(make())


def random_program(choices, picks):
    def function(x, m, s):
        vectors, squares, scalars = [x, tp.constant(0.5, "float64", (6,))], [m], [s]
        for choice in choices:
            step(choice, vectors, squares, scalars)
        made = [*vectors[2:], *squares[1:], *scalars[1:]]
        some = [made[p % len(made)] for p in picks]
        return (*some, vectors[-1], squares[-1], scalars[-1])

    return function


@settings(max_examples=150, deadline=None)
@given(choices=CHOICES, picks=st.lists(st.integers(0, 30), max_size=3), seed=st.integers(0, 99))
def test_random_programs_give_what_their_operations_give(backend, checks, choices, picks, seed):
    rng = np.random.default_rng(seed)
    arrays = [rng.normal(size=6), rng.normal(size=SHAPE), np.array(rng.normal())]
    before = [a.copy() for a in arrays]
    avals = [backend.aval_of(a) for a in arrays]
    made = checks.compile_function(random_program(choices, picks), *avals)
    expected = checks.evaluate_by_contract(backend, made, arrays)
    tiled = {"tile": 2, "threads": 1, "poison": True}
    for options in (*EXECUTORS, {"debug": True}, {**tiled, "executor": "source"}):
        executable = backend.compile(made, made.input_avals, options)
        first = executable(*arrays)
        second = executable(*arrays)
        checks.assert_detached((*first, *second), arrays)
        assert [r.tobytes() for r in first] == [r.tobytes() for r in second]
        for result, value in zip(first, expected, strict=True):
            np.testing.assert_allclose(result, value, rtol=1e-9, atol=1e-9)
        for a, copy in zip(arrays, before, strict=True):
            np.testing.assert_array_equal(a, copy)


def test_a_part_of_a_result_is_copied_and_the_result_is_not(backend, program):
    """Whichever comes first: only what is all of its memory may leave without a copy."""

    def function(x):
        y = x * 2.0
        return tp.slice(y, (0,), (2,)), y, tp.reshape(y, (2, 3))

    made = program(function, X)
    plan = backend.compile(made, made.input_avals).plan
    assert [result.copied for result in plan.results] == [True, False, True]


# ---- what must not be written over ---------------------------------------------------------------


@pytest.mark.parametrize(
    "scatter, ufunc", [(tp.scatter_add, np.add), (tp.scatter_mul, np.multiply)]
)
def test_an_update_by_the_array_itself_reads_what_was_there(check, scatter, ufunc):
    """y = x; y[i₀], y[i₁], … take x₀, x₁, … as they were before the update"""
    x = np.arange(1.0, 7.0)
    where = np.array([1, 2, 3, 4, 5, 0])

    def function(x, where):
        y = x + x
        return scatter(y, tp.reshape(where, (6, 1)), y, mode="clip", **DIMS)

    expected = x + x
    ufunc.at(expected, where, x + x)
    check(function, [x, where], expected)


@pytest.mark.parametrize("low", [-1, 1, 3, -3])
def test_a_region_keeps_an_operand_that_it_also_moves(check, low):
    """z = y² + (y moved): no tile of y is written over before the move has read it"""
    x = np.arange(64.0) - 7.25

    def function(x):
        y = tp.cumsum(x, 0)
        return y * y + tp.pad(y, tp.constant(0.0, "float64", ()), (low,), (-low,), (0,))

    y = np.cumsum(x)
    moved = np.roll(y, low)
    moved[slice(low) if low > 0 else slice(low, None)] = 0.0
    check(function, [x], y * y + moved)
