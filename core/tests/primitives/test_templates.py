"""What a rule emits is kept and emitted again; nothing shows whether it was."""

import gc
import threading
import weakref

import pytest
import vocabulary

from tenferro import primitives as p
from tenferro.computegraph import KeyView, materialize_merge, retire
from tenferro.primitives._primitive import bind
from tenferro.tidu import ADContext, linear_transpose, linearize, pullback
from tenferro.tidu._rule_cache import RuleCache, templates_of

TEMPLATES = templates_of(vocabulary.SPACE)
APPLICATIONS = vocabulary.applications()
ARGUMENTS = {
    "plain": lambda x: x,
    "negated": lambda x: p.neg(x) if x.dtype.is_inexact else x,
    "shifted": lambda x: p.add(x, vocabulary.ones(x)) if x.dtype.is_inexact else x,
}


class Rules(ADContext):
    """No rules at all, but a context of the caller's: rules are then called each time."""


def printed(f, xs, context):
    """The linear graph, its transpose, and the derivative of the cotangents, as text."""
    y = f(*xs)
    wrt = [x.key for x in xs if x.dtype.is_inexact]
    linear = linearize(KeyView(), [y.key], wrt, context=context)
    texts = [str(linear)]
    if any(linear.tangent_outputs):
        texts.append(str(linear_transpose(linear, context=context)))
        cts = pullback([y.key], wrt, [vocabulary.ones(y)], space=vocabulary.SPACE, context=context)
        found = [ct.key for ct in cts if ct is not None]
        texts.append(str(materialize_merge(KeyView(), found, inputs=[x.key for x in xs])))
        texts.append(str(linearize(KeyView(), found, wrt, context=context)))
    return texts


@pytest.mark.parametrize("argument", ARGUMENTS)
@pytest.mark.parametrize("cls", APPLICATIONS, ids=lambda cls: cls.name)
def test_graphs_are_those_that_rules_emit(cls, argument):
    change = ARGUMENTS[argument]
    for f, xs in APPLICATIONS[cls]:
        if xs and all(x.flow == () for x in xs):
            changed = lambda *xs, f=f: f(*[change(x) for x in xs])  # noqa: E731
            by_rules = printed(changed, xs, Rules())
            assert printed(changed, xs, None) == by_rules


def test_equal_operands_give_what_rules_emit():
    for f in (p.mul, p.add, p.sub, p.div, p.atan2, p.maximum):
        for make in (p.neg, p.sin, lambda x: x):
            twice = lambda x, f=f, make=make: f(make(x), make(x))  # noqa: E731
            x = vocabulary.var((2, 3))
            assert printed(twice, (x,), None) == printed(twice, (x,), Rules())


def test_a_template_serves_operations_that_look_alike(monkeypatch):
    calls = []
    rule = p.Tanh.derivative
    monkeypatch.setattr(p.Tanh, "derivative", lambda *args: calls.append(1) or rule(*args))
    TEMPLATES.clear()
    x = y = vocabulary.var((7, 5))
    for _ in range(10):
        y = p.tanh(y)
    vocabulary.jvp(y, x)
    assert len(calls) == 4  # called three times, and recorded
    vocabulary.jvp(p.tanh(x), x)
    assert len(calls) == 4


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128"])
@pytest.mark.parametrize("other", [(), (0,), (4, 1, 2)])
@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "neg", "exp", "sin", "cos"])
def test_a_template_of_one_shape_serves_all_shapes(name, other, dtype):
    f = getattr(p, name)
    count = 2 if name in ("add", "sub", "mul", "div") else 1
    TEMPLATES.clear()
    for _ in range(4):
        printed(f, [vocabulary.var((2, 3), dtype) for _ in range(count)], None)
    kept = {entry for entry, found in TEMPLATES.jvps.items() if isinstance(found, tuple)}
    xs = [vocabulary.var(other, dtype) for _ in range(count)]
    assert printed(f, xs, None) == printed(f, xs, Rules())
    entries = {entry[:2] for entry in kept if entry[0] is f(*xs).key.operation}
    assert entries == {(f(*xs).key.operation, p.DType.of(dtype))}


class SinOfRank(p.Sin):
    """y = ±sin x, minus for vectors: the rule looks at the shape"""

    key = "test::sin_of_rank"

    def derivative(self, x, y):
        return p.neg(p.cos(x)) if x.ndim == 1 else p.cos(x)


def test_a_subclass_does_not_inherit_what_rules_look_at():
    TEMPLATES.clear()
    f = lambda x: bind(SinOfRank(), x)  # noqa: E731
    for shape in [(2, 3), (2, 3), (2, 3), (2, 3), (4,)]:
        x = vocabulary.var(shape)
        assert printed(f, [x], None) == printed(f, [x], Rules())


def test_a_rule_that_is_used_once_has_no_template():
    TEMPLATES.clear()
    x = vocabulary.var((3, 4))
    vocabulary.jvp(p.sin(x), x)
    kept = [*TEMPLATES.jvps.values(), *TEMPLATES.transposes.values(), *TEMPLATES.sums.values()]
    assert kept == [1] * len(kept)


def test_the_same_tangents_are_pushed_through_an_equation_once(monkeypatch):
    pushed = []
    rule = RuleCache.jvp
    monkeypatch.setattr(RuleCache, "jvp", lambda *args: pushed.append(args[2]) or rule(*args))
    x, dx, other = (vocabulary.var((3,)) for _ in range(3))
    y = p.sin(p.tanh(x) * x)
    first, equations = vocabulary.jvp(y, x, dx), len(pushed)
    assert vocabulary.jvp(y, x, dx).key is first.key
    assert vocabulary.jvp(p.exp(y), x, dx) is not None
    assert len(pushed) == equations + 1
    assert vocabulary.jvp(y, x, other).key is not first.key
    assert len(pushed) == 2 * equations + 1


def test_a_tangent_without_history_is_not_taken_for_one_with_it():
    x, dx = vocabulary.var((3,)), vocabulary.var((3,))
    y = p.sin(x)
    first = vocabulary.jvp(y, x, dx)
    first.key.operand = 0.0
    retire(first.key)
    again = vocabulary.jvp(y, x, dx)
    assert first.key.definition is None
    assert vocabulary.jvp(again, x) is not None


def test_a_value_does_not_keep_its_tangent_alive():
    x, dx = vocabulary.var((3,)), vocabulary.var((3,))
    y = p.sin(x)
    alive = weakref.ref(vocabulary.jvp(y, x, dx).key)
    gc.collect()
    assert alive() is None


def test_templates_are_bounded(monkeypatch):
    monkeypatch.setattr(TEMPLATES, "limit", 4)
    TEMPLATES.clear()
    for n in range(20):
        x = vocabulary.var((n, 2))
        vocabulary.jvp(p.sin(x), x)
    assert 0 < len(TEMPLATES) <= 4


def test_threads_make_one_graph():
    TEMPLATES.clear()
    x = vocabulary.var((11,))
    y = x
    for _ in range(30):
        y = p.tanh(y) * p.sin(y) + y
    found = []
    ct = vocabulary.ones(y)
    threads = [
        threading.Thread(target=lambda: found.append(vocabulary.vjp(y, x, ct).key))
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1
