"""Gather and scatter-add against XLA's definition, element by element."""

import itertools

import numpy as np
import pytest

import tenferro as tn
from tenferro import primitives as tp


def in_bounds(start, sizes, shape):
    return all(0 <= s <= n - k for s, k, n in zip(start, sizes, shape, strict=True))


def full_start(vector, mapped, ndim):
    start = [0] * ndim
    for value, axis in zip(vector, mapped, strict=True):
        start[axis] = int(value)
    return start


def clipped(start, sizes, shape):
    return [min(max(s, 0), n - k) for s, k, n in zip(start, sizes, shape, strict=True)]


def gather(x, indices, offset_dims, collapsed, mapped, sizes, mode):
    batch = indices.shape[:-1]
    windows = np.zeros(batch + tuple(sizes), x.dtype)
    for b in itertools.product(*map(range, batch)):
        start = full_start(indices[b], mapped, x.ndim)
        if mode == "fill" and not in_bounds(start, sizes, x.shape):
            continue
        start = clipped(start, sizes, x.shape)
        windows[b] = x[tuple(slice(s, s + k) for s, k in zip(start, sizes, strict=True))]
    kept = [n for axis, n in enumerate(sizes) if axis not in collapsed]
    windows = windows.reshape(batch + tuple(kept))
    rank = len(batch) + len(kept)
    order, b, w = [], 0, len(batch)
    for axis in range(rank):
        if axis in offset_dims:
            order.append(w)
            w += 1
        else:
            order.append(b)
            b += 1
    return windows.transpose(order)


def scatter_add(x, indices, updates, window_dims, inserted, mapped, mode):
    batch_axes = [d for d in range(updates.ndim) if d not in window_dims]
    moved = updates.transpose(batch_axes + list(window_dims))
    batch = indices.shape[:-1]
    given = iter(moved.shape[len(batch) :])
    sizes = [1 if axis in inserted else next(given) for axis in range(x.ndim)]
    out = x.copy()
    for b in itertools.product(*map(range, batch)):
        start = full_start(indices[b], mapped, x.ndim)
        if mode == "drop" and not in_bounds(start, sizes, x.shape):
            continue
        start = clipped(start, sizes, x.shape)
        where = tuple(slice(s, s + k) for s, k in zip(start, sizes, strict=True))
        out[where] += moved[b].reshape(sizes)
    return out


X = np.arange(60.0).reshape(3, 4, 5)
CASES = [
    # name, indices, offset_dims, collapsed, mapped, slice sizes
    ("rows", [[0], [2], [2]], (1, 2), (0,), (0,), (1, 4, 5)),
    ("rows_far_out", [[0], [-7], [9]], (1, 2), (0,), (0,), (1, 4, 5)),
    ("middle_axis", [[3], [0]], (0, 2), (1,), (1,), (3, 1, 5)),
    ("last_axis_first", [[4], [0]], (1, 2), (2,), (2,), (3, 4, 1)),
    ("matrix_of_rows", [[[0], [1]], [[2], [0]]], (2, 3), (0,), (0,), (1, 4, 5)),
    ("batch_inside", [[[0], [1]], [[2], [0]]], (0, 3), (0,), (0,), (1, 4, 5)),
    ("elements", [[0, 1, 2], [2, 3, 4]], (), (0, 1, 2), (0, 1, 2), (1, 1, 1)),
    ("elements_far_out", [[0, 1, 2], [2, 3, 5], [-1, 0, 0]], (), (0, 1, 2), (0, 1, 2), (1, 1, 1)),
    ("permuted_map", [[2, 1], [4, 0]], (1,), (0, 2), (2, 0), (1, 4, 1)),
    ("windows", [[0, 1], [1, 3], [2, 2]], (1, 2, 3), (), (0, 1), (2, 2, 5)),
    ("window_kept_size_one", [[1], [2]], (1, 2, 3), (), (0,), (1, 4, 5)),
    ("partial_unmapped", [[1], [2]], (1, 2), (0,), (0,), (1, 2, 3)),
    ("one_index", [2], (0, 1), (0,), (0,), (1, 4, 5)),
    ("no_index_vectors", np.empty((0, 1), int), (1, 2), (0,), (0,), (1, 4, 5)),
    ("empty_index_vector", np.empty((2, 0), int), (1, 2, 3), (), (), (2, 4, 5)),
    ("empty_window", [[1], [2]], (1, 2), (0,), (0,), (1, 0, 5)),
]


@pytest.mark.parametrize("mode", ["clip", "fill"])
@pytest.mark.parametrize("dtype", ["int8", "int64", "uint8", "uint64"])
@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_gather(check, case, mode, dtype):
    """Windows are those that the definition gives, element by element"""
    _, indices, offset_dims, collapsed, mapped, sizes = case
    indices = np.asarray(indices)
    if dtype.startswith("u") and (indices < 0).any():
        far = 200 if dtype == "uint8" else (1 << 63) + 1
        indices = np.where(indices < 0, np.uint64(far), indices.astype("uint64"))
    indices = indices.astype(dtype)
    expected = gather(X, indices, offset_dims, collapsed, mapped, sizes, mode)
    check(
        lambda x, i: tp.gather(
            x,
            i,
            offset_dims=offset_dims,
            collapsed_slice_dims=collapsed,
            start_index_map=mapped,
            slice_sizes=sizes,
            mode=mode,
        ),
        [X, indices],
        expected,
    )


