"""Repeated calls of a jitted function: fast, and as careful as the first one."""

import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import tenferro as tn
from tenferro.arrays import PROGRAMS
from tenferro.backend import host, select_backend
from tenferro.transforms.compilation import jitted as jitted_module
from tenferro.transforms.recording import tree as pytrees

X = np.array([1.0, 2.0, 3.0])
CAPTURED = np.array([4.0, 5.0, 6.0])

GIVES_BACK = {
    "argument": lambda x: x,
    "captured": lambda x: CAPTURED,
    "view": lambda x: x[::-1],
    "broadcast": lambda x: np.broadcast_to(x, (2, 3)),
    "twice": lambda x: (x, x),
    "computed twice": lambda x: (y := x + 1, y),
    "tree": lambda x: {"a": x, "b": [x[1:]]},
}


@pytest.mark.parametrize("name", GIVES_BACK)
def test_results_are_writeable_and_nobody_elses(name):
    jitted, x = tn.jit(GIVES_BACK[name]), X.copy()
    calls = [jitted(x) for _ in range(4)]
    results = [leaf for call in calls for leaf in pytrees.flatten(call)[0]]
    others = [x, CAPTURED]
    for i, result in enumerate(results):
        assert not any(np.shares_memory(result, other) for other in results[:i] + others)
        result[...] = -1
    assert (x.tolist(), CAPTURED.tolist()) == ([1, 2, 3], [4, 5, 6])


def test_an_argument_may_change_after_the_call():
    jitted, x = tn.jit(lambda x: x), X.copy()
    for _ in range(3):
        kept = jitted(x)
        x += 1
        assert (kept == x - 1).all()


@pytest.mark.parametrize(
    "x",
    [
        2.0,
        2,
        True,
        2j,
        np.float64(2),
        np.array(2.0),
        X,
        X.astype("float32"),
        X[::-1],
        np.broadcast_to(X, (2, 3)),
        X.reshape(3, 1),
    ],
    ids=lambda x: f"{type(x).__name__}-{getattr(x, 'dtype', '')}-{np.shape(x)}",
)
def test_one_function_takes_all_kinds_again_and_again(x):
    """NumPy's own value and dtype, whatever it was called with before."""
    jitted = tn.jit(lambda x: x * 3)
    for other in (X, 1.0, x, x, X, x):
        found = jitted(other)
        np.testing.assert_array_equal(found, other * 3)
        assert found.dtype == (np.asarray(other) * 3).dtype


def test_arrays_come_back_as_arrays():
    jitted, x = tn.jit(lambda x, y: x * y), tn.asarray(X)
    for pending in (x, x + 0, x * 2, x):
        found = jitted(pending, 2.0)
        assert isinstance(found, tn.Array)
        np.testing.assert_array_equal(np.asarray(found), np.asarray(pending) * 2)


def test_warnings_of_numpy_stay_silent():
    jitted = tn.jit(lambda x: np.log(x) / x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(3):
            assert np.isnan(jitted(-np.ones(2))).all()
        assert np.errstate(all="raise")


def test_the_backend_is_chosen_at_each_call():
    jitted = tn.jit(lambda x: x + 1)
    for _ in range(3):
        jitted(X)
    with pytest.raises(tn.backend.UnknownBackendError), tn.backend.use("nobody"):
        jitted(X)
    name = tn.backend.select_backend(None, [X]).name
    config = tn.backend.BackendConfig(options={"debug": True} if name == "numpy" else {})
    other = tn.backend.host().backend(name, config)
    before = PROGRAMS.stats.misses
    with tn.backend.use(other):
        assert jitted(X).tolist() == [2, 3, 4]
    assert PROGRAMS.stats.misses == before + (other is not tn.backend.select_backend(None, [X]))
    assert jitted(X).tolist() == [2, 3, 4]


@pytest.fixture
def compiled(monkeypatch):
    """A list that grows at each compilation, which takes as long as that of a large program."""
    kind, calls = type(tn.backend.select_backend(None, [X])), []
    compile = kind.compile

    def slowly(self, *args, **kwargs):
        calls.append(1)
        time.sleep(0.1)
        return compile(self, *args, **kwargs)

    monkeypatch.setattr(kind, "compile", slowly)
    return calls


@pytest.mark.parametrize("count", [8])
def test_threads_share_one_program(compiled, count):
    """However many threads meet a new signature at once, one of them compiles."""
    jitted = tn.jit(lambda x: np.sin(x) @ np.cos(x) * 1.25)
    start = threading.Barrier(count)

    def work(scale):
        start.wait()
        return [jitted(X * scale) for _ in range(5)][-1]

    with ThreadPoolExecutor(count) as pool:
        found = list(pool.map(work, range(count)))
    want = [np.sin(X * scale) @ np.cos(X * scale) * 1.25 for scale in range(count)]
    np.testing.assert_allclose(found, want, rtol=1e-12)
    assert len(compiled) == jitted.cache_info().entries == 1


def loss(x):
    return np.sum(np.sin(x) * x)


NESTED = {
    "jit of jit": (tn.jit(tn.jit(loss)), loss),
    "jit of grad": (tn.jit(tn.grad(loss)), tn.grad(loss)),
    "grad of jit": (tn.grad(tn.jit(loss)), tn.grad(loss)),
    "jit of vmap": (tn.jit(tn.vmap(np.sin)), np.sin),
    "vmap of jit": (tn.vmap(tn.jit(np.sin)), np.sin),
    "hessian of jit": (tn.hessian(tn.jit(loss)), tn.hessian(loss)),
    "jit of hessian": (tn.jit(tn.hessian(loss)), tn.hessian(loss)),
}


@pytest.mark.parametrize("name", NESTED)
def test_transforms_nest_in_any_order(name):
    got, want = NESTED[name]
    for x in (X, X * 2, X):
        np.testing.assert_allclose(got(x), want(x), rtol=1e-12)


# ---- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options, error, match",
    [
        ({"donate_argnums": 0, "static_argnums": 0}, ValueError, "donate"),
        ({"donate_argnums": -1, "static_argnums": 0}, ValueError, "donate"),
        ({"donate_argnums": 3}, ValueError, "donate"),
        ({"memory_budget": 1 << 20, "dynamic": True}, tn.backend.UnsupportedError, "memory_budget"),
    ],
    ids=str,
)
def test_options_that_mean_nothing_are_refused(options, error, match):
    with pytest.raises(error, match=match):
        tn.jit(lambda x: x, **options)


