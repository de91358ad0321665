"""The kernel against a loop in NumPy, on XLA and, by the decomposition, on NumPy."""

import shutil

import acme_filters.plugin
import numpy as np
import pytest
from acme_filters import build, recursion

import tenferro as tn

HAS_COMPILER = shutil.which("g++") is not None
needs_kernel = pytest.mark.skipif(
    not (HAS_COMPILER or build.LIBRARY.exists()), reason="no g++ to build the kernel with"
)
X = np.random.default_rng(0).normal(size=(3, 50))
A = np.array([0.9, -0.5, 1.0])


@pytest.fixture(scope="module", autouse=True)
def found():
    """Where the distribution is not installed, its plugin is registered by hand."""
    if acme_filters.Recursion.key not in tn.host().primitives():
        tn.host().register(acme_filters.plugin)
    if HAS_COMPILER and not build.LIBRARY.exists():
        build.build()


def by_hand(a, x):
    y = np.zeros_like(x)
    last = np.zeros(x.shape[:-1], x.dtype)
    for t in range(x.shape[-1]):
        y[..., t] = last = x[..., t] + a * last
    return y


BACKENDS = [pytest.param("xla", marks=needs_kernel), "numpy"]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_it_is_the_recursion(backend, dtype):
    x, a = X.astype(dtype), A.astype(dtype)
    found = tn.jit(recursion, backend=backend)(a, x)
    assert found.dtype == dtype
    eps = np.finfo(dtype).eps
    np.testing.assert_allclose(found, by_hand(a, x), rtol=100 * eps, atol=100 * eps)


@pytest.mark.parametrize("backend", BACKENDS)
def test_derivatives_are_those_of_differences(backend):
    def energy(a, x):
        return np.sum(np.tanh(recursion(a, x)) ** 2)

    with tn.use(backend):
        tn.check_grads(energy, (A, X[:, :6]), order=2)


@needs_kernel
def test_the_kernel_runs_in_the_gradient_under_vmap_and_in_loops():
    g = tn.jit(tn.grad(lambda a, x: np.sum(recursion(a, x) ** 2)), backend="xla")
    calls = g.explain(A, X).count('custom_call_target="RecursionF64"')
    assert calls == 2  # forwards for y, backwards for its cotangent
    batched = tn.jit(tn.vmap(recursion, in_axes=(None, 0)), backend="xla")
    np.testing.assert_allclose(batched(0.5, X), by_hand(0.5, X), rtol=1e-13)
    twice = tn.jit(lambda x: tn.fori_loop(0, 2, lambda _, h: recursion(0.5, h), x), backend="xla")
    np.testing.assert_allclose(twice(X), by_hand(0.5, by_hand(0.5, X)), rtol=1e-12)


@needs_kernel
def test_it_is_listed_as_native():
    cls = acme_filters.Recursion
    assert tn.host().table("xla").status(cls) == "native"
    assert tn.host().table("numpy").status(cls) == "decomposed"


def test_rows_without_a_coefficient_are_refused():
    with pytest.raises(tn.ShapeMismatchError, match="one coefficient for each row"):
        tn.trace(lambda a, x: tn.primitives.bind(acme_filters.Recursion(), a, x), A[:2], X)
