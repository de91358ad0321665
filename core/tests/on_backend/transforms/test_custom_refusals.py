"""What is wrong with a rule of the user is said with its name, its line and what it must be."""

import re

import numpy as np
import pytest

import tenferro as tn
from tenferro.tidu import NotLinearError

X = np.ones(3)


def square(x):
    return x * x


def forward(rule):
    f = tn.custom_jvp(square)
    f.defjvp(rule)
    return lambda: tn.jvp(f, (X,), (X,))


def reverse(bwd, fwd=lambda x: (x * x, x)):
    f = tn.custom_vjp(square)
    f.defvjp(fwd, bwd)
    return lambda: tn.grad(lambda x: np.sum(f(x)))(X)


def linear(transpose):
    f = tn.custom_linear(lambda _, x: 2 * x, transpose)
    return lambda: tn.grad(lambda x: np.sum(f((), x)))(X)


def pull(residuals, ct):
    return (ct,)


@pytest.mark.parametrize(
    "function, error, field, value",
    [
        (lambda: tn.grad(tn.custom_jvp(square))(1.0), tn.MissingRuleError, "rule", "jvp"),
        (lambda: tn.grad(tn.custom_vjp(square))(1.0), tn.MissingRuleError, "primitive", "square"),
        (forward(lambda p, t: t[0]), tn.RuleResultError, "got", "Array"),
        (forward(lambda p, t: (p[0], {"a": t[0]})), tn.RuleResultError, "need", "f64[3]"),
        (forward(lambda p, t: (p[0], (t[0], t[0]))), tn.RuleResultError, "need", "f64[3]"),
        (forward(lambda p, t: (p[0], np.sum(t[0]))), tn.RuleResultError, "got", "f64[]"),
        (forward(lambda p, t: (p[0], t[0].astype("float32"))), tn.RuleResultError, "got", "f32[3]"),
        (forward(lambda p, t: (p[0], "text")), tn.RuleResultError, "got", "str"),
        (forward(lambda p, t: (p[0], t[0] * t[0])), tn.NotLinearError, "rule", "jvp"),
        (forward(lambda p, t: (p[0], t[0] + p[0])), tn.NotLinearError, "rule", "jvp"),
        (forward(lambda p, t: (p[0], p[0])), tn.NotLinearError, "rule", "jvp"),
        (forward(lambda p, t: (np.ones(2), t[0])), tn.RuleResultError, "got", "f64[2]"),
        (forward(lambda p, t: (None, t[0])), tn.RuleResultError, "got", "NoneType"),
        (forward(lambda p, t: ((p[0], p[0]), t[0])), tn.RuleResultError, "got", "tuple"),
        (forward(lambda p, t: (p[0].astype("f4"), t[0])), tn.RuleResultError, "got", "f32[3]"),
        (forward(lambda p, t: (1j * p[0], t[0])), tn.RuleResultError, "got", "c128[3]"),
        (forward(lambda p, t: (3.0, t[0])), tn.RuleResultError, "got", "3.0"),
        (forward(lambda p, t: (p[0], 1j * t[0])), tn.RuleResultError, "got", "c128[3]"),
        (reverse(lambda r, ct: r * ct), tn.RuleResultError, "got", "Array"),
        (reverse(lambda r, ct: (1j * ct,)), tn.RuleResultError, "got", "c128[3]"),
        (reverse(lambda r, ct: (2j,)), tn.RuleResultError, "got", "2j"),
        (reverse(pull, lambda x: ((x, x), x)), tn.RuleResultError, "got", "tuple"),
        (reverse(pull, lambda x: (None, x)), tn.RuleResultError, "got", "NoneType"),
        (reverse(pull, lambda x: (np.ones(2), x)), tn.RuleResultError, "got", "f64[2]"),
        (reverse(pull, lambda x: (x.astype("f4"), x)), tn.RuleResultError, "need", "f64[3]"),
        (reverse(pull, lambda x: (1j * x, x)), tn.RuleResultError, "got", "c128[3]"),
        (reverse(pull, lambda x: None), tn.RuleResultError, "got", "NoneType"),
        (reverse(pull, lambda x: (x, x, x)), tn.RuleResultError, "got", "tuple"),
        (linear(lambda _, x: (x, x)), tn.RuleResultError, "need", "f64[3]"),
        (linear(lambda _, ct: np.sum(ct)), tn.RuleResultError, "got", "f64[]"),
        (linear(lambda _, ct: 1j * ct), tn.RuleResultError, "got", "c128[3]"),
        (linear(lambda _, ct: ct.astype("f4")), tn.RuleResultError, "got", "f32[3]"),
        (linear(lambda _, ct: {"a": ct}), tn.RuleResultError, "got", "dict"),
        (reverse(lambda r, ct: (r * ct, ct)), tn.RuleResultError, "got", "tuple of 2"),
        (reverse(lambda r, ct: ({"a": ct},)), tn.RuleResultError, "got", "dict"),
        (reverse(lambda r, ct: (np.sum(ct),)), tn.RuleResultError, "need", "f64[3]"),
        (reverse(None, None), tn.MissingRuleError, "rule", "vjp"),
        (reverse(lambda r, ct: (ct,), lambda x: x), tn.RuleResultError, "primitive", "square"),
        (
            lambda: tn.grad(lambda r: tn.custom_linear(lambda r, x: x, None)(r, 2))(1.0),
            tn.RuleResultError,
            "got",
            "int",
        ),
        (
            lambda: tn.grad(lambda x: np.sum(tn.custom_jvp(lambda x: "text")(x)))(X),
            tn.RuleResultError,
            "rule",
            "the function",
        ),
    ],
)
def test_a_refusal_says_what_was_wrong_in_fields(function, error, field, value):
    with pytest.raises(error) as raised:
        function()
    assert raised.value.fields[field] == value
    if error is tn.RuleResultError:
        assert any("test_custom_refusals.py" in note for note in raised.value.__notes__)


