"""Rules are asked about the equations that they are for, and about no others."""

import pytest
from graphs import apply, graph_of, value

from tenferro.passes._rewriter import Rewriter
from tenferro.passes._rules import PassRules, RuleTable, kinds_of
from tenferro.primitives.arithmetic import Add, Mul, Neg
from tenferro.primitives.comparison import Lt, Select
from tenferro.primitives.constants import Constant, Iota

RULES = PassRules("toy")


@RULES.of(Add, reads=[Constant])
def beside_a_constant(rw, op, operands):
    return None


@RULES.of(Add, Select, reads=[Constant, Neg], every=True)
def of_such_results_alone(rw, op, operands):
    return None


@RULES.of(Iota, Neg)
def always(rw, op, operands):
    return None


@RULES.where(lambda cls: cls is Mul)
def of_a_kind(rw, op, operands):
    return None


INPUT = type(None)


@pytest.mark.parametrize(
    "kinds, asked",
    [
        ((Add, INPUT, INPUT), []),
        ((Add, INPUT, Constant), [beside_a_constant]),
        ((Add, Neg, Neg), [of_such_results_alone]),
        ((Add, Neg, Constant), [beside_a_constant, of_such_results_alone]),
        ((Add, Mul, Neg), []),
        ((Select, frozenset([Constant, Neg])), [of_such_results_alone]),
        ((Select, frozenset([Constant, Mul])), []),
        ((Neg, INPUT), [always]),
        ((Iota, frozenset()), [always]),
        ((Mul, INPUT, Neg), [of_a_kind]),
    ],
)
def test_a_rule_is_asked_where_its_operands_are(kinds, asked):
    """A rule that reads R is asked if one operand is made by R; with ``every``, if each is."""
    assert [rule for _, rule in RuleTable([RULES])[kinds]] == asked


def test_each_equation_has_the_rules_of_its_kinds():
    """The rules of a fresh graph are those that ``kinds_of`` finds, for any number of operands."""
    x, y = value("x"), value("y")
    negative = apply(Neg(), x)
    total = apply(Add(), negative, apply(Constant(2, "f64", (3,))))
    made = graph_of(apply(Select(), apply(Lt(), x, y), total, negative))
    table = RuleTable([RULES])
    rewriter = Rewriter(made, table)
    values = [node[2][0] for node in made.nodes]
    assert {len(node[1]) for node in made.nodes} == {0, 1, 2, 3}
    for i in values:
        kinds = kinds_of(rewriter.operations[i], rewriter.operations, rewriter.operands[i])
        assert rewriter._rules[i] == table[kinds]
    assert [rule for i in values for _, rule in rewriter._rules[i]] != []
