"""Faults of those who write primitives: operands, abstract_eval, functions of NumPy in rules."""

from operator import add, mul, sub, truediv

import numpy as np
import pytest

import tenferro as tn
from tenferro.primitives import Elementwise, Sin, bind, bind_all, clamp, full_like, variable


class WithoutShape(Elementwise):
    key = "faults::without_shape"


@pytest.mark.parametrize("binder", [bind, bind_all])
def test_a_primitive_takes_handles(binder):
    with pytest.raises(tn.ArgumentTypeError, match=r"sin: a primitive takes handles, not ndarray"):
        binder(Sin(), np.ones(3))


def test_a_number_in_a_function_of_primitives_has_a_cure():
    """clamp(0, x, 1) in a rule"""
    x = variable("x", (3,), "float64")
    with pytest.raises(tn.ArgumentTypeError, match=r"full_like\(x, 2\)"):
        clamp(0.0, x, 1.0)
    assert clamp(full_like(x, 0.0), x, full_like(x, 1.0)).aval is x.aval


@pytest.mark.parametrize("operation", [5, Sin, None])
def test_what_is_bound_is_a_primitive(operation):
    with pytest.raises(tn.ArgumentTypeError, match="need a primitive"):
        bind(operation, variable("x", (3,), "float64"))


def test_a_primitive_states_the_shape_of_its_result():
    with pytest.raises(tn.MissingRuleError, match="no `abstract_eval`") as found:
        bind(WithoutShape(), variable("x", (3,), "float64"))
    assert found.value.rule == "abstract_eval"


@pytest.mark.parametrize("number", [np.float64(2), np.float32(2), np.int64(2), np.array(2.0)])
@pytest.mark.parametrize("apply", [add, sub, mul, truediv])
def test_a_number_of_numpy_is_a_number_in_a_rule(apply, number):
    """np.sqrt(2) * x in a rule is the number times x, on either side"""
    x = variable("x", (3,), "float64")
    assert apply(number, x).key is apply(2.0, x).key
    assert apply(number, x).aval is x.aval


@pytest.mark.parametrize("call", [np.exp, np.sum, lambda x: np.ones(3) + x])
def test_functions_of_numpy_do_not_record(call):
    """A rule that calls np.exp is told which functions record"""
    with pytest.raises(tn.ArgumentTypeError, match=r"tenferro\.primitives"):
        call(variable("x", (3,), "float64"))