def ufunc_rule(*rules):
    f = tn.custom_jvp(square)
    f.defjvps(*rules)
    return lambda: tn.jvp(f, (X,), (X,))


def fixed(bwd):
    f = tn.custom_vjp(lambda n, x, *, scale: n * x * scale, nondiff_argnums=0)
    f.defvjp(lambda n, x, *, scale: (n * x * scale, ()), bwd)
    return lambda: tn.grad(lambda x: f(2, x, scale=3.0))(1.0)


@pytest.mark.parametrize(
    "function, got, need",
    [
        (reverse(lambda ct: (ct,)), "bwd(ct)", "bwd(residuals, ct)"),
        (reverse(lambda a, b, ct: (ct,)), "bwd(a, b, ct)", "bwd(residuals, ct)"),
        (reverse(pull, lambda: (X, X)), "fwd()", "fwd(*args)"),
        (fixed(lambda r, ct: (ct,)), "bwd(r, ct)", "bwd(argument 0, residuals, ct, scale=…)"),
        (forward(lambda x, dx, y: (x, dx)), "rule(x, dx, y)", "rule(primals, tangents)"),
        (ufunc_rule(lambda dx: dx), "rule(dx)", "rule(dx, y, *primals)"),
        (linear(lambda ct: ct), "apply(ct)", "apply(residuals, x)"),
    ],
)
def test_a_rule_that_takes_other_arguments_is_named_itself(function, got, need):
    with pytest.raises(tn.ArgumentTypeError) as raised:
        function()
    text = str(raised.value)
    assert "is called with other arguments than it takes" in text
    assert f"\n  got        {got}\n  need       {need}\n  rule       <lambda>, test_custom" in text


def test_a_type_error_inside_a_rule_stays_as_it_is():
    """a call that fits: the error is the user's own"""
    with pytest.raises(TypeError, match=r"^no cotangent$"):
        tn.grad(fails_inside())(1.0)


def fails_inside():
    def bwd(residuals, ct):
        raise TypeError("no cotangent")

    f = tn.custom_vjp(square)
    f.defvjp(lambda x: (x * x, x), bwd)
    return f


