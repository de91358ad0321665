"""Adjointness, inactive values, constants, identities."""

import math

import pytest
from toy_functions import Round
from toy_running import (
    FORMS,
    GraphForm,
    apply,
    differences,
    ends,
    keys,
    var,
    view_of,
)
from toy_scalars import Conj, Const, Exp

from tenferro.computegraph import resolve
from tenferro.tidu import linear_transpose, linearize

E2 = math.exp(2)
both_forms = pytest.mark.parametrize("form", FORMS)


def exp(x):
    return Exp()(x)


@both_forms
def test_exp_of_a_product_is_adjoint(form):
    x, a = var("x"), var("a")
    at = {x: 1, a: 2}
    assert form.jvp([exp(a * x)], [x], at, [0.7]) == [pytest.approx(1.4 * E2)]
    assert form.vjp([exp(a * x)], [x], at, [0.3]) == [pytest.approx(0.6 * E2)]


@both_forms
def test_a_shared_product_is_adjoint(form):
    x = var("x")
    assert form.jvp([(x + x) * x], [x], {x: 3}, [0.5]) == [pytest.approx(6)]
    assert form.vjp([(x + x) * x], [x], {x: 3}, [0.7]) == [pytest.approx(8.4)]


@both_forms
def test_the_square_of_the_modulus_is_adjoint(form):
    z = var("z", "c")
    y, at, dz, ct = z * Conj()(z), {z: 1 + 2j}, 0.3 + 0.4j, 0.5 + 0.6j
    (dy,) = form.jvp([y], [z], at, [dz])
    (ct_z,) = form.vjp([y], [z], at, [ct])
    assert (dy, ct_z) == (pytest.approx(2.2), pytest.approx(1 + 2j))
    products = [(ct.conjugate() * dy).real, (ct_z.conjugate() * dz).real]
    assert products == [pytest.approx(1.1)] * 2


@both_forms
def test_nothing_flows_to_an_inactive_input(form):
    x, unused = var("x"), var("unused")
    assert form.jvp([exp(x)], [unused], {x: 1}, [1]) == [None]
    assert form.vjp([exp(x)], [unused], {x: 1}, [1]) == [None]
    assert form.vjp([exp(x)], [unused, x], {x: 0}, [1]) == [None, 1]


def test_a_graph_through_which_nothing_flows_has_no_outputs():
    x, unused = var("x"), var("unused")
    linear = linearize(view_of([exp(x)]), keys([exp(x)]), keys([unused]))
    assert (len(linear.linear), linear.linear.outputs, linear.tangent_outputs) == (0, (), (None,))
    assert len(linear.residual) == 0


@both_forms
def test_equal_terms_add(form):
    x = var("x")
    y = exp(x) + exp(x)
    assert form.jvp([y], [x], {x: 1}, [1]) == [pytest.approx(2 * math.e)]
    assert form.vjp([y], [x], {x: 1}, [1]) == [pytest.approx(2 * math.e)]


@both_forms
def test_both_factors_get_cotangents(form):
    x, y = var("x"), var("y")
    assert form.vjp([x * y], [x, y], {x: 2, y: 3}, [1]) == [3, 2]


def test_transposing_twice_gives_the_same_map():
    x = var("x")
    y = (x + x) * x
    linear = linearize(view_of([y]), keys([y]), keys([x]))
    twice = linear_transpose(linear_transpose(linear))
    assert apply(twice, {x: 3}, [1]) == apply(linear, {x: 3}, [1]) == [12]


def test_a_square_of_a_complex_number_forward_over_reverse():
    z = var("z", "c")
    y = z * z
    linear = linearize(view_of([y]), keys([y]), keys([z]))
    back = linear_transpose(linear)
    (seed,), (ct_z,) = ends(back)
    second = linearize(resolve([back.linear]), keys([ct_z]), keys([z]))
    assert apply(second, {z: 1 + 2j, seed: 1}, [1]) == [2]


@both_forms
def test_the_identity(form):
    """x' = 1"""
    x = var("x")
    assert form.jvp([x], [x], {x: 4}, [1]) == [1]
    assert form.vjp([x], [x], {x: 4}, [1]) == [1]


@both_forms
def test_a_constant_output(form):
    x, y = var("x"), Const(5.0)()
    assert form.jvp([y], [x], {x: 1}, [1]) == [None]
    assert form.vjp([y], [x], {x: 1}, [1]) == [None]


def test_a_constant_output_has_no_seed():
    x, y = var("x"), Const(5.0)()
    back = linear_transpose(linearize(view_of([y, exp(x)]), keys([y, exp(x)]), keys([x])))
    assert [seed is None for seed in back.tangent_inputs] == [True, False]


@both_forms
def test_integers_are_inactive(form):
    x, n = var("x"), var("n", "int")
    assert form.jvp([Round()(x), x * Round()(x)], [x], {x: 2.4}, [1]) == [None, 2]
    assert form.vjp([Round()(x), x * Round()(x)], [x], {x: 2.4}, [1, 1]) == [2]
    assert form.vjp([x * n], [x, n], {x: 2.0, n: 3}, [1]) == [3, None]


def test_wrt_an_integer_has_no_tangent_input():
    x, n = var("x"), var("n", "int")
    linear = linearize(view_of([x * n]), keys([x * n]), keys([n, x]))
    assert [given is None for given in linear.tangent_inputs] == [True, False]
    assert GraphForm.jvp([x * n], [n, x], {x: 2.0, n: 3}, [None, 1]) == [3]


@both_forms
def test_a_value_and_its_history_in_wrt_are_independent(form):
    x = var("x")
    y = exp(x)
    assert form.vjp([y * x], [x, y], {x: 0.0, y: 7.0}, [1]) == [7, 0]
    assert form.jvp([y * x], [x, y], {x: 2.0, y: 7.0}, [0, 1]) == [2]


@both_forms
def test_a_deep_composition_against_differences(form):
    x = var("x")

    def ten(u, apply=lambda v: exp(Const(0.3)() * v)):
        for _ in range(10):
            u = apply(u)
        return u

    slope = differences(lambda at: ten(at, lambda v: math.exp(0.3 * v)), 0.01)
    (dy,) = form.jvp([ten(x)], [x], {x: 0.01}, [0.7])
    (ct,) = form.vjp([ten(x)], [x], {x: 0.01}, [-0.4])
    assert (dy, ct) == (pytest.approx(0.7 * slope, rel=1e-9), pytest.approx(-0.4 * slope, rel=1e-9))
    assert -0.4 * dy == pytest.approx(0.7 * ct, rel=1e-12)
