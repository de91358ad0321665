"""A mapped function that runs again is recorded by look-ups: the results are those of the call."""

import sys
import threading

import numpy as np
import pytest

import tenferro as tn
from tenferro.computegraph import UNKNOWN
from tenferro.transforms.recording.memos import MEMOS

CALLS = 7
ROWS = np.linspace(0.5, 2.0, 6).reshape(2, 3)
HAS_MEMOS = getattr(sys, "_is_gil_enabled", lambda: True)()
without_memos = pytest.mark.skipif(not HAS_MEMOS, reason="there are no memos without the GIL")
GLOBAL = [1.0]


@pytest.fixture(autouse=True)
def _no_memos():
    MEMOS.clear()


def sines(i):
    return lambda x: np.sum(np.sin(x) * x), {}, (ROWS + i,)


def one_number(i):
    factor = 0.5 + i
    return lambda x: x * factor + 1.5 * factor, {}, (ROWS[0],)


def a_global(i):
    GLOBAL[0] = 1.0 + i
    return lambda x: x * GLOBAL[0], {}, (ROWS,)


def a_default(i):
    return lambda x, factor=i + 0.5: x * factor, {}, (ROWS,)


def a_closed_over_array(i):
    w = np.arange(3.0) * i
    return lambda x: x * w + np.sum(w), {}, (ROWS,)


def an_array_that_was_written(i):
    WRITTEN[:] = i
    return lambda x: x * WRITTEN, {}, (ROWS,)


def an_array_of_ours(i):
    w = tn.asarray(np.arange(3.0) + i)
    return lambda x: x * w, {}, (ROWS,)


def a_shared_array(i):
    return lambda x, w: np.dot(x, w), {"in_axes": (0, None)}, (ROWS, np.arange(3.0) + i)


def a_shared_number(i):
    return lambda x, k: x * k if k > 2 else x + k, {"in_axes": (0, None)}, (ROWS, float(i))


def another_axis(i):
    return lambda x: np.sum(x), {"in_axes": i % 2}, (ROWS,)


def another_place(i):
    return lambda x: np.exp(x), {"out_axes": i % 2}, (ROWS,)


def another_size(i):
    return lambda x: x * 2.0, {}, (np.ones((1 + i % 3, 2)) * i,)


def another_branch(i):
    return lambda x: np.sin(x) if i % 2 else np.cos(x) * x, {}, (ROWS,)


def another_dtype(i):
    dtype = ("float32", "complex128", "float64")[i % 3]
    return lambda x: x * x[::-1], {}, (ROWS.astype(dtype),)


def positions_that_change(i):
    return lambda x: x[i % 3] * x[[0, i % 3]], {}, (ROWS,)


def trees(i):
    return lambda p: {"s": p["a"] * (i + 0.5), "t": [p["b"]]}, {}, ({"a": ROWS, "b": ROWS[:, 0]},)


def an_assignment(i):
    def f(x):
        x[0] = i * 2.0
        return x * x

    return f, {}, (ROWS,)


def empty(i):
    return lambda x: np.sum(x * i), {}, (np.zeros((0, 3)),)


def keywords(i):
    return lambda x, **given: x * given["y"], {}, (ROWS,), {"y": ROWS + i}


WRITTEN = np.zeros(3)
WAYS = [
    sines, one_number, a_global, a_default, a_closed_over_array, an_array_that_was_written,
    an_array_of_ours, a_shared_array, a_shared_number, another_axis, another_place, another_size,
    another_branch, another_dtype, positions_that_change, trees, an_assignment, empty, keywords,
]  # fmt: skip
#: those whose later calls record nothing new, whatever the data are
STEADY = [
    sines, one_number, a_global, a_closed_over_array, an_array_that_was_written, a_shared_array,
    another_axis, another_place, another_branch, positions_that_change, trees, keywords,
]  # fmt: skip


def call(way, i, wrap=lambda f: f):
    function, axes, args, *given = way(i)
    return tn.vmap(wrap(function), **axes)(*args, **(given[0] if given else {}))


def leaves(tree):
    if isinstance(tree, dict):
        return [leaf for item in tree.values() for leaf in leaves(item)]
    return [leaf for item in tree for leaf in leaves(item)] if type(tree) is list else [tree]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_each_call_has_the_results_of_its_own_data(way):
    """The same call without a memo, after ``clear``, gives the same bits."""
    for i in range(CALLS):
        found = leaves(call(way, i))
        waiting = dict(MEMOS._waiting)
        MEMOS._waiting.clear()
        expected = leaves(call(way, i))
        MEMOS._waiting.clear()
        MEMOS._waiting.update(waiting)
        for got, need in zip(found, expected, strict=True):
            assert got.dtype == need.dtype
            np.testing.assert_array_equal(got, need)


@without_memos
@pytest.mark.parametrize("way", STEADY, ids=lambda way: way.__name__)
def test_later_calls_record_nothing_new(way):
    sizes = []
    for i in range(16):
        call(way, i)
        sizes.append([lent.size for lent in MEMOS.waiting])
    assert sizes[-1] == sizes[-4]
    assert sum(sizes[-1]) > 0


