"""Transforms nest in any order: derivatives of derivatives, of closures, through jit and back."""

import linecache
from itertools import product

import numpy as np
import optree
import pytest
from modes import ALL, CLASSICAL, MODES

import tenferro as tn

PAIRS = pytest.mark.parametrize("outer, inner", list(product(ALL, ALL)))


def cube_of_sine(x):
    return np.sin(x) ** 3 * x


def derivatives_of_cube_of_sine(x):
    """The first three derivatives of x sin³x, from sin³x = (3 sin x − sin 3x) / 4."""
    s = [np.sin(x) ** 3]
    for n in (1, 2, 3):
        shift = n * np.pi / 2
        s.append((3 * np.sin(x + shift) - 3**n * np.sin(3 * x + shift)) / 4)
    return [x * s[n] + n * s[n - 1] for n in (1, 2, 3)]


FIRST, SECOND, THIRD = derivatives_of_cube_of_sine(0.7)


@pytest.mark.parametrize("mode", ALL)
def test_every_mode_gives_the_derivative(mode):
    assert ALL[mode](cube_of_sine)(0.7) == pytest.approx(FIRST, rel=1e-12)


@PAIRS
def test_every_mode_of_every_mode_gives_the_second_derivative(outer, inner):
    assert ALL[outer](ALL[inner](cube_of_sine))(0.7) == pytest.approx(SECOND, rel=1e-12)


@pytest.mark.parametrize("a, b, c", list(product(CLASSICAL, CLASSICAL, CLASSICAL)))
def test_three_modes_give_the_third_derivative(a, b, c):
    found = MODES[a](MODES[b](MODES[c](cube_of_sine)))(0.7)
    assert found == pytest.approx(THIRD, rel=1e-12)


@PAIRS
def test_perturbations_are_not_confused(outer, inner):
    """d/dx [x · d/dy (x + y) at y = x] = 1; the classical bug gives 2."""
    assert ALL[outer](lambda x: x * ALL[inner](lambda y: x + y)(x))(1.0) == 1


@PAIRS
def test_a_derivative_is_differentiated_in_what_it_closes_over(outer, inner):
    """h(x) = d/dy (x y²) at 3 = 6x, so h′ = 6."""
    assert ALL[outer](lambda x: ALL[inner](lambda y: x * y * y)(3.0))(2.0) == 6


@PAIRS
def test_what_is_differentiated_may_be_closed_over_too(outer, inner):
    """x · d/dy (x y) at y = x is x²."""
    assert ALL[outer](lambda x: x * ALL[inner](lambda y: x * y)(x))(3.0) == 6


@PAIRS
def test_a_derivative_is_taken_at_a_value_of_the_outer_trace(outer, inner):
    """d/dy (y² x) at y = x² is 2x³."""
    assert ALL[outer](lambda x: ALL[inner](lambda y: y * y * x)(x * x))(2.0) == 24


@PAIRS
def test_what_does_not_depend_on_the_argument_has_derivative_zero(outer, inner):
    assert ALL[outer](lambda x: ALL[inner](lambda y: 3.0 * x)(x))(2.0) == 0


@pytest.mark.parametrize("mode", ALL)
def test_a_constant_function_has_derivative_zero(mode):
    assert ALL[mode](lambda x: 3.0)(2.0) == 0


@pytest.mark.parametrize("tangent", [2.0, np.float64(2.0)])
def test_a_tangent_may_be_the_primal(tangent):
    assert tn.jvp(lambda x: x * x, (tangent,), (tangent,)) == (4, 8)
    array = tn.asarray(tangent)
    found = tn.jvp(lambda x: x * array, (array,), (array,))
    assert [float(x) for x in found] == [4, 4]


def test_both_arguments_may_be_one_array():
    x = np.array([1.0, 2.0])
    a, b = tn.grad(lambda x, y: np.sum(x * y**2), argnums=(0, 1))(x, x)
    np.testing.assert_allclose([a, b], [x**2, 2 * x * x])


@pytest.mark.parametrize("inside", [lambda f: f, tn.jit], ids=["plain", "jit"])
def test_hessian_vector_products_of_and_in_jit(inside):
    x, v = np.array([1.0, 2.0]), np.array([1.0, -1.0])
    product_of = tn.hvp(inside(lambda x: np.sum(x**3)))
    for function in (product_of, tn.jit(product_of)):
        np.testing.assert_allclose(function(x, v), 6 * x * v)


def test_jit_of_jit_is_jit():
    inner = tn.jit(lambda x: np.sin(x) * 2)
    assert tn.jit(lambda x: inner(inner(x)))(0.5) == pytest.approx(np.sin(np.sin(0.5) * 2) * 2)


def test_stop_gradient_stops_every_mode():
    function = lambda x: x * tn.stop_gradient(x * x)  # noqa: E731
    assert [ALL[mode](function)(3.0) for mode in ALL] == [9.0] * len(ALL)


def test_stop_gradient_passes_numbers_and_operands():
    x = np.ones(2)
    assert tn.stop_gradient(x) is x
    assert tn.stop_gradient(2.0) == 2.0


TREES = {
    "dict": lambda x: {"a": x, "b": 2.0},
    "list": lambda x: [x, [x * x, "text"]],
    "tuple": lambda x: (x, None, (x,)),
    "empty": lambda x: {},
}


@pytest.mark.parametrize("tree", TREES.values(), ids=TREES)
@pytest.mark.parametrize("mode", ALL)
def test_stop_gradient_of_a_tree_stops_at_each_array(mode, tree):
    """d/dx [x + Σ stop(tree(x))] = 1, and the tree keeps its structure and values."""

    def function(x):
        stopped = tn.stop_gradient(tree(x))
        assert optree.tree_structure(stopped) == optree.tree_structure(tree(x))
        return x + sum(s for s in optree.tree_leaves(stopped) if isinstance(s, tn.Array))

    assert ALL[mode](function)(3.0) == 1


def test_mixed_derivatives_commute():
    f = lambda x, y: np.sin(x * y) * x  # noqa: E731
    both = [
        tn.grad(lambda x: tn.grad(f, argnums=1)(x, 0.3))(0.7),
        tn.grad(lambda y: tn.jvp(lambda x: f(x, y), (0.7,), (1.0,))[1])(0.3),
        tn.jvp(lambda y: tn.grad(f)(0.7, y), (0.3,), (1.0,))[1],
    ]
    np.testing.assert_allclose(both, both[0], rtol=1e-12)


def test_the_derivative_of_a_pullback_in_its_cotangent_is_the_pullback():
    x = np.array([1.0, 2.0])
    pull = lambda w: tn.vjp(lambda x: x * x, x)[1](w)[0]  # noqa: E731
    value, tangent = tn.jvp(pull, (np.ones(2),), (np.array([3.0, 5.0]),))
    np.testing.assert_allclose([value, tangent], [2 * x, 2 * x * [3.0, 5.0]])


NESTED = {
    "grad": lambda x: x * tn.grad(lambda y: y**3)(x),
    "vmap": lambda x: tn.vmap(lambda y: y**3)(x * np.ones(2)).sum(),
    "jvp": lambda x: tn.jvp(np.sin, (x,), (x,))[1],
    "jit": lambda x: tn.jit(lambda y: y**3)(x),
}


@pytest.mark.parametrize("name", NESTED)
def test_a_transform_of_a_followed_value_reads_no_source_file(name, monkeypatch):
    monkeypatch.setattr(linecache, "cache", {})
    for x in (0.5, 0.6, 0.7):  # recorded, remembered, found again
        tn.grad(NESTED[name])(x)
    assert __file__ not in linecache.cache
