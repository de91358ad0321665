"""Derivatives of scalar functions, in both forms of both transforms."""

import math

import pytest
from toy_functions import one, square
from toy_running import (
    FORMS,
    GraphForm,
    apply,
    differences,
    ends,
    forward,
    keys,
    nest,
    numbers,
    reverse,
    var,
    view_of,
)
from toy_scalars import Exp

from tenferro.computegraph import resolve
from tenferro.tidu import linear_transpose, linearize

E2 = math.exp(2)
both_forms = pytest.mark.parametrize("form", FORMS)
ORDERS_2 = pytest.mark.parametrize("modes", ["FF", "FR", "RF", "RR"])


def exp(x):
    return Exp()(x)


@both_forms
def test_a_value_added_to_itself(form):
    x = var("x")
    y = x + x
    assert numbers([y], {x: 3}) == [6]
    assert form.jvp([y], [x], {x: 3}, [1]) == [2]
    assert form.vjp([y], [x], {x: 3}, [1]) == [2]


@both_forms
def test_a_product(form):
    """∂(xy)/∂x = y"""
    x, y = var("x"), var("y")
    assert form.jvp([x * y], [x], {x: 2, y: 3}, [1]) == [3]
    assert form.vjp([x * y], [x], {x: 2, y: 3}, [1]) == [3]


@both_forms
def test_exp_of_a_product(form):
    x, a = var("x"), var("a")
    assert form.jvp([exp(a * x)], [x], {x: 1, a: 2}, [1]) == [pytest.approx(2 * E2)]
    assert form.vjp([exp(a * x)], [x], {x: 1, a: 2}, [1]) == [pytest.approx(2 * E2)]


@both_forms
def test_sharing_accumulates(form):
    """((x + x) x)' = 4x: contributions of both readers add up"""
    x = var("x")
    assert form.vjp([(x + x) * x], [x], {x: 3}, [1]) == [12]
    assert form.jvp([(x + x) * x], [x], {x: 3}, [1]) == [12]


@ORDERS_2
def test_the_second_derivative_of_a_square(modes):
    x = var("x")
    assert numbers([nest(modes, square)(x)], {x: 3}) == [2]


@ORDERS_2
def test_the_second_derivative_of_exp_of_a_product(modes):
    x, a = var("x"), var("a")
    second = nest(modes, lambda u: exp(a * u))(x)
    assert numbers([second], {x: 1, a: 2}) == [pytest.approx(4 * E2, abs=1e-10)]


def test_forward_over_reverse_on_graphs():
    x, a = var("x"), var("a")
    y = exp(a * x)
    linear = linearize(view_of([y]), [y.key], [x.key])
    back = linear_transpose(linear)
    (seed,), (ct_x,) = ends(back)
    second = linearize(resolve([back.linear]), [ct_x.key], [x.key])
    assert apply(second, {x: 1, a: 2, seed: 1}, [1]) == [pytest.approx(4 * E2, abs=1e-10)]


@both_forms
def test_against_differences(form):
    """(exp ax)' is that of differences"""
    x, a = var("x"), var("a")
    slope = differences(lambda at: math.exp(2 * at), 1)
    assert form.vjp([exp(a * x)], [x], {x: 1, a: 2}, [1]) == [pytest.approx(slope, rel=1e-10)]
    assert form.jvp([exp(a * x)], [x], {x: 1, a: 2}, [1]) == [pytest.approx(slope, rel=1e-10)]


@both_forms
def test_the_derivative_is_linear_in_its_direction(form):
    x, a = var("x"), var("a")
    at = {x: 0.3, a: 2}
    (unit,) = form.jvp([exp(a * x)], [x], at, [1])
    assert form.jvp([exp(a * x)], [x], at, [-2.5]) == [pytest.approx(-2.5 * unit)]


@both_forms
def test_several_outputs_and_inputs_are_a_jacobian(form):
    x, y = var("x"), var("y")
    outputs, at = [x * y, x + y, y], {x: 2, y: 3}
    assert form.jvp(outputs, [x, y], at, [1, 0]) == [3, 1, 0]
    assert form.jvp(outputs, [x, y], at, [0, 1]) == [2, 1, 1]
    assert form.vjp(outputs, [x, y], at, [1, 10, 100]) == [13, 112]


def test_wrt_may_be_any_value_of_the_view():
    x = var("x")
    middle = exp(x)
    y = middle * middle
    assert GraphForm.jvp([y], [middle], {middle: 3}, [1]) == [6]
    assert GraphForm.vjp([y * x], [middle, x], {middle: 3, x: 2}, [1]) == [12, 9]


def test_the_primal_is_computed_once():
    x = var("x")
    y = exp(x)
    assert numbers([y, forward(exp, x), reverse(exp, x)], {x: 0}) == [1, 1, 1]
    linear = linearize(view_of([y]), keys([y]), keys([x]))
    assert linear.linear.parents[0] is linear.residual
    assert [key is y.key for key in linear.residual.output_keys] == [True]
    assert one().key is one().key
