"""What a function closes over is differentiated as if it were passed as an argument."""

from functools import partial
from itertools import product

import numpy as np
import pytest
from nested import FAMILIES, TRANSFORMS, close_over

import tenferro as tn
from tenferro.primitives import Aval, Handle, host_callback
from tenferro.primitives.trigonometric import Sin
from tenferro.tidu import ADContext, Rules

X, Y = 0.4, 1.3


@pytest.mark.parametrize("inner", TRANSFORMS)
@pytest.mark.parametrize("family", FAMILIES)
def test_a_value_that_is_closed_over_is_as_good_as_an_argument(family, inner):
    """T(y ↦ S(x ↦ f(x, y))(a))(b) is the same whether a rule of f closes over y or gets it as an
    argument, for every pair of transforms T and S, eager and jitted.
    """
    pairs = [close_over(family, outer, TRANSFORMS[inner], X) for outer in TRANSFORMS.values()]
    eager = [closed(Y) for closed, _ in pairs]
    jitted = tn.jit(lambda y: [(closed(y), given(y)) for closed, given in pairs])(Y)
    for outer, found, (closed, given) in zip(TRANSFORMS, eager, jitted, strict=True):
        np.testing.assert_allclose([found, closed], given, rtol=1e-10, atol=1e-12, err_msg=outer)


def test_the_derivative_of_a_rule_in_what_it_closes_over():
    """d/dy (2 cos y · 1) at 4 is −2 sin 4."""
    need = -2 * np.sin(4.0)
    for inner, outer in product(TRANSFORMS_OF_ONE, TRANSFORMS_OF_ONE):
        assert outer(lambda y, inner=inner: inner(double_sine(y))(1.0))(4.0) == pytest.approx(need)


TRANSFORMS_OF_ONE = (
    tn.grad,
    tn.jacfwd,
    tn.jacrev,
    lambda f: lambda x: tn.value_and_grad(f)(x)[1],
    lambda f: lambda x: tn.jvp(f, (x,), (1.0,))[1],
)


def double_sine(y):
    """2 sin x, with a rule that says 2 cos y."""
    f = tn.custom_vjp(lambda x: 2 * np.sin(x))
    f.defvjp(lambda x: (f(x), ()), lambda _, ct: (2 * np.cos(y) * ct,))
    return f


CALLBACKS = {
    "jvp": lambda y: {"jvp": lambda primals, tangents: tangents[0] * y * y},
    "transpose": lambda y: {"transpose": lambda cts: cts[0] * y * y},
}
ONCE = {
    "grad": tn.grad,
    "vjp": lambda f: lambda x: tn.vjp(f, x)[1](1.0)[0],
    "transposed": lambda f: lambda x: tn.linearize(f, x)[1].transpose(1.0)[0],
    "jacrev": tn.jacrev,
    "jvp": lambda f: lambda x: tn.jvp(f, (x,), (1.0,))[1],
    "linearize": lambda f: lambda x: tn.linearize(f, x)[1](1.0),
    "jit of grad": lambda f: tn.jit(tn.grad(f)),
}


@pytest.mark.parametrize(
    "rule, inner", [(r, i) for r, i in product(CALLBACKS, ONCE) if r == "jvp" or i not in
                    ("jvp", "linearize")]
)  # fmt: skip
@pytest.mark.parametrize("outer", ONCE)
def test_the_rule_of_a_callback_may_close_over_a_value(outer, rule, inner):
    """d/dy y² = 2y; and a constant y, which no transform follows, gives y²."""

    def derivative(y):
        rules = CALLBACKS[rule](Handle(tn.asarray(y).key))
        f = lambda x: host_callback(np.abs, [Aval((), "f64")], x, **rules)[0]  # noqa: E731
        return ONCE[inner](f)(tn.asarray(3.0))

    assert ONCE[outer](derivative)(5.0) == 10
    assert derivative(tn.asarray(5.0)) == 25


WITH_CONTEXT = {
    "grad": lambda f, c: tn.grad(f, context=c)(1.0),
    "jvp": lambda f, c: tn.jvp(f, (1.0,), (1.0,), context=c)[1],
    "vjp": lambda f, c: tn.vjp(f, 1.0, context=c)[1](1.0)[0],
    "linearize": lambda f, c: tn.linearize(f, 1.0, context=c)[1](1.0),
    "jacfwd": lambda f, c: tn.jacfwd(f, context=c)(1.0),
}