@pytest.mark.parametrize(
    "call, match",
    [
        (lambda: tn.jit(3), "takes a function"),
        (lambda: tn.jit(lambda x: x)(tn.Aval((3,), "float64")), "lower"),
        (lambda: tn.jit(lambda x, how: x)(X, "up"), "cannot make an array of str"),
        (lambda: tn.jit(lambda x: (x, "up"))(X), "cannot make an array of str"),
        (lambda: tn.jit(lambda x, n: x, static_argnums=1)(X, [2]), "hashable"),
    ],
)
def test_what_cannot_be_traced_is_named(call, match):
    with pytest.raises(TypeError, match=match) as raised:
        call()
    assert any("test_jit_calls.py" in x for x in [str(raised.value), *raised.value.__notes__])


@pytest.mark.parametrize(
    "function, cure",
    [
        (lambda x: x if x[0] > 0 else -x, r"np\.where.*tenferro\.cond"),
        (lambda x: x[: int(x[0])], r"x\.astype\(int\).*x\.shape"),
        (lambda x: x[x > 1], r"np\.where"),
        (lambda x: [x for _ in range(x.astype(int)[0])], r"`range` needs.*static_argnums"),
    ],
    ids=["if", "int", "mask", "range"],
)
def test_a_program_that_asks_for_a_value_is_told_what_to_write(function, cure):
    with pytest.raises(tn.ConcretizationError, match=rf"(?s)test_jit_calls.*{cure}"):
        tn.jit(function)(X)


def test_explain_says_what_a_program_is():
    jitted = tn.jit(lambda x, n: x @ CAPTURED * n, static_argnums=1)
    jitted(X, 2), jitted(X, 3)
    one, both = jitted.explain(X, 2), jitted.explain()
    for text in (tn.backend.select_backend(None, [X]).name, "x: f64[3]", "f64[3] (24 bytes)"):
        assert text in one
    assert one in both
    assert both.count("\n  equations  ") == 2


SEVEN, TWO, LAZY = np.int64(7), np.array(2.0), tn.asarray(2.0)
CAPTURES = {
    "nothing": lambda x: x * x,
    "numbers": lambda x: x * 0.3 + 0.25,
    "a scalar of NumPy": lambda x: x * SEVEN,
    "a number and an array": lambda x: x * 0.1 + CAPTURED,
    "an array of rank 0": lambda x: x * TWO,
    "a number in a loop": lambda x: tn.scan(lambda c, _: (c * 0.5 + 1.0, None), x, None, 3)[0],
    "an Array": lambda x: x * LAZY,
}


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("name", CAPTURES)
def test_a_second_call_prepares_nothing(name, named, monkeypatch):
    """Whatever a function captures, a program is bound once for calls that look alike"""
    bound = []
    own = jitted_module.Ready

    def counted(*given):
        bound.append(given)
        return own(*given)

    monkeypatch.setattr(jitted_module, "Ready", counted)
    monkeypatch.setattr(host(), "chosen", {})  # as in a process that has run nothing else
    backend = {"backend": select_backend().name} if named else {}
    jitted = tn.jit(CAPTURES[name], **backend)
    for _ in range(3):
        np.testing.assert_allclose(jitted(X), CAPTURES[name](X))
    assert len(bound) == 1
