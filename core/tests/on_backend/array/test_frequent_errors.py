"""More of what users get wrong every day, with the whole text; others are in test_refusals.py."""

import re

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
