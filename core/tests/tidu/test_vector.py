"""The same primitives on tuples of numbers: the engine asks nothing of an operand."""

import math

import pytest
from toy_functions import Total
from toy_running import FORMS, differences, nest, numbers, var
from toy_scalars import Const, Exp

E2, E6 = math.exp(2), math.exp(6)
AX = ((1.0, 2.0), (2.0, 3.0))
both_forms = pytest.mark.parametrize("form", FORMS)


def exp(x):
    return Exp()(x)


def total(x):
    return Total(2)(x)


def close(*values):
    return [pytest.approx(value, abs=1e-10, rel=1e-12) for value in values]


@both_forms
def test_exp_of_a_product(form):
    x, a = var("x"), var("a")
    at = {x: AX[0], a: AX[1]}
    assert form.jvp([exp(a * x)], [x], at, [(1.0, 1.0)]) == close((2 * E2, 3 * E6))
    assert form.vjp([exp(a * x)], [x], at, [(1.0, 1.0)]) == close((2 * E2, 3 * E6))


@both_forms
def test_the_sum_of_exp_of_a_product(form):
    x, a = var("x"), var("a")
    y, at = total(exp(a * x)), {x: AX[0], a: AX[1]}
    assert form.jvp([y], [x], at, [(1.0, 1.0)]) == close(2 * E2 + 3 * E6)
    assert form.vjp([y], [x], at, [2.0]) == close((4 * E2, 6 * E6))


@both_forms
def test_the_sum_against_differences(form):
    x, a = var("x"), var("a")
    y, at = total(exp(a * x)), {x: AX[0], a: AX[1]}
    slopes = tuple(differences(lambda u, k=k: math.exp(AX[1][k] * u), AX[0][k]) for k in (0, 1))
    assert form.vjp([y], [x], at, [1.0]) == [pytest.approx(slopes, rel=1e-5)]


@pytest.mark.parametrize("modes", ["FF", "FR", "RF", "RR"])
def test_the_second_derivative_of_a_square(modes):
    x, ones = var("x"), var("ones")
    second = nest(modes, lambda u: u * u, ones)(x)
    assert numbers([second], {x: (2.0, 3.0), ones: (1.0, 1.0)}) == [(2.0, 2.0)]


@pytest.mark.parametrize("modes", ["FFF", "FFR", "FRF", "FRR", "RFF", "RFR", "RRF", "RRR"])
def test_the_third_derivative_of_a_cube(modes):
    x, ones = var("x"), var("ones")
    third = nest(modes, lambda u: u * u * u, ones)(x)
    assert numbers([third], {x: (2.0, 3.0), ones: (1.0, 1.0)}) == [(6.0, 6.0)]


def test_a_scalar_meets_a_vector():
    x = var("x")
    assert numbers([Const(2.0)() * x], {x: (1.0, 2.0)}) == [(2.0, 4.0)]