@pytest.mark.parametrize("outer", ONCE)
@pytest.mark.parametrize("inner", WITH_CONTEXT)
def test_the_rule_of_a_context_may_close_over_a_value(outer, inner):
    """d/dy y² = 2y."""

    def derivative(y):
        factor = Handle(tn.asarray(y).key)
        rules = Rules(jvp=lambda op, rule, xs, ys, dxs: [dxs[0] * factor * factor])
        return WITH_CONTEXT[inner](np.sin, ADContext({Sin: rules}))

    assert ONCE[outer](derivative)(3.0) == 6
    assert derivative(3.0) == 9


def product_by(rule):
    """(x, y) ↦ xy with a rule of its own."""
    if rule == "linear":
        return tn.custom_linear(lambda y, x: x * y, lambda y, ct: ct * y)
    if rule == "jvp":
        f = tn.custom_jvp(lambda x, y: x * y)
        f.defjvps(lambda dx, _, x, y: dx * y, lambda dy, _, x, y: x * dy)
        return f
    f = tn.custom_vjp(lambda x, y: x * y)
    f.defvjp(lambda x, y: (f(x, y), (x, y)), lambda r, ct: (ct * r[1], ct * r[0]))
    return f


@pytest.mark.parametrize("rule", ["jvp", "vjp", "linear"])
@pytest.mark.parametrize("derivative", [tn.grad, tn.jacfwd, lambda f: tn.jit(tn.grad(f))])
def test_one_array_may_be_mapped_twice(rule, derivative):
    """∇ Σ x x = 2x, where both arguments of a mapped function are one array."""
    x, f = np.array([0.0, 1.0, 2.0]), product_by(rule)
    assert derivative(lambda x: tn.vmap(f)(x, x).sum())(x).tolist() == (2 * x).tolist()
    twice = lambda x: tn.vmap(lambda a: tn.vmap(lambda b: f(a, b))(x))(x).sum()  # noqa: E731
    assert derivative(twice)(x).tolist() == [6, 6, 6]


def test_a_function_may_close_over_its_argument():
    """d/dx (x · x), one x given to a rule that says 10, the other closed over: 10 + x."""

    def f(x):
        g = tn.custom_jvp(lambda z: x * z)
        g.defjvps(lambda dz, y, z: 10 * dz)
        return g(x)

    assert tn.grad(f)(3.0) == 13
    assert tn.grad(lambda x: tn.vmap(f)(x).sum())(np.array([3.0, 4.0])).tolist() == [13, 14]


CARRIERS = {
    "jvp": lambda h, y: carried_by_jvp(lambda x: h(y) * x, lambda dx, _, x: h(y) * dx),
    "vjp": lambda h, y: carried_by_vjp(lambda x: h(y) * x, lambda x, ct: (h(y) * ct,)),
    "linear by its residual": lambda h, y: partial(tn.custom_linear(times(h), times(h)), y),
    "linear": lambda h, y: partial(tn.custom_linear(*[times(lambda _: h(y))] * 2), ()),
}  # by what x ↦ h(y) x is made with


def carried_by_jvp(function, rule):
    """A function with a forward rule."""
    f = tn.custom_jvp(function)
    f.defjvps(rule)
    return f


def carried_by_vjp(function, rule):
    """A function with a reverse rule."""
    f = tn.custom_vjp(function)
    f.defvjp(lambda x: (f(x), x), rule)
    return f


def times(h):
    """(r, x) ↦ h(r) x."""
    return lambda r, x: h(r) * x


