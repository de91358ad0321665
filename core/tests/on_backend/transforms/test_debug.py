"""Finding where a NaN is made, and looking at shapes and graphs without running anything."""

import re

import numpy as np
import pytest

import tenferro as tn

X = np.array([1.0, -1.0, 2.0])


def loss(x):
    y = x * 2
    return np.sum(np.log(y) * x)  # the line that is named


def line_of(text):
    return f"test_debug.py:{loss.__code__.co_firstlineno + text}   return np.sum"


@pytest.mark.parametrize(
    "run",
    [
        lambda: np.asarray(loss(tn.asarray(X))),
        lambda: tn.jit(loss)(X),
        lambda: tn.value_and_grad(loss)(X),
        lambda: tn.jvp(loss, (X,), (X,)),
        lambda: tn.jit(tn.value_and_grad(loss))(X),
        lambda: tn.vmap(loss)(X[None]),
    ],
    ids=["lazy", "jit", "grad", "jvp", "jit of grad", "vmap"],
)
def test_the_first_equation_that_makes_a_nan_is_named_with_the_users_line(run):
    with tn.debug_nans(), pytest.raises(tn.NonFiniteError) as raised:
        run()
    fields = raised.value.fields
    assert (fields["operation"], fields["what"], fields["index"][-1]) == ("log", "nan", 1)
    assert fields["line"].startswith(line_of(2))
    assert "from -2.0" in str(raised.value)


def test_it_is_on_until_it_is_off_and_changes_no_result():
    jitted = tn.jit(loss)
    plain = jitted(abs(X))
    assert np.isnan(jitted(X))
    tn.debug_nans()
    with pytest.raises(FloatingPointError):
        jitted(X)
    assert jitted(abs(X)) == pytest.approx(plain)
    with tn.debug_nans(False):
        assert np.isnan(jitted(X))
    with pytest.raises(FloatingPointError):
        jitted(X)
    tn.debug_nans(False)
    assert np.isnan(jitted(X))


def test_a_nan_that_was_given_is_not_made():
    with tn.debug_nans():
        assert np.isnan(tn.jit(loss)(np.array([np.nan, 1.0])))


def test_infinities_are_found_on_demand():
    with tn.debug_nans():
        assert tn.jit(lambda x: 1 / x)(0.0) == np.inf
    with tn.debug_nans(infs=True), pytest.raises(tn.NonFiniteError) as raised:
        tn.jit(lambda x: 1 / x)(0.0)
    assert raised.value.fields["what"] == "inf"


def test_a_derivative_that_makes_a_nan_says_of_what_it_is_one():
    def flat(x):
        return np.sqrt(x) * 0.0

    with tn.debug_nans(), pytest.raises(tn.NonFiniteError, match="the derivative of") as raised:
        tn.grad(flat)(0.0)
    assert raised.value.fields["line"].endswith("return np.sqrt(x) * 0.0")


def test_the_text_of_the_error(golden):
    with tn.debug_nans(), pytest.raises(tn.NonFiniteError) as raised:
        tn.jit(lambda x: np.sqrt(x) - 1)(X)
    golden("error_debug_nans", re.sub(r"\.py:\d+", ".py:…", str(raised.value)))


SHAPES = {"w": np.ones((3, 2), "float32"), "n": 3, "name": "text"}


@pytest.mark.parametrize(
    "function, args, need",
    [
        (lambda p, k: p["w"] * k, (SHAPES, 2.0), tn.Aval((3, 2), "float32")),
        (lambda p: {"a": (p["n"], p["w"].T)}, (SHAPES,), {"a": (tn.Aval((), "int64"),
                                                               tn.Aval((2, 3), "float32"))}),
        (lambda x: x.sum(axis=0) > 0, (tn.Aval((3, 2), "float64"),), tn.Aval((2,), "bool")),
        (lambda x: tn.grad(np.sum)(x), (X,), tn.Aval((3,), "float64")),
        (lambda x: 3, (X,), tn.Aval((), "int64")),
        (lambda p: None, (SHAPES,), None),
    ],
)  # fmt: skip
def test_shapes_are_known_without_values(function, args, need):
    assert tn.eval_shape(function, *args) == need


def test_nothing_runs_for_a_shape():
    asked = tn.asarray(X)
    with pytest.raises(tn.ConcretizationError):
        tn.eval_shape(lambda x: x if x[0] > 0 else -x, asked)
    huge = tn.Aval((10**6, 10**6), "float64")
    assert tn.eval_shape(lambda x, *, k: x @ x * k, huge, k=1.5) == huge


def test_the_graph_of_an_array_is_what_it_waits_for():
    x = tn.asarray(X)
    y = np.sin(x) * 2
    graph = tn.graph_of(y, {"again": y})
    assert [node.operation.name for node in graph.graph.nodes] == ["sin", "broadcast_in_dim", "mul"]
    y.evaluate()
    assert len(tn.graph_of(y)) == 0
    with pytest.raises(TypeError, match="trace"):
        tn.graph_of(np.sin)
