"""Plan passes: each can be left out; it changes how a program runs, not its values."""

import numpy as np
import pytest

import tenferro as tn
from tenferro import primitives as tp
from tenferro.backend import InvalidOptionError
from tenferro_numpy.planner import LOWERING, PLAN_PASSES, SWITCHES

LARGE = np.linspace(0.1, 1.0, 600_000).reshape(20_000, 30)
SMALL = np.linspace(0.1, 1.0, 6)
SEVERAL = np.linspace(0.1, 1.0, 80)
ONE = np.float64(0.3)


def rows(x, w):
    y = np.tanh(x @ w)
    return np.sum(y * y + np.exp(-y), axis=1)


def constant_mask(x):
    return np.where(tn.arange(6) >= 3, x, -x) * (tn.arange(6) < 5)


def padded(x):
    return tn.grad(lambda x: np.sum(np.exp(x[1:]) * x[:-1] ** 2))(x)


def broadcast(x):
    return x[:, None] * x[None, :] + x


def rotation(x):
    c, s = np.cos(x[0]), np.sin(x[0])
    return np.stack([np.stack([c, -s]), np.stack([s, c])]) @ x[1:3]


def points_in_columns(x):
    return np.exp(x.T - x[0][:, None]) * x[1][:, None]


def filtered(x):
    a, p = np.array([[1.0, 0.1], [-0.2, 0.9]]), np.reshape(x[:4], (2, 2))
    for k in range(8):
        p = a @ p @ a.T + x[k % 6] * np.outer(p[0], p[:, 1])
    return np.linalg.solve(p, x[4:6])


def elementwise(x):
    return np.sin(np.exp(x) * x) + np.cos(x)


def numbers(x):
    for _ in range(12):
        x = np.sin(x) * x + np.cos(x)
    return x


def scalar_and_arrays(x, s):
    t = s * s
    return x * t + np.exp(x - t) * np.sin(x + t)


def constant_operands(x):
    return tn.grad(lambda x: np.sum(np.maximum(np.sort(x), 0.5)))(x)


def dead_arrays(x):
    return np.exp(np.sin(x @ x.T) @ x)


def counted(x):
    return x * np.mean(x > 0.5)


def guarded(x, n):
    return np.where(np.logical_and(n == 0, x < 0.5), 2.0, 3.0 * x) + 1.0


def interleaved(x):
    places = tp.table(tuple(range(0, 160, 2)), "int64", (80, 1))
    how = {"offset_dims": (), "collapsed_slice_dims": (0,), "start_index_map": (0,)}
    both = tp.concatenate([x, 2.0 * x], 0)
    return tn.Array(tp.gather(both, places, slice_sizes=(1,), mode="promise_in_bounds", **how).key)


def pairs_of_places(x, rows, columns):
    return x[rows, columns] * 2.0


def at_places(x, places):
    return np.exp(x)[places]


def read_behind_an_update(x):
    y = 2.0 * x
    z = y.at[5:8].set(x[:3])
    return z * np.sum(y[4:10])


def shares(x):
    return tn.grad(lambda x: np.sum(tn.special.logsumexp(x, axis=1) ** 2))(x)


def filters(x):
    for _ in range(4):
        x = np.fft.irfft(np.exp(-0.1 * tn.arange(33)) * np.fft.rfft(x), 64)
    return x


def products_with_one_operator(x):
    y = x.reshape(4, 5, 4)
    z = np.exp(y)
    return np.einsum("abc,dbe->acde", y, z) + np.einsum("abc,dbe->acde", y + 1.0, z)


def rows_one_by_one(x):
    y = x.reshape(20, 4)
    return np.sin(y[3]) * y[4] + y[11]


