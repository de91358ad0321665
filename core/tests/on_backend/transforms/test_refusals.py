"""What transforms refuse, with fields, and the user's line in the text."""

import re

import numpy as np
import pytest

import tenferro as tn

X = np.ones(3)
square = lambda x: x * x  # noqa: E731


@pytest.mark.parametrize(
    "function, error, field, value",
    [
        (lambda: tn.grad(square)(X), tn.NonScalarOutputError, "aval", tn.Aval((3,), "float64")),
        (lambda: tn.grad(square)(1j), tn.NonScalarOutputError, "aval", tn.Aval((), "complex128")),
        (lambda: tn.grad(lambda x: x > 0)(1.0), tn.NonScalarOutputError, "aval", tn.Aval((), bool)),
        (lambda: tn.grad(lambda x: (x, x))(1.0), tn.NonScalarOutputError, "aval", None),
        (lambda: tn.grad(lambda x: None)(1.0), tn.NonScalarOutputError, "aval", None),
        (lambda: tn.grad(lambda x: "text")(1.0), tn.NonScalarOutputError, "aval", None),
        (lambda: tn.grad(square)(3), tn.DifferentiationInputError, "argument", "x"),
        (lambda: tn.grad(square)(True), tn.DifferentiationInputError, "aval", tn.Aval((), bool)),
        (
            lambda: tn.grad(lambda p: p["a"] * p["n"])({"a": 1.0, "n": 2}),
            tn.DifferentiationInputError,
            "argument",
            "p['n']",
        ),
        (lambda: tn.vjp(square, 3), tn.DifferentiationInputError, "argument", "x"),
        (lambda: tn.jvp(square, (3,), (1,)), tn.DifferentiationInputError, "argument", "x"),
        (
            lambda: tn.grad(square, holomorphic=True)(1.0),
            tn.DifferentiationInputError,
            "aval",
            tn.Aval((), "float64"),
        ),
        (lambda: tn.grad(square, 1)(1.0), tn.ArgumentNumberError, "argnums", (1,)),
        (lambda: tn.grad(square, -2)(1.0), tn.ArgumentNumberError, "count", 1),
        (lambda: tn.grad(square, (0, 0))(1.0), tn.ArgumentNumberError, "argnums", (0, 0)),
        (lambda: tn.grad(square, (0, -1))(1.0), tn.ArgumentNumberError, "argnums", (0, 0)),
        (lambda: tn.grad(square)(x=1.0), tn.ArgumentNumberError, "count", 0),
        (lambda: tn.jvp(square, (X,), (np.ones(2),)), tn.TangentMismatchError, "need", "f64[3]"),
        (lambda: tn.jvp(square, (X,), (1.0,)), tn.TangentMismatchError, "need", "f64[3]"),
        (lambda: tn.jvp(square, (X,), (1j * X,)), tn.TangentMismatchError, "got", "c128[3]"),
        (lambda: tn.jvp(square, (1.0,), (1j,)), tn.TangentMismatchError, "need", "f64[]"),
        (lambda: tn.jvp(square, (X,), (X, X)), tn.TangentMismatchError, "got", "2 tangents"),
        (lambda: tn.vjp(square, X)[1](1.0), tn.TangentMismatchError, "need", "f64[3]"),
        (lambda: tn.linearize(square, X)[1](X, X), tn.TangentMismatchError, "got", "2 tangents"),
    ],
)
def test_a_refusal_says_what_was_wrong_in_fields(function, error, field, value):
    with pytest.raises(error) as raised:
        function()
    assert raised.value.fields[field] == value


@pytest.mark.parametrize("given", ["float32", "complex128"])
@pytest.mark.parametrize("wrap", [np.asarray, tn.asarray], ids=["operand", "array"])
def test_an_array_of_another_dtype_is_no_tangent(given, wrap):
    """The leaf is named, with what came and what is needed, through every function."""
    v, p = wrap(np.ones(3, given)), {"w": X, "b": X}
    total = lambda p: p["w"] * p["b"]  # noqa: E731
    calls = {
        "tangents[0]['b']": lambda: tn.jvp(total, (p,), ({"w": X, "b": v},)),
        "tangents[1]": lambda: tn.linearize(lambda x, y: x * y, X, X)[1](X, v),
        "cotangent": lambda: tn.vjp(total, p)[1](v),
        "cotangent[1]": lambda: tn.vjp(lambda x: (x, x), X)[1]((X, v)),
        "v": lambda: tn.hvp(lambda x: np.sum(x**3))(X, v),
    }
    for leaf, call in calls.items():
        with pytest.raises(tn.TangentMismatchError) as raised:
            call()
        assert raised.value.fields["need"] == "f64[3]"
        assert raised.value.fields["got"] == str(tn.asarray(v).aval)
        assert f"leaf       {leaf}\n" in str(raised.value)
        assert "test_refusals.py" in "".join(raised.value.__notes__)


