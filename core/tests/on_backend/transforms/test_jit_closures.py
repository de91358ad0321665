"""A jitted function that closes over values of an outer transform is part of that transform."""

import gc
import weakref

import numpy as np
import pytest

import tenferro as tn

square = tn.jit(lambda x: x * x)
CASES = {
    "grad, constant argument": (lambda: tn.grad(lambda a: tn.jit(lambda x: x * a)(3.0))(2.0), 3.0),
    "grad, own argument": (lambda: tn.grad(lambda a: tn.jit(lambda x: x * a)(a))(2.0), 4.0),
    "second order": (
        lambda: tn.grad(tn.grad(lambda a: tn.jit(lambda x: x * a * a)(3.0)))(2.0),
        6.0,
    ),
    "inside jit and grad": (
        lambda: tn.jit(lambda a: tn.grad(lambda x: tn.jit(lambda y: y * a * x)(x))(a))(2.0),
        8.0,
    ),
    "pullback": (lambda: tn.vjp(lambda a: tn.jit(lambda x: x * a)(3.0), 2.0)[1](1.0)[0], 3.0),
    "forward": (
        lambda: tn.jvp(lambda a: square(a) * tn.jit(lambda x: a + x)(a), (2.0,), (1.0,))[1],
        24.0,
    ),
    "integers": (lambda: tn.jit(lambda n, x: tn.jit(lambda y: y * n)(x))(3, 2.0), 6.0),
}


@pytest.mark.parametrize("compute, need", CASES.values(), ids=CASES)
def test_the_derivative_of_a_closure_is_kept(compute, need):
    """∂/∂a of a jitted function of x that reads a"""
    assert compute() == need


def test_a_trace_that_reads_an_outer_value_is_not_kept():
    """each call of the outer function sees its own value"""
    outer = tn.jit(lambda x: tn.jit(lambda y: y * x)(2.0))
    assert [float(outer(v)) for v in (3.0, 4.0)] == [6.0, 8.0]


def test_a_captured_array_is_an_input_of_the_program():
    """f(x) = A x with A closed over, twice"""
    matrix = np.arange(6.0).reshape(2, 3)
    apply = tn.jit(lambda x: matrix @ x)
    x = np.array([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(apply(x), matrix @ x)
    assert len(apply.lower(x).inputs) == 2


def test_a_method_is_traced_once_per_instance():
    """m.f(x) twice is one trace, and does not keep m alive"""
    traced = []

    class Model:
        def __init__(self, k):
            self.k = k

        @tn.jit
        def f(self, x):
            traced.append(self.k)
            return x * self.k

    model = Model(3.0)
    assert [float(model.f(v)) for v in (1.0, 2.0)] == [3.0, 6.0]
    assert traced == [3.0]
    gone = weakref.ref(model)
    del model
    gc.collect()
    assert gone() is None


def test_a_trace_that_reads_the_argument_of_a_transform_is_not_kept():
    """h(y) = Σ y a², jitted, a the argument of f: f'(a) = 2 a Σ y, f''(a) = 2 Σ y at each a"""
    read = {}

    @tn.jit
    def weighted(y):
        return np.sum(y * read["a"] ** 2)

    def f(a):
        read["a"] = a
        return weighted(np.ones(3))

    assert [float(tn.grad(f)(a)) for a in (2.0, 3.0)] == [12.0, 18.0]
    assert tn.jvp(f, (2.0,), (1.0,)) == (12.0, 12.0)
    assert [float(tn.grad(tn.grad(f))(a)) for a in (2.0, 3.0)] == [6.0, 6.0]
    np.testing.assert_array_equal(tn.vmap(f)(np.arange(3.0)), [0.0, 3.0, 12.0])
