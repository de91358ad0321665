"""`jit(dynamic=True)`: parts of a program are compiled, and kept by the sizes that they find."""

import gc
import pickle
import threading
import weakref

import numpy as np
import pytest

import tenferro as tn
from tenferro.backend import select_backend
from tenferro.transforms.compilation import continuations

X = np.array([0.3, -1.2, 2.5, -0.4, 0.9])
IS_WHOLE = select_backend(None, [X]).info.whole_program
pytestmark = pytest.mark.skipif(IS_WHOLE, reason="refused; see test_dynamic_refused.py")


def low_rank(a):
    """Return the matrix of the singular triples above a tolerance, and their number."""
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    k = int(np.sum(s > 1e-10 * s[0]))
    return (u[:, :k] * s[:k]) @ vh[:k], k


def masked(x):
    y = np.sin(x) * x
    return np.sum(y[x > 0] ** 2)


def by_branch(x):
    if np.sum(x) > 0:
        return np.sum(x**2)
    return np.prod(np.cos(x))


FUNCTIONS = {
    "mask": (masked, X),
    "rank by tolerance": (lambda a: low_rank(a)[0], np.outer(X, X) + np.outer(X[::-1], X)),
    "nonzero": (lambda x: np.nonzero(x > 0), X),
    "rank of an array": (lambda x: x[np.nonzero(x > 0)[0]] * 2, X),
    "flatnonzero": (lambda x: np.flatnonzero(x.reshape(5, 1) > 0), X),
    "argwhere": (lambda x: np.argwhere(x > 0), X),
    "argwhere of a number": (lambda x: np.argwhere(x[0] > 0), X),
    "compress": (lambda x: np.compress(x > 0, x), X),
    "extract": (lambda x: np.extract(x > 0, x), X),
    "unique": (lambda x: np.unique(np.floor(x), return_inverse=True, return_counts=True), X),
    "union1d": (lambda x: np.union1d(x, -x), X),
    "intersect1d": (lambda x: np.intersect1d(x, np.abs(x)), X),
    "setdiff1d": (lambda x: np.setdiff1d(x, np.abs(x)), X),
    "setxor1d": (lambda x: np.setxor1d(x, np.abs(x)), X),
    "trim_zeros": (lambda x: np.trim_zeros(np.maximum(x * np.arange(5), 0.0)), X),
    "bincount": (lambda x: np.bincount(np.abs(x).astype(int)), X),
    "repeat": (lambda x: np.repeat(x, np.abs(x).astype(int)), X),
    "repeat alike": (lambda x: np.repeat(x, np.sum(x > 0)), X),
    "delete": (lambda x: np.delete(x, np.argmax(x)), X),
    "insert": (lambda x: np.insert(x, np.argmax(x), np.sum(x)), X),
    "polydiv": (lambda x: np.polydiv(np.polymul(x, x) + np.eye(1, 9, 8)[0], x), X),
    "rows of a mask": (lambda x: (np.outer(x, x)[x > 0], np.outer(x, x)[:, x > 0]), X),
    "mask of rank 2": (lambda x: np.outer(x, x)[np.outer(x, x) > 0], X),
    "range": (lambda x: sum(x[i] * i for i in range(int(np.argmax(x)))), X),
    "slice": (lambda x: x[: np.argmax(x)], X),
    "zeros": (lambda x: np.zeros_like(x, shape=int(np.argmax(x))) + x[0], X),
    "written through a mask": (lambda x: x.at[x > 0].multiply(2.0), X),
    "if": (by_branch, X),
    "two masks": (lambda x: np.sum(x[x > 0]) / np.sum(x[x < 0] ** 2), X),
    "complex": (lambda x: np.sum((x + 1j * x**2)[x > 0] ** 2), X),
    "mask of a constant": (lambda x: x[np.array([True, False, True, True, False])], X),
    "nothing asked": (lambda x: np.sin(x), X),
    "the argument": (lambda x: (x, x[x > 0]), X),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_values_are_those_of_the_function_itself(name, sign):
    """jit(f, dynamic=True)(x) = f(x), bit for bit, at the first call and later ones"""
    function, x = FUNCTIONS[name]
    need = flat(function(tn.asarray(sign * x)))
    jitted = tn.jit(function, dynamic=True)
    for _ in range(2):
        got = flat(jitted(sign * x))
        assert len(got) == len(need)
        for a, b in zip(got, need, strict=True):
            b = np.array(b)
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a, b)
    assert jitted.cache_info().misses == 1


def flat(found):
    return list(found) if isinstance(found, tuple) else [found]


