"""Cost is counted in nodes and calls, not in seconds."""

import pytest
from toy_functions import Sincos, Tanh, one
from toy_running import GraphForm, keys, nest, numbers, program, var, view_of
from toy_scalars import Add, Const, Exp, Mul, Neg, Toy

from tenferro.tidu import ADContext, Rules, linear_transpose, linearize


def chain(length, x):
    for _ in range(length):
        x = Exp()(x)
    return x


def wide(width, x):
    total = x
    for i in range(width):
        total = total + Exp()(Const(float(i + 2))() * x)
    return total


def dag(size, x):
    values = [x, Exp()(x)]
    for i in range(size):
        values.append(values[i] * values[i // 2] + values[-1])
    return values[-1]


SHAPES = {"chain": chain, "wide": wide, "dag": dag}


def sizes(shape, count):
    x = var("x")
    y = SHAPES[shape](count, x)
    linear = linearize(view_of([y]), keys([y]), keys([x]))
    back = linear_transpose(linear)
    return len(linear.linear), len(linear.residual), len(back.linear), len(program([y], [x]))


@pytest.mark.parametrize("shape", SHAPES)
def test_transforms_are_linear_in_the_graph(shape):
    small, middle, large = (sizes(shape, count) for count in (100, 200, 300))
    steps = [(b - a, c - b) for a, b, c in zip(small, middle, large, strict=True)]
    assert all(first == second for first, second in steps)


def calls(count):
    """How often rules are called in linearize and in linear_transpose."""
    found = {"jvp": 0, "transpose": 0}

    def counted(rule):
        def call(operation, *args):
            found[rule] += 1
            return getattr(operation, rule)(*args)

        return call

    rules = Rules(jvp=counted("jvp"), transpose=counted("transpose"))
    context = ADContext(dict.fromkeys([Add, Mul, Exp, Neg], rules))
    x = var("x")
    y = dag(count, x)
    linear_transpose(
        linearize(view_of([y]), keys([y]), keys([x]), context=context), context=context
    )
    return found


def test_every_rule_is_called_once_per_node():
    assert calls(100)["jvp"] == 1 + 2 * 100
    assert calls(200)["jvp"] - calls(100)["jvp"] == 200
    assert calls(200)["transpose"] - calls(100)["transpose"] <= 400


def test_views_do_not_slow_down_with_the_number_of_uses():
    looked = []

    class Watched(type(view_of([]))):
        def definition(self, key):
            looked.append(key)
            return super().definition(key)

    x = var("x")
    y = dag(100, x)
    linearize(Watched(view_of([y]).graphs), keys([y]), keys([x]))
    assert len(looked) <= 2 * len(set(looked))


def derivative_sizes(function, mode, orders=8):
    x = var("x")
    return [len(program([nest(mode * order, function)(x)], [x])) for order in range(1, orders + 1)]


def test_the_derivatives_of_exp_of_a_product_grow_linearly():
    a = var("a")
    forward = derivative_sizes(lambda u: Exp()(a * u), "F")
    assert forward[-1] - forward[-2] <= 6
    assert forward[-1] <= 40


def test_the_derivatives_of_a_composed_function_stay_small():
    forward = derivative_sizes(lambda u: Tanh()(Sincos()(u)[0] * u), "F")
    assert forward[-1] <= 700


# simplification at emission


def test_one_zero_and_double_negation_are_never_emitted():
    x = var("x")
    zero = Const(0.0)()
    assert (x * one()).key is (one() * x).key is (x + zero).key is (zero + x).key is x.key
    assert Neg()(-x).key is x.key


def test_operands_of_commutative_operations_have_one_order():
    x, y = var("x"), var("y")
    assert (x * y).key is (y * x).key
    assert (x + Exp()(y)).key is (Exp()(y) + x).key
    assert (Const(2.0)() * x).key is (x * Const(2.0)()).key


def test_simplification_keeps_the_flow():
    x = var("x")
    y = Neg()(-(x * one() + Const(0.0)()))
    assert GraphForm.jvp([y * x], [x], {x: 3}, [1]) == [6]
    negated = type(
        "Negated", (Toy,), {"key": "toy::negated", "slope": lambda s, u, v: (Neg()(-u),)}
    )()
    assert GraphForm.vjp([negated(x)], [x], {x: 3}, [1]) == [3]


@pytest.mark.parametrize("mode", "FR")
def test_a_known_seed_is_folded_and_does_not_cut_the_flow(mode):
    x = var("x")
    assert [step.operation for step in program([nest(mode, Exp())(x)], [x]).instructions] == [Exp()]
    assert numbers([nest(mode, lambda u: u)(x), nest(mode, lambda u: -u)(x)], {x: 3}) == [1, -1]
