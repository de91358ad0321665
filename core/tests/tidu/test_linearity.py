"""Linearity is enforced at emission: what a rule emits is linear in its flow, or an error."""

import pytest
from toy_functions import Div, Sum, one
from toy_running import FORMS, GraphForm, forward, numbers, reverse, var, view_of
from toy_scalars import Add, Conj, Const, Exp, Mul, Neg, Space, Toy

from tenferro.tidu import FlowInput, NotLinearError, linearize, pushforward


def emitting(formula):
    """An operation whose jvp rule is ``formula(x, dx)``."""

    def jvp(self, rule, primals, outputs, tangents):
        return [formula(primals[0], tangents[0])]

    return type("Own", (Toy,), {"key": "toy::own", "jvp": jvp})()


REFUSED = {
    "dx + 1": (lambda x, dx: dx + one(), "toy::add", (0,)),
    "dx + x": (lambda x, dx: dx + x, "toy::add", (1,)),
    "dx dx": (lambda x, dx: dx * dx, "toy::mul", (0, 1)),
    "exp dx": (lambda x, dx: Exp()(dx), "toy::exp", (0,)),
    "x / dx": (lambda x, dx: Div()(x, dx), "toy::div", (1,)),
    "dx / dx": (lambda x, dx: Div()(dx, dx), "toy::div", (0, 1)),
    "dx dx x": (lambda x, dx: x * dx * dx, "toy::mul", (0, 1)),
    "sum dx x 0": (lambda x, dx: Sum()(dx, x, Const(0.0)()), "toy::sum", (0,)),
    "dx + 1 later": (lambda x, dx: -(-(x * dx) + one()), "toy::add", (0,)),
}


class Constantly(Toy):
    """x ↦ 1, and it simplifies to that; linear it is not."""

    key = "toy::constantly"

    def simplify(self, x):
        return one()


REFUSED["1 of dx"] = (lambda x, dx: x * Constantly()(dx), "toy::constantly", (0,))
ALLOWED = {
    "dx": (lambda x, dx: dx, 1),
    "x dx": (lambda x, dx: x * dx, 3),
    "dx + dx": (lambda x, dx: dx + dx, 2),
    "-conj dx": (lambda x, dx: -Conj()(dx), -1),
    "dx / x": (lambda x, dx: Div()(dx, x), 1 / 3),
    "dx + 0": (lambda x, dx: dx + Const(0.0)(), 1),
    "sum dx 0 dx": (lambda x, dx: Sum()(dx, Const(0.0)(), dx), 2),
    "exp(x) dx - x x dx": (lambda x, dx: Exp()(x) * dx + -(x * x * dx), pytest.approx(11.0855369)),
}


@pytest.mark.parametrize("seed", [0.0, 1.0])
@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_linear_is_refused_for_literal_tangents_too(name, seed):
    """The operation is checked before it is simplified: dx · dx is not dx where dx is 1."""
    formula, _, _ = REFUSED[name]
    x = var("x")
    with pytest.raises(NotLinearError):
        pushforward([emitting(formula)(x).key], [x.key], [Const(seed)()], space=Space)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_linear_is_refused(form, name):
    formula, primitive, active = REFUSED[name]
    x = var("x")
    with pytest.raises(NotLinearError) as error:
        form.jvp([emitting(formula)(x)], [x], {x: 3}, [1])
    assert (error.value.primitive, error.value.rule) == (primitive, "toy::own.jvp")
    assert sorted(error.value.active) in (sorted(active), [1 - i for i in active])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ALLOWED)
def test_what_is_linear_is_allowed(form, name):
    formula, slope = ALLOWED[name]
    x = var("x")
    y = emitting(formula)(x)
    assert form.jvp([y], [x], {x: 3}, [1]) == [slope]
    assert form.vjp([y], [x], {x: 3}, [1]) == [slope]


@pytest.mark.parametrize(
    "transpose, primitive",
    [
        (lambda ct, x: ct * ct, "toy::mul"),
        (lambda ct, x: ct + one(), "toy::add"),
        (lambda ct, x: Exp()(ct), "toy::exp"),
    ],
)
@pytest.mark.parametrize("form", FORMS)
def test_transposes_are_checked_too(form, transpose, primitive):
    def rule_of(self, rule, cts, inputs):
        return [transpose(cts[0], None)]

    own = type("Own", (Neg,), {"key": "toy::own", "transpose": rule_of, "simplify": None})()
    x = var("x")
    with pytest.raises(NotLinearError) as error:
        form.vjp([own(x)], [x], {x: 3}, [1])
    assert (error.value.primitive, error.value.rule) == (primitive, "toy::own.transpose")


def test_the_error_prints_who_emitted_what(golden):
    x = var("x")
    with pytest.raises(NotLinearError) as error:
        GraphForm.jvp([emitting(lambda x, dx: dx * dx)(x)], [x], {x: 3}, [1])
    golden("error_not_linear", error.value)


def test_flow_is_an_abstract_value_and_nothing_else():
    assert FlowInput._fields == ("aval", "primal")
    assert not hasattr(FlowInput("f"), "key")


def test_the_check_is_of_handles_not_of_keys():
    """jvp(f, x, x): the tangent is the same key as the primal, and x·dx is still linear."""
    x = var("x")
    (dy,) = pushforward([(x * x).key], [x.key], [x], space=Space)
    assert numbers([dy], {x: 3}) == [18]


def test_roles_tell_which_operand_is_active():
    x = var("x")
    y = x * x
    (node,) = linearize(view_of([y]), [y.key], [x.key]).linear.nodes[:1]
    assert sorted(node.role.active_mask) == [False, True]
    assert not node.role.transposed


def test_a_groups_fixed_members_are_zeros():
    x, y = var("x"), var("y")
    linear = linearize(view_of([Sum()(x, y, x)]), [Sum()(x, y, x).key], [x.key])
    assert linear.linear.nodes[0].operation is Sum()
    assert linear.linear.nodes[0].role.active_mask == (True, False, True)
    assert GraphForm.jvp([Sum()(x, y, x)], [x], {x: 1, y: 1}, [1]) == [2]


def test_linearity_may_be_asked_of_any_order():
    x = var("x")
    own = emitting(lambda x, dx: x * x * dx)
    assert numbers([forward(lambda u: reverse(own, u), x)], {x: 3}) == [6]


def test_groups_belong_to_the_class():
    assert (Add().groups(2), Mul().groups(2), Exp().groups(1)) == (((0, 1),), ((0,), (1,)), ())
    assert Sum().groups(3) == ((0, 1, 2),)