def counted(function):
    """Return the function under jit(dynamic=True), and the list that each trace extends."""
    traces = []

    def counting(*args):
        traces.append(args)
        return function(*args)

    return tn.jit(counting, dynamic=True), traces


def test_a_call_with_the_same_sizes_traces_nothing():
    """Traces are as many as paths of sizes"""
    f, traces = counted(lambda x: np.sum(np.sin(x)[x > 0]))
    counts = [f(x) is not None and len(traces) for x in (X, 2 * X, -X, X[::-1], -2 * X)]
    assert counts == [1, 1, 2, 2, 2]
    found = f.cache_info()
    assert (found.hits, found.misses, found.entries) == (3, 2, 3)


def test_a_number_keys_by_its_value_and_a_truth_by_its_truth():
    f, traces = counted(lambda x: x[: int(np.sum(x))])
    g, decided = counted(lambda x: x + 1 if np.sum(x) else x)
    for k in (1.0, 2.0, 3.0, 2.5):
        assert f(np.array([k, 0.0, 0.0, 0.0])).shape == (int(k),)
        g(np.array([k]))
    assert len(traces) == 3
    assert len(decided) == 1


def test_the_first_part_runs_once_per_call():
    """The decomposition before the rank is known is not repeated after it"""
    f = tn.jit(lambda a: low_rank(a)[0], dynamic=True)
    f(np.outer(X, X))
    names = [line.split("(")[0] for line in f.explain().splitlines()]
    assert f.explain().count("svd") <= 2
    assert len([name for name in names if name.startswith("sizes")]) == 2


def test_a_continuation_may_read_more_of_the_first_part_than_an_earlier_one():
    """Values of the first part that only one continuation reads are computed for that one, too"""

    def f(x):
        y, z = np.sin(x), np.cos(x)
        k = int(np.sum(y * z > 0))
        return np.sum(y[:k]) if k > 2 else np.sum(z * y) + np.prod(z[:k])

    jitted = tn.jit(f, dynamic=True)
    points = [X, -X, X, -X]
    for x in points:
        assert jitted(x) == f(tn.asarray(x)).item()
    assert jitted.cache_info()[:2] == (2, 2)


@pytest.mark.parametrize(
    "make",
    [
        tn.grad,
        tn.value_and_grad,
        lambda f: lambda x: tn.jvp(f, (x,), (np.cos(x),)),
        lambda f: lambda x: tn.vjp(f, x)[1](2.0),
        lambda f: lambda x: tn.jvp(tn.grad(f), (x,), (np.cos(x),))[1],
        tn.hessian,
    ],
    ids=["grad", "value_and_grad", "jvp", "vjp", "hvp", "hessian"],
)
@pytest.mark.parametrize("name", ["mask", "if", "two masks"])
def test_derivatives_inside(make, name):
    """jit(D f, dynamic=True) = D f"""
    function, x = FUNCTIONS[name]
    need = flat(make(function)(x))
    jitted = tn.jit(make(function), dynamic=True)
    for _ in range(2):
        for a, b in zip(flat(jitted(x)), need, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-14)


@pytest.mark.parametrize("make", [tn.grad, lambda f: tn.jacfwd(f), tn.hessian])
def test_derivatives_outside_call_the_function_as_it_is(make):
    """D jit(f, dynamic=True) = D f"""
    np.testing.assert_array_equal(make(tn.jit(masked, dynamic=True))(X), make(masked)(X))


def test_a_function_that_closes_over_what_is_differentiated():
    """d/dw Σ w x[x > 0] = Σ x[x > 0]"""

    def outer(w):
        return tn.jit(lambda x: np.sum(w * x[x > 0]), dynamic=True)(X)

    assert tn.grad(outer)(2.0) == pytest.approx(X[X > 0].sum())


def test_rules_of_the_user():
    """A custom rule holds inside"""

    @tn.custom_vjp
    def cube(x):
        return x**3

    cube.defvjp(lambda x: (x**3, x), lambda x, g: (7.0 * g,))
    f = tn.jit(tn.grad(lambda x: np.sum(cube(x[x > 0]))), dynamic=True)
    np.testing.assert_array_equal(f(X), np.where(X > 0, 7.0, 0.0))


def test_loops_and_vmap_of_known_sizes_inside():
    """Sizes found outside of loops and vmap serve inside"""

    def f(x):
        kept = x[x > 0]
        total, _ = tn.scan(lambda c, row: (c + row, None), 0.0 * x[0], kept)
        return total + np.sum(tn.vmap(lambda row: row * kept)(kept))

    kept = X[X > 0]
    assert tn.jit(f, dynamic=True)(X) == pytest.approx(kept.sum() + np.outer(kept, kept).sum())


