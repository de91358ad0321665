"""A function that runs again is recorded by look-ups: the results are those of the call.

Each row of `WAYS` makes a function of NumPy and its arguments for call i. The same text runs on
plain arrays, so the value is NumPy's and the gradient that of differences.
"""

import asyncio
import functools
import sys

import numpy as np
import pytest

import tenferro as tn
from tenferro.computegraph import UNKNOWN
from tenferro.primitives import _primitive as primitive
from tenferro.transforms.recording import memos
from tenferro.transforms.recording.memos import MAX_MEMOS, MAX_VARIANTS, MEMOS

CALLS = 7
X = np.linspace(0.5, 2.0, 6)
M = np.linspace(0.1, 1.2, 12).reshape(4, 3)
HAS_MEMOS = getattr(sys, "_is_gil_enabled", lambda: True)()


@pytest.fixture(autouse=True)
def _no_memos():
    MEMOS.clear()


def operators(i):
    return lambda x: np.sum((1.3 * x + x / 2 - x**2) * -x + 1 / x - (2 - x) ** 3), (X + i,)


def ufuncs(i):
    return lambda x: np.sum(np.log(np.sin(x) ** 2 + np.exp(-x)) + np.maximum(x, 1.2)), (X + i,)


def methods(i):
    return lambda m: (m.T @ m).sum(axis=0).reshape(3, 1).mean() + m.ravel().dot(m.ravel()), (M + i,)


def functions_of_tenferro(i):
    def f(m):
        joined = tn.concatenate([tn.special.expit(m), m * 0.5])
        return tn.special.logsumexp(joined, axis=0) @ tn.matmul(m.T, m).T @ tn.sum(m, axis=0)

    return f, (M + i,)


def elements_and_slices(i):
    return lambda m: np.sum(m[0] * m[-1] + m[1:, None, 2][..., 0] * m[::-2, 0][0]) + m[3, 2], (
        M + i,
    )


def functions_with_keywords(i):
    return lambda m: np.sum(np.mean(m, axis=1, keepdims=True) * m, axis=(0, 1)), (M + i,)


def joined(i):
    return lambda x: np.sum(np.concatenate([x[:2], x[3:]]) ** 2 * np.stack([x[1:]] * 2)), (X + i,)


def contraction(i):
    return lambda m: np.einsum("ij,kj->", m, m * 0.5) + np.tensordot(m, m, 2), (M + i,)


def linear_algebra(i):
    eye = np.eye(3)
    return lambda m: np.linalg.slogdet(m.T @ m + eye)[1] + np.sum(np.linalg.inv(m.T @ m + eye)), (
        M + i,
    )


def trees(i):
    return lambda p: np.sum(p["w"][0] @ p["w"][1]) * p["b"], ({"w": [M, M.T + i], "b": 0.5 + i},)


def a_number(i):
    return lambda x: x * x + np.sin(x), (1.5 + i,)


def numbers_that_change(i):
    rate = 0.1 * i + 0.05
    return lambda x: np.sum((x * rate + rate) ** 2 - rate / x + np.minimum(x, 9 * rate)), (X,)


def zeros_of_both_signs(i):
    zero = (0.0, -0.0, 0)[i % 3]
    return lambda x: np.sum(np.arctan2(zero, -x) * x), (X,)


def kinds_of_one_number(i):
    one = (1, 1.0, 2)[i % 3]
    return lambda x: np.sum(x**one * one + x[1] * one), (X + i,)


def positions_that_change(i):
    return (
        lambda m: m[i % 4, 0] * m[0, i % 3] + np.sum(m[:, i % 3] * m[i % 3 : i % 3 + 2, 1].sum()),
        (M,),
    )


def positions_in_arrays(i):
    rows = np.array([0, i % 4, 2])
    return lambda m: np.sum(m[rows] ** 2) + np.sum(m[[0, i % 4]] * m[np.int64(i % 4)]), (M,)


def elements(i):
    rows, columns = np.array([0, i % 4, -1]), (np.arange(3) * i) % 3
    return lambda m: np.sum(m[rows, columns] * m[columns, columns]) + np.sum(m[i % 4, rows[:1]]), (
        M,
    )


