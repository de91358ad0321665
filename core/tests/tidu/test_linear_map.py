"""A recorded map as a linear one: applied, turned around, and refused where it is not linear."""

import pytest
from toy_functions import one
from toy_running import keys, numbers, var
from toy_scalars import Const, Dup, Exp, Mul, Space

from tenferro.computegraph import derive_one
from tenferro.tidu import NotLinearError, Primitive, Trace, linear_map, linearize_keys, pin


def linear(outputs, places):
    return linear_map(keys(outputs), keys(places), space=Space)


def test_it_is_the_map_that_was_recorded():
    """f(u, v) = 3 (a u + v), so f(2, 5) = 51 at a = 6, and the transpose of 1 is (18, 3)."""
    a, u, v = var("a"), var("u"), var("v")
    found = linear([(a * u + v) * Const(3.0)()], [u, v])
    two, five = Const(2.0)(), Const(5.0)()
    assert numbers(found.apply([two, five]), {a: 6}) == [51]
    assert numbers(found.transpose([one()]), {a: 6}) == [18, 3]


def test_what_is_given_may_be_what_is_read():
    """u ↦ a u at u = a is a², without confusion."""
    a, u = var("a"), var("u")
    assert numbers(linear([a * u], [u]).apply([a]), {a: 5}) == [25]


def test_structural_zeros_stay_zeros():
    u, v = var("u"), var("v")
    found = linear([u + v, u], [u, v])
    assert found.apply([None, None]) == [None, None]
    assert numbers(found.apply([one(), None]), {}) == [1, 1]


def test_outputs_that_nothing_reaches_are_known():
    a, u = var("a"), var("u")
    found = linear([u, Exp()(a)], [u])
    assert found.reached == (True, False)
    assert found.apply([one()])[1] is None


def test_an_operation_of_several_outputs_is_emitted_once():
    u = var("u")
    x, y = Dup()(u)
    assert numbers(linear([x + y], [u]).transpose([one()]), {}) == [2]


def test_pins_pass():
    """A pin inside of the map is the identity: (u + u)' = 2"""
    u = var("u")
    pinned = type(u)(pin(u.key, Trace()))
    assert numbers(linear([pinned + pinned], [u]).apply([one()]), {}) == [2]


@pytest.mark.parametrize(
    "function",
    [lambda u, a: u * u, lambda u, a: u + a, lambda u, a: Exp()(u)],
    ids=["square", "affine", "exp"],
)
def test_what_is_not_linear_is_refused(function):
    a, u = var("a"), var("u")
    with pytest.raises(NotLinearError) as raised:
        linear_map(keys([function(u, a)]), keys([u]), space=Space, operation=Exp())
    assert raised.value.rule == "toy::exp.jvp"


class Late(Mul):
    """x ↦ a x, as an operation that is replaced where its value is wanted."""

    key, commutative, simplify, linear = "toy::late", False, None, ((1,),)

    def expand(self, rule, values):
        a, x = values
        return (a * x * Const(10.0)(),)

    def turn(self, rule, ct, a, x):
        return (None, a * ct)


def test_an_operation_may_be_replaced_where_its_value_is_wanted():
    """Applied, it is 10 a x; turned around, what its transpose says."""
    a, u = var("a"), var("u")
    found = linear([Late()(a, u)], [u])
    assert numbers(found.apply([one()]), {a: 3}) == [30]
    assert numbers(found.transpose([one()]), {a: 3}) == [3]


def test_what_does_not_carry_is_not_swept():
    """A sweep asks for no rule below a value through which no derivative flows."""

    class NoRules(Primitive):
        key, space = "toy::no_rules", Space
        abstract_eval = lambda self, x: x  # noqa: E731

    class Stop(NoRules):
        key = "toy::stop"
        carries = lambda self, aval: False  # noqa: E731

    x = var("x")
    below = type(x)(derive_one(Stop(), (derive_one(NoRules(), (x.key,)),)))
    assert linearize_keys(keys([below * x]), keys([x]), space=Space).residuals == (below.key,)
