"""Donated arrays of CuPy: results take their memory, and reading them again is an error."""

import numpy as np
import pytest

import tenferro as tn
from tenferro.backend import InvalidOptionError

X = np.linspace(0.1, 2, 6000).reshape(3, 2000)  # not a chain
Y = np.cos(X)


def array(backend, x):
    return backend.asoperand(x, tn.Aval(x.shape, x.dtype.name))


def leaves(values):
    if isinstance(values, (tuple, list)):
        return [leaf for value in values for leaf in leaves(value)]
    return [getattr(values, "operand", values)]


TAKE = {  # with the number of the result that lies in the memory of `x`
    "elementwise": (lambda x, y: x * 2.0 + y, 0),
    "with a sum": (lambda x, y: (np.sum(x * y), x - y), 1),
    "a gradient": (lambda x, y: x - tn.grad(lambda x: np.sum(np.sin(x) * y))(x), 0),
    "after a product": (lambda x, y: np.sin(x - (x @ y.T) @ y), 0),
    "read before": (lambda x, y: np.exp(np.cos(x @ y.T) @ y) + 1.0, 0),
    "float32": (lambda x, y: x.astype(np.float32) * 2 + x, 0),
    "vmap": (lambda x, y: tn.vmap(lambda a, b: a * np.sin(b))(x, y), 0),
}
LEAVE = {
    "another shape": lambda x, y: np.sum(np.sin(x) * y, axis=0),
    "another dtype": lambda x, y: (x + y).astype(np.float32) * 2,
    "transposed as well": lambda x, y: (x[:, :3] * x[:, :3].T).sum() + np.sin(x + x[::-1] * y),
    "a result is read there": lambda x, y: (x, np.sin(x) + y),
    "a view of it is a result": lambda x, y: (x[1:], np.sin(x) + y),
    "a transposed view is a result": lambda x, y: (x.T, np.sin(x) + y),
}


@pytest.mark.parametrize("name", TAKE)
def test_a_result_takes_the_memory(name, make_backend):
    backend, (function, number) = make_backend(), TAKE[name]
    x, y = array(backend, X), array(backend, Y)
    want = leaves(tn.jit(function, backend=backend)(x, y))
    place = x.data.ptr
    got = leaves(tn.jit(function, backend=backend, donate_argnums=0)(x, y))
    for a, b in zip(got, want, strict=True):
        np.testing.assert_array_equal(a._a, b._a)
    assert got[number].data.ptr == place
    assert got[number] is not x
    np.testing.assert_array_equal(y._a, Y)


@pytest.mark.parametrize("name", LEAVE)
def test_what_something_reads_is_not_written_to(name, make_backend):
    backend, function = make_backend(), LEAVE[name]
    x, y = array(backend, X), array(backend, Y)
    want = leaves(tn.jit(function, backend=backend)(x, y))
    got = leaves(tn.jit(function, backend=backend, donate_argnums=0)(x, y))
    for a, b in zip(got, want, strict=True):
        np.testing.assert_array_equal(a._a, b._a)
        assert a.data.ptr != x.data.ptr
    np.testing.assert_array_equal(x._a, X)
    tn.jit(function, backend=backend)(x, y)  # it may be read again


@pytest.mark.parametrize(
    "given",
    [
        lambda backend: array(backend, np.stack([X, X]))[0],  # a part of other memory
        lambda backend: array(backend, X.T.copy()).T,
        lambda backend: array(backend, X)[::-1],
    ],
)
def test_parts_and_other_orders_are_left_alone(given, make_backend):
    backend = make_backend()
    x, y = given(backend), array(backend, Y)
    before = x._a.copy()
    step = tn.jit(TAKE["elementwise"][0], backend=backend, donate_argnums=0)
    np.testing.assert_array_equal(leaves(step(x, y))[0]._a, before * 2 + Y)
    np.testing.assert_array_equal(x._a, before)


READERS = {
    "the same program": lambda backend, f, x, y: f(x, y),
    "as another argument": lambda backend, f, x, y: f(y, x),
    "another program": lambda backend, f, x, y: tn.jit(lambda a: a + 1, backend=backend)(x),
}


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
def test_a_donated_array_cannot_be_read_again(reader, make_backend):
    backend = make_backend()
    x, y = array(backend, X), array(backend, Y)
    f = tn.jit(TAKE["elementwise"][0], backend=backend, donate_argnums=0)
    result = f(x, y)
    with pytest.raises(tn.TenferroError, match="was donated to a program") as caught:
        reader(backend, f, x, y)
    assert caught.value.got == "a donated array"
    np.testing.assert_array_equal(leaves(result)[0]._a, X * 2 + Y)


def test_results_can_be_donated_again(make_backend):
    backend = make_backend()
    x, y = array(backend, X), array(backend, Y)
    place, want = x.data.ptr, X
    f = tn.jit(TAKE["elementwise"][0], backend=backend, donate_argnums=0)
    for _ in range(3):
        (x,), want = leaves(f(x, y)), want * 2 + Y
    assert x.data.ptr == place
    np.testing.assert_array_equal(x._a, want)


@pytest.mark.parametrize("second", [lambda x: x, lambda x: x[::-1]])
def test_one_memory_for_two_arguments_is_refused(second, make_backend):
    backend = make_backend()
    x = array(backend, X)
    f = tn.jit(TAKE["elementwise"][0], backend=backend, donate_argnums=0)
    with pytest.raises(tn.TenferroError, match="x is donated, and y has the same memory"):
        f(x, second(x))
    np.testing.assert_array_equal(x._a, X)


@pytest.mark.parametrize("name", TAKE)
def test_a_captured_program_copies_donated_arrays(name, make_backend):
    """Replays write to no memory of a caller, so the same array may be donated again"""
    backend, (function, number) = make_backend(), TAKE[name]
    x, y = array(backend, X), array(backend, Y)
    options = {"cuda_graph": True}
    f = tn.jit(function, backend=backend, donate_argnums=0, options=options)
    plain = tn.jit(function, backend=backend)
    for _ in range(4):
        want = [a._a.copy() for a in leaves(plain(x, y))]
        before = x._a.copy()
        kept = leaves(f(x, y))
        results = leaves(f(x, y))
        for a, b, c in zip(results, kept, want, strict=True):
            np.testing.assert_array_equal(a._a, c)
            np.testing.assert_array_equal(b._a, c)
            assert x.data.ptr not in (a.data.ptr, b.data.ptr)
        np.testing.assert_array_equal(x._a, before)
        x = results[number]  # a result of a replay


@pytest.mark.parametrize("numbers", [(2,), (-1,), ("x",)])
def test_donated_inputs_are_numbers(numbers, make_backend):
    options = {"donated": numbers}
    with pytest.raises(InvalidOptionError):
        tn.jit(np.add, backend=make_backend(), options=options)(X, Y)
