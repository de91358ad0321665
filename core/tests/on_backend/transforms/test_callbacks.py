"""debug.callback and host_callback: called when, how often, in which order, with what."""

import numpy as np
import pytest

import tenferro as tn
from tenferro import primitives as p
from tenferro.tidu import MissingRuleError
from tenferro.transforms import debug

X = np.array([1.0, 2.0])
XS = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])


def observed(transformed, *args):
    """What a function that reports x, then x·x, was heard to say; and its result."""
    heard = []

    def say(name, value):
        heard.append((name, np.asarray(value).tolist()))

    def f(x):
        debug.callback(say, "x", x)
        y = x * x
        debug.callback(say, "y", y)
        return y.sum()

    return transformed(f)(*args), heard


ONCE = [("x", [1.0, 2.0]), ("y", [1.0, 4.0])]
EACH = [("x", x.tolist()) for x in XS] + [("y", (x * x).tolist()) for x in XS]
CALLS = {
    "alone": (lambda f: f, X, ONCE),
    "grad": (tn.grad, X, ONCE),
    "jvp": (lambda f: lambda x: tn.jvp(f, (x,), (x,)), X, ONCE),
    "jit": (tn.jit, X, ONCE),
    "jit of grad": (lambda f: tn.jit(tn.grad(f)), X, ONCE),
    "grad of jit": (lambda f: tn.grad(tn.jit(f)), X, ONCE),
    "jit of jit": (lambda f: tn.jit(lambda x: tn.jit(f)(x) + 1), X, ONCE),
    "vmap": (tn.vmap, XS, EACH),
    "vmap of grad": (lambda f: tn.vmap(tn.grad(f)), XS, EACH),
    "vmap of jit": (lambda f: tn.vmap(tn.jit(f)), XS, EACH),
    "jit of vmap": (lambda f: tn.jit(tn.vmap(f)), XS, EACH),
    "grad of vmap": (lambda f: tn.grad(lambda x: tn.vmap(f)(x).sum()), XS, EACH),
}


@pytest.mark.parametrize("name", CALLS)
def test_called_once_per_example_in_order(name):
    transform, x, expected = CALLS[name]
    assert observed(transform, tn.asarray(x))[1] == expected


@pytest.mark.parametrize(
    "transform", [tn.grad, tn.jit, tn.value_and_grad], ids=lambda t: t.__name__
)
def test_changes_no_result(transform):
    with_, _ = observed(transform, X)
    without = transform(lambda x: (x * x).sum())(X)
    np.testing.assert_equal(with_, without)


def test_a_program_calls_each_time_it_runs():
    heard = []
    f = tn.jit(lambda x: debug.callback(heard.append, x) or x + 1)
    assert [float(f(x)) for x in (1.0, 2.0, 2.0)] == [2.0, 3.0, 3.0]
    assert [float(x) for x in heard] == [1.0, 2.0, 2.0]


def test_large_arrays_are_told_of_in_the_order_of_the_program():
    """Backends put off and join what is large; the calls between keep their places."""
    seen = []

    def softmax(x):
        e = tn.exp(x - tn.max(x, axis=1, keepdims=True))
        return e / tn.sum(e, axis=1, keepdims=True)

    def f(x, y):
        p = softmax(softmax(softmax(x)))
        debug.callback(lambda v: seen.append("sum"), tn.sum(p, axis=0))
        debug.callback(lambda v: seen.append("array"), y * 2.0)
        debug.callback(lambda v: seen.append("largest"), tn.max(softmax(p * 2.0)))
        return tn.sum(p)

    tn.jit(f)(np.linspace(0.0, 1.0, 300_018).reshape(50_003, 6), np.ones(3))
    assert seen == ["sum", "array", "largest"]


def test_equal_calls_are_two_calls():
    heard = []

    @tn.jit
    def f(x):
        debug.callback(heard.append, x)
        debug.callback(heard.append, x)

    assert f(1.5) is None
    assert [float(x) for x in heard] == [1.5, 1.5]


def test_print_formats(capsys):
    """debug.print formats as str.format does, also under jit"""
    debug.print("{:.2f} {name}", tn.asarray(0.125), name=3)
    tn.jit(lambda x: debug.print("[{}]", x))(X)
    assert capsys.readouterr().out == "0.12 3\n[[1. 2.]]\n"