def masks(i):
    mask = (np.arange(6) + i) % 3 > 0
    return lambda x: np.sum(x[mask] ** 2) + np.sum(np.where(mask, x, 2.0)), (X,)


def closed_over(i):
    small, large = np.arange(6) * (i + 1.0), np.arange(6000.0).reshape(1000, 6) + i
    return lambda x: np.sum(x * small + small) + np.sum(large @ x) / 1000 + np.sum(small / x), (X,)


def made_inside(i):
    return lambda x: np.sum(x * np.linspace(0.0, i, 6)) + np.dot(np.ones(6) * i, x * x), (X,)


def assigned(i):
    def f(x):
        y = x * 1.0
        y[0] = y[1] * 2
        y[i % 5] += 3.0
        return np.sum(y * y)

    return f, (X + i,)


def repeated(i):
    counts = np.array([1, 2, i % 3])
    return lambda x: np.sum(np.repeat(x[:3], counts) ** 2), (X,)


def branches(i):
    return lambda x: np.sum(np.sin(x)) if i % 2 else np.sum(x * x), (X + i,)


def branches_on_a_value(i):
    return lambda x: np.sum(x * x) if np.sum(x) > 20 else np.sum(np.sin(x) * x), (X + i,)


def branches_on_an_argument(i):
    return lambda x: np.sum(np.sin(x * x)) if x[0] > 2 else np.sum(np.sin(x)), (X + i,)


def lengths(i):
    def f(x):
        for _ in range(3 + 2 * (i % 3)):
            x = np.sin(x) + 0.1 * x
        return np.sum(x)

    return f, (X,)


def shapes(i):
    return lambda x: np.sum(np.outer(x, x)) + np.sum(x[1:] * x[:-1]), (np.linspace(1, 2, 3 + i),)


def other_arguments(i):
    return lambda x, k, d: np.sum(np.where(d["m"] > k, x * d["m"], x)), (X, 0.4 * i, {"m": X + i})


def empty(i):
    return lambda x: np.sum(x * x) + i * 1.0, (np.zeros((0, 3)),)


def factors(i):
    return lambda m: np.sum(np.linalg.eigh(m.T @ m)[0] * np.arange(3) * i), (M,)


def quantiles(i):
    return lambda x: np.quantile(x, 0.1 * i) + np.median(x * x), (X,)


def written_in_place(i):
    def f(x):
        y = x * 2.0
        y *= i + 1.0
        y = np.clip(y, 0.137, 5.313)
        return np.sum(y * x)

    return f, (X,)


WAYS = [
    operators, ufuncs, methods, functions_of_tenferro, elements_and_slices, functions_with_keywords,
    joined, contraction, linear_algebra, trees, a_number, numbers_that_change, zeros_of_both_signs,
    kinds_of_one_number, positions_that_change, positions_in_arrays, elements, masks, closed_over,
    made_inside, assigned, repeated, branches, branches_on_a_value, branches_on_an_argument,
    lengths, shapes, other_arguments, empty, factors, quantiles, written_in_place,
]  # fmt: skip
#: those whose later calls record nothing new, whatever the data are
STEADY = [
    operators, ufuncs, methods, functions_of_tenferro, elements_and_slices, functions_with_keywords,
    joined, contraction, trees, a_number, numbers_that_change, positions_that_change, elements,
    closed_over, made_inside, assigned, branches, lengths, other_arguments, written_in_place,
]  # fmt: skip
#: those that bind nothing but operands to what earlier calls recorded
FOUND_WHOLE = [way for way in STEADY if way not in (positions_that_change, elements, assigned)]


def operands_held():
    """Return the operands that waiting memos hold."""
    memos = [lent for lent in MEMOS.waiting if lent.memo is not None]
    known = [leaf.held for lent in memos for leaf in (*lent.arguments, *lent.memo.captured)]
    return [operand for operand in known if operand is not UNKNOWN]


def leaves(tree):
    if isinstance(tree, dict):
        return [leaf for item in tree.values() for leaf in leaves(item)]
    if isinstance(tree, (list, tuple)):
        return [leaf for item in tree for leaf in leaves(item)]
    return [tree]