def test_one_dynamic_function_inside_another():
    inner = tn.jit(lambda x: x[x > 0], dynamic=True)
    outer, traces = counted(lambda x: np.sum(inner(np.sin(x))) * inner(x).size)
    for _ in range(2):
        assert outer(X) == pytest.approx(np.sin(X)[np.sin(X) > 0].sum() * 3)
    assert len(traces) == 1


INSIDE = {
    "vmap": lambda x: tn.vmap(lambda row: row[row > 0])(np.stack([x, x])),
    "scan": lambda x: tn.scan(lambda c, row: (c + np.sum(x[x > row]), None), 0.0, x),
    "while": lambda x: tn.while_loop(lambda c: np.sum(x[x > c]) > 0, lambda c: c + 1, 0.0),
    "cond": lambda x: tn.cond(x[0] > 0, lambda y: np.sum(y[y > 0]), np.sum, x),
}


@pytest.mark.parametrize("name", INSIDE)
def test_sizes_inside_of_bodies_are_refused(name):
    """The error names the cure, and leaves no state"""
    f = tn.jit(INSIDE[name], dynamic=True)
    with pytest.raises(tn.ConcretizationError, match=r"np\.where\(mask, x, 0\)"):
        f(X)
    assert f.cache_info().entries == 0
    with pytest.raises(tn.ConcretizationError):
        tn.jit(lambda x: x[x > 0])(X)  # no observer stays behind


