"""jit traces once per signature, and its result is the function's own."""

from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np
import pytest

import tenferro as tn
from tenferro.transforms.recording import tree as pytrees

X = np.array([1.0, 2.0, 3.0])


def traced(function, **options):
    """The jitted function, and a list that grows by one at each trace."""
    traces = []

    def counting(*args, **kwargs):
        traces.append(1)
        return function(*args, **kwargs)

    return tn.jit(counting, **options), traces


@pytest.mark.parametrize(
    "first, second, traces",
    [
        ((1.0,), (2.0,), 1),
        ((1,), (2,), 1),
        ((X,), (X + 1,), 1),
        ((X,), (tn.asarray(X),), 1),
        (({"a": 1.0},), ({"a": 5.0},), 1),
        ((1.0,), (1,), 2),
        ((1.0,), (True,), 2),
        ((1.0,), (np.float64(1),), 2),  # a Python number is weak
        ((X,), (X.astype("float32"),), 2),
        ((X,), (X[:2],), 2),
        ((X,), (X.reshape(3, 1),), 2),
        (({"a": 1.0},), ({"b": 1.0},), 2),
        (((1.0,),), ([1.0],), 2),
    ],
)
def test_a_new_signature_is_traced_and_a_new_value_is_not(first, second, traces):
    function, count = traced(lambda x: pytrees.flatten(x)[0][0] * 2)
    for args in (first, second, first, second):
        function(*args)
    assert len(count) == function.cache_info().misses == function.cache_info().entries == traces
    assert function.cache_info().hits == 4 - traces


class Pair(NamedTuple):
    first: object
    second: object = 0


@dataclass(frozen=True)
class Settings:
    rate: object
    label: str = field(default="", compare=False)


@pytest.mark.parametrize(
    "statics",
    [
        (1, 1.0, True),
        (0.0, -0.0),
        ((1,), (1.0,)),
        ("a", None),
        (np.sin, np.cos),
        (np.float64(0.0), np.float64(-0.0), 0.0),
        (np.float32(0.0), np.float32(-0.0)),
        (np.complex128(0.0), np.complex128(-0.0)),
        (Pair(1), Pair(1.0), Pair(True), Pair(0.0), Pair(-0.0)),
        (Settings(1), Settings(1.0), Settings((0.0,)), Settings((-0.0,))),
    ],
    ids=str,
)
def test_static_values_are_told_apart_as_python_prints_them(statics):
    function, count = traced(lambda x, n: x * len(repr(n)), static_argnums=1)
    for _ in range(2):
        assert [function(2.0, n) for n in statics] == [2 * len(repr(n)) for n in statics]
    assert len(count) == len(statics)


@pytest.mark.parametrize(
    "values",
    [
        (float("nan"), float("nan")),
        (np.float64("nan"), np.float64("nan")),
        (Pair(np.float32(2.0)), Pair(np.float32(2.0))),
        (Settings(2.0, "first"), Settings(2.0, "second")),
    ],
    ids=str,
)
def test_static_values_that_are_the_same_share_a_program(values):
    function, count = traced(lambda x, n: x, static_argnums=1)
    for n in values:
        function(2.0, n)
    assert len(count) == 1


def test_static_arguments_are_named_by_position_or_name():
    function, count = traced(
        lambda x, n, up=True: x**n if up else -x, static_argnums=1, static_argnames="up"
    )
    assert [function(3.0, n, up=up) for n in (1, 2) for up in (True, False)] == [3, -3, 9, -3]
    assert [function(2.0, n, up=up) for n in (1, 2) for up in (True, False)] == [2, -2, 4, -2]
    assert len(count) == 4


def test_static_argnums_count_from_the_end_too():
    function = tn.jit(lambda x, n, up: x**n if up else -x, static_argnums=(-1, 1))
    assert [function(2.0, n, up) for n, up in [(2, True), (3, True), (3, False)]] == [4, 8, -2]

    class Model:
        @partial(tn.jit, static_argnums=-1)
        def method(self, x, up):
            return x if up else -x

    assert [Model().method(2.0, up) for up in (True, False)] == [2, -2]


def test_static_arguments_are_hashable():
    with pytest.raises(TypeError, match="hashable"):
        tn.jit(lambda x, n: x, static_argnums=1)(1.0, [2])


def test_captured_arrays_are_frozen_at_the_trace():
    c = X.copy()
    function = tn.jit(lambda x: x * c)
    assert function(2.0).tolist() == [2, 4, 6]
    c[:] = 100
    assert function(2.0).tolist() == [2, 4, 6]


def test_captured_arrays_may_be_lazy():
    w = tn.asarray(X) * 2
    np.testing.assert_array_equal(tn.jit(lambda x: x * w)(X), 2 * X * X)


@pytest.mark.parametrize(
    "function, want",
    [
        (lambda x: 3.0, 3.0),
        (lambda x: None, None),
        (lambda x: (), ()),
        (lambda x: X, X),
        (lambda x: {"a": x, "b": [x, 1]}, {"a": 2.0, "b": [2.0, 1]}),
        (lambda x: np.ones(3), np.ones(3)),
    ],
    ids=["number", "None", "empty", "captured", "tree", "constant"],
)
def test_whatever_a_function_returns_leaves_jit(function, want):
    np.testing.assert_equal(tn.jit(function)(2.0), want)