@pytest.mark.parametrize(
    "given, of, fits",
    [
        ("int8", "float64", True),
        ("bool", "float32", True),
        ("uint16", "float32", True),
        ("int64", "float64", True),
        ("int64", "float32", False),
        ("int8", "complex128", False),
    ],
)
@pytest.mark.parametrize("wrap", [np.asarray, tn.asarray], ids=["operand", "array"])
def test_integers_are_directions_where_numpy_promotes_them(given, of, fits, wrap):
    """As in ``J @ v``, whose dtype is then that of J."""
    x, v = np.array([0.5, 1.5, 2.5], of), wrap(np.array([0, 1, 1], given))
    total = lambda x: np.sum(np.real(x) ** 3)  # noqa: E731
    calls = [
        (lambda: tn.jvp(square, (x,), (v,))[1], 2 * x),
        (lambda: tn.linearize(square, x)[1](v), 2 * x),
        (lambda: tn.vjp(square, x)[1](v)[0], 2 * x),
        (lambda: tn.hvp(total)(x, v), 6 * x),
        (lambda: tn.jit(tn.hvp(total))(x, v), 6 * x),
        (lambda: tn.vmap(lambda v: tn.jvp(square, (x,), (v,))[1])(np.stack([v, v]))[1], 2 * x),
    ]
    for call, diagonal in calls:
        if fits:
            for _ in range(3):  # later calls find their program again
                found = call()
                assert found.dtype == of
                np.testing.assert_array_equal(np.asarray(found), diagonal * [0, 1, 1])
        else:
            with pytest.raises(tn.TangentMismatchError):
                call()


def test_a_real_array_is_no_tangent_of_a_complex_value():
    for call in (
        lambda: tn.jvp(square, (1j * X,), (X,)),
        lambda: tn.vjp(square, 1j * X)[1](X),
    ):
        with pytest.raises(tn.TangentMismatchError, match="complex128"):
            call()


@pytest.mark.parametrize(
    "function",
    [
        lambda: tn.jvp(lambda p: p["a"], ({"a": 1.0},), ({"b": 1.0},)),
        lambda: tn.vjp(lambda x: (x, x), 1.0)[1](1.0),
        lambda: tn.vjp(lambda x: {"a": x}, 1.0)[1]([1.0]),
    ],
)
def test_another_structure_is_no_tangent(function):
    with pytest.raises(tn.TangentMismatchError, match="structure"):
        function()


@pytest.mark.parametrize(
    "function, error",
    [
        (lambda: tn.jvp(square, 1.0, 1.0), TypeError),
        (lambda: tn.grad(lambda x: x, has_aux=True)(1.0), TypeError),
        (lambda: tn.grad(lambda x: x)("text"), TypeError),
        (lambda: tn.jit(lambda x: x)("text"), TypeError),
        (lambda: tn.jit(lambda x: "text")(1.0), TypeError),
        (lambda: tn.jit(lambda x: x, static_argnums=0)([1]), TypeError),
        (lambda: tn.grad(square, convention="other"), ValueError),
        (lambda: tn.grad(lambda x, y: x * y)(1.0), TypeError),
    ],
)
def test_misuse_is_an_error_of_the_usual_class(function, error):
    with pytest.raises(error):
        function()


def not_scalar():
    return tn.grad(lambda x: x * 2)(X)


def integer_argument():
    return tn.grad(lambda count: count * 2.0)(3)


def wrong_argnums():
    return tn.grad(lambda x: x * 2, argnums=1)(3.0)


def wrong_tangent():
    return tn.jvp(lambda x: x * 2, (X,), (np.ones(4),))


