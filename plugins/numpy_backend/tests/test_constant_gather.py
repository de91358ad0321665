"""Gathers at constant places: the same elements, by slices, positions or the gather itself."""

import numpy as np
import pytest

import tenferro as tn
from tenferro.primitives import concatenate, constant, gather, scatter_add, table

RNG = np.random.default_rng(3)
N = 600


def interleaved(count):
    return np.arange(count * N).reshape(count, N).T.reshape(-1)


def with_ends(places):
    return np.concatenate([[5, 3], places, places[-3:]])


def symmetric():
    """A diagonal, and another that is read twice, as the Hessian of a chain is."""
    beside = np.repeat(N + np.arange(N - 1), 2)
    found = np.empty(3 * N - 2, int)
    found[::3], found[1::3], found[2::3] = np.arange(N), beside[::2], beside[1::2]
    return found


PLACES = {
    "whole": np.arange(2 * N),
    "every other": np.arange(0, 2 * N, 2),
    "backwards": np.arange(2 * N)[::-1],
    "interleaved": interleaved(2),
    "interleaved with ends": with_ends(interleaved(2)),
    "read twice": symmetric(),
    "two of three": np.arange(2 * N).reshape(-1, 3)[:, :2].reshape(-1),
    "one of the operands": np.arange(N, 2 * N),
    "random": RNG.permutation(2 * N),
    "repeated": np.zeros(300, int),
    "one": np.array([7]),
    "two": np.array([7, 3]),
    "none": np.zeros(0, int),
}


def taken(flat, places):
    return gather(
        flat,
        table(tuple(places.tolist()), "int64", (len(places), 1)),
        offset_dims=(),
        collapsed_slice_dims=(0,),
        start_index_map=(0,),
        slice_sizes=(1,),
        mode="promise_in_bounds",
    )


def compiled(function, **options):
    return tn.jit(function, backend="numpy", options=options)


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128", "int64"])
@pytest.mark.parametrize("places", PLACES.values(), ids=PLACES)
def test_takes_the_elements_of_what_is_joined(places, dtype):
    x = (100 * RNG.normal(size=2 * N)).astype(dtype)
    joined = compiled(lambda a, b: tn.Array(taken(concatenate([a, b], 0), places).key))
    found = joined(x[:N], x[N:])
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, x[places])
    assert found.flags.writeable
    assert not np.shares_memory(found, x)
    alone = compiled(lambda x: tn.Array(taken(x, places).key))
    np.testing.assert_array_equal(alone(x), x[places])


def test_leaves_a_join_that_others_read():
    def both(a, b):
        whole = concatenate([a, b], 0)
        return whole, tn.Array(taken(whole, PLACES["interleaved"]).key)

    x = RNG.normal(size=2 * N)
    whole, found = compiled(both)(x[:N], x[N:])
    np.testing.assert_array_equal(whole, x)
    np.testing.assert_array_equal(found, x[PLACES["interleaved"]])


@pytest.mark.parametrize("name, is_sliced", [("interleaved", True), ("read twice", True),
                                            ("two of three", True), ("random", False)])  # fmt: skip
def test_slices_where_places_are_evenly_spaced(name, is_sliced):
    joined = compiled(lambda a, b: tn.Array(taken(concatenate([a, b], 0), PLACES[name]).key))
    x = np.ones(N)
    assert (".take(" not in joined.explain(x, x)) is is_sliced


def test_gathers_where_it_is_switched_off():
    def joined(a, b):
        return tn.Array(taken(concatenate([a, b], 0), PLACES["interleaved"]).key)

    x = RNG.normal(size=2 * N)
    plain = compiled(joined, without=("constant_gathers",))
    np.testing.assert_array_equal(plain(x[:N], x[N:]), x[PLACES["interleaved"]])
    assert ".take(" in plain.explain(x[:N], x[N:])


def test_takes_rows_with_the_gather():
    x = RNG.normal(size=(N, 3))
    rows = compiled(lambda x: x[np.arange(0, N, 2)])
    np.testing.assert_array_equal(rows(x), x[::2])


@pytest.mark.parametrize("x", [np.zeros(N), RNG.normal(size=N)], ids=["zeros", "values"])
@pytest.mark.parametrize("places", [PLACES["one"], RNG.permutation(N)[:200], np.array([3, 3, 7])],
                         ids=["one", "unique", "repeated"])  # fmt: skip
def test_adds_at_constant_places(x, places):
    values = RNG.normal(size=len(places))
    literal = not x.any()

    def added(x, values):
        x = constant(0, "float64", (N,)) if literal else x
        return tn.Array(
            scatter_add(
                x,
                table(tuple(places.tolist()), "int64", (len(places), 1)),
                values,
                update_window_dims=(),
                inserted_window_dims=(0,),
                scatter_dims_to_operand_dims=(0,),
                mode="promise_in_bounds",
            ).key
        )

    for scale in (1.0, 1.5):
        want, before = x * scale, x.copy()
        np.add.at(want, places, values)
        found = compiled(lambda x, v, scale=scale: added(x if scale == 1 else x * scale, v))
        np.testing.assert_array_equal(found(x, values), want)
        np.testing.assert_array_equal(x, before)
