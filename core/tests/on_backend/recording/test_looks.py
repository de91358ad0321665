"""A function that runs again and looks at values while it is recorded: each call has its own.

Each row of `WAYS` makes a function of an argument, and the argument, for call i. The same text runs
on plain arrays, so the value is NumPy's and the gradient that of differences.
"""

import sys
from collections import Counter

import numpy as np
import pytest

import tenferro as tn
from tenferro.arrays.evaluation import evaluate
from tenferro.arrays.handle.memo import MAX_SEEN
from tenferro.computegraph import ValueKey
from tenferro.transforms.recording.memos import MEMOS

CALLS = 7
X = np.linspace(0.55, 2.05, 6)
TABLE = np.arange(12.0) ** 1.5
LARGE_TABLE = np.zeros(9000)
HAS_MEMOS = getattr(sys, "_is_gil_enabled", lambda: True)()


@pytest.fixture(autouse=True)
def _no_memos():
    MEMOS.clear()


def number(x):
    """Return x as a number of Python, which no derivative follows."""
    return float(tn.stop_gradient(x))


def cells(x):
    return np.floor(x).astype(int)


def a_table_of_numpy(i):
    table = TABLE * (i + 1)
    return lambda x: np.sum(x * table[cells(x)]), X + 0.3 * i


def a_large_table_that_is_written_between_calls(i):
    LARGE_TABLE[: TABLE.size] = TABLE + i
    return lambda x: np.sum(x * LARGE_TABLE[cells(x)]) + np.sum(x[0] * LARGE_TABLE), X


def a_table_that_is_written_within_the_call(i):
    def f(x):
        table = TABLE.copy()
        before = np.sum(x * table[cells(x)])
        table[:] = i
        return before + np.sum(x * table[cells(x)])

    return f, X


def positions_that_numpy_and_the_program_read(i):
    def f(x):
        at = cells(x + 0.317 * i) % 6
        return np.sum(x[at] * TABLE[at]) + np.sum(x * at)

    return f, X


def positions_before_and_after_a_look(i):
    def f(x):
        at = cells(x * (i % 3 + 0.99)) % 6
        before = x[at]
        return np.sum(before * TABLE[at]) + np.sum(np.where(at > 1, x[at], 2.0))

    return f, X


def a_length(i):
    def f(x):
        n = cells(x)[0]
        assert int(n) > 0
        return np.sum(x[:n] ** 2) + np.sum(x[n:])

    return f, X + 1 + i % 4


def a_look_of_some_calls(i):
    factors = np.cos(X + i)

    def f(x):
        s = np.sin(tn.asarray(factors)) * 2.0
        assert i % 2 == 0 or s[0] != 3
        return np.sum(s * x)

    return f, X


def an_order(i):
    def f(x):
        order = np.argsort(x * (-1) ** i)
        return np.sum(x[order] * TABLE[np.asarray(order)])

    return f, X + i


def an_integer(i):
    return lambda x: np.sum(x * x) * int(np.sum(x)) + x[int(x[0]) % 6], X + 0.21 * i


def a_branch(i):
    return lambda x: np.sum(x * x) if np.sum(x) > 12 else np.sum(np.sin(x)), X + (i % 3)


def a_branch_within_a_branch(i):
    def f(x):
        y = np.sin(x)
        if y[0] > 0.8:
            y = y * y if np.sum(y) > 5 else np.exp(y)
        return np.sum(y)

    return f, X + 0.1 * i


def a_loop_until_it_converges(i):
    def f(x):
        y = x
        for _ in range(200):
            z = 0.5 * (y + x / y)  # Newton's iteration for the square root
            if np.max(np.abs(z - y)) < 1e-13:
                return np.sum(z)
            y = z
        raise AssertionError

    return f, X + 40.0 * i


def a_loop_with_conditions_on_the_same_values(i):
    def f(x):
        total = x[0]
        while total < 20 + i % 3 and bool(total > 0):
            total = total * 1.5 + np.sum(x)
        return total

    return f, X


def a_number_without_derivative(i):
    return lambda x: np.sum(np.sin(x) * (number(x[0]) > 1.0)) + np.sum(x), X + 0.2 * i


def a_value_of_what_is_closed_over(i):
    factors = np.cos(X + i)

    def f(x):
        s = np.sin(tn.asarray(factors)) * 2.0
        return np.sum(s * x) if s[0] > 0 else np.sum(x * x * s)

    return f, X


def a_large_value_of_what_is_closed_over(i):
    factors = np.linspace(0.0, 1.0 + i, 6000)

    def f(x):
        s = np.sin(tn.asarray(factors))
        largest = float(np.max(s))
        return np.sum(s * x[0]) * largest + x[1]

    return f, X


