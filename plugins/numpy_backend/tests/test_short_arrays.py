"""Arrays of a few numbers, computed number by number: the values of arrays, and their errors."""

import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import tenferro as tn
import tenferro.primitives as tp
from tenferro_numpy import planner
from tenferro_numpy.errors import SingularMatrixError
from tenferro_numpy.plan_passes.short_arrays import choice, rewriting

SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 5e-324, 1.7e308, -750.0, 750.0, 0.5]
X = np.array(SPECIAL).reshape(3, 4)
Y = np.array([*SPECIAL[5:], *SPECIAL[:5]]).reshape(3, 4)
A, B = np.linspace(-0.7, 1.9, 12).reshape(3, 4), np.linspace(0.2, 1.3, 12).reshape(3, 4) ** 2


@pytest.fixture(autouse=True)
def in_programs_of_any_length(monkeypatch):
    """Look for short arrays in small programs, too."""
    monkeypatch.setattr(planner, "_MIN_SPLIT", 1)


def functions(x, y):
    """Every function of one number, where it is finite and where it is not."""
    positive = np.abs(y)
    return [
        *[f(x) for f in (np.exp, np.expm1, np.exp2, np.sin, np.cos, np.tan, np.tanh, np.arctan)],
        *[f(x) for f in (np.sqrt, np.log, np.log2, np.log10, np.log1p, np.cbrt, np.sinh, np.cosh)],
        *[f(x) for f in (np.floor, np.ceil, np.rint, np.abs, np.sign, np.square, np.reciprocal)],
        *[f(x) for f in (np.arcsin, np.arccos, np.arcsinh, np.arccosh, np.arctanh)],
        positive**x, positive**-1, x**3, x**-2, np.arctan2(x, y), np.hypot(x, y),
    ]  # fmt: skip


def pairs(x, y):
    """Arithmetic, comparisons, masks."""
    less = x < y
    return [
        x + y, x - y, x * y, x / y, -x, np.maximum(x, y), np.minimum(x, y), np.fmod(x, y),
        np.where(less, x, y), np.where(less | (x == y), x, 2.0), np.where(~less & (x > 0), y, x),
        np.copysign(x, y), np.clip(x, -1.0, 1.0), np.isfinite(x) * y, less * 1.0,
    ]  # fmt: skip


def moves(x, y):
    """Elements in another order, beside each other, repeated, padded."""
    both = np.concatenate([x + y, y], axis=1)
    padded = tn.grad(lambda x: np.sum(x[1:, ::2] * y[1:, ::2]) + np.sum(x[:2] * y[1:]))(x)
    return [
        (x * y).T[1:] - y.T[:3], np.stack([x[0] * y[1], y[2]])[:, ::-1], both[1:, 2:6] * 2.0,
        np.broadcast_to((x * y)[:, :1], (3, 4)) + y, padded, (x - y).reshape(2, 6)[1] * 3.0,
        np.roll(x + y, 1, axis=0), (x * y)[2, 3] - y[0, 1],
        tp.pad(x < y, False, (1, 0), (-1, 0), (0, 0)) & (x > 0),
    ]  # fmt: skip


def reductions(x, y):
    """Sums, products, the largest and smallest, products of matrices."""
    z = x * y
    return [
        *[f(z + y, axis=axis) for f in (np.sum, np.prod, np.max, np.min) for axis in (0, 1, None)],
        *[f(x < y, axis=axis) for f in (np.any, np.all) for axis in (0, 1)],
        (x + y) @ y.T, y[0] @ (x - y).T, (x - y)[1] @ y[2], np.outer(z[0, :2], y[1]),
        np.einsum("ij,ij->i", z, y), np.einsum("ij,kj->ik", z[:2], y[:2]),
    ]  # fmt: skip


