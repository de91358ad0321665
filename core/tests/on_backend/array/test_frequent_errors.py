"""More of what users get wrong every day, with the whole text; others are in test_refusals.py."""

import re
from decimal import Decimal

import numpy as np
import pytest

import tenferro as tn

X = tn.asarray(np.ones((3, 4)))


def dtypes():
    return X & X


def kind_of_index():
    return X[0.5]


def broadcasting():
    return np.where(X > 0, X, np.ones(3))


def concatenation():
    return np.concatenate([X, np.ones((3, 5))], axis=0)


def reshaping():
    return X.reshape(5, 5)


def no_array():
    return X + "text"


@pytest.mark.parametrize(
    "function", [dtypes, kind_of_index, broadcasting, concatenation, reshaping, no_array]
)
def test_the_text_of_a_frequent_error_says_where_the_user_was(function, golden):
    with pytest.raises(tn.TenferroError) as raised:
        function()
    error = raised.value
    text = "\n".join([f"{type(error).__name__}: {error}", *getattr(error, "__notes__", [])])
    line = function.__code__.co_firstlineno + 1
    assert f"  from       test_frequent_errors.py:{line}   return" in text
    golden(f"error_array_{function.__name__}", re.sub(r"\.py:\d+", ".py:…", text))


@pytest.mark.parametrize("kind", ["csr_array", "coo_array"])
def test_a_sparse_array_of_scipy_names_what_to_write(kind):
    """S.multiply(s) of a traced s is refused; the expressions of the hint give its derivative"""
    S = getattr(pytest.importorskip("scipy.sparse"), kind)(np.diag([1.0, 2.0, 3.0]))
    x = np.ones(3)
    with pytest.raises(
        tn.TracedConversionError, match=r"S\.multiply\(s\)` of a sparse arr"
    ) as found:
        tn.grad(lambda s: np.sum(S.multiply(s) @ x))(2.0)
    assert "`S * x`" in str(found.value)
    assert "sparse_array(S)" in str(found.value)
    assert tn.grad(lambda s: np.sum((S * s) @ x))(2.0) == 6
    assert tn.grad(lambda s: np.sum((s * S) @ x))(2.0) == 6
    assert tn.grad(lambda s: np.sum((tn.linalg.sparse_array(S) * s) @ x))(2.0) == 6


class Model:
    """A class that is not a dataclass."""


@pytest.mark.parametrize(
    "given, hint",
    [
        (np.array([1.0, None], dtype=object), "NaN"),
        (np.array(["1"]), "x.astype(float)"),
        (np.array([0], dtype="datetime64[s]"), "np.timedelta64(1, 's')"),
        (np.longdouble([1]), "x.astype(np.float64)"),
        (np.zeros(2, dtype=[("a", float)]), "x['name']"),
        (iter([1.0]), "list(x)"),
        (Decimal(2), "float(x)"),
        (np.sin, "f(x)"),
        (Model(), "dataclass"),
        (None, "return"),
    ],
)
def test_an_argument_that_cannot_be_an_array_has_a_hint(given, hint):
    """asarray of objects, strings, times, iterators, other numbers: the text says what to write"""
    with pytest.raises(tn.TenferroError) as raised:
        tn.asarray(given)
    assert hint in str(raised.value).partition("hint")[2]


@pytest.mark.parametrize(
    "call, hint",
    [
        (lambda x: (x > 0) & x, "parentheses"),
        (lambda x: tn.cond(x > 0, np.sin, np.cos, x), "np.where(condition, a, b)"),
        (lambda x: tn.while_loop(lambda c: c > 0, lambda c: c - 1, x), "condition.any()"),
        (lambda x: x.sum(dim=0), "`axis`"),
        (lambda x: tn.grad(np.sum)(), "grad(f)(x)"),
        (lambda x: tn.jit(np.sin, backend="jax")(x), "'xla'"),
        (lambda x: x.exp(), "np.exp(x)"),
    ],
)
def test_a_frequent_mistake_has_a_hint(call, hint):
    with pytest.raises(tn.TenferroError) as raised:
        call(X[0])
    assert hint in str(raised.value).partition("hint")[2]


def test_shapes_are_those_that_the_user_gave():
    """solve(a, b): the shape of b in the text is that of the argument"""
    with pytest.raises(tn.ShapeMismatchError, match=r"b f64\[5\]"):
        np.linalg.solve(tn.asarray(np.eye(3)), np.ones(5))
