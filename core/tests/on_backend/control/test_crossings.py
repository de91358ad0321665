"""Every loop and branch with every other feature: one test for each pair.

A form applies a step to a carry, by a loop or a branch of the graph; `written` does so by Python's
own code. The laws are those of functions:  T(form(step)) = T(written(step)).
"""

import pickle
import signal
import threading
from typing import Any, NamedTuple

import numpy as np
import pytest

import tenferro as tn
from tenferro.backend import select_backend
from tenferro.primitives import host_callback

X = np.array([0.4, -0.3, 0.2])
IS_WHOLE = select_backend(None, [X]).info.whole_program


class Form(NamedTuple):
    """A loop or branch over a step, and Python's code."""

    kept: Any
    written: Any


def times(n):
    """Return Python's loop of n steps."""

    def written(step, c):
        for _ in range(n):
            c = step(c)
        return c

    return written


def rows(c):
    return np.stack([c, 2 * c, 3 * c])


def flipped(c):
    return c[::-1]


def by_while(step, c):
    going = lambda s: s[0] < 4  # noqa: E731
    return tn.while_loop(going, lambda s: (s[0] + 1, step(s[1])), (0, c), max_steps=5)[1]


FORMS = {
    "scan": Form(lambda f, c: tn.scan(lambda c, _: (f(c), None), c, None, 4)[0], times(4)),
    "unrolled scan": Form(
        lambda f, c: tn.scan(lambda c, _: (f(c), None), c, None, 4, unroll=3)[0], times(4)
    ),
    "while_loop": Form(by_while, times(4)),
    "fori_loop": Form(lambda f, c: tn.fori_loop(0, 4, lambda _, c: f(c), c), times(4)),
    "cond": Form(
        lambda f, c: tn.cond(np.sum(np.abs(c)) > 0.5, f, lambda c: c, c), lambda f, c: f(c)
    ),
    "switch": Form(
        lambda f, c: tn.switch(c.size - 2, [lambda c: c, f, lambda c: c[::-1]], c),
        lambda f, c: f(c),
    ),
    "map": Form(
        lambda f, c: np.sum(tn.map(f, rows(c)), 0), lambda f, c: sum(f(k * c) for k in (1, 2, 3))
    ),
}
ALL = pytest.mark.parametrize("name", FORMS)


def step(c):
    return np.sin(c) * 1.5 + 0.1 * c**2


def weighted(w):
    """Return a step that closes over a value."""
    return lambda c: np.sin(w * c) + 0.1 * c


def close(got, need):
    np.testing.assert_allclose(np.array(got), np.array(need), rtol=1e-10, atol=1e-12)


@ALL
def test_jit(name):
    """jit(f) = f, and the second call traces nothing"""
    kept, written = FORMS[name]
    jitted = tn.jit(lambda c: kept(step, c))
    for x in (X, 0.8 * X):
        close(jitted(x), written(step, x))
    assert jitted.cache_info()[:2] == (1, 1)


@ALL
def test_vmap(name):
    """vmap(f)(xs)[k] = f(xs[k]), and so for derivatives"""
    kept, written = FORMS[name]
    xs = np.stack([X, -X, 2 * X])
    close(tn.vmap(lambda c: kept(step, c))(xs), [written(step, x) for x in xs])
    gradient = tn.grad(lambda c: np.sum(kept(step, c)))
    need = tn.grad(lambda c: np.sum(written(step, c)))
    close(tn.vmap(gradient)(xs), [need(x) for x in xs])


@ALL
def test_custom_rules(name):
    """The rule of the user is the derivative: f′ is taken as 3 everywhere"""
    kept, written = FORMS[name]

    @tn.custom_vjp
    def f(c):
        return np.sin(c)

    f.defvjp(lambda c: (np.sin(c), None), lambda _, g: (3.0 * g,))
    got, need = (tn.grad(lambda c, form=form: np.sum(form(f, c)))(X) for form in (kept, written))
    close(got, need)
    assert not np.allclose(got, tn.grad(lambda c: np.sum(written(np.sin, c)))(X))


@ALL
@pytest.mark.parametrize("order", [1, 2])
def test_closures(name, order):
    """Derivatives with respect to what a body closes over, to second order"""
    got, need = (lambda w, form=form: np.sum(form(weighted(w), X)) * w for form in FORMS[name])
    for _ in range(order):
        got, need = tn.grad(got), tn.grad(need)
    close(got(0.7), need(0.7))


@ALL
def test_complex(name):
    """Values, and gradients of a real loss, of a complex carry"""
    kept, written = FORMS[name]
    z = X + 0.3j * X[::-1]
    close(kept(step, z), written(step, z))
    got, need = (
        tn.grad(lambda c, form=form: np.sum(np.abs(form(step, c)) ** 2))(z)
        for form in (kept, written)
    )
    close(got, need)