def test_a_filter_of_two_states_is_computed_by_numbers():
    """The generated source has no call of NumPy between its operands and its result"""

    def filtered(a, p):
        for _ in range(4):
            p = a @ p @ a.T + a
            p = p - np.outer(p[0], p[:, 1]) / p[0, 0]
        return np.linalg.solve(p, a)

    text = compiled(filtered, executor="source").explain(np.eye(2) * 0.5, np.ones((2, 2)))
    lines = [line for line in text.splitlines() if line.strip().startswith("r")]
    assert len(lines) > 8
    assert sum(".tolist()" in line for line in lines) == 2
    assert sum("pack_into" in line for line in lines) == 1
    assert not any("dot(" in line or "reshape(" in line for line in lines)


def products(x, count):
    """Products of arrays of ten numbers; no part of the program repeats, so none becomes a loop."""
    values = [x, 0.5 * np.sin(x)]
    for i in range(count):
        values.append(values[-1] * values[-2 - i % 2] + 0.5 * values[i % 3 - 2])
    return values[-1]


@pytest.mark.parametrize("count, is_split", [(30, True), (400, False)])
def test_a_long_program_whose_lines_save_little_stays_on_arrays(count, is_split):
    """To compile ten lines for each instruction would take longer than thousands of runs save"""
    text = tn.jit(lambda x: products(x, count), backend="numpy").explain(np.ones(10))
    assert (".tolist()" in text) is is_split


def test_of_many_lines_only_those_run_on_numbers_that_save_their_own(monkeypatch):
    """Arrays of two numbers save more than their lines cost, those of ten do not"""
    monkeypatch.setattr(choice, "_MANY_LINES", 300)
    explained = [
        tn.jit(lambda x: products(x, 100), backend="numpy").explain(np.ones(size))
        for size in (2, 10)
    ]
    assert [".tolist()" in text for text in explained] == [True, False]


def compiled(function, **options):
    return tn.jit(function, backend="numpy", options=options)


PROGRAMS = {f.__name__: f for f in (functions, pairs, moves, reductions)}