def test_a_function_without_arguments():
    assert tn.jit(lambda: 3.0)() == 3
    assert tn.jit(lambda *, x: x * 2)(x=3.0) == 6


def test_large_and_small_arrays_and_numbers_mix():
    function = tn.jit(lambda a, b, c: a @ b * c)
    big = np.arange(10000.0).reshape(100, 100)
    np.testing.assert_allclose(function(big, np.ones(100), 2), big.sum(1) * 2)


def test_a_method_sees_its_object():
    class Model:
        scale = 3.0

        @tn.jit
        def __call__(self, x):
            return self.scale * x

    one, other = Model(), Model()
    other.scale = 5.0
    assert (one(2.0), other(2.0), one(3.0)) == (6, 10, 9)


def test_an_exception_is_not_kept():
    fail = [True]

    def function(x):
        if fail.pop():
            raise KeyError("once")
        return x * 2

    jitted = tn.jit(function)
    with pytest.raises(KeyError, match="once"):
        jitted(1.0)
    fail.append(False)
    assert jitted(1.0) == 2


def test_a_cache_is_forgotten_when_told():
    function, count = traced(lambda x: x)
    function(1.0)
    function.clear_cache()
    function(1.0)
    assert len(count) == 2


def test_what_would_run_can_be_looked_at():
    function = tn.jit(lambda x: np.sin(x) * 2)
    assert "sin" in str(function.lower(X))
    assert function.explain(X)
    assert function.cache_info().misses == 1


def test_jit_agrees_with_the_function():
    def function(x, y):
        z = np.where(x > y, x, y * 2)
        return {"sum": z.sum(), "sorted": np.concatenate([z[::-1], x[[0, 2]]]), "mean": z.mean()}

    want = function(X, 2.0)
    got = tn.jit(function)(X, 2.0)
    assert [got["sum"], got["mean"]] == [want["sum"], want["mean"]]
    np.testing.assert_array_equal(got["sorted"], want["sorted"])


@pytest.mark.parametrize(
    "options",
    [
        {"static_argnums": 1},
        {"static_argnums": -1},
        {"static_argnums": (1,)},
        {"static_argnames": "n"},
        {"static_argnames": ("n",)},
    ],
    ids=str,
)
def test_a_static_parameter_is_static_however_it_is_passed(options):
    def repeat(x, n=2):
        return sum(x for _ in range(n))

    jitted = tn.jit(repeat, **options)
    assert (jitted(3.0), jitted(3.0, 4), jitted(3.0, n=4), jitted(x=3.0, n=5)) == (6, 12, 12, 15)
    assert jitted.cache_info().entries <= 4


@pytest.mark.parametrize("options", [{"static_argnums": 2}, {"static_argnames": "m"}], ids=str)
def test_a_static_parameter_that_is_not_there_is_refused(options):
    with pytest.raises(ValueError, match=r"2|m"):
        tn.jit(lambda x, n: x, **options)


@pytest.mark.parametrize("dtype", ["int8", "float32"])
@pytest.mark.parametrize("number", [2, 2.0])
@pytest.mark.parametrize(
    "function",
    [
        lambda a, x: a * x,
        lambda a, x: x + a,
        lambda a, x: np.maximum(a, x),
        lambda a, x: np.where(x > 0, a, x),
        lambda a, x: (a * 2) * x,
    ],
)
def test_an_argument_that_was_a_python_number_has_the_dtype_of_its_neighbour(
    function, number, dtype
):
    """The dtype of f(a, x) under jit, vmap of x and jvp is that of NumPy with a Python number."""
    x = np.ones(3, dtype)
    need = function(number, x).dtype
    assert tn.jit(function)(number, x).dtype == need
    assert tn.vmap(lambda x: tn.jit(function)(number, x))(x).dtype == need
    if dtype == "float32":
        assert tn.jvp(lambda x: tn.jit(function)(number, x), (x,), (x,))[1].dtype == need


class Model:
    """A callable object whose attributes have the names of our own."""

    def __init__(self):
        self._run = self._call = self._trace = self._statics = self.lower = self.explain = 3
        self.weight = 2.0

    def __call__(self, x):
        return self.weight * x


@pytest.mark.parametrize("wrap", [tn.jit, tn.grad, tn.custom_jvp, tn.checkpoint])
def test_attributes_of_a_callable_object_replace_nothing(wrap):
    wrapped = wrap(Model())
    np.testing.assert_allclose(wrapped(1.0), 2.0)
    np.testing.assert_allclose(tn.jit(wrapped)(1.0), 2.0)
    assert len(tn.jit(Model()).lower(1.0)) == 1


def test_attributes_of_a_function_are_those_of_the_wrapped_one():
    def function(x):
        return x

    function.unit = "m"
    assert tn.jit(tn.grad(function)).unit == "m"