TRANSFORMS = {
    "grad": (lambda f: tn.grad(lambda x: np.sum(f(x))), lambda x, k: k * np.exp(k * x)),
    "value_and_grad": (
        lambda f: lambda x: tn.value_and_grad(lambda x: np.sum(f(x)))(x)[1],
        lambda x, k: k * np.exp(k * x),
    ),
    "jvp": (lambda f: lambda x: tn.jvp(f, (x,), (x,))[1], lambda x, k: k * x * np.exp(k * x)),
    "vjp": (lambda f: lambda x: tn.vjp(f, x)[1](x)[0], lambda x, k: k * x * np.exp(k * x)),
    "vmap": (tn.vmap, lambda x, k: np.exp(k * x)),
    "jit": (tn.jit, lambda x, k: np.exp(k * x)),
    "checkpoint": (tn.checkpoint, lambda x, k: np.exp(k * x)),
    "second order": (
        lambda f: tn.grad(lambda x: np.sum(tn.grad(lambda x: np.sum(f(x)))(x))),
        lambda x, k: k * k * np.exp(k * x),
    ),
    "scan": (
        lambda f: lambda x: tn.scan(lambda c, a: (c, f(a)), 0.0, x)[1],
        lambda x, k: np.exp(k * x),
    ),
}


def exponential(k):
    return lambda x: np.exp(k * x)


@pytest.mark.parametrize("name", TRANSFORMS)
def test_a_transform_inside_has_the_closure_of_the_call(name):
    """Derivatives of exp(k x), where each call closes over another k."""
    transform, expected = TRANSFORMS[name]
    for i in range(CALLS):
        k = 0.3 * i
        found = tn.vmap(transform(exponential(k)))(ROWS + i)
        np.testing.assert_allclose(found, expected(ROWS + i, k), rtol=1e-12)


@pytest.mark.parametrize("name", ["grad", "jvp", "hessian"])
def test_inside_a_transform_the_mapped_function_depends_on_its_argument(name):
    """f(x) = Σᵢⱼ (rᵢⱼ xⱼ)³, mapped over arrays of NumPy that are not followed"""

    def f(x):
        return np.sum(tn.vmap(lambda r: (r * x) ** 3)(ROWS))

    for i in range(CALLS):
        x = np.linspace(1.0, 2.0, 3) + i
        slope = 3 * x**2 * np.sum(ROWS**3, axis=0)
        if name == "grad":
            np.testing.assert_allclose(tn.grad(f)(x), slope, rtol=1e-12)
        elif name == "jvp":
            np.testing.assert_allclose(tn.jvp(f, (x,), (x,))[1], slope @ x, rtol=1e-12)
        else:
            expected = np.diag(6 * x * np.sum(ROWS**3, axis=0))
            np.testing.assert_allclose(tn.hessian(f)(x), expected, rtol=1e-12)


def test_a_mapped_function_and_its_gradient_do_not_share_what_they_remember():
    def f(x):
        return np.sum(np.sin(x) * x)

    for i in range(CALLS):
        x = ROWS + i
        np.testing.assert_allclose(tn.vmap(f)(x), np.sum(np.sin(x) * x, axis=1), rtol=1e-12)
        np.testing.assert_allclose(tn.grad(f)(x), np.sin(x) + x * np.cos(x), rtol=1e-12)


def test_an_example_that_was_kept_is_refused_after_any_call():
    kept = []

    def f(x):
        kept.append(x * 2.0)
        return kept[-1] + 1.0

    for i in range(CALLS):
        np.testing.assert_allclose(tn.vmap(f)(ROWS + i), 2 * (ROWS + i) + 1, rtol=1e-12)
        with pytest.raises((tn.LeakedArrayError, tn.ConcretizationError)):
            np.asarray(kept[-1])


def test_a_call_that_fails_half_way_leaves_the_next_ones_right():
    def f(x):
        y = np.exp(x)
        if fails:
            raise ZeroDivisionError
        return y * x

    for i in range(CALLS):
        fails = i % 3 == 1
        if fails:
            with pytest.raises(ZeroDivisionError):
                tn.vmap(f)(ROWS + i)
        else:
            x = ROWS + i
            np.testing.assert_allclose(tn.vmap(f)(x), np.exp(x) * x, rtol=1e-12)


def test_the_value_of_an_example_is_refused_at_every_call():
    for _ in range(CALLS):
        with pytest.raises(tn.ConcretizationError):
            tn.vmap(lambda x: x * 2.0 if x[0] > 1 else x)(ROWS)


def test_effects_happen_at_every_call():
    seen = []
    for i in range(CALLS):
        tn.vmap(lambda x: (tn.debug.callback(lambda v: seen.append(float(v)), x[0]), x * 2.0)[1])(
            ROWS + i
        )
    assert sorted(seen) == sorted(float(v) for i in range(CALLS) for v in ROWS[:, 0] + i)


def test_a_mapped_function_that_maps_itself():
    def f(x):
        return tn.vmap(f)(x) * 2.0 if x.ndim else x + 1.0

    for i in range(CALLS):
        np.testing.assert_allclose(tn.vmap(f)(ROWS + i), (ROWS + i + 1) * 2, rtol=1e-12)


def test_threads_have_the_results_of_their_own_data():
    wrong = []

    def f(x):
        return np.sin(x) * x

    def work(k):
        for i in range(20):
            x = ROWS * k + i
            if not np.allclose(tn.vmap(f)(x), np.sin(x) * x, rtol=1e-12):
                wrong.append((k, i))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not wrong


@without_memos
def test_no_data_is_held_between_calls():
    for i in range(4):
        for way in (sines, a_closed_over_array, a_shared_array, keywords):
            call(way, i)
    lent = [each for each in MEMOS.waiting if each.memo is not None]
    assert len(lent) == 4
    assert all(leaf.held is UNKNOWN for each in lent for leaf in each.arguments)
    assert all(leaf.held is UNKNOWN for each in lent for leaf in each.memo.captured)
