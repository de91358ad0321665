"""What an eager recorder asks of the reverse sweep: seeds, slots, sums, what has to be saved."""

import pytest
from toy_functions import Sum, one
from toy_running import EmittingForm, keys, numbers, program, var
from toy_scalars import Dup, Exp, Mul, Space

from tenferro.tidu import linearize_keys, pullback


def gradients(outputs, wrt, cotangents):
    return pullback(keys(outputs), keys(wrt), cotangents, space=Space)


def test_the_transpose_of_add():
    a, b = var("a"), var("b")
    assert EmittingForm.vjp([a + b], [a, b], {a: 1, b: 1}, [1]) == [1, 1]


def test_the_transpose_of_a_negated_sum():
    a, b = var("a"), var("b")
    assert EmittingForm.vjp([-(a + b)], [a, b], {a: 1, b: 1}, [1]) == [-1, -1]


def test_a_square_accumulates_under_one_key():
    x = var("x")
    found = gradients([x * x], [x], [one()])
    assert numbers(found, {x: 3}) == [6]


def test_a_function_recorded_as_one_node():
    class Fused(Mul):
        """z = x y + y"""

        key = "toy::fused"
        commutative = False
        linear = ()
        simplify = None

        def run(self, x, y):
            return x * y + y

        def jvp_input(self, rule, index, tangent, primals, results):
            x, y = primals
            return [tangent * y if index == 0 else tangent * (x + one())]

    x, y = var("x"), var("y")
    z = Fused()(x, y)
    assert numbers([z], {x: 2, y: 3}) == [9]
    assert EmittingForm.vjp([z], [x, y], {x: 2, y: 3}, [1]) == [3, 3]


def test_only_seeded_slots_are_swept():
    x = var("x")
    first, second = Dup()(x)
    outputs = [first * second, Exp()(x)]
    found = gradients(outputs, [x], [one(), None])
    assert numbers(found, {x: 1}) == [2]
    made = program(found, [x])
    used = {step.operation.key for step in made.instructions}
    assert used == {"toy::dup", "toy::add"}


def test_no_seed_gives_no_gradient():
    x = var("x")
    assert gradients([x * x, x], [x], [None, None]) == [None]


def test_a_fan_out_sums():
    x = var("x")
    first, second = Dup()(x)
    assert EmittingForm.vjp([first, second], [x], {x: 1}, [1, 1]) == [2]


def test_what_wrt_does_not_reach_is_not_recorded():
    x, y = var("x"), var("y")
    swept = linearize_keys(keys([x * Exp()(y)]), keys([x]), space=Space)
    assert [key.operation for key in swept.residuals] == [Exp()]
    assert linearize_keys(keys([Exp()(y)]), keys([x]), space=Space).residuals == ()


def test_any_number_of_inputs():
    values = [var(name) for name in "abcd"]
    at = dict.fromkeys(values, 1)
    assert EmittingForm.vjp([Sum()(*values)], values[1:], at, [1]) == [1, 1, 1]
    assert EmittingForm.vjp([Sum()(*values)], values[:1], at, [1]) == [1]
    assert EmittingForm.jvp([Sum()(*values)], values[:2], at, [1, 10]) == [11]


def test_two_outputs_are_one_node():
    x = var("x")
    first, second = Dup()(x)
    assert first.key.definition[3:] == second.key.definition[3:]
    assert EmittingForm.vjp([first, second], [x], {x: 1}, [0, -1]) == [-1]
    assert numbers(gradients([first, second], [x], [None, -one()]), {x: 1}) == [-1]


def test_only_needed_values_are_saved():
    x, y = var("x"), var("y")
    product = x * y
    swept = linearize_keys(keys([Exp()(product) + x]), keys([x]), space=Space)
    assert set(swept.residuals) == {y.key, Exp()(product).key}


def test_one_sweep_serves_many_seeds():
    x = var("x")
    swept = linearize_keys(keys([x * x]), keys([x]), space=Space)
    found = [swept.transpose([seed])[0] for seed in (one(), -one())]
    found += swept.apply([one()])
    assert numbers(found, {x: 3}) == [6, -6, 6]


def test_apply_follows_only_the_tangents_given():
    x, y = var("x"), var("y")
    swept = linearize_keys(keys([x + y, x * y]), keys([x, y]), space=Space)
    assert numbers(swept.apply([var("dx"), None]), {x: 2, y: 3, var("dx"): 1}) == [1, 3]
    assert swept.apply([None, None]) == [None, None]


@pytest.mark.parametrize("count", [1, 2, 3, 7, 8, 100])
def test_contributions_are_summed_by_a_balanced_tree(count):
    x = var("x")
    y = Sum()(*[x] * count)
    (found,) = gradients([y], [x], [var("ct")])
    assert numbers([found], {var("ct"): 1}) == [count]
    assert found.key.depth <= count.bit_length() + (count & (count - 1) > 0)