def an_array_that_is_copied_to_numpy(i):
    def f(x):
        order = np.asarray(cells(x * 2)).tolist()
        return sum(x[k % 6] for k in order)

    return f, X + 0.3 * i


def printed(i):
    return lambda x: np.sum(x * len(f"{cells(10.0 ** (x[0] + i % 2))}")), X


def inside_a_gradient(i):
    def f(x):
        inner = tn.grad(lambda y: np.sum(y**3) if y[0] > 2 else np.sum(y**2))(x)
        return np.sum(np.asarray(inner) if type(x) is np.ndarray else inner)

    return f, X + (i % 3)


def beside_a_gradient(i):
    def f(x):
        k = int(x[0])
        return np.sum(tn.grad(lambda y: np.sum(y**3) * k)(x)) * TABLE[cells(x)[0]]

    return f, X + (i % 3)


def around_a_scan(i):
    def f(x):
        k = int(x[0]) + 1
        return tn.scan(lambda c, a: (c + np.sin(a) * k, None), 0.0, x)[0]

    return f, X + (i % 3)


def around_a_batch(i):
    def f(x):
        k = TABLE[cells(x)]
        return np.sum(tn.vmap(lambda a, b: np.sin(a) * b)(x, k))

    return f, X + (i % 3)


def around_a_checkpoint(i):
    def f(x):
        k = int(x[0]) + 1
        return np.sum(tn.checkpoint(lambda y: np.sin(y) * k)(x))

    return f, X + (i % 3)


def a_factorization(i):
    def f(x):
        a = np.outer(x, x) + np.diag(x)
        low, _ = np.linalg.eigh(a)
        return np.sum(low * x) if low[0] > 1 else np.sum(low)

    return f, X + i


WAYS = [
    a_table_of_numpy, a_large_table_that_is_written_between_calls,
    a_table_that_is_written_within_the_call, positions_that_numpy_and_the_program_read,
    positions_before_and_after_a_look, a_length, a_look_of_some_calls, an_order,
    an_integer, a_branch, a_branch_within_a_branch,
    a_loop_until_it_converges, a_loop_with_conditions_on_the_same_values,
    a_number_without_derivative, a_value_of_what_is_closed_over,
    a_large_value_of_what_is_closed_over, an_array_that_is_copied_to_numpy, printed,
    inside_a_gradient, beside_a_gradient, around_a_scan, around_a_batch, around_a_checkpoint,
    a_factorization,
]  # fmt: skip
#: those whose later calls record nothing new where the path is one that was taken before
STEADY = [
    a_table_of_numpy, a_large_table_that_is_written_between_calls,
    a_table_that_is_written_within_the_call, a_branch, a_branch_within_a_branch,
    a_loop_with_conditions_on_the_same_values, a_value_of_what_is_closed_over, inside_a_gradient,
]  # fmt: skip


