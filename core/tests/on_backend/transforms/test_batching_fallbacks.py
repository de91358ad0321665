"""vmap of primitives of others: with a decomposition, and with nothing but a lowering."""

import numpy as np
import pytest

import tenferro as tn
from tenferro.primitives import (
    Elementwise,
    Mixed,
    bind,
    bind_all,
    constant,
    convert,
    cos,
    host_callback,
    mul,
    reduce_sum,
    sin,
)

X = np.random.default_rng(3).normal(size=(3, 2))


class Wave(Mixed):
    """y = x sin x,   dy = (sin x + x cos x) dx"""

    key = "test::wave"

    def abstract_eval(self, x):
        return x

    def jvp_x(self, dx, x, y):
        return (sin(x) + x * cos(x)) * dx

    def decompose(self, x):
        return mul(x, sin(x))


class Pair(Mixed):
    """(sin x, cos x): two outputs, in others"""

    key = "test::pair"
    output_count = 2

    def abstract_eval(self, x):
        return x, x

    def decompose(self, x):
        return sin(x), cos(x)


class Opaque(Elementwise):
    """A primitive of which only the shape is known."""

    key = "test::opaque"
    batch = None

    def abstract_eval(self, x):
        return x


def test_by_decomposition():
    """A primitive without a batching rule is mapped by its decomposition"""
    got = tn.vmap(lambda r: bind(Wave(), r).sum())(X)
    np.testing.assert_allclose(got, (X * np.sin(X)).sum(1), rtol=1e-14)


def test_derivative_of_what_is_decomposed():
    got = tn.vmap(tn.grad(lambda r: bind(Wave(), r).sum()))(X)
    np.testing.assert_allclose(got, np.sin(X) + X * np.cos(X), rtol=1e-14)


def test_by_decomposition_of_several_outputs():
    s, c = tn.vmap(lambda r: tuple(bind_all(Pair(), r)))(X)
    np.testing.assert_allclose(s, np.sin(X))
    np.testing.assert_allclose(c, np.cos(X))


def test_one_by_one_says_so():
    """Without a rule or a decomposition: one equation per example, and a warning"""
    f = tn.vmap(lambda r: bind(Opaque(), r))
    with pytest.warns(tn.BatchingWarning, match="opaque has no batching rule"):
        graph = tn.trace(f, tn.Aval((3, 2), "float64"))
    assert str(graph).count("= opaque") == 3
    assert graph.program.output_avals == (tn.Aval((3, 2), "float64"),)


def test_one_by_one_of_an_empty_batch():
    f = tn.vmap(lambda r: bind(Opaque(), r))
    with pytest.warns(tn.BatchingWarning):
        assert f(np.zeros((0, 2))).shape == (0, 2)


# ---- what rules of others return ----------------------------------------------------------------


class Ruled(Mixed):
    """y = x, by rules that a test gives."""

    key = "test::ruled"
    rules: tuple

    def abstract_eval(self, x):
        return x

    @property
    def batch(self):
        rule = dict(self.rules).get("batch")
        return rule and (lambda size, batched, x: rule(x))

    @property
    def decompose(self):
        return dict(self.rules).get("decompose")

    def jvp_x(self, dx, x, y):
        return dict(self.rules)["jvp"](dx)


def ruled(**rules):
    return lambda x: bind(Ruled(tuple(rules.items())), x)


WRONG = {
    "fewer axes": (lambda x: reduce_sum(x, (0,)), "f64[2]"),
    "another shape": (lambda x: constant(0.0, "f64", (5,)), "f64[5]"),
    "another size": (lambda x: constant(0.0, "f64", (2, 2)), "f64[2,2]"),
    "no axis": (lambda x: constant(0.0, "f64", ()), "f64[]"),
    "another dtype": (lambda x: convert(x, "f32"), "f32[3,2]"),
    "a number": (lambda x: 3.0, "float"),
    "an ndarray": (lambda x: np.ones((3, 2)), "ndarray"),
    "None": (lambda x: None, "NoneType"),
    "two results": (lambda x: (x, x), "2 results"),
    "no result": (lambda x: (), "0 results"),
}


@pytest.mark.parametrize("rule, got", WRONG.values(), ids=WRONG)
@pytest.mark.parametrize("wrap", [lambda f: f, tn.jit], ids=["eager", "jit"])
def test_a_batching_rule_returns_the_results_of_all_examples(rule, got, wrap):
    with pytest.raises(tn.RuleResultError, match="test::ruled: its batching rule") as raised:
        wrap(tn.vmap(ruled(batch=rule)))(X)
    assert raised.value.fields["got"] == got
    assert raised.value.fields["rule"] == "batch"
    assert any("test_batching_fallbacks.py" in note for note in raised.value.__notes__)


@pytest.mark.parametrize(
    "rule", [WRONG[name][0] for name in ("a number", "None", "two results", "no result")]
)
def test_a_decomposition_is_checked_where_it_is_batched(rule):
    with pytest.raises(tn.RuleResultError, match="test::ruled: its decomposition"):
        tn.vmap(ruled(decompose=rule))(X)


@pytest.mark.parametrize(
    "rule, got",
    [
        (lambda dx: reduce_sum(dx, (0,)), "f64[2]"),
        (lambda dx: 3.0, "3.0"),
        (lambda dx: (dx, dx), "2 tangents"),
        (lambda dx: constant(1.0, "f64", (3, 2)), "a constant f64[3,2]"),
    ],
)
def test_the_error_about_a_derivative_rule_says_where_the_user_was(rule, got):
    with pytest.raises(tn.RuleResultError) as raised:
        tn.jvp(ruled(jvp=rule), (X,), (X,))
    assert raised.value.fields["got"] == got
    assert any("test_batching_fallbacks.py" in note for note in raised.value.__notes__)


def test_a_callback_has_a_cotangent_per_argument():
    def f(x):
        rule = lambda cts: (cts[0], cts[0])  # noqa: E731
        return host_callback(np.abs, [tn.Aval((3, 2), "f64")], x, transpose=rule)[0].sum()

    with pytest.raises(tn.RuleResultError, match="2 cotangents"):
        tn.grad(f)(X)