@pytest.mark.parametrize("given", [(X, Y), (A, B)], ids=["special", "plain"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_numbers_have_the_values_of_arrays(name, given, monkeypatch):
    """f(x, y) by numbers is f(x, y) by arrays: nan, infinities and signs too, and run by run"""
    monkeypatch.setattr(rewriting, "chosen", lambda candidates, *_: set(candidates))
    by_numbers = compiled(PROGRAMS[name])
    by_arrays = compiled(PROGRAMS[name], without=("short_arrays",))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("error")
        first, need = by_numbers(*given), by_arrays(*given)
        for x, y in zip(first, need, strict=True):
            assert (x.dtype, x.shape) == (y.dtype, y.shape)
            np.testing.assert_allclose(x, y, rtol=4e-15)
            if name != "moves":  # to a padded zero, nothing is added
                known = ~np.isnan(x)
                np.testing.assert_array_equal(np.signbit(x)[known], np.signbit(y)[known])
        for _ in range(70):  # as steps, then interpreted, then as source
            again = by_numbers(*given)
        for x, y in zip(again, first, strict=True):
            np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("shape", [(2,), (2, 1), (2, 3)])
@pytest.mark.parametrize("rows", [1, 2])
def test_systems_are_solved_on_numbers(rows, shape):
    """A x = y, Aᵀ x = y, and the derivative; whichever row begins with the larger number"""
    for a in ([[1.0, 3.0], [-4.0, 0.5]], [[4.0, 3.0], [1.0, 0.5]], [[0.0, 2.0], [1.0, 5.0]]):
        a = np.array(a)[:rows, :rows] + (rows == 1)
        y = np.linspace(1.0, 2.0, 6)[: rows * int(np.prod(shape[1:]))].reshape(rows, *shape[1:])

        def solved(a, y):
            again = (a + a) * 0.5 + (a - a)
            x = np.linalg.solve(again, y * 1.0)
            return np.sum(x * x), x

        (_, x), (da, dy) = compiled(
            lambda a, y: tn.value_and_grad(solved, argnums=(0, 1), has_aux=True)(a, y)
        )(a, y)
        need = np.linalg.solve(a, y)
        adjoint = np.linalg.solve(a.T, 2.0 * need)
        np.testing.assert_allclose(x, need, rtol=1e-14)
        np.testing.assert_allclose(dy, adjoint, rtol=1e-14)
        left, right = adjoint.reshape(rows, -1), need.reshape(rows, -1)
        np.testing.assert_allclose(da, -left @ right.T, rtol=1e-14)


def test_a_singular_matrix_is_told_as_on_arrays():
    def solved(a, y):
        for _ in range(4):
            y = y * 0.5 + a[0] * y
        return np.linalg.solve(a + a, y)

    told = []
    for without in ((), ("short_arrays",)):
        with pytest.raises(SingularMatrixError) as raised:
            compiled(solved, without=without)(np.array([[1.0, 2.0], [0.5, 1.0]]), np.ones(2))
        told.append((str(raised.value), raised.value.fields))
    assert told[0] == told[1]


def test_results_are_arrays_of_their_own():
    """A result that is an operand, a result twice, a scalar, a mask"""

    def step(x):
        for _ in range(4):
            x = x * 0.5 + x[::-1]
        return x, x, x[0], x > 0.0, np.sum(x), x.reshape(1, 2)

    x = np.array([1.0, 2.0])
    for _ in range(2):
        found = compiled(step)(x)
        arrays = [y for y in found if np.ndim(y)]
        for i, y in enumerate(arrays):
            assert not any(np.shares_memory(y, z) for z in (*arrays[:i], x))
            y[...] = 1
        assert [np.asarray(y).dtype.name for y in found] == [
            "float64", "float64", "float64", "bool", "float64", "float64",
        ]  # fmt: skip
    np.testing.assert_array_equal(x, [1.0, 2.0])


def turned(x, y):
    """Two numbers that feed each other, in arrays of two."""
    for _ in range(4):
        x = x * 0.5 + y[::-1] * np.where(x > 0.2, 1.0, 0.25)
        y = np.maximum(y * x + 1.0, x) - np.sum(x) * np.mean(y > 0.5)
    return x, y


def turned_in_a_loop(x, y):
    def step(_, state):
        x, y = state
        x = x * 0.5 + y[::-1] * np.where(x > 0.2, 1.0, 0.25)
        return x, np.maximum(y * x + 1.0, x) - np.sum(x) * np.mean(y > 0.5)

    return tn.fori_loop(0, 4, step, (x, y))


def donated(x, y):
    return tn.jit(turned, backend="numpy", donate_argnums=(0, 1))(x.copy(), y.copy())


def pickled(x, y):
    return pickle.loads(pickle.dumps(compiled(turned)))(x, y)


def in_threads(x, y):
    function = compiled(turned)
    with ThreadPoolExecutor(4) as pool:
        many = list(pool.map(function, [x * k for k in range(40)], [y] * 40))
    return many[1]


def looked_at(x, y):
    with tn.debug_nans():
        return compiled(turned)(x, y)


def of_a_batch(function):
    def first(x, y):
        pairs = np.stack([x, y]), np.stack([y, x])
        return [value[0] for value in compiled(tn.vmap(function))(*pairs)]

    return first


def as_linear_part(x, y):
    """f(x, y), from f at another place and the exact slope of a path that ends there"""
    return [value * 1.0 for value in tn.jvp(compiled(turned), (x, y), (x, y))[0]]


WAYS = {
    "donated": donated, "pickled": pickled, "in threads": in_threads, "looked at": looked_at,
    "a loop": compiled(turned_in_a_loop), "a batch": of_a_batch(turned),
    "a batch of loops": of_a_batch(turned_in_a_loop), "beside a slope": as_linear_part,
    "not jitted": lambda x, y: [np.asarray(v) for v in turned(tn.asarray(x), tn.asarray(y))],
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_run_them_gives_the_values_of_numpy(way):
    """The first run, runs of the source, and operands that keep their values"""
    for x in (np.array([0.3, -1.2]), np.array([-0.7, 0.21])):
        y, need = x[::-1] + 0.4, turned(x, x[::-1] + 0.4)
        before = x.copy(), y.copy()
        for _ in range(3):
            np.testing.assert_allclose(WAYS[way](x, y), need, rtol=1e-13)
        np.testing.assert_array_equal((x, y), before)