def check(f, x, found):
    """Compare (value, gradient) with NumPy's value, and a difference along the gradient."""
    assert not isinstance(found[0], tn.Array)
    value, gradient = map(np.asarray, found)
    np.testing.assert_allclose(value, f(x), rtol=1e-12)
    size = np.sum(np.square(gradient))
    step = 1e-6 * gradient / max(1.0, float(np.sqrt(size)))
    difference = (f(x + step) - f(x - step)) * max(1.0, float(np.sqrt(size))) / 2e-6
    np.testing.assert_allclose(difference, size, rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_each_call_looks_at_its_own_values(way):
    for i in range(CALLS):
        check(*way(i), tn.value_and_grad(way(i)[0])(way(i)[1]))


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_a_way_beside_others_that_share_its_memo(way):
    """Functions of one code object have one memo."""

    def through(f):
        return lambda x: f(x)

    others = (a_table_of_numpy, a_value_of_what_is_closed_over, an_integer)
    for i in range(CALLS):
        for each in (way, others[i % 3], way):
            f, x = each(i)
            check(f, x, tn.value_and_grad(through(f))(x))


@pytest.mark.skipif(not HAS_MEMOS, reason="there are no memos without the GIL")
@pytest.mark.parametrize("way", STEADY, ids=lambda way: way.__name__)
def test_later_calls_find_what_earlier_ones_recorded(way):
    memos = []
    for i in range(16):
        f, x = way(i)
        tn.value_and_grad(f)(x)
        memos.append([(lent.memo, lent.size) for lent in MEMOS.waiting])
    assert memos[-1] == memos[-5]
    assert memos[-1][0][1] > 0


@pytest.mark.skipif(not HAS_MEMOS, reason="there are no memos without the GIL")
@pytest.mark.parametrize(
    "way",
    [way for way in STEADY if way is not a_value_of_what_is_closed_over],  # it is not a memo's
    ids=lambda way: way.__name__,
)
def test_later_calls_find_the_programs_of_their_looks(way, monkeypatch):
    """Paths that were taken before walk over no graph."""
    walks = []
    walk = evaluate._known_walk
    monkeypatch.setattr(
        evaluate, "_known_walk", lambda keys, asked: walks.append(asked) or walk(keys, asked)
    )
    for i in [*range(8), *range(8)]:
        walks.clear()
        f, x = way(i)
        check(f, x, tn.value_and_grad(f)(x))
    assert not walks


def test_many_looks_of_a_call_are_remembered_up_to_a_bound():
    """A loop that looks at each of its values: d/dx Σ x/2ᵏ, up to the first k where x/2ᵏ < 1."""

    def f(x):
        total = x
        while x > 1.0:
            x = x / 2.0
            total = total + x
        return total

    for i in range(CALLS):
        x = 2.0**40 + 2.0**39 + i
        count = int(np.floor(np.log2(x))) + 1
        assert tn.grad(f)(x) == 2.0 - 0.5**count
    (lent,) = MEMOS.waiting
    assert not HAS_MEMOS or 0 < len(lent.memo.programs) <= MAX_SEEN + 1


DERIVATIVES = {
    "grad": (tn.grad, lambda x, t: t),
    "jacobian": (tn.jacobian, lambda x, t: t),
    "jacfwd": (tn.jacfwd, lambda x, t: t),
    "jvp": (lambda f: lambda x: tn.jvp(f, (x,), (np.ones(6),))[1], lambda x, t: np.sum(t)),
    "vjp": (lambda f: lambda x: tn.vjp(f, x)[1](1.0)[0], lambda x, t: t),
    "hessian": (
        lambda f: lambda x: tn.hessian(lambda x: f(x) + x[0] ** 2)(x),
        lambda x, t: np.diag([2.0] + [0.0] * 5),
    ),
    "gradient of a gradient": (
        lambda f: tn.grad(lambda x: np.sum(x * tn.grad(f)(x))),
        lambda x, t: t,
    ),
}


@pytest.mark.parametrize("name", DERIVATIVES)
def test_every_transform_looks_at_the_values_of_its_call(name):
    """∂/∂x Σ x t = t, where t are entries of a table at ⌊x⌋."""
    transform, expected = DERIVATIVES[name]

    def f(x):
        return np.sum(x * table[cells(x)])

    for i in range(CALLS):
        x, table = X + 0.3 * i, TABLE + i
        found = transform(f)(x)
        np.testing.assert_allclose(found, expected(x, table[cells(x)]), rtol=1e-12)


@pytest.mark.parametrize("looks_first", [False, True])
def test_a_value_is_looked_at_in_some_calls_and_a_result_of_others(looks_first):
    """∂/∂x Σ s sin(x) = s cos(x); the recordings hold the same values and differ by their role."""

    def f(x):
        s = np.sin(tn.asarray(factors))
        value = np.sum(s * np.sin(x))
        if looks:
            np.asarray(s)
            return value, ()
        return value, (s,)

    for i in range(12):
        looks = (i % 6 < 3) == looks_first
        factors = np.cos(X + i)
        (_, beside), gradient = tn.value_and_grad(f, has_aux=True)(X)
        np.testing.assert_allclose(gradient, np.sin(factors) * np.cos(X), rtol=1e-12)
        assert len(beside) == (not looks)
        for s in beside:
            assert type(s) is np.ndarray
            np.testing.assert_allclose(s, np.sin(factors), rtol=1e-12)


def entries_in(matrix):
    """Return how many entries a sparse matrix of SciPy or JAX stores."""
    return matrix.nnz if hasattr(matrix, "nnz") else matrix.nse


PATTERNS = {
    "sparsity": tn.sparsity,
    "jacobian": lambda f: tn.jacobian(f, sparse=True),
}


@pytest.mark.parametrize("name", PATTERNS)
def test_a_pattern_reads_positions_that_were_looked_at(name):
    """The Jacobian of x[at] stores one entry for each position, and none for others."""

    def f(x):
        at = cells(tn.asarray(factors)) % 6
        assert np.asarray(at).size == 6
        return x[at] * 2.0

    for i in range(CALLS):
        factors = np.arange(6.0) * i
        assert entries_in(PATTERNS[name](f)(X)) == 6


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_dtype_of_a_table_counts_at_each_call(dtype):
    def f(x):
        return np.sum(x * table[cells(x)])

    for i in range(CALLS):
        table = TABLE.astype(("float32", "float64")[i % 2])
        value, gradient = tn.value_and_grad(f)(X.astype(dtype))
        assert value.dtype == np.result_type(dtype, table.dtype)
        assert gradient.dtype == dtype


def test_a_position_that_was_looked_at_is_checked_at_each_call():
    """The bounds of one call say nothing about the next one."""

    def f(x):
        at = cells(x)
        _ = np.asarray(at)
        return np.sum(x[at] * x)

    for i in range(CALLS - 2):
        x = 0.5 + np.roll(np.arange(6.0), i)
        np.testing.assert_allclose(tn.grad(f)(x), x[cells(x)] + x[np.argsort(cells(x))])
    with pytest.raises(tn.OutOfBoundsError):
        tn.grad(f)(1.5 + np.arange(6.0))
    x = 0.5 + np.arange(6.0)
    np.testing.assert_allclose(tn.grad(f)(x), 2 * x)


def test_a_value_that_was_looked_at_and_kept_is_that_of_its_call():
    kept = []

    def f(x):
        at = cells(x)
        kept.append((at, TABLE[at]))
        return np.sum(x * kept[-1][1])

    for i in range(CALLS):
        tn.grad(f)(X + i)
    for i, (at, _) in enumerate(kept):
        np.testing.assert_array_equal(np.asarray(at), np.floor(X + i))


def test_a_host_function_is_called_once_for_a_value_that_is_looked_at_twice():
    calls = []

    def host(x):
        calls.append(len(calls))
        return np.asarray(len(calls), "int64")

    def f(x):
        k = tn.host_callback(host, tn.stop_gradient(x[0]), results=tn.Aval((), "int64"))
        assert int(k) == int(k) == len(calls)
        return np.sum(x * int(k))

    for i in range(CALLS):
        np.testing.assert_array_equal(tn.grad(f)(X), np.full(6, i + 1.0))


def test_calls_after_an_error_behind_a_look():
    def f(x):
        k = int(x[0])
        if fails:
            raise KeyError("mine")
        return np.sum(x * x) * k

    for i in range(CALLS):
        fails, x = i % 3 == 2, X + i
        if fails:
            with pytest.raises(KeyError, match="mine"):
                tn.grad(f)(x)
        fails = False
        np.testing.assert_allclose(tn.grad(f)(x), 2 * x * int(x[0]), rtol=1e-12)


def test_a_traced_value_is_refused_after_calls_that_looked_at_it():
    f = a_branch(0)[0]
    for i in range(CALLS):
        tn.grad(f)(X + i % 3)
    with pytest.raises(tn.ConcretizationError):
        tn.jit(tn.grad(f))(X)
    with pytest.raises(tn.ConcretizationError):
        tn.vmap(tn.grad(f))(np.stack([X, X]))


def test_threads_look_at_their_own_values(in_impatient_threads):
    wrong = []

    def f(x):
        return np.sum(x * TABLE[cells(x)])

    def run(n):
        for i in range(40):
            x = X + n + 0.01 * i
            if not np.array_equal(tn.grad(f)(x), TABLE[np.floor(x).astype(int)]):
                wrong.append((n, i))

    in_impatient_threads(run, threads=4)
    assert not wrong


@pytest.mark.skipif(not HAS_MEMOS, reason="there are no memos without the GIL")
def test_no_value_is_held_between_calls():
    for i in range(CALLS):
        f, x = a_large_value_of_what_is_closed_over(i)
        tn.grad(f)(x)
    memos = [lent.memo for lent in MEMOS.waiting if lent.memo is not None]
    assert memos
    assert not any(memo.seen_values or memo.cut for memo in memos)


def branches_that_grow(x, i):
    found = np.sum(np.sin(x))
    for k in range(int(i)):
        found = found + np.sum(x) ** k if number(found) > -9 else found
    return found


def keys_in_entries(memo):
    """Every key that calls of the memo hold, as often as they do."""
    for entry, (result, _) in memo.entries.items():
        yield from [key for key in (*entry, result) if isinstance(key, ValueKey)]
    for form in memo.forms:
        yield from [key for key in form if isinstance(key, ValueKey)]


@pytest.mark.skipif(not HAS_MEMOS, reason="without the GIL there are no memos")
def test_a_memo_counts_each_key_that_it_holds_until_it_ends():
    """times_held = how often keys occur in entries, forms and the list of values; then nothing."""
    for i in (1, 1, 2, 3, 3):
        tn.grad(branches_that_grow)(X, float(i))
    (lent,) = MEMOS.waiting
    memo = lent.memo
    held = Counter(map(id, [*keys_in_entries(memo), *lent.values]))
    assert memo.times_held() == held
    lent.forget()
    assert not memo.times_held()