@pytest.mark.parametrize("name", [name for name in FORMS if name != "map"])
@pytest.mark.parametrize("dtype", ["int64", "int32", "bool"])
def test_carries_without_derivatives(name, dtype):
    """Carries of integers and truths keep dtype and value"""
    kept, written = FORMS[name]
    c = np.array([1, 0, 3]).astype(dtype)
    change = (lambda c: np.logical_xor(c, c[::-1])) if dtype == "bool" else (lambda c: c * 2 + 1)
    got, need = tn.jit(lambda c: kept(change, c))(c), written(change, c)
    assert got.dtype == need.dtype == dtype
    np.testing.assert_array_equal(got, need)


@ALL
def test_float32(name):
    """A loop of float32 stays in float32, with the values of the steps written out"""
    kept, written = FORMS[name]
    c = X.astype("float32")
    got = kept(step, c)
    assert got.dtype == "float32"
    np.testing.assert_allclose(got, written(step, c), rtol=1e-5)


@ALL
def test_donation(name):
    """A donated argument changes no result"""
    kept, written = FORMS[name]
    jitted = tn.jit(lambda c: kept(step, c), donate_argnums=0)
    for _ in range(2):
        close(jitted(X.copy()), written(step, X))


@ALL
def test_threads(name):
    """Calls from several threads at once give what each gives alone"""
    kept, written = FORMS[name]
    jitted = tn.jit(tn.value_and_grad(lambda c: np.sum(kept(step, c))))
    need = [tn.value_and_grad(lambda c: np.sum(written(step, c)))((k + 1) * X) for k in range(3)]
    barrier, found = threading.Barrier(3), {}

    def work(k):
        barrier.wait()
        found[k] = [jitted((k + 1) * X) for _ in range(4)]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k, (value, gradient) in enumerate(need):
        for got in found[k]:
            close(got[0], value)
            close(got[1], gradient)


@pytest.mark.skipif(IS_WHOLE, reason="an error of a callback leaves the runtime as its own kind")
@ALL
def test_keyboard_interrupt(name):
    """Ctrl-C in the middle of a step leaves as KeyboardInterrupt; the next call is right"""
    kept, written = FORMS[name]
    interrupts = [True]

    def looked(c):
        if interrupts:
            interrupts.pop()
            signal.raise_signal(signal.SIGINT)
        return np.asarray(c)

    def interrupted(c):
        return step(host_callback(looked, [c.aval], c)[0])

    jitted = tn.jit(lambda c: kept(interrupted, c))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            np.array(jitted(X))
    finally:
        signal.signal(signal.SIGINT, before)
    close(jitted(X), written(step, X))


@ALL
def test_debug_unrolled(name):
    """Bodies see values under `debug.unrolled`; values and derivatives are the same"""
    kept, _ = FORMS[name]
    seen = []

    def watched(c):
        seen.append(np.array(tn.stop_gradient(c)))
        return step(c)

    need = tn.grad(lambda c: np.sum(kept(step, c)))(X)
    with tn.debug.unrolled():
        got = tn.grad(lambda c: np.sum(kept(watched, c)))(X)
    close(got, need)
    close(seen[0], X)


@ALL
def test_debug_nans(name):
    """A nan of a body is an error that names the operation"""
    kept, _ = FORMS[name]
    with tn.debug_nans(), pytest.raises(tn.NonFiniteError):
        np.array(kept(lambda c: np.log(c * 0 - 1) + c, X))


@ALL
def test_explain(name):
    """`explain` and the printed graph show the body"""
    jitted = tn.jit(lambda c: FORMS[name].kept(step, c))
    text = f"{jitted.lower(X)}"
    assert "sin" in text
    assert jitted.explain(X)


def kept_scan(c):
    return FORMS["scan"].kept(step, c)


def kept_while(c):
    return FORMS["while_loop"].kept(step, c)


def kept_cond(c):
    return FORMS["cond"].kept(step, c)


jitted_scan, jitted_while, jitted_cond = map(tn.jit, (kept_scan, kept_while, kept_cond))


@pytest.mark.parametrize("jitted", [jitted_scan, jitted_while, jitted_cond])
def test_pickles(jitted):
    """A jitted function with a loop, and its graph, come back from a pickle"""
    close(pickle.loads(pickle.dumps(jitted))(X), jitted(X))
    graph = jitted.lower(X)
    assert str(pickle.loads(pickle.dumps(graph))) == str(graph)


@ALL
def test_hessian_of_a_gradient_through_jit(name):
    """∂²f by hessian(jit(f)) = that of Python's code"""
    got, need = (
        tn.hessian(tn.jit(lambda c, form=form: np.sum(form(step, c)))) for form in FORMS[name]
    )
    close(got(X), need(X))


@ALL
def test_inside_a_scan(name):
    """A form as the body of a loop, differentiated"""
    got, need = (
        tn.grad(
            lambda w, form=form: np.sum(
                tn.scan(lambda c, r: (form(weighted(w), c) * r, None), X, np.array([1.0, 0.5]))[0]
            )
        )
        for form in FORMS[name]
    )
    close(got(0.7), need(0.7))