@pytest.mark.parametrize(
    "case", [c for c in CASES if "far_out" not in c[0] and c[0] != "windows"], ids=lambda c: c[0]
)
def test_gather_promised_in_bounds(check, case):
    _, indices, offset_dims, collapsed, mapped, sizes = case
    indices = np.asarray(indices)
    expected = gather(X, indices, offset_dims, collapsed, mapped, sizes, "clip")
    check(
        lambda x, i: tp.gather(
            x,
            i,
            offset_dims=offset_dims,
            collapsed_slice_dims=collapsed,
            start_index_map=mapped,
            slice_sizes=sizes,
            mode="promise_in_bounds",
        ),
        [X, indices],
        expected,
    )


@pytest.mark.parametrize("mode", ["clip", "drop"])
@pytest.mark.parametrize(
    "dtype", ["float64", "float32", "complex128", "complex64", "int8", "uint64"]
)
@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_scatter_add(check, case, mode, dtype):
    """Updates are added where the definition says, element by element"""
    _, indices, offset_dims, collapsed, mapped, sizes = case
    indices, x = np.asarray(indices), X.astype(dtype)
    shape = gather(x, indices, offset_dims, collapsed, mapped, sizes, "clip").shape
    updates = np.arange(1.0, 1 + np.prod(shape)).reshape(shape).astype(dtype)
    expected = scatter_add(x, indices, updates, offset_dims, collapsed, mapped, mode)
    check(
        lambda x, i, u: tp.scatter_add(
            x,
            i,
            u,
            update_window_dims=offset_dims,
            inserted_window_dims=collapsed,
            scatter_dims_to_operand_dims=mapped,
            mode=mode,
        ),
        [x, indices, updates],
        expected,
    )


def test_dropped_updates_change_nothing(check):
    x, indices, updates = np.array([-0.0, np.inf]), np.array([[5], [-1]]), np.array([np.nan, 1.0])
    check(
        lambda x, i, u: tp.scatter_add(
            x,
            i,
            u,
            update_window_dims=(),
            inserted_window_dims=(0,),
            scatter_dims_to_operand_dims=(0,),
            mode="drop",
        ),
        [x, indices, updates],
        x,
    )


@pytest.mark.parametrize("starts", [(0, 0), (1, 2), (-5, 9), (2, 3)])
@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8"])
def test_dynamic_slices(check, starts, dtype):
    """A window that would leave the array is moved inside"""
    x = np.arange(20.0).reshape(4, 5)
    starts = [np.array(s % 256 if dtype == "uint8" else s, dtype) for s in starts]
    row, column = (min(max(int(s), 0), n - 2) for s, n in zip(starts, x.shape, strict=True))
    check(
        lambda x, i, j: tp.dynamic_slice(x, [i, j], (2, 2)),
        [x, *starts],
        x[row : row + 2, column : column + 2],
    )
    updated = x.copy()
    updated[row : row + 2, column : column + 2] = -1
    check(
        lambda x, u, i, j: tp.dynamic_update_slice(x, u, [i, j]),
        [x, np.full((2, 2), -1.0), *starts],
        updated,
    )


@pytest.mark.parametrize("shape", [(5,), (3, 5), (2, 3, 5)])
def test_windows_that_move_along_some_axes(check, shape):
    """x[b : b + k] with b = min(max(start, 0), n − k), for every choice of axes taken whole."""
    x = np.arange(float(np.prod(shape))).reshape(shape)
    for moves in itertools.product([False, True], repeat=len(shape)):
        sizes = [n - 1 if m else n for n, m in zip(shape, moves, strict=True)]
        for start in (-2, 0, 1, 9):
            at = clipped([start] * len(shape), sizes, shape)
            window = tuple(slice(s, s + k) for s, k in zip(at, sizes, strict=True))
            starts = [np.int64(start)] * len(shape)
            check(lambda x, *s, k=sizes: tp.dynamic_slice(x, s, k), (x, *starts), x[window])
            want = x.copy()
            want[window] = -1.0
            update = np.full(sizes, -1.0)
            check(lambda x, u, *s: tp.dynamic_update_slice(x, u, s), (x, update, *starts), want)


def test_dynamic_slices_of_rank_zero(check):
    check(lambda x: tp.dynamic_slice(x, [], ()), [np.float64(2)], np.float64(2))
    check(
        lambda x, u: tp.dynamic_update_slice(x, u, []),
        [np.float64(2), np.float64(3)],
        np.float64(3),
    )


