"""Reads of parts and updates of the whole, in any order: which copies are made, and the numbers."""

import numpy as np
import pytest

import tenferro as tn
from tenferro import primitives as tp
from tenferro_numpy.plan_passes import early_reads

X = np.arange(1.0, 13.0)
TWO = np.array([20.0, 30.0])
PLACE = np.array(4)


def part(x, start, size=2):
    return tp.dynamic_slice(x, [start], (size,))


def put(x, start, value):
    return tp.dynamic_update_slice(x, value, [start])


def read_behind(y, v, at):
    z = put(y, at, v)
    return z, tp.neg(part(y, at))


def view_in_use(y, v, at):
    old = part(y, at)
    z = put(y, at, v)
    return z, tp.neg(old)


def view_read_at_once_and_later(y, v, at):
    old = part(y, at)
    z = put(y, at, old * v)
    return z, tp.neg(old)


def static_part(y, v, at):
    z = put(y, at, v)
    return z, tp.neg(tp.slice(y, (4,), (6,)))


def two_parts(y, v, at):
    z = put(y, at, v)
    return z, part(y, at) + part(y, tp.constant(0, "int64", ()))


def place_from_the_part(y, v, at):
    first = tp.convert(tp.reshape(part(y, at, 1), ()), "int64")
    z = put(y, tp.sub(first, tp.constant(8, "int64", ())), v)
    return z, tp.neg(part(y, at))


def place_from_the_result(y, v, at):
    z = put(y, at, v)
    found = tp.convert(tp.reshape(tp.slice(z, (0,), (1,)), ()), "int64")
    return z, tp.neg(part(y, found))


def large_part(y, v, at):
    z = put(y, at, v)
    return z, tp.neg(part(y, at, 8))


def whole_read_behind(y, v, at):
    z = put(y, at, v)
    return z, tp.neg(y)


def updated(at=4, value=TWO):
    z = 2 * X
    z[at : at + 2] = value
    return z


OLD = 2 * X[4:6]
#: by program: the results where y = 2 x, and how many updates copy their array
PROGRAMS = {
    read_behind: ((updated(), -OLD), 0),
    view_in_use: ((updated(), -OLD), 0),
    view_read_at_once_and_later: ((updated(value=OLD * TWO), -OLD), 0),
    static_part: ((updated(), -OLD), 0),
    two_parts: ((updated(), OLD + 2 * X[:2]), 0),
    place_from_the_part: ((updated(2), -OLD), 0),
    place_from_the_result: ((updated(), -2 * X[2:4]), 1),  # known only after the update
    large_part: ((updated(), -2 * X[4:12]), 1),  # a copy of it costs as much as one of the whole
    whole_read_behind: ((updated(), -2 * X), 1),
}


def of_new_memory(function):
    return lambda x, v, at: function(x * 2.0, v, at)


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128"])
@pytest.mark.parametrize("function", PROGRAMS)
def test_parts_keep_the_values_before_the_update(check, function, dtype):
    given = [X.astype(dtype), TWO.astype(dtype), PLACE]
    expected = tuple([y.astype(dtype) for y in PROGRAMS[function][0]])
    check(of_new_memory(function), given, expected)


@pytest.mark.parametrize("function", PROGRAMS)
def test_an_update_copies_only_where_a_part_cannot_come_first(backend, program, function):
    made = program(of_new_memory(function), X, TWO, PLACE)
    lines = backend.compile(made, made.input_avals, {"tile": 0}).plan.lines
    copies = sum(line.expression.update is not None for line in lines)
    assert copies == PROGRAMS[function][1]


def test_an_input_is_copied(backend, program):
    made = program(read_behind, X, TWO, PLACE)
    given = X.copy()
    z, old = backend.compile(made, made.input_avals, {})(given, TWO, PLACE)
    np.testing.assert_array_equal(given, X)
    np.testing.assert_array_equal(old, -X[4:6])
    assert z[4] == 20.0


def filled(columns, x):
    """Return sums of squares of a buffer that is filled column by column."""
    buffer = tn.zeros((len(x), columns), dtype=x.dtype)
    for k in range(columns):
        buffer[:, k] = np.sin(x * (k + 1.0))
    return np.sum(np.abs(buffer) ** 2)


def gradient_of_filled(columns, x):
    return sum(2 * (k + 1) * np.sin(x * (k + 1)) * np.cos(x * (k + 1)) for k in range(columns))


@pytest.mark.parametrize("length", [5, 1])
def test_the_gradient_of_a_filled_buffer(length):
    x = np.linspace(0.1, 1.2, length)
    for run in (tn.grad, lambda f: tn.jit(tn.grad(f), backend="numpy")):
        f = run(lambda x: filled(6, x))
        for _ in range(2):
            np.testing.assert_allclose(f(x), gradient_of_filled(6, x), rtol=1e-12)
    second = tn.hvp(lambda x: filled(6, x))(x, np.ones(length))
    expected = sum(2 * (k + 1) ** 2 * np.cos(2 * x * (k + 1)) for k in range(6))
    np.testing.assert_allclose(second, expected, rtol=1e-10, atol=1e-12)


def test_the_gradient_of_a_filled_buffer_copies_parts_alone(monkeypatch):
    """Un-jitted, the number of a column is an input; each cotangent is overwritten in place."""
    plans = []
    monkeypatch.setattr(early_reads, "_moved", kept_in(plans, early_reads._moved))
    tn.grad(lambda x: filled(7, x))(np.linspace(0.0, 1.0, 11))
    assert [max(map(len, before.values())) for _, before in plans] == [1]
    assert len(plans[0][1]) >= 6


def kept_in(calls, function):
    def call(*given):
        calls.append(given)
        return function(*given)

    return call
