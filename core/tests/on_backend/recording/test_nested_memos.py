"""A transform inside a function that runs again: values may depend on leaves of both recordings."""

import numpy as np
import pytest

import tenferro as tn
from tenferro.transforms.recording.memos import MEMOS

CALLS = 7
WEIGHTS = np.array([1.0, 2.0])


@pytest.fixture(autouse=True)
def _no_memos():
    MEMOS.clear()


def point(i):
    return np.linspace(0.5, 2.0, 3) + i


def inner_gradient(read, kept=None):
    """f(x) = Σⱼ ∂/∂yⱼ (c Σ s² y) = c Σ s², where s are two elements of x."""

    def function(x):
        def inner(y):
            s = x[[0, 2]]
            if kept is not None:
                kept.append(s)
            return np.sum(s * s * y) * read(s)

        return np.sum(tn.grad(inner)(WEIGHTS))

    return function


def by_branch(s):
    return 1.0 if s[0] > 3 else 3.0


def by_print(s):
    return 1.0 + 0 * len(str(s))


def by_value(s):
    return 2.0 if float(tn.stop_gradient(s).sum()) > 6 else 5.0


@pytest.mark.parametrize("read", [by_branch, by_print, by_value])
def test_an_outer_value_that_the_inner_function_reads_is_that_of_the_call(read):
    function = inner_gradient(read)
    for i in range(CALLS):
        x = point(i)
        expected = np.array([2 * x[0], 0, 2 * x[2]]) * read(x[[0, 2]])
        np.testing.assert_allclose(tn.grad(function)(x), expected, rtol=1e-14)


def test_an_outer_value_that_the_inner_function_keeps_does_not_change():
    kept = []
    function = inner_gradient(by_branch, kept)
    for i in range(CALLS):
        tn.grad(function)(point(i))
    for i, value in enumerate(kept):
        np.testing.assert_array_equal(np.asarray(value), point(i)[[0, 2]])


def test_a_mask_of_an_inner_argument_that_is_kept_does_not_change():
    kept = []

    def function(x):
        def inner(y):
            kept.append(y > 3.0)
            return np.sum(np.where(kept[-1], x, 0.5) * y * y)

        return np.sum(tn.grad(inner)(x * 2))

    for i in range(CALLS):
        tn.grad(function)(point(i))
    for i, mask in enumerate(kept):
        np.testing.assert_array_equal(np.asarray(mask), 2 * point(i) > 3)


@pytest.mark.parametrize(
    "transform",
    [
        lambda f, x: tn.grad(f)(x),
        lambda f, x: tn.jvp(f, (x,), (np.ones_like(x),))[1],
        lambda f, x: tn.vjp(f, x)[1](np.float64(1.0))[0],
        lambda f, x: tn.hessian(f)(x).sum(axis=0),
    ],
    ids=["grad", "jvp", "vjp", "hessian"],
)
def test_all_inner_transforms_see_the_outer_value_of_the_call(transform):
    """∂/∂x Σ D[z ↦ Σ a x₀² z³] at constant z, with a factor a that depends on the value of x₀"""
    z = np.array([0.5, 1.5])

    def function(x):
        def inner(y):
            s = x[[0, 1]]
            return np.sum(s[0] ** 2 * y**3) * (1.0 if s[0] > 3 else 4.0)

        return np.sum(transform(inner, z))

    for i in range(CALLS):
        x = point(i)
        plain = tn.asarray(x)  # an Array: its calls have no memo
        expected = tn.grad(function)(plain)
        np.testing.assert_allclose(tn.grad(function)(x), np.asarray(expected), rtol=1e-14)
        step = 1e-6 * np.array([1.0, 0, 0])
        along = (float(function(x + step)) - float(function(x - step))) / 2e-6
        np.testing.assert_allclose(np.asarray(expected)[0], along, rtol=1e-6)