@pytest.mark.parametrize("function", [not_scalar, integer_argument, wrong_argnums, wrong_tangent])
def test_the_text_of_a_frequent_error_names_the_users_line(function, golden):
    with pytest.raises(tn.TenferroError) as raised:
        function()
    error = raised.value
    text = "\n".join([f"{type(error).__name__}: {error}", *getattr(error, "__notes__", [])])
    assert f"  from       test_refusals.py:{function.__code__.co_firstlineno + 1}   return" in text
    golden(f"error_transform_{function.__name__}", re.sub(r"\.py:\d+", ".py:…", text))


TAKE_A_DICT = {
    "grad": lambda p: tn.grad(lambda p: p["w"] @ p["w"])(p),
    "jvp": lambda p: tn.jvp(lambda p: p["w"], (p,), (p,)),
    "vmap": lambda p: tn.vmap(lambda p: p["w"])(p),
    "jit": lambda p: tn.jit(lambda p: p["w"])(p),
    "hessian": lambda p: tn.hessian(lambda p: p["w"] @ p["w"])(p),
}


@pytest.mark.parametrize("name", TAKE_A_DICT)
def test_an_argument_that_cannot_be_an_array_is_named(name):
    """The leaf of the tree, as the user would write it"""
    with pytest.raises(tn.UnknownOperandError) as raised:
        TAKE_A_DICT[name]({"w": X, "label": "a"})
    assert any(["leaf       " in note and "['label']" in note for note in raised.value.__notes__])


@pytest.mark.parametrize("transform", [tn.jit, tn.vmap, tn.jacobian, tn.hessian])
def test_a_result_that_cannot_be_an_array_is_said_to_be_one(transform):
    with pytest.raises(tn.UnknownOperandError) as raised:
        transform(lambda x: "a")(X)
    assert "  where      in the result of the function" in raised.value.__notes__


@pytest.mark.parametrize(
    "transform",
    [
        *(tn.grad, tn.value_and_grad, tn.jit, tn.vmap, tn.hvp, tn.hessian, tn.jacobian),
        *(lambda f: tn.jvp(f, (1.0,), (1.0,)), lambda f: tn.vjp(f, 1.0)),
        *(lambda f: tn.linearize(f, 1.0), lambda f: tn.check_grads(f, (1.0,))),
    ],
)
@pytest.mark.parametrize("no_function", [3, "a", X])
def test_what_is_no_function_is_refused_where_it_is_given(transform, no_function):
    with pytest.raises(TypeError, match="takes a function, not") as raised:
        transform(no_function)
    assert "test_refusals.py" in raised.value.__notes__[0]


@pytest.mark.parametrize(
    "refused, text",
    [
        (lambda: tn.check_grads(np.sin, X), r"args is a tuple .* write `\(x,\)`"),
        (lambda: tn.jvp(np.sin, X, X), r"primals is a tuple .* write `\(x,\)`"),
        (
            lambda: tn.hessian(lambda z: np.abs(z) ** 2)(1j),
            r"(?s)hessian is for real.*tenferro.hvp",
        ),
        (
            lambda: tn.grad(lambda p: p["a"] * p["n"])({"a": 1.0, "n": 2}),
            r"(?s)make p\['n'\] .*close",
        ),
        (lambda: tn.jit(lambda i: X[i])(1), r"(?s)value is unknown.*tenferro.asarray\(X\)\[i\]"),
        (lambda: tn.vmap(lambda i: X[i])(np.arange(2)), r"(?s)unknown.*tenferro.asarray\(X\)"),
        (lambda: np.roots(tn.asarray(X)), r"tenferro.linalg.companion"),
    ],
)
def test_a_refusal_says_what_to_write_instead(refused, text):
    with pytest.raises(TypeError, match=text):
        refused()


def without_a_return(x):
    x * x


@pytest.mark.parametrize(
    "call, text",
    [
        (lambda: tn.grad(without_a_return)(2.0), "is a `return` missing"),
        (lambda: tn.grad(lambda x: x > 0)(2.0), "a comparison has no derivative"),
        (lambda: tn.grad(np.sin, 2.0), r"write `grad\(f\)\(x\)`"),
        (lambda: tn.grad(np.sum, np.ones(2)), r"write `grad\(f\)\(x\)`"),
    ],
)
def test_a_slip_of_the_pen_is_named(call, text):
    with pytest.raises(TypeError if "write" not in text else ValueError, match=text):
        call()
