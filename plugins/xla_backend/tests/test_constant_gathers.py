"""Gathers at places that the program spells out: regular ones become slices, values stay."""

import numpy as np
import pytest

import tenferro as tn
from tenferro import primitives as tp
from tenferro.primitives.indexing import Gather
from tenferro_xla._constant_gathers import MIN_PLACES, pieces_of

N = 100
I = np.arange(N)  # noqa: E741 - the index of formulas
IRREGULAR = np.random.default_rng(0).permutation(3 * N)


def in_turn(*strands):
    return np.stack(strands, axis=1).ravel()


#: Places in a vector of 3 N elements, and the number of their pieces; None if the gather stays.
PLACES = {
    "every element": (np.arange(3 * N), 1),
    "every second": (np.arange(0, 3 * N, 2), 1),
    "three diagonals in turn": (in_turn(I, N + I, 2 * N + I), 1),
    "one diagonal twice": (in_turn(I, N + I, N + I), 1),
    "different steps": (in_turn(I, N + 2 * I), 1),
    "a row, then two diagonals": (np.r_[I, in_turn(2 * N + I, N + I)], 2),
    "a piece that reads on": (np.r_[I, in_turn(N + I, 2 * N + I)], 3),
    "an end of its own": (np.r_[in_turn(I, N + I, N + I)[:-2]], 2),
    "across the border of two parts": (np.arange(N // 2, 2 * N), 1),
    "three, then five diagonals": (
        np.r_[in_turn(I, N + I, 2 * N + I), in_turn(*(I + 10 * i for i in range(5)))],
        2,
    ),
    "few": (np.arange(MIN_PLACES), 1),
    "backwards": (np.arange(3 * N)[::-1], None),
    "one place again and again": (np.zeros(N, int), None),
    "irregular": (IRREGULAR, None),
}


@pytest.mark.parametrize("name", PLACES)
def test_pieces_are_the_places(name):
    """places = the strands of each piece, read in turn"""
    places, count = PLACES[name]
    found = pieces_of(places, 16)
    assert (found and len(found)) == count
    if found:
        turns = [np.arange(p.turns)[:, None] for p in found]
        read = [
            [s.start for s in p.strands] + t * [s.step for s in p.strands]
            for p, t in zip(found, turns, strict=True)
        ]
        np.testing.assert_array_equal(np.concatenate([r.ravel() for r in read]), places)


def taken(x, places, mode="promise_in_bounds"):
    return tp.gather(
        x,
        tp.table([*map(int, places)], "int64", (len(places), 1)),
        offset_dims=(),
        collapsed_slice_dims=(0,),
        start_index_map=(0,),
        slice_sizes=(1,),
        mode=mode,
    )


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128", "int8"])
def test_gathers_of_joined_vectors(programs, dtype):
    """y_i = x_places[i], without a gather where pieces are few"""
    parts = np.random.default_rng(1).uniform(-99, 99, (3, N)).astype(dtype)
    few = [[], [2], [2, 0]]
    cases = [*few, *[places for places, _ in PLACES.values()]]
    executable = programs.compile(
        lambda *xs: [taken(tp.concatenate(xs, 0), places) for places in cases],
        *[tp.Aval((N,), dtype)] * 3,
    )
    for y, places in zip(executable(*parts), cases, strict=True):
        np.testing.assert_array_equal(y, parts.ravel()[np.array(places, int)])
    kept = sum([isinstance(node.operation, Gather) for node in executable.program.nodes])
    assert kept == len(few) + sum([count is None for _, count in PLACES.values()])


def test_many_strands_of_one_vector_stay_a_gather(programs):
    """Of a join they are slices: its gather would ask for the part of each element, too."""
    places = in_turn(*(I + N // 4 * i for i in range(8)))
    sources = {
        1: lambda x: x,
        0: lambda x: tp.concatenate([tp.slice(x, (0,), (N,)), tp.slice(x, (N,), (3 * N,))], 0),
    }
    for count, source in sources.items():
        executable = programs.compile(
            lambda x, of=source: taken(of(x), places), tp.Aval((3 * N,), "float64")
        )
        np.testing.assert_array_equal(executable(np.arange(3.0 * N))[0], places)
        operations = [node.operation for node in executable.program.nodes]
        assert sum([isinstance(op, Gather) for op in operations]) == count


def test_places_outside_keep_their_mode(programs):
    """Mode `fill` reads 0 outside, which no slice does."""
    found = programs.run(lambda x: taken(x, range(2 * N), "fill"), I + 1.0)
    np.testing.assert_array_equal(found, np.r_[I + 1.0, np.zeros(N)])


def pentadiagonal(u):
    return u[2:-2] ** 3 * u[:-4] - np.sin(u[1:-3]) * u[4:] + u[3:-1] / u[2:-2]


def two_borders(u):
    x, a, b = u[:-2], u[-2], u[-1]
    return np.concatenate([x**2 * a + np.exp(-x) * b, [np.sum(x**3)], [np.sum(a * x)]])


def sparse_entries(residual, u):
    return lambda u: tn.jacobian(residual, sparse=True)(u).data


def entries_of_dense(residual, u):
    """The same entries, which a matrix is asked for by row and column."""
    rows, columns = tn.sparsity(residual)(u).nonzero()
    return lambda u: tn.jacobian(residual)(u)[rows, columns]


def transformed(entries):
    """Entries of a Jacobian, batches of them, and first and second derivatives."""

    def loss(u):
        return np.sum(entries(u) ** 2)

    def each(u):
        batch = tn.vmap(entries)(np.stack([u, u + 1, u * 2]))
        return entries(u), batch, tn.grad(loss)(u), tn.hvp(loss)(u, u)

    return each


@pytest.mark.parametrize("residual, dtype", [(pentadiagonal, "float64"), (two_borders, "float32")])
def test_entries_of_sparse_jacobians_are_those_of_dense_ones(residual, dtype):
    u = np.random.default_rng(2).uniform(0.5, 1.5, MIN_PLACES).astype(dtype)
    got, want = [
        tn.jit(transformed(entries(residual, u)), backend="xla")(u)
        for entries in (sparse_entries, entries_of_dense)
    ]
    for g, w in zip(got, want, strict=True):
        assert g.dtype == dtype
        np.testing.assert_allclose(g, w, rtol=2e-5 if dtype == "float32" else 1e-12)


def test_entries_of_complex_jacobians_are_those_of_dense_ones():
    z = np.exp(1j * np.linspace(0, 3, MIN_PLACES))
    f = tn.jacobian(pentadiagonal, sparse=True, holomorphic=True)
    dense = tn.jacobian(pentadiagonal, holomorphic=True)
    got, want = [tn.jit(g, backend="xla")(z) for g in (f, dense)]
    rows, columns = tn.sparsity(pentadiagonal)(z.real).nonzero()
    np.testing.assert_allclose(got.data, want[rows, columns], rtol=1e-13)