def test_looking_at_a_function_calls_nothing():
    heard = []
    tn.trace(lambda x: debug.callback(heard.append, x) or x, tn.Aval((2,), "f64"))
    assert heard == []


def reversed_(x):
    return p.host_callback(np.flip, [p.Aval(x.shape, x.dtype)], x)[0]


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "complex128"])
def test_a_host_function_computes(dtype):
    x = np.array([1, 2**40 // 3], dtype) if dtype == "int64" else np.array([1, 2], dtype) / 3
    x = x.astype(dtype)
    for f in (reversed_, tn.jit(reversed_)):
        found = np.asarray(f(tn.asarray(x)))
        assert found.dtype == x.dtype
        np.testing.assert_array_equal(found, x[::-1])


def test_a_host_function_of_a_batch_is_a_loop():
    for f in (tn.vmap(reversed_), tn.jit(tn.vmap(reversed_))):
        np.testing.assert_array_equal(f(XS), XS[:, ::-1])


def sine(x):
    forward = lambda xs, ts: p.cos(xs[0]) * ts[0]  # noqa: E731
    return p.host_callback(np.sin, [x.aval], x, jvp=forward)[0]


def tripled(x):
    return p.host_callback(lambda v: 3 * v, [x.aval], x, transpose=lambda cts: 3 * cts[0])[0]


def test_rules_of_a_host_function():
    """sin′ = cos, sin″ = -sin; a linear function is its own derivative"""
    np.testing.assert_allclose(tn.grad(lambda x: sine(x).sum())(X), np.cos(X))
    np.testing.assert_allclose(tn.hessian(lambda x: sine(x).sum())(X), np.diag(-np.sin(X)))
    np.testing.assert_allclose(tn.grad(lambda x: tripled(x).sum())(X), [3.0, 3.0])
    np.testing.assert_allclose(tn.jvp(tripled, (X,), (XS[1],))[1], 3 * XS[1])


def test_a_host_function_without_rules_has_no_derivative():
    with pytest.raises(MissingRuleError, match="jvp_rule"):
        tn.grad(lambda x: reversed_(x).sum())(X)


@pytest.mark.parametrize(
    "primitive",
    [
        lambda: p.HostCallback(None, (p.Aval((), "float64"),)),
        lambda: p.HostCallback(3, (p.Aval((), "float64"),)),
        lambda: p.HostCallback(abs, None),
        lambda: p.HostCallback(abs, ("f64",)),
        lambda: p.HostCallback(abs, (p.Aval((), "float64"),), jvp_rule=0),
        lambda: p.DebugCallback(None, 0),
    ],
)
def test_a_callback_needs_functions_and_avals(primitive):
    with pytest.raises(p.InvalidParameterError):
        primitive()


@pytest.mark.parametrize("found", [lambda x: (x, x), lambda x: ()], ids=["two", "none"])
def test_another_number_of_results_than_stated_is_refused(found):
    with pytest.raises(p.ShapeMismatchError, match="another number of results than stated"):
        np.asarray(tn.jit(lambda x: p.host_callback(found, [x.aval], x)[0])(X))


class Refusal(Exception):
    """What a user's function raises."""


@pytest.mark.parametrize("operand", [X, tn.asarray(X)], ids=["numpy", "own"])
@pytest.mark.parametrize("within", [tn.jit, tn.grad, tn.vmap], ids=["jit", "grad", "vmap"])
def test_what_a_host_function_raises_reaches_the_caller_as_it_was_raised(within, operand):
    """The same object, with its cause, at every call."""
    refusal = Refusal("mine")

    def refuse(x):
        raise refusal from KeyError("why")

    rule = lambda xs, ts: ts[0]  # noqa: E731
    function = within(lambda x: p.host_callback(refuse, [x.aval], x, jvp=rule)[0].sum() ** 2)
    for _ in range(2):
        with pytest.raises(Refusal, match="mine") as found:
            np.asarray(function(operand))
        assert found.value is refusal
        assert isinstance(found.value.__cause__, KeyError)


def test_results_read_later_raise_what_the_host_function_raised():
    """A value that is computed only when it is read, and read twice."""
    refusal = Refusal("mine")

    def refuse(x):
        raise refusal

    value = p.host_callback(refuse, [p.Aval((2,), "float64")], tn.asarray(X) + 1)[0]
    for _ in range(2):
        with pytest.raises(Refusal) as found:
            np.asarray(value)
        assert found.value is refusal