class TestAtPlacesOfTheProgram:
    """Scatters at a table of places, which the plan computes once."""

    PLACES = (5, 0, 3, 5, 2)

    @pytest.mark.parametrize("mode", ["promise_in_bounds", "clip", "drop"])
    @pytest.mark.parametrize("base", [0, 2])
    @pytest.mark.parametrize("dtype", ["float32", "float64", "complex128", "int32"])
    def test_add_up(self, check, dtype, base, mode):
        """Updates at one place add up"""

        def function(updates):
            return tp.scatter_add(
                tp.constant(base, dtype, (6,)),
                tp.table(self.PLACES, "int64", (5, 1)),
                updates,
                update_window_dims=(),
                inserted_window_dims=(0,),
                scatter_dims_to_operand_dims=(0,),
                mode=mode,
            )

        updates = np.array([1, 2, 3, 4, 5], dtype)
        want = np.full(6, base, dtype)
        np.add.at(want, list(self.PLACES), updates)
        check(function, [updates], want)

    def test_in_two_axes_and_out_of_bounds(self, check):
        def function(updates):
            return tp.scatter_add(
                tp.constant(0.0, "float64", (2, 3)),
                tp.table((0, 1, 1, 2, 7, -1), "int32", (3, 2)),
                updates,
                update_window_dims=(),
                inserted_window_dims=(0, 1),
                scatter_dims_to_operand_dims=(0, 1),
                mode="clip",
            )

        want = np.array([[0, 1, 0], [3, 0, 2]], "float64")
        check(function, [np.array([1.0, 2.0, 3.0])], want)


@pytest.mark.parametrize("mode", ["clip", "drop"])
@pytest.mark.parametrize(
    "places",
    [
        np.array([5, 0, 3, 5, 2, 5]),
        np.array([5, 0, 3, 5, 6, 5]),
        np.array([5, -1, 3, 5, 2, -(1 << 62)]),
        np.array([5, -1, 6, 5, 1 << 62, -(1 << 62)]),
        np.array([5, -1, 6, 5, 2, 99], "int32"),
        np.array([5, 0, 6, 5, 2, 255], "uint8"),
        np.array([5, 0, 6, 5, 2, (1 << 64) - 1], "uint64"),
    ],
    ids=["inside", "next", "negative", "int64", "int32", "uint8", "uint64"],
)
@pytest.mark.parametrize("shape", [(6,), (2, 3)])
def test_sums_at_given_places_of_zeros(check, shape, places, mode):
    """They are made in the order of the updates: 1e16 + 1 - 1e16 is 0"""

    def function(places, updates):
        return tp.scatter_add(
            tp.constant(0.0, "float64", (6,)),
            places,
            updates,
            update_window_dims=(),
            inserted_window_dims=(0,),
            scatter_dims_to_operand_dims=(0,),
            mode=mode,
        )

    updates = np.array([1e16, np.nan, -0.0, 1.0, 7.0, -1e16])
    known = [min(max(int(place), 0), 5) for place in places]
    counts = [mode == "clip" or place == there for place, there in zip(places, known, strict=True)]
    want = np.zeros(6)
    np.add.at(want, np.array(known)[counts], updates[counts])
    check(function, [places.reshape(*shape, 1), updates.reshape(shape)], want)


@pytest.mark.parametrize("zero", [0j, complex(-0.0, 0.0), complex(0.0, -0.0), complex(-0.0, -0.0)])
def test_a_scatter_into_literal_zeros_keeps_their_signs(run, zero):
    """Where nothing is added; places that the program spells out are known before it runs."""

    def function(updates):
        base = tp.constant(zero, "complex128", (3,))
        places = tp.table([1], "int64", (1, 1))
        return tp.scatter_add(
            base,
            places,
            updates,
            update_window_dims=(),
            inserted_window_dims=(0,),
            scatter_dims_to_operand_dims=(0,),
            mode="clip",
        )

    (result,) = run(function, np.array([2 + 1j]))
    assert result[0].tobytes() == np.complex128(zero).tobytes()
    assert result[1] == 2 + 1j


@pytest.mark.parametrize("mode", ["drop", "clip"])
@pytest.mark.parametrize("where", [0, 3, -1, 4, 99, -99])
@pytest.mark.parametrize("shape", [(4,), (4, 3), (2, 4, 3)])
@pytest.mark.parametrize("method", ["set", "add"])
def test_an_update_at_one_place_is_that_of_several(shape, where, mode, method):
    """x.at[i].set(v) = x.at[[i]].set([v]), beyond the ends too"""
    axis = shape.index(4)
    x = np.arange(float(np.prod(shape))).reshape(shape)
    before = (slice(None),) * axis
    value = np.sin(np.arange(x.size // 4)).reshape((*shape[:axis], *shape[axis + 1 :]))

    def one(x, i, v):
        return getattr(x.at[(*before, i)], method)(v, mode=mode)

    def several(x, i, v):
        rows = tn.reshape(v, (*shape[:axis], 1, *shape[axis + 1 :]))
        return getattr(x.at[(*before, tn.reshape(i, (1,)))], method)(rows, mode=mode)

    i = np.array(where)
    found = tn.jit(lambda x, i, v: one(tn.asarray(x), i, v), backend="numpy")(x, i, value)
    need = tn.jit(lambda x, i, v: several(tn.asarray(x), i, v), backend="numpy")(x, i, value)
    np.testing.assert_array_equal(found, need)