OUTSIDE = {
    "vmap": lambda f: tn.vmap(f)(np.stack([X, X])),
    "jit": lambda f: tn.jit(f)(X),
    "scan": lambda f: tn.scan(lambda c, x: (f(c), None), X, length=2),
    "cond": lambda f: tn.cond(True, f, np.sin, X),
    "lower": lambda f: f.lower(X),
    "explain": lambda f: f.explain(X),
    "eval_shape": lambda f: tn.eval_shape(f, X),
    "aval": lambda f: f(tn.Aval((5,), "float64")),
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_where_there_are_no_values_it_is_refused(name):
    f = tn.jit(lambda x: x[x > 0], dynamic=True)
    with pytest.raises(tn.UnsupportedError, match=r"jit\(dynamic=True\)") as caught:
        OUTSIDE[name](f)
    assert caught.value.feature == "jit(dynamic=True)"
    assert "hint" in str(caught.value)


def test_a_trace_on_values_shows_the_function_itself():
    function = lambda x: np.sum(x[x > 0])  # noqa: E731
    assert str(tn.trace(tn.jit(function, dynamic=True), X)) == str(tn.trace(function, X))


def test_too_many_sizes_name_the_loop():
    def f(x):
        while x > 1e-30:
            x = x / 2
        return x

    jitted = tn.jit(f, dynamic=True)
    with pytest.raises(tn.ConcretizationError, match="while_loop"):
        jitted(1.0)
    assert jitted.cache_info().entries == 0
    assert jitted(1e-29) == f(1e-29)


@pytest.mark.parametrize("asked", [float, str, lambda x: x.item(), lambda x: np.sin(float(x))])
def test_values_that_are_no_sizes_stay_refused(asked):
    with pytest.raises((tn.ConcretizationError, tn.TracedConversionError)):
        tn.jit(lambda x: (asked(np.sum(x)), np.asarray(x))[1], dynamic=True)(X)


def test_an_error_in_the_middle_leaves_no_state():
    def f(x):
        kept = x[x > 0]
        if kept.size > 3:
            raise KeyError("too many")
        return np.sum(kept)

    jitted = tn.jit(f, dynamic=True)
    for _ in range(2):
        with pytest.raises(KeyError, match="too many"):
            jitted(np.ones(5))
        assert jitted(X) == f(X)
    assert jitted.cache_info()[:2] == (1, 1)
    with pytest.raises(tn.ConcretizationError):
        tn.jit(lambda x: x[x > 0])(X)


def test_an_error_of_a_size_is_that_of_python():
    f = tn.jit(lambda x: x[: int(np.sum(x))], dynamic=True)
    assert f(np.ones(3)).shape == (3,)
    for _ in range(2):
        with pytest.raises(ValueError, match="NaN"):
            f(np.array([np.nan, 1.0, 1.0]))


def test_effects_happen_once_per_call_in_order(capsys):
    def f(x):
        tn.debug.print("before {}", np.sum(x))
        kept = x[x > 0]
        tn.debug.print("after {}", np.sum(kept))
        return np.sum(kept)

    jitted = tn.jit(f, dynamic=True)
    for x in (np.ones(2), np.ones(2), -np.ones(2)):
        jitted(x)
    assert capsys.readouterr().out.split() == [
        *"before 2.0 after 2.0 before 2.0 after 2.0 before -2.0 after 0.0".split()
    ]


def test_the_number_of_segments_is_bounded(monkeypatch):
    monkeypatch.setattr(continuations, "MAX_SEGMENTS", 4)
    f, traces = counted(lambda x: x[: int(np.sum(x))])
    for k in (1, 2, 3, 4, 5, 5, 4):
        f(np.eye(6)[0] * k)
    found = f.cache_info()
    assert found.entries == 4
    assert len(traces) == 5
    assert found.evictions == 2
    f(np.eye(6)[0])
    assert len(traces) == 6
    f.clear_cache()
    assert f.cache_info() == (0, 0, 0, 0, 0)
    f(np.eye(6)[0])
    assert len(traces) == 7


def test_threads_get_their_own_sizes():
    """Calls of many threads at once give what they give one after the other"""
    f = tn.jit(lambda x: np.sum(np.sin(x)[x > 0]) * x[x > 0].size, dynamic=True)
    points = [np.where(np.arange(8) < k, 1.0, -1.0) * (k + 1) for k in range(8)]
    need = [np.sum(np.sin(x)[x > 0]) * (x > 0).sum() for x in points]
    wrong, barrier = [], threading.Barrier(4)

    def work(first):
        barrier.wait()
        for i in range(24):
            k = (first + i) % 8
            if abs(f(points[k]) - need[k]) > 1e-12:
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(2 * i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_static_and_donated_arguments():
    def f(x, power, y):
        return np.sum(x[x > 0] ** power) + y[x > 0]

    jitted = tn.jit(f, static_argnums=1, donate_argnums=2, dynamic=True)
    for power in (2, 3, 2):
        y = np.ones(5)
        np.testing.assert_array_equal(jitted(X, power, y), f(X, power, np.ones(5)))
    assert jitted.cache_info()[:2] == (1, 2)


def test_arrays_and_trees_keep_their_forms():
    f = tn.jit(lambda t: {"kept": t["x"][t["x"] > t["low"]], "low": t["low"]}, dynamic=True)
    found = f({"x": tn.asarray(X), "low": 0.5})
    assert isinstance(found["kept"], tn.Array)
    np.testing.assert_array_equal(np.array(found["kept"]), X[X > 0.5])
    assert isinstance(f({"x": X, "low": 0.5})["kept"], np.ndarray)


def test_python_integers_may_be_sizes():
    f, traces = counted(lambda x, k: np.sum(x[: int(k)]))
    assert [f(X, k) for k in (1, 2, 1)] == [X[:1].sum(), X[:2].sum(), X[:1].sum()]
    assert len(traces) == 2


class Filter:
    @tn.jit(dynamic=True)
    def positive(self, x):
        return x[x > self.low]

    low = 0.0


def test_methods_have_their_own_segments():
    one, other = Filter(), Filter()
    other.low = 1.0
    np.testing.assert_array_equal(one.positive(X), X[X > 0])
    np.testing.assert_array_equal(other.positive(X), X[X > 1])


dynamic_sum = tn.jit(masked, dynamic=True)


def test_it_pickles_as_other_jitted_functions():
    found = pickle.loads(pickle.dumps(dynamic_sum))
    assert found(X) == dynamic_sum(X)
    assert type(found) is type(dynamic_sum)


def test_unrolled_calls_the_function():
    seen = []

    def f(x):
        seen.append(float(tn.stop_gradient(x)[0]))
        return x[x > 0]

    with tn.debug.unrolled():
        np.testing.assert_array_equal(tn.jit(f, dynamic=True)(X), X[X > 0])
    assert seen == [X[0]]


def test_explain_says_which_sizes_lead_where():
    f = tn.jit(lambda x: np.sum(x[x > 0]), dynamic=True)
    f(X), f(-X)
    text = f.explain()
    lines = [line for line in text.splitlines() if line.startswith(("sizes", "then"))]
    assert lines == [
        "sizes        none yet",
        "then         asks for a size",
        "sizes        3",
        "then         returns",
        "sizes        2",
        "then         returns",
    ]


def test_nothing_of_a_trace_stays_alive():
    """Keys of a trace die with it; the cache holds programs"""
    kept = []

    def f(x):
        y = np.sin(x)
        kept.append(weakref.ref(y.key))
        return np.delete(y, np.argmax(y))[y[1:] > 0]

    jitted = tn.jit(f, dynamic=True)
    jitted(X)
    gc.collect()
    assert [reference() for reference in kept] == [None]
