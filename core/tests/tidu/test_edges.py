"""Two outputs, higher orders in every nesting, merging of what is built twice."""

import math
from itertools import product

import pytest
from toy_functions import Sincos, square
from toy_running import FORMS, MODES, nest, numbers, program, var
from toy_scalars import Exp

from tenferro.computegraph import UNKNOWN

C1, S1 = math.cos(1), math.sin(1)
both_forms = pytest.mark.parametrize("form", FORMS)
all_modes = ["".join(modes) for modes in product("FR", repeat=3)]


def exp(x):
    return Exp()(x)


@both_forms
def test_two_outputs_summed(form):
    x = var("x")
    s, c = Sincos()(x)
    assert form.jvp([s + c], [x], {x: 1}, [1]) == [pytest.approx(C1 - S1)]
    assert form.vjp([s + c], [x], {x: 1}, [1]) == [pytest.approx(C1 - S1)]


@both_forms
def test_two_outputs_are_adjoint(form):
    x = var("x")
    outputs = list(Sincos()(x))
    ds, dc = form.jvp(outputs, [x], {x: 1}, [0.4])
    (ct,) = form.vjp(outputs, [x], {x: 1}, [1.5, -0.25])
    assert ct == pytest.approx(1.5 * C1 + 0.25 * S1)
    assert 1.5 * ds - 0.25 * dc == pytest.approx(0.4 * ct)


@both_forms
def test_one_of_two_outputs(form):
    x = var("x")
    s, c = Sincos()(x)
    assert form.vjp([c], [x], {x: 1}, [1]) == [pytest.approx(-S1)]
    assert form.vjp([s], [x], {x: 1}, [1]) == [pytest.approx(C1)]


def test_two_outputs_are_one_instruction_at_every_order():
    x = var("x")
    third = nest("FRF", lambda u: Sincos()(u)[0])(x)
    assert numbers([third], {x: 1}) == [pytest.approx(-C1)]
    assert sum(step.operation is Sincos() for step in program([third], [x]).instructions) == 1


@pytest.mark.parametrize("modes", all_modes)
def test_the_third_derivative_of_a_cube(modes):
    x = var("x")
    assert numbers([nest(modes, lambda u: u * u * u)(x)], {x: 2}) == [6]


@pytest.mark.parametrize("modes", [m + n for m in "FR" for n in all_modes])
def test_the_fourth_derivative_of_a_product_of_equal_squares(modes):
    x = var("x")
    fourth = nest(modes, lambda u: square(u) * square(u))(x)
    assert numbers([fourth], {x: 1.5}) == [24]


def test_squares_built_twice_are_one():
    x = var("x")
    assert square(x).key is square(x).key
    assert len(program([square(x) * square(x)], [x])) == 2


@pytest.mark.parametrize("modes", ["FFR", *all_modes])
def test_exp_stays_exp(modes):
    x = var("x")
    assert numbers([nest(modes, exp)(x)], {x: 1}) == [pytest.approx(math.e)]


@pytest.mark.parametrize("modes", ["FF", "FR"])
def test_directions_of_two_orders(modes):
    x, first, second = var("x"), var("first"), var("second")
    outer, inner = (MODES[m] for m in modes)
    found = outer(lambda u: inner(exp, u, first), x, second)
    (value,) = numbers([found], {x: (1.0, 2.0), first: (0.3, 0.7), second: (0.5, 0.4)})
    assert value == pytest.approx((0.15 * math.e, 0.28 * math.exp(2)))


@pytest.mark.parametrize("modes", ["FF", "FR", "RF", "RR"])
def test_a_value_may_be_its_own_direction(modes):
    x = var("x")
    outer, inner = (MODES[m] for m in modes)
    cubed = outer(lambda u: inner(lambda v: v * v * v, u, u), x, x)
    assert numbers([cubed], {x: 2}) == [72]  # 9 x³


def test_no_value_was_ever_computed():
    x = var("x")
    assert exp(x).key.operand is UNKNOWN