PROGRAMS = {
    "row_blocks": (rows, LARGE, np.linspace(-1.0, 1.0, 900).reshape(30, 30)),
    "constant_masks": (constant_mask, SMALL),
    "padded_sums": (padded, SEVERAL),
    "lazy_broadcasts": (broadcast, LARGE[:2].reshape(-1)),
    "row_major": (points_in_columns, LARGE.reshape(-1, 3)),
    "fusion": (elementwise, LARGE),
    "short_arrays": (filtered, SMALL),
    "elements": (rotation, SEVERAL),
    "unboxing": (numbers, ONE),
    "scalar_arrays": (scalar_and_arrays, SEVERAL, ONE),
    "constant_operands": (constant_operands, LARGE[:100]),
    "memory_reuse": (dead_arrays, LARGE[:40]),
    "mask_counts": (counted, SEVERAL),
    "number_guards": (guarded, SEVERAL, ONE),
    "constant_gathers": (interleaved, SEVERAL),
    "index_columns": (pairs_of_places, LARGE[:40], np.arange(20), np.arange(20)),
    "index_arrays": (at_places, SEVERAL, np.arange(0, 80, 3)),
    "early_reads": (read_behind_an_update, SEVERAL),
    "finite_maxima": (shares, LARGE[:40]),
    "circulants": (filters, LARGE.reshape(-1)[:64]),
    "contraction_operands": (products_with_one_operator, SEVERAL),
    "slice_indices": (rows_one_by_one, SEVERAL),
}


def compiled(function, without=()):
    return tn.jit(function, backend="numpy", options={"without": without, "executor": "source"})


def lines(explanation):
    """The generated source and the parts of a program."""
    return explanation.partition("plan passes")[2].partition("\n")[2]


def test_every_switch_has_a_program():
    assert set(PROGRAMS) == set(SWITCHES)


@pytest.mark.parametrize("name", SWITCHES)
def test_a_program_computes_the_same_without_a_pass(name):
    function, *arrays = PROGRAMS[name]
    for without in ((), (name,), SWITCHES):
        found = compiled(function, without)(*arrays)
        np.testing.assert_allclose(found, function(*map(tn.asarray, arrays)), rtol=1e-12)


@pytest.mark.parametrize("name", SWITCHES)
def test_a_pass_changes_the_lines_of_its_program(name):
    function, *arrays = PROGRAMS[name]
    assert lines(compiled(function).explain(*arrays)) != lines(
        compiled(function, (name,)).explain(*arrays)
    )


def test_explain_names_the_passes_that_ran():
    def passes(without):
        text = compiled(elementwise, without).explain(LARGE)
        line = next(line for line in text.splitlines() if line.startswith("plan passes"))
        return [entry.split()[0] for entry in line.partition(": ")[2].split(", ")]

    every = [plan_pass.name for plan_pass in PLAN_PASSES]
    assert passes(()) == [*every, "memory_reuse"]
    assert passes("fusion") == [name for name in (*every, "memory_reuse") if name != "fusion"]
    assert passes(SWITCHES) == [LOWERING]


@pytest.mark.parametrize("without", ["lowering", ("fusion", "no_such_pass"), [3]])
def test_only_passes_behind_the_lowering_can_be_left_out(without):
    with pytest.raises(InvalidOptionError) as raised:
        compiled(elementwise, without)(SMALL)
    assert raised.value.fields["option"] == "without"


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "reads, function",
    [
        (1, lambda x: np.where(x > 0.5, np.mean(x), x)),
        (1, lambda x: np.where(x > 0.5, x, np.mean(x)) * x),
        (0, lambda x: x - np.mean(x)),
    ],
)
def test_a_selection_reads_a_number_as_an_array(dtype, reads, function):
    """`np.where` converts a number in more time than `asarray`; a ufunc does not"""
    x = SEVERAL.astype(dtype)
    np.testing.assert_array_equal(compiled(function)(x), compiled(function, "scalar_arrays")(x))
    every, without = [
        lines(compiled(function, left_out).explain(x)) for left_out in ((), "scalar_arrays")
    ]
    assert len(every.splitlines()) - len(without.splitlines()) == reads