WITHIN = {
    "value": lambda f: f,
    "jit": tn.jit,
    "jvp": lambda f: lambda x: tn.jvp(f, (x,), (1.0,))[1],
    "grad": tn.grad,
    "linearize": lambda f: lambda x: tn.linearize(f, x)[1](1.0),
    "hvp": lambda f: lambda x: tn.hvp(f)(x, 1.0),
}
ORDERS = {
    "jvp of jvp": lambda f: lambda y: WITHIN["jvp"](lambda y: WITHIN["jvp"](f(y))(X))(y),
    "grad of grad": lambda f: tn.grad(lambda y: tn.grad(f(y))(X)),
    "jit of jvp of grad": lambda f: tn.jit(WITHIN["jvp"](lambda y: tn.grad(f(y))(X))),
    "jvp": lambda f: WITHIN["jvp"](lambda y: f(y)(X)),
    "jvp by both": lambda f: WITHIN["jvp"](lambda y: f(y)(y)),
    "grad by both": lambda f: tn.grad(lambda y: f(y)(y)),
    "jit of hessian by both": lambda f: tn.jit(tn.hessian(lambda y: f(y)(y))),
    "jvp of jvp of jvp by both": lambda f: WITHIN["jvp"](
        WITHIN["jvp"](WITHIN["jvp"](lambda y: f(y)(y)))
    ),
    "order 3": lambda f: tn.grad(WITHIN["jvp"](lambda y: WITHIN["jvp"](f(y))(y))),
}


@pytest.mark.parametrize("within", WITHIN)
@pytest.mark.parametrize("carrier", CARRIERS)
@pytest.mark.parametrize("family", FAMILIES)
def test_a_rule_is_used_alone_inside_another_function_with_a_rule(family, carrier, within):
    """Derivatives of x ↦ S(x ↦ f_y(x))(y) x by x and y do not depend on whether a rule carries the
    product, where f closes over the y that is its argument, too.
    """
    given, closed = FAMILIES[family]()
    h = lambda y: WITHIN[within](closed(y))(y)  # noqa: E731
    plain = lambda y: WITHIN[within](lambda x: given(x, y))(y)  # noqa: E731
    for name, derivative in ORDERS.items():
        found = derivative(lambda y: CARRIERS[carrier](h, y))(Y)
        need = derivative(lambda y: lambda x: plain(y) * x)(Y)
        np.testing.assert_allclose(found, need, rtol=1e-10, atol=1e-12, err_msg=name)


def looking(x):
    """2x, by a function that looks at what it has computed."""
    y = x * 2.0
    assert y > 0
    return y


def by_another_rule(x):
    """2x, by the rule of a function whose own derivative is 1."""
    f = tn.custom_jvp(lambda x: x)
    f.defjvps(lambda dx, y, x: 2 * dx)
    return f(x)


MIXED = {
    "grad": tn.grad,
    "jvp": lambda f: lambda x: tn.jvp(f, (x,), (1.0,))[1],
    "jit of grad": lambda f: tn.jit(tn.grad(f)),
    "grad of jit": lambda f: tn.grad(tn.jit(f)),
}


@pytest.mark.parametrize("inside", [looking, by_another_rule])
@pytest.mark.parametrize("carrier", ["jvp", "vjp", "linear"])
@pytest.mark.parametrize("second", MIXED)
@pytest.mark.parametrize("first", MIXED)
def test_the_derivative_in_a_closure_depends_on_the_arguments(first, second, carrier, inside):
    """∂²/∂x∂y of f(x) = y g(x) is g′ = 2, whatever g is made with, where f has a rule and g is part
    of f.
    """
    if inside is looking and "jit" in first + second:
        pytest.skip("nothing has a value there")
    if inside is by_another_rule and carrier == "linear":
        pytest.skip("a linear function is its own derivative, whatever rules are in it")
    make = {
        "jvp": lambda y: carried_by_jvp(lambda x: y * inside(x), lambda dx, _, x: y * 2 * dx),
        "vjp": lambda y: carried_by_vjp(lambda x: y * inside(x), lambda x, ct: (y * 2 * ct,)),
        "linear": lambda y: partial(
            tn.custom_linear(lambda y, x: y * inside(x), lambda y, ct: y * 2 * ct), y
        ),
    }[carrier]
    assert MIXED[second](lambda x: MIXED[first](lambda y: make(y)(x))(3.0))(0.5) == 2
    assert MIXED[second](lambda y: MIXED[first](lambda x: make(y)(x))(0.5))(3.0) == 2


CONVERSIONS = {
    "np.array": np.array,
    "float": float,
    "item": lambda x: x.item(),
    "tolist": lambda x: np.array(x[None].tolist())[0],
    "part": lambda x: np.array(tn.exp(x) - tn.exp(x) + x),
    "another rule": lambda x: by_conversion(x),
}


