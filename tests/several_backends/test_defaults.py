"""NumPy arrays choose no backend: they go where the argument, the context or the default says."""

import jax
import numpy as np
import pytest

import tenferro as tn

X = np.arange(1.0, 4.0)


@pytest.fixture(autouse=True)
def no_default(monkeypatch):
    monkeypatch.delenv("TENFERRO_BACKEND", raising=False)
    yield
    tn.set_default(None)


def choose_by_default(monkeypatch):
    tn.set_default("xla")


def choose_by_environment(monkeypatch):
    monkeypatch.setenv("TENFERRO_BACKEND", "xla")


chosen = pytest.mark.parametrize("choose", [choose_by_default, choose_by_environment])


def is_on_xla(array):
    return isinstance(array.evaluate().operand, jax.Array)


@chosen
def test_lazy_values_of_numpy_arrays_are_computed_there(choose, monkeypatch):
    before = tn.asarray(X) + 1.0
    assert not is_on_xla(before)
    pending = tn.asarray(X) * 2.0
    choose(monkeypatch)
    assert is_on_xla(pending)
    assert is_on_xla(before * 2.0)
    np.testing.assert_array_equal(np.asarray(before * 2.0), 2 * (X + 1))


@chosen
def test_transforms_run_there_and_give_numpy_back(choose, monkeypatch):
    choose(monkeypatch)
    f = tn.jit(lambda x: np.sum(x * x))
    for _ in range(2):
        assert type(f(X)) is np.float64
    assert "\n  backend    xla\n" in f.explain(X)
    gradient = tn.grad(lambda x: np.sum(x * x))(X)
    assert type(gradient) is np.ndarray
    np.testing.assert_array_equal(gradient, 2 * X)


def test_a_jitted_function_follows_the_default():
    f = tn.jit(lambda x: x * 2.0)
    for name in (None, "xla", None, "xla"):
        tn.set_default(name)
        assert is_on_xla(f(tn.asarray(X))) == (name == "xla")


def test_the_context_at_evaluation_counts():
    with tn.use("xla"):
        recorded_inside = tn.asarray(X) + 1.0
    assert not is_on_xla(recorded_inside)
    recorded_outside = tn.asarray(X) + 2.0
    with tn.use("xla"):
        assert is_on_xla(recorded_outside)


def test_an_array_that_xla_computed_votes_after_the_context():
    with tn.use("xla"):
        x = (tn.asarray(X) + 1.0).evaluate()
    assert is_on_xla(x * 2.0)
    tn.set_default("numpy")
    assert is_on_xla(x * 3.0)


def test_beside_an_array_that_alone_decided_numbers_move_and_arrays_do_not():
    x = jax.device_put(X.astype("float32"))
    for number in (2.0, np.float32(2), np.array(2, "float32")):
        assert is_on_xla(tn.asarray(x) * number)
        assert isinstance(tn.jit(lambda x, y: x * y)(x, number), jax.Array)
    with pytest.raises(tn.MixedBackendsError):
        (tn.asarray(x) * X).evaluate()
    tn.set_default("xla")
    assert is_on_xla(tn.asarray(x) * X)


def test_a_value_is_read_where_it_is():
    """Reading an array of XLA's is no computation: it needs no permission to move"""
    with tn.use("xla"):
        x = (tn.asarray(X) + 1.0).evaluate()
    with tn.use("numpy"):
        np.testing.assert_array_equal(np.asarray(x), X + 1)
        with pytest.raises(tn.MixedBackendsError):
            (x + 1.0).evaluate()


@pytest.mark.parametrize(
    "transform", [tn.jit, tn.grad, tn.value_and_grad, tn.jacobian, tn.hessian, tn.vmap]
)
def test_what_is_no_backend_is_refused_at_once(transform):
    with pytest.raises(tn.ArgumentTypeError, match="got 5"):
        transform(np.sum, backend=5)