def moved(tree, direction, step):
    if isinstance(tree, dict):
        return {k: moved(tree[k], direction[k], step) for k in tree}
    if isinstance(tree, list):
        return [moved(x, d, step) for x, d in zip(tree, direction, strict=True)]
    return tree + step * direction


def check(f, args, found):
    """Compare (value, gradient) with NumPy's value, and a difference along the gradient."""
    value, gradient = found
    np.testing.assert_allclose(value, f(*args), rtol=1e-12, atol=1e-12)
    size = sum(np.sum(np.square(g)) for g in leaves(gradient))
    step = 1e-5 / max(1.0, float(np.sqrt(size)))
    up, down = (f(moved(args[0], gradient, s), *args[1:]) for s in (step, -step))
    np.testing.assert_allclose((up - down) / (2 * step), size, rtol=2e-6, atol=1e-7)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_each_call_has_the_results_of_its_own_data(way):
    for i in range(CALLS):
        f, args = way(i)
        check(f, args, tn.value_and_grad(f)(*args))


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_a_way_beside_others_that_share_its_code(way):
    """Functions of one code object have one memo: the paths through them are all in it."""

    def through(f):
        return lambda *given: f(*given)

    others = (operators, assigned, closed_over)
    for i in range(CALLS):
        for each in (way, others[i % 3], way):
            f, args = each(i)
            check(f, args, tn.value_and_grad(through(f))(*args))


@pytest.mark.skipif(not HAS_MEMOS, reason="references are not counted exactly without the GIL")
@pytest.mark.parametrize("way", STEADY, ids=lambda way: way.__name__)
def test_later_calls_record_nothing_new(way):
    sizes = []
    for i in range(16):
        f, args = way(i)
        tn.value_and_grad(f)(*args)
        sizes.append([lent.size for lent in MEMOS.waiting])
    assert sizes[-1] == sizes[-4]
    assert sum(sizes[-1]) > 0


@pytest.mark.skipif(not HAS_MEMOS, reason="references are not counted exactly without the GIL")
@pytest.mark.parametrize("way", FOUND_WHOLE, ids=lambda way: way.__name__)
def test_later_calls_find_each_operation(way, monkeypatch):
    """A call that finds its operations applies no primitive."""
    applied = []
    emit_one = primitive.emit_one
    monkeypatch.setattr(
        primitive, "emit_one", lambda op, handles: applied.append(op) or emit_one(op, handles)
    )
    for i in range(8):
        applied.clear()
        f, args = way(i)
        tn.value_and_grad(f)(*args)
        assert applied or i
    assert not applied


THROUGH = {  # helpers that make one definition of every function that they are given
    "closure": lambda f: lambda *given: f(*given),
    "two closures": lambda f: THROUGH["closure"](THROUGH["closure"](f)),
    "partial": lambda f: functools.partial(lambda inner, *given: inner(*given), f),
    "wrapper": lambda f: functools.wraps(THROUGH["closure"])(THROUGH["closure"](f)),
}
MANY = (
    lambda x: np.sum(np.sin(x) * x),
    lambda x: np.sum(np.exp(-x) ** 2),
    lambda x: np.mean(x[1:] * x[:-1]),
    lambda x: np.sum(np.outer(x, x) / (1 + x)),
    lambda x: np.dot(np.cumsum(x), np.cos(x)),
    lambda x: np.sum(np.log(x).reshape(2, 3).T @ np.ones(2)),
)


def steps(x, count):
    y = x
    for _ in range(count):
        y = 0.5 * np.sin(y) + x / 9
    return np.sum(y)


def through_rows(m):
    return lambda x: np.sum(np.tanh(m @ x) * np.sin(m[0] @ x)), (M[0],)


