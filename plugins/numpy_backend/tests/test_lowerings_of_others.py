"""Lowerings that another distribution gives for NumPy: chosen, checked, and named."""

from types import ModuleType

import numpy as np
import pytest

import tenferro as tn
from tenferro.backend import (
    Lowering,
    LoweringError,
    PluginHost,
    PluginManifest,
    hookimpl,
    set_host,
)
from tenferro.primitives import Elementwise, Mixed, bind, bind_all, exp
from tenferro_numpy import planner
from tenferro_numpy.plan_passes.short_arrays import rewriting


class P(Elementwise):
    """y = exp x"""

    key = "acme::p"

    def abstract_eval(self, x):
        return x

    def derivative(self, x, y):
        return y

    def decompose(self, x):
        return exp(x)


class Two(Mixed):
    """x, x"""

    key = "acme::two"
    output_count = 2

    def abstract_eval(self, x):
        return x, x


def p(x):
    return bind(P(), tn.asarray(x))


def two(x):
    return sum(bind_all(Two(), tn.asarray(x)))


@pytest.fixture
def acme():
    """Register a plugin that lowers these keys for NumPy: `acme({key: function})`."""
    before = set_host(PluginHost())

    def register(lowerings):
        module = ModuleType("acme")
        module.TENFERRO_PLUGIN = PluginManifest(api=(1, 0), name="acme", kind="primitives")
        module.tenferro_primitives = hookimpl(lambda: [P, Two])
        module.tenferro_lowerings = hookimpl(
            lambda backend: [Lowering(*item) for item in lowerings.items() if backend == "numpy"]
        )
        tn.host().register(module)

    yield register
    set_host(before)


X = np.full((3, 2), 0.5)
WAYS = {
    "eager": lambda f, x: f(x),
    "jit": lambda f, x: tn.jit(f)(x),
    "grad": lambda f, x: tn.grad(lambda z: np.sum(f(z * 2)))(x),
    "jvp": lambda f, x: tn.jvp(f, (x,), (x,)),
    "vmap": lambda f, x: tn.vmap(f)(x),
    "jitted gradient": lambda f, x: tn.jit(tn.grad(lambda z: np.sum(f(z))))(x),
    "rank 0": lambda f, x: f(0.5),
    "empty": lambda f, x: f(np.ones((0, 2))),
    "float32": lambda f, x: f(x.astype("float32")),
    "complex": lambda f, x: f(x + 1j),
}


def _ran(found):
    return [np.array(leaf) for leaf in (found if isinstance(found, tuple) else (found,))]


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize(
    "wrong",
    [
        lambda op, x: np.ones(7),
        lambda op, x: x.astype("complex64"),
        lambda op, x: None,
        lambda op, x: (x, x),
        lambda op, x: [1.0],
        lambda op, x: exit(3),
    ],
    ids=["shape", "dtype", "None", "pair", "list", "exit"],
)
def test_a_result_of_another_aval_is_refused_on_the_first_run(acme, way, wrong):
    acme({"acme::p": wrong})
    with pytest.raises(LoweringError, match=r"the lowering of acme::p for numpy ") as caught:
        _ran(way(p, X))
    assert (caught.value.primitive, caught.value.provider) == ("acme::p", "acme")


@pytest.mark.parametrize(
    "wrong", [lambda op, x: x, lambda op, x: (x,), lambda op, x: (x, x[:1]), lambda op, x: None]
)
def test_results_of_another_number_or_shape_are_refused(acme, wrong):
    acme({"acme::two": wrong})
    with pytest.raises(LoweringError, match=r"acme::two for numpy gave"):
        _ran(two(X))


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_right_lowering_gives_what_the_decomposition_gives(acme, way):
    want = _ran(way(np.exp, X))
    acme({"acme::p": lambda op, x: np.exp(x)})
    for got, need in zip(_ran(way(p, X)), want, strict=True):
        assert np.array_equal(got, need)


def test_each_signature_is_checked_once(acme):
    acme({"acme::p": lambda op, x: np.exp(x) if x.shape != (4,) else np.ones(7)})
    f = tn.jit(p)
    f(np.ones(3)), f(np.ones(3))
    with pytest.raises(LoweringError, match=r"gave f64\[7\], need f64\[4\]"):
        f(np.ones(4))


def test_a_lowering_of_the_standard_set_runs_only_after_prefer_and_explain_names_it(acme):
    acme({"std::exp": lambda op, x: x * 0})
    f = tn.jit(np.exp)
    assert np.array_equal(f(X), np.exp(X))
    assert "by acme" not in f.explain(X)
    tn.prefer("std::exp", "numpy", "acme")
    assert np.array_equal(f(X), X * 0)
    assert np.array_equal(np.exp(tn.asarray(X)), X * 0)
    assert "lowering of std::exp by acme\n" in f.explain(X)


def test_the_lowering_of_a_fused_primitive_is_checked_too(acme):
    acme({"std::add": lambda op, x, y: np.ones(7)})
    tn.prefer("std::add", "numpy", "acme")
    x = np.ones(100_000)
    with pytest.raises(LoweringError, match="std::add for numpy gave"):
        _ran(tn.jit(lambda x: (x + x) * 2 - np.sin(x))(x))


def test_a_preferred_lowering_runs_on_short_arrays_and_on_numbers(acme, monkeypatch):
    """exp and a sum, by lowerings that give 7, between what runs number by number"""
    acme({"std::exp": lambda op, x: x * 0 + 7, "std::reduce_sum": lambda op, x: np.float64(7)})
    tn.prefer("std::exp", "numpy", "acme")
    tn.prefer("std::reduce_sum", "numpy", "acme")
    monkeypatch.setattr(rewriting, "chosen", lambda candidates, *_: set(candidates))
    monkeypatch.setattr(planner, "_MIN_SPLIT", 1)

    def filtered(x):
        for _ in range(6):
            x = (x * 0.5 + x[::-1]) * np.exp(x) / 7 - np.exp(x[0]) + np.sum(x)
        return x

    expected = np.array([0.5, 1.0])
    for _ in range(6):
        expected = expected * 0.5 + expected[::-1]
    for _ in range(3):
        np.testing.assert_allclose(tn.jit(filtered)(np.array([0.5, 1.0])), expected, rtol=1e-14)