@pytest.mark.parametrize("transform", [tn.jit, tn.vmap])
def test_a_refusal_is_the_same_in_other_transforms(transform):
    f = tn.custom_vjp(square)
    f.defvjp(lambda x: (x * x, x), lambda x, ct: (1j * ct,))
    with pytest.raises(tn.RuleResultError, match=r"square: wrong result of the cotangent"):
        transform(tn.grad(f))(X if transform is tn.vmap else X[0])


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_a_real_result_may_stand_for_a_complex_one_and_a_number_for_any(dtype):
    """A real tangent or cotangent of a complex value is silent, and so is a Python number."""
    z = np.ones((), dtype)
    f, g = tn.custom_jvp(square), tn.custom_vjp(square)
    f.defjvp(lambda p, t: (p[0] * p[0], np.real(t[0])))
    g.defvjp(lambda x: (1.0, ()), lambda _, ct: (5.0,))
    assert tn.jvp(f, (z,), (z,))[1] == 1
    found = tn.grad(lambda x: np.real(g(x)))(z)
    assert (found, found.dtype) == (5, dtype)


@pytest.mark.parametrize(
    "function, error",
    [
        (lambda: tn.custom_jvp(square)(1.0, 2.0), TypeError),
        (lambda: tn.custom_jvp(square, nondiff_argnums=0).defjvps(None), TypeError),
        (lambda: tn.custom_jvp(square, nondiff_argnames="x").defjvps(None), TypeError),
    ],
)
def test_misuse_is_an_error_of_the_usual_class(function, error):
    with pytest.raises(error):
        function()


@pytest.mark.parametrize("kind", [tn.custom_jvp, tn.custom_vjp])
@pytest.mark.parametrize(
    "function, names",
    [(square, "y"), (square, ("x", "X")), (lambda *xs: xs, "xs"), (np.sin, "x"), (square, (0,))],
)
def test_a_name_that_no_parameter_has_is_refused(kind, function, names):
    with pytest.raises(tn.ArgumentNumberError, match=rf"{kind.__name__}: nondiff_argnames names"):
        kind(nondiff_argnames=names)(function)


def test_a_zero_may_be_written_as_a_number():
    f = tn.custom_jvp(square)
    f.defjvp(lambda primals, tangents: (f(*primals), 0.0))
    assert tn.grad(lambda x: np.sum(f(x)))(X).tolist() == [0, 0, 0]
    f.defjvp(lambda primals, tangents: (f(*primals), np.zeros_like(tangents[0])))
    assert tn.grad(lambda x: np.sum(f(x)))(X).tolist() == [0, 0, 0]


def missing_custom_rule():
    return tn.grad(tn.custom_jvp(square))(3.0)


def custom_rule_not_linear():
    return forward(lambda primals, tangents: (primals[0], tangents[0] ** 2))()


def custom_pullback_of_wrong_shape():
    return reverse(lambda residuals, ct: (np.sum(ct),))()


@pytest.mark.parametrize(
    "function", [missing_custom_rule, custom_rule_not_linear, custom_pullback_of_wrong_shape]
)
def test_the_text_of_a_frequent_error(function, golden):
    with pytest.raises(tn.TenferroError) as raised:
        function()
    error = raised.value
    text = "\n".join([f"{type(error).__name__}: {error}", *getattr(error, "__notes__", [])])
    golden(f"error_{function.__name__}", re.sub(r"\.py:\d+", ".py:…", text))


def test_a_cotangent_that_does_not_depend_on_the_one_given_is_not_linear():
    """bwd(r, ct) = 1 is no linear map of ct, so forward mode cannot transpose it"""

    @tn.custom_vjp
    def f(x):
        return x * x

    f.defvjp(lambda x: (x * x, x), lambda x, ct: (tn.ones_like(x),))
    with pytest.raises(NotLinearError, match="does not depend on the one given"):
        tn.jvp(f, (np.arange(3.0),), (np.ones(3),))


def test_the_tangent_of_an_integer_is_none_and_an_error_says_so():
    """A rule that uses it as a number cannot"""
    scaled = tn.custom_jvp(lambda x, n: x * n)
    scaled.defjvp(lambda primals, tangents: (scaled(*primals), tangents[1] * primals[0]))
    with pytest.raises(tn.UnknownOperandError, match="tangent of an integer is None"):
        tn.grad(scaled)(1.0, 2)