VARIANTS = {  # of one definition: the k-th of several, and its argument
    **{
        name: lambda k, through=through: (through(MANY[k]), (X,))
        for name, through in THROUGH.items()
    },
    "captured number": lambda k: (lambda x: steps(x, k + 1), (X,)),
    "number as an argument": lambda k: (steps, (X, k + 1)),
    "captured array": lambda k: through_rows(M[: k % 4 + 1]),
    "array as an argument": lambda k: (lambda x, m: np.sum(m @ x) ** 2, (M[0], M[: k % 4 + 1])),
}


@pytest.fixture
def emitted(monkeypatch):
    """Operations that were recorded anew."""
    found = []
    emit_one = primitive.emit_one
    monkeypatch.setattr(
        primitive, "emit_one", lambda op, handles: found.append(op) or emit_one(op, handles)
    )
    return found


@pytest.mark.skipif(not HAS_MEMOS, reason="references are not counted exactly without the GIL")
@pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS)
def test_each_of_many_variants_is_found(variant, emitted):
    """Those of one definition have a memo each, once they have failed to share one."""
    for i in range(8):
        emitted.clear()
        for k in range(6):
            f, (x, *others) = variant(k)
            check(f, (x + i, *others), tn.value_and_grad(f)(x + i, *others))
        assert emitted or i
    assert not emitted


def test_variants_of_a_function_are_few():
    """A function that captures a counter has another variant at every call."""
    for k in range(2 * MAX_VARIANTS):
        tn.grad(steps)(X, k)
    assert MAX_VARIANTS <= len(MEMOS.waiting) <= MAX_VARIANTS + 1


@pytest.mark.skipif(not HAS_MEMOS, reason="references are not counted exactly without the GIL")
def test_variants_that_are_called_later_are_found(emitted, monkeypatch):
    """They get memos once many calls had none."""
    monkeypatch.setattr(memos, "MAX_REFUSED", 8)
    for k in range(4, 2 * MAX_VARIANTS):
        tn.grad(steps)(X, k)
    for _ in range(8):
        emitted.clear()
        for k in range(4):
            tn.grad(steps)(X + k, k)
    assert not emitted


@pytest.mark.parametrize(
    "dtype", ["float32", "float64", "complex64", "complex128"], ids=lambda name: name
)
def test_dtypes_stay(dtype):
    """Every call has the dtype and the gradient of the first one"""
    x = (X + (1j if "complex" in dtype else 0)).astype(dtype)

    def f(x):
        return np.sum(np.abs(2.0 * x * x[::-1]))

    expected = tn.jit(tn.grad(f))(x)
    for _ in range(CALLS):
        found = tn.grad(f)(x)
        assert found.dtype == dtype
        np.testing.assert_allclose(found, expected, rtol=1e-5)


TRANSFORMS = {
    "grad": lambda f, x: tn.grad(lambda x: np.sum(f(x)))(x),
    "jvp": lambda f, x: tn.jvp(f, (x,), (np.ones(6),))[1],
    "vjp": lambda f, x: tn.vjp(f, x)[1](np.ones(6))[0],
    "jacobian": lambda f, x: np.sum(tn.jacobian(f)(x), axis=0),
    "jacrev": lambda f, x: np.sum(tn.jacrev(f)(x), axis=0),
    "linearize": lambda f, x: tn.linearize(f, x)[1](np.ones(6)),
    "hvp": lambda f, x: tn.hvp(lambda x: np.sum(f(x) + 2 * np.cos(x)))(x, np.ones(6)),
    "aux": lambda f, x: tn.grad(lambda x: (np.sum(f(x)), f(x)), has_aux=True)(x)[0],
    "under jit": lambda f, x: tn.jit(tn.grad(lambda x: np.sum(f(x))))(x),
    "of jit": lambda f, x: tn.grad(lambda x: np.sum(tn.jit(f)(x)))(x),
    "vmap inside": lambda f, x: tn.grad(lambda x: np.sum(tn.vmap(f)(x[:, None])))(x),
    "vmap outside": lambda f, x: tn.vmap(tn.grad(lambda x: f(x)))(x),
    "scan": lambda f, x: tn.grad(lambda x: tn.scan(lambda c, a: (c + f(a), None), 0.0, x)[0])(x),
    "checkpoint": lambda f, x: tn.grad(lambda x: np.sum(tn.checkpoint(f)(x)))(x),
}  # fmt: skip


