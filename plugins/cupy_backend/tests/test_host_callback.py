"""A function of the user on the host: it gets NumPy arrays, and its results go to the device."""

import numpy as np
import pytest

import tenferro as tn

X = np.array([[3.0, 1.0], [2.0, 0.5]])


@pytest.mark.parametrize("vectorized", [False, True])
def test_a_host_function_gets_numpy_arrays(make_backend, vectorized):
    """f(x) = sin x on the host, alone and for all rows of a batch"""
    kinds = set()

    def sine(x):
        kinds.add(type(x))
        return np.sin(x)

    call = lambda x: tn.host_callback(sine, x, results=x, vectorized=vectorized)  # noqa: E731
    for function in (call, tn.vmap(call)):
        found = tn.jit(lambda x, f=function: 2 * f(x), backend=make_backend())(X)
        operand = getattr(found, "operand", found)
        np.testing.assert_allclose(getattr(operand, "_a", operand), 2 * np.sin(X))
    assert kinds == {np.ndarray}