def by_conversion(x):
    """x, computed by NumPy in a function with a rule."""
    f = tn.custom_jvp(lambda x: tn.asarray(np.array(x)))
    f.defjvps(lambda dx, y, x: dx)
    return float(f(x))


@pytest.mark.parametrize("convert", CONVERSIONS)
@pytest.mark.parametrize("carrier", ["jvp", "vjp", "linear"])
def test_a_second_derivative_that_numbers_have_lost_is_refused(carrier, convert):
    """f(x) = y x, x as a number: ∂²f/∂y∂x, first by the rule, is 1; ∂²f/∂x∂y would be 0."""
    inside = CONVERSIONS[convert]
    make = {
        "jvp": lambda y: carried_by_jvp(lambda x: y * inside(x), lambda dx, _, x: y * dx),
        "vjp": lambda y: carried_by_vjp(lambda x: y * inside(x), lambda x, ct: (y * ct,)),
        "linear": lambda y: partial(
            tn.custom_linear(lambda y, x: y * inside(x), lambda y, ct: y * ct), y
        ),
    }[carrier]
    f = lambda x, y: make(y)(tn.asarray(x))  # noqa: E731
    assert tn.grad(f)(0.5, 3.0) == 3
    assert tn.grad(f, 1)(0.5, 3.0) == 0.5
    assert tn.grad(tn.grad(f, 1), 1)(0.5, 3.0) == 0
    assert tn.vmap(tn.grad(lambda y: f(0.5, y)))(np.ones(2)).tolist() == [0.5, 0.5]
    for first, second in product(MIXED_EAGER, MIXED_EAGER):
        with pytest.raises(tn.TracedConversionError, match=r"test_closures\.py:\d+"):
            second(lambda x, first=first: first(lambda y: f(x, y))(3.0))(0.5)
    assert tn.grad(lambda y: tn.grad(lambda x: f(x, y))(0.5))(3.0) == 1


MIXED_EAGER = (tn.grad, MIXED["jvp"], lambda f: lambda x: tn.vjp(f, x)[1](1.0)[0])


def test_a_function_that_closes_over_a_value_has_its_effects_once(capsys):
    def f(x, y):
        g = tn.custom_jvp(lambda x: (tn.debug.print("x = {}", x), x * y)[1])
        g.defjvps(lambda dx, _, x: y * dx)
        return g(x)

    tn.grad(f, 1)(2.0, 3.0)
    assert capsys.readouterr().out == "x = 2.0\n"


def repeated(w, x, look):
    """Return x after calls of functions with rules that close over w, and look at values between.

    ``look`` is called with what is inside a function and what it returns.
    """
    for k in (0.3, -0.2):
        f, inside = seen_inside(w)
        x = f(x) + k
        look(inside[0], x)
    return x


def seen_inside(w):
    """Return w sin², with five times its slope as a rule, and a list that gets what is inside."""
    inside = []

    @tn.custom_vjp
    def f(y):
        inside.append(np.sin(y))
        return inside[0] * w * inside[0]

    f.defvjp(lambda y: (f(y), y), lambda y, g: (10 * g * np.sin(y) * np.cos(y) * w,))
    return f, inside


LOOKS = {
    "at the result": lambda inside, x: bool(x > 100),
    "at the result, the inside is held": lambda inside, x: HELD.append(inside) or bool(x > 100),
    "by evaluate": lambda inside, x: tn.evaluate(x) if isinstance(x, tn.Array) else None,
}
HELD: list = []


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
def test_looking_at_values_changes_no_derivative_in_a_closure(look):
    """What is inside of a function with a rule keeps its history when it becomes known"""
    derivatives = lambda look: (  # noqa: E731
        *tn.grad(lambda w, x: repeated(w, x, look), (0, 1))(0.7, 0.4),
        tn.hessian(lambda p: repeated(p[0], p[1], look))(np.array([0.7, 0.4])),
        tn.jacfwd(tn.grad(lambda p: repeated(p[0], p[1], look)))(np.array([0.7, 0.4])),
    )
    HELD.clear()
    for got, need in zip(derivatives(look), derivatives(lambda *_: None), strict=True):
        np.testing.assert_allclose(np.array(got), np.array(need), rtol=1e-12)
