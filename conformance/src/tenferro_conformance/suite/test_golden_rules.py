"""Golden tests of rules: contexts reach them, missing ones are typed errors, wrong ones are found
at emission.
"""

import numpy as np
import pytest

import tenferro as tn
import tenferro.primitives as p
from tenferro.computegraph import KeyView
from tenferro.tidu import (
    ADContext,
    MissingRuleError,
    NotLinearError,
    Rules,
    linear_transpose,
    linearize,
)
from tenferro_conformance.running.derivatives import jvp, vjp

pytestmark = pytest.mark.tenferro_golden


class WithoutJvp(p.Elementwise):
    """A function without a derivative."""

    key = "conformance::without_jvp"

    def abstract_eval(self, x):
        return x


class WithoutTranspose(p.Linear):
    """A linear function without a transpose."""

    key = "conformance::without_transpose"

    def abstract_eval(self, x):
        return x


class NotLinear(p.Elementwise):
    """Its derivative rule emits something that is not linear in the tangent."""

    key = "conformance::not_linear"

    def abstract_eval(self, x):
        return x

    def jvp_x(self, dx, x, y):
        return dx * dx

    def jvp_input(self, rule, index, tangent, primals_in, primals_out):
        return (tangent * tangent,)


x = p.variable("x", (), "float64")


def _counting(count):
    """Make rules for exp and mul that count their calls and then do what the classes say."""

    def jvp_rule(operation, rule, *args):
        count["jvp"] += 1
        return operation.jvp(rule, *args)

    def transpose_rule(operation, rule, *args):
        count["transpose"] += 1
        return operation.transpose(rule, *args)

    return ADContext(
        {p.Exp: Rules(jvp_rule, transpose_rule), p.Mul: Rules(jvp_rule, transpose_rule)}
    )


def test_context_reaches_every_rule():
    """exp(x·x): linearize calls two rules, transpose two more and no rule of linearize."""
    count = {"jvp": 0, "transpose": 0}
    context = _counting(count)
    linear = linearize(KeyView(), [p.exp(x * p.sin(x)).key], [x.key], context=context)
    assert count == {"jvp": 2, "transpose": 0}
    linear_transpose(linear, context=context)
    assert count["jvp"] == 2
    assert count["transpose"] >= 2


def test_context_reaches_rules_of_the_public_api(tenferro_backend):
    """The same through tn.grad."""
    count = {"jvp": 0, "transpose": 0}
    tn.grad(lambda x: tn.exp(x * tn.sin(x)), context=_counting(count))(np.asarray(0.5))
    assert count["jvp"] == 2


@pytest.mark.parametrize("run", ["graph", "emitting"])
def test_missing_jvp(run):
    """A missing jvp rule is a typed error that names primitive, rule and provider."""
    y = p.bind(WithoutJvp(), x)
    with pytest.raises(MissingRuleError) as caught:
        jvp([y], [x], [x]) if run == "emitting" else linearize(KeyView(), [y.key], [x.key])
    assert caught.value.fields["primitive"] == WithoutJvp.key


@pytest.mark.parametrize("run", ["graph", "emitting"])
def test_missing_transpose(run):
    """A missing transpose rule is a typed error too; the flow is never dropped."""
    y = p.bind(WithoutTranspose(), x)
    with pytest.raises(MissingRuleError) as caught:
        vjp([y], [x], [x]) if run == "emitting" else linear_transpose(
            linearize(KeyView(), [y.key], [x.key])
        )
    assert caught.value.fields["primitive"] == WithoutTranspose.key


def test_a_rule_that_is_not_linear():
    """dx·dx is refused at emission."""
    with pytest.raises(NotLinearError):
        jvp([p.bind(NotLinear(), x)], [x], [x])


def test_public_names_are_one_object():
    """What is re-exported is the same object."""
    assert tn.MissingRuleError is MissingRuleError
    assert tn.ADContext is ADContext
    assert tn.NotLinearError is NotLinearError