@pytest.mark.parametrize("name", TRANSFORMS)
def test_every_transform_reads_the_data_of_its_call(name):
    """(x sin x)' = sin x + x cos x"""
    for i in range(CALLS):
        x = X + i
        found = TRANSFORMS[name](lambda x: x * np.sin(x), x)
        expected = np.sin(x) + x * np.cos(x)
        if name == "hvp":  # (x sin x + 2 cos x)'' = -x sin x
            expected = -x * np.sin(x)
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_a_transform_inside_closes_over_a_value_of_the_one_outside():
    """d/da d/dx sin(a x) = cos(a x) - a x sin(a x), the inner transform on plain numbers"""
    for i in range(CALLS):
        a = 1.3 + i
        found = tn.grad(lambda a: tn.grad(lambda x: np.sin(x * a))(0.7))(a)
        np.testing.assert_allclose(found, np.cos(0.7 * a) - 0.7 * a * np.sin(0.7 * a), rtol=1e-12)


def test_values_that_were_kept_stay_those_of_their_call():
    kept = []

    def f(x):
        kept.append(np.sin(x) * 2)
        return np.sum(kept[-1] * x)

    for i in range(CALLS):
        tn.grad(f)(X + i)
    for i, value in enumerate(kept):
        np.testing.assert_array_equal(np.asarray(value), np.sin(X + i) * 2)


def test_values_that_were_kept_of_one_call_alone():
    kept = []

    def f(x):
        y = np.sin(x)
        if len(calls) == 4:
            kept.append(y)
        return np.sum(y * x)

    calls = []
    for i in range(CALLS):
        calls.append(i)
        tn.grad(f)(X + i)
    np.testing.assert_array_equal(np.asarray(kept[0]), np.sin(X + 3))


def test_an_array_that_is_written_between_calls_and_within():
    buffer = np.ones(6)

    def f(x):
        before = np.sum(buffer * x)
        buffer[:] += 1.0
        return before + 100.0 * np.sum(buffer * x)

    for i in range(CALLS):
        np.testing.assert_array_equal(tn.grad(f)(X), np.full(6, (i + 1) + 100.0 * (i + 2)))


def test_a_destination_among_the_arguments_is_written_at_each_call():
    def f(x):
        out = tn.zeros(6)
        np.clip(x, 0.9, 1.4, out)
        other = tn.zeros(6)
        np.sin(x, out=other)
        return np.sum(out * x + other)

    inside = ((X > 0.9) & (X < 1.4)).astype(float)
    for _ in range(CALLS):
        expected = np.clip(X, 0.9, 1.4) + inside * X + np.cos(X)
        np.testing.assert_allclose(tn.grad(f)(X), expected, rtol=1e-12)


def test_a_handle_that_is_assigned_into_is_of_one_call():
    def f(x):
        a, b = np.sin(x), np.sin(x)
        a[0] = 0.0
        return np.sum(a * 2 + b)

    expected = 3 * np.cos(X)
    expected[0] /= 3
    for _ in range(CALLS):
        np.testing.assert_allclose(tn.grad(f)(X), expected, rtol=1e-12)


def test_the_warning_of_a_copy_comes_at_every_call():
    def f(x):
        y = (x * 1.0).reshape(2, 3)
        row = y[1]
        row[0] = 5.0
        return np.sum(y)

    for _ in range(4):
        with pytest.warns(tn.CopyAssignmentWarning, match="does not"):
            tn.grad(f)(X)


def test_an_error_names_its_own_line_at_every_call():
    def f(x):
        y = np.sin(x) * 2
        return np.sum(y @ np.ones(7))  # the wrong length

    for _ in range(4):
        with pytest.raises(tn.ShapeMismatchError) as caught:
            tn.grad(f)(X)
        assert "# the wrong length" in "\n".join((str(caught.value), *caught.value.__notes__))


def test_a_position_that_comes_to_lie_outside_is_refused():
    def at(i):
        return tn.grad(lambda x: x[i] * x[np.array([0, i])].sum())(X)

    for i in range(CALLS - 1):
        at(i)
    for _ in range(2):
        with pytest.raises(tn.OutOfBoundsError):
            at(6)
    np.testing.assert_allclose(at(2)[2], X[0] + 2 * X[2], rtol=1e-12)


