"""Rules are asked about the equations that they are for, and about no others."""

import pytest
from graphs import apply, graph_of, value

from tenferro import primitives
from tenferro.passes._driver import _rules
from tenferro.passes._rewriter import Rewriter
from tenferro.passes._rules import LazyRules, PassRules, RuleTable, kinds_of
from tenferro.passes._selection import REWRITES, TRIGGERS
from tenferro.primitives import TensorPrimitive
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


@pytest.mark.parametrize(
    "kinds, loads",
    [
        ((Mul, INPUT, INPUT), False),
        ((Neg, INPUT), True),
        ((Add, Mul, Neg), True),
        ((Select, frozenset([Constant, Neg])), True),
        ((Iota, frozenset()), False),
    ],
)
def test_lazy_rules_load_with_the_first_operation_that_they_are_for(kinds, loads):
    """The order of the passes stays, and rules of a class that was met before are asked, too."""
    loaded = []
    lazy = LazyRules([Neg.key], lambda: loaded.append(1) or RULES)
    other = PassRules("other")
    other.of(Neg, Add, Select, Mul, Iota)(always)
    table = RuleTable([lazy, other])
    assert len(table[Add, INPUT, INPUT]) == 1
    assert not loaded
    found = table[kinds]
    assert bool(loaded) is loads
    if loads:
        assert found == RuleTable([RULES, other])[kinds]
        assert table[kinds[0], Neg] == RuleTable([RULES, other])[kinds[0], Neg]
        assert len(loaded) == 1


def every_class(cls=TensorPrimitive):
    """A class and all that are made of it."""
    return {cls}.union(*map(every_class, cls.__subclasses__()))


def every_primitive():
    """All classes of the vocabulary, whose modules load when a name is asked for."""
    for name in primitives.__all__:
        getattr(primitives, name)
    return every_class()


@pytest.mark.parametrize("name", TRIGGERS)
def test_all_rules_of_a_lazy_pass_are_about_its_operations(name):
    assert name in REWRITES
    rules, keys = _rules(name), set(TRIGGERS[name])
    for cls in every_primitive():
        for reads, every, _, _ in rules.about(cls):
            read = {each.key for each in reads or ()}
            assert cls.key in keys or (read and read <= keys and not every), cls


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


@pytest.mark.parametrize("asks, looks", [(False, 1), (True, 2)])
def test_a_second_sweep_looks_where_a_rule_asked_who_reads_a_value(asks, looks):
    """Operands are rewritten before an equation, so other rules would find the same again."""
    rules, seen = PassRules("toy"), []

    @rules.of(Add)
    def looking(rw, op, operands):
        seen.append(op)
        if asks and rw.is_read_once(operands[0]):
            return operands[0]
        return None

    @rules.of(Neg)
    def without_a_question(rw, op, operands):
        seen.append(op)
        return None

    @rules.of(Mul)
    def to_its_second_operand(rw, op, operands):
        return operands[1]

    x, y = value("x"), value("y")
    negative = apply(Neg(), x)
    total = apply(Add(), negative, y)
    rewriter = Rewriter(graph_of(apply(Mul(), negative, total)), RuleTable([rules]))
    assert rewriter.sweep()
    assert rewriter.sweep_again() is asks
    assert [type(op) for op in seen].count(Add) == looks
    assert [type(op) for op in seen].count(Neg) == 1
    assert len(rewriter) == (1 if asks else 2)
