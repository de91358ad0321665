"""vmap of primitives of others: with a decomposition, and with nothing but a lowering."""

import numpy as np
import pytest

import tenferro as tn
from tenferro.primitives import Elementwise, Mixed, bind, bind_all, cos, mul, sin

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