def test_a_number_that_comes_to_lie_outside_is_refused():
    """The quantile looks at its number, which is an argument, at each call."""

    def at(q):
        return tn.grad(lambda p: np.quantile(p["x"], p["q"]))({"x": X, "q": q})

    for i in range(CALLS):
        at(0.1 * i)
    for _ in range(2):
        with pytest.raises(ValueError, match=r"0.*1"):
            at(1.5)
    np.testing.assert_allclose(at(0.3)["q"], 5 * (X[2] - X[1]), rtol=1e-12)


def test_calls_after_an_error():
    def f(x, fails):
        y = np.sin(x)
        if fails:
            raise KeyError("mine")
        return np.sum(y * y)

    for i in range(CALLS):
        if i % 3 == 2:
            with pytest.raises(KeyError, match="mine"):
                tn.grad(f)(X, True)
        np.testing.assert_allclose(tn.grad(f)(X + i, False), np.sin(2 * (X + i)), rtol=1e-12)


def test_a_function_that_calls_its_own_gradient():
    def f(x, depth):
        value = np.sum(np.sin(x) * x)
        return value + np.sum(tn.grad(f)(np.ones(6) * depth, depth - 1)) if depth else value

    for i in range(CALLS):
        np.testing.assert_allclose(
            tn.grad(f)(X + i, 2), np.sin(X + i) + (X + i) * np.cos(X + i), rtol=1e-12
        )


def test_threads_have_the_results_of_their_own_data(in_impatient_threads):
    f, wrong = (lambda x: np.sum(np.log(np.sin(1.3 * x) * np.exp(-x) + x))), []

    def expected(x):
        s, c, e = np.sin(1.3 * x), np.cos(1.3 * x), np.exp(-x)
        return (1.3 * c * e - s * e + 1) / (s * e + x)

    def run(number):
        for i in range(60):
            x = X + number + 0.01 * i
            if not np.allclose(tn.grad(f)(x), expected(x), rtol=1e-12):
                wrong.append((number, i))

    in_impatient_threads(run, threads=6)
    assert not wrong


def test_tasks_that_go_on_after_the_call():
    """A task copies the context in which it begins, and captures arrays when the call is over."""
    found = []

    async def later(i):
        await asyncio.sleep(0)
        found.append(np.asarray(tn.asarray(X) * np.full(6, float(i))))

    async def main():
        tasks = []

        def f(x):
            tasks.append(asyncio.ensure_future(later(len(tasks))))
            return np.sum(x * np.full(6, 3.0))

        for _ in range(CALLS):
            np.testing.assert_array_equal(tn.grad(f)(X), np.full(6, 3.0))
        await asyncio.gather(*tasks)

    asyncio.run(main())
    for i, value in enumerate(found):
        np.testing.assert_array_equal(value, X * i)
    assert not operands_held()


@pytest.mark.skipif(not HAS_MEMOS, reason="references are not counted exactly without the GIL")
def test_no_data_is_held_between_calls():
    for i in range(4):
        f, args = closed_over(i)
        tn.value_and_grad(f)(*args)
    assert any(lent.size for lent in MEMOS.waiting)
    assert not operands_held()


def test_memos_are_few():
    for i in range(MAX_MEMOS + 20):
        x = np.ones(i + 1)
        for _ in range(2):
            tn.grad(lambda x: np.sum(x * x))(x)
    assert len(MEMOS.waiting) <= MAX_MEMOS


def test_marks_of_calls_that_never_come_again_are_few():
    for i in range(MAX_MEMOS + 20):
        tn.grad(lambda x: np.sum(x * x))(np.ones(i + 1))
    assert len(MEMOS.waiting) <= MAX_MEMOS


def test_a_large_array_that_a_function_closes_over_as_an_array_is_not_held():
    large = tn.asarray(np.ones(100_000))
    for _ in range(4):
        tn.grad(lambda x: np.sum(large * x))(2.0)
    assert not any(lent.size for lent in MEMOS.waiting)


def reads_its_own_factorization(x):
    low, _ = np.linalg.eigh(np.outer(x, x) + np.diag(x))
    return np.sum(low * x) if low[0] > 1 else np.sum(low)


@pytest.mark.skipif(not HAS_MEMOS, reason="there are no memos without the GIL")
def test_a_call_that_reads_its_own_factorization_leaves_no_mark():
    """The derivative takes the factors that were computed, which a memo would compute again."""
    for i in range(4):
        x = X + i % 2
        check(reads_its_own_factorization, (x,), tn.value_and_grad(reads_its_own_factorization)(x))
        assert not MEMOS.waiting


@pytest.mark.skipif(not HAS_MEMOS, reason="there are no memos without the GIL")
def test_a_call_that_computes_a_value_from_outside_leaves_a_mark():
    outside = tn.asarray(X) * 2.0

    def f(x):
        return np.sum(x * float(outside[1]))

    for i in range(4):
        check(f, (X + i,), tn.value_and_grad(f)(X + i))
    assert MEMOS.waiting


OTHERS = {
    "vjp": lambda f, x: tn.vjp(f, x)[1](1.0),
    "linearize": lambda f, x: tn.linearize(f, x)[1](x),
    "trace": lambda f, x: tn.trace(f, x),
    "trace of grad": lambda f, x: tn.trace(tn.grad(f), x),
    "jet": lambda f, x: tn.jet(f, (x,), ((x, None),)),
    "jvp": lambda f, x: tn.jvp(f, (x,), (x,)),
    "jvp of grad": lambda f, x: tn.jvp(tn.grad(f), (x,), (x,)),
    "vjp of grad": lambda f, x: tn.vjp(tn.grad(f), x)[1](x),
    "hvp": lambda f, x: tn.hvp(f)(x, x),
    "hessian": lambda f, x: tn.hessian(f)(x),
    "jacfwd": lambda f, x: tn.jacfwd(f)(x),
    "jacrev": lambda f, x: tn.jacrev(f)(x),
    "sparsity": lambda f, x: tn.sparsity(f)(x),
    "sparsity of grad": lambda f, x: tn.sparsity(tn.grad(f))(x),
    "vmap of grad": lambda f, x: tn.vmap(tn.grad(f))(np.stack([x, x])),
    "check_grads": lambda f, x: tn.check_grads(f, (x,)),
}  # fmt: skip


@pytest.mark.skipif(not HAS_MEMOS, reason="there are no memos without the GIL")
@pytest.mark.parametrize("name", OTHERS)
def test_other_transforms_of_a_function_leave_the_memo_of_its_gradient(name):
    """Some keep values, others record the gradient: neither ends the memo of the function."""

    def f(x):
        return np.sum(x * np.sin(x))

    memos = []
    for i in range(CALLS):
        x = X + i
        OTHERS[name](f, x)
        np.testing.assert_allclose(tn.grad(f)(x), np.sin(x) + x * np.cos(x), rtol=1e-12)
        memos.append([each.memo for each in MEMOS.waiting if each.codes == [f.__code__]])
    assert memos[-1] == memos[-3]
    assert memos[-1][0].size > 0


@pytest.mark.skipif(not HAS_MEMOS, reason="there are no memos without the GIL")
@pytest.mark.parametrize("name", ["hessian", "hvp", "jacfwd", "jacrev", "jet", "jvp", "sparsity"])
def test_transforms_that_keep_no_value_have_memos(name):
    for i in range(CALLS):
        OTHERS[name](lambda x: np.sum(x * np.sin(x)), X + i)
    assert sum(each.size for each in MEMOS.waiting) > 0


def test_pullbacks_that_were_kept_belong_to_their_call():
    kept = [tn.vjp(lambda x: np.sum(x * np.sin(x)), X + i)[1] for i in range(CALLS)]
    for i, pullback in enumerate(kept):
        x = X + i
        np.testing.assert_allclose(pullback(1.0)[0], np.sin(x) + x * np.cos(x), rtol=1e-12)
