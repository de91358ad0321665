"""A transform inside a function that runs again: values may depend on leaves of both recordings."""

import sys

import numpy as np
import pytest

import tenferro as tn
from tenferro.computegraph import UNKNOWN
from tenferro.primitives import Handle
from tenferro.primitives.trigonometric import Sin
from tenferro.tidu import ADContext, Rules
from tenferro.transforms.recording.memos import MEMOS

CALLS = 7
HAS_MEMOS = getattr(sys, "_is_gil_enabled", lambda: True)()
WEIGHTS = np.array([1.0, 2.0])


@pytest.fixture(autouse=True)
def _no_memos():
    MEMOS.clear()


def point(i):
    return np.linspace(0.5, 2.0, 3) + i


def inner_gradient(read, kept=None):
    """f(x) = Σⱼ ∂/∂yⱼ (c Σ s² y) = c Σ s², where s are two elements of x."""

    def function(x):
        def inner(y):
            s = x[[0, 2]]
            if kept is not None:
                kept.append(s)
            return np.sum(s * s * y) * read(s)

        return np.sum(tn.grad(inner)(WEIGHTS))

    return function


def by_branch(s):
    return 1.0 if s[0] > 3 else 3.0


def by_print(s):
    return 1.0 + 0 * len(str(s))


def by_value(s):
    return 2.0 if float(tn.stop_gradient(s).sum()) > 6 else 5.0


@pytest.mark.parametrize("read", [by_branch, by_print, by_value])
def test_an_outer_value_that_the_inner_function_reads_is_that_of_the_call(read):
    function = inner_gradient(read)
    for i in range(CALLS):
        x = point(i)
        expected = np.array([2 * x[0], 0, 2 * x[2]]) * read(x[[0, 2]])
        np.testing.assert_allclose(tn.grad(function)(x), expected, rtol=1e-14)


def test_an_outer_value_that_the_inner_function_keeps_does_not_change():
    kept = []
    function = inner_gradient(by_branch, kept)
    for i in range(CALLS):
        tn.grad(function)(point(i))
    for i, value in enumerate(kept):
        np.testing.assert_array_equal(np.asarray(value), point(i)[[0, 2]])


def test_a_mask_of_an_inner_argument_that_is_kept_does_not_change():
    kept = []

    def function(x):
        def inner(y):
            kept.append(y > 3.0)
            return np.sum(np.where(kept[-1], x, 0.5) * y * y)

        return np.sum(tn.grad(inner)(x * 2))

    for i in range(CALLS):
        tn.grad(function)(point(i))
    for i, mask in enumerate(kept):
        np.testing.assert_array_equal(np.asarray(mask), 2 * point(i) > 3)


@pytest.mark.parametrize(
    "transform",
    [
        lambda f, x: tn.grad(f)(x),
        lambda f, x: tn.jvp(f, (x,), (np.ones_like(x),))[1],
        lambda f, x: tn.vjp(f, x)[1](np.float64(1.0))[0],
        lambda f, x: tn.hessian(f)(x).sum(axis=0),
    ],
    ids=["grad", "jvp", "vjp", "hessian"],
)
def test_all_inner_transforms_see_the_outer_value_of_the_call(transform):
    """∂/∂x Σ D[z ↦ Σ a x₀² z³] at constant z, with a factor a that depends on the value of x₀"""
    z = np.array([0.5, 1.5])

    def function(x):
        def inner(y):
            s = x[[0, 1]]
            return np.sum(s[0] ** 2 * y**3) * (1.0 if s[0] > 3 else 4.0)

        return np.sum(transform(inner, z))

    for i in range(CALLS):
        x = point(i)
        plain = tn.asarray(x)  # an Array: its calls have no memo
        expected = tn.grad(function)(plain)
        np.testing.assert_allclose(tn.grad(function)(x), np.asarray(expected), rtol=1e-14)
        step = 1e-6 * np.array([1.0, 0, 0])
        along = (float(function(x + step)) - float(function(x - step))) / 2e-6
        np.testing.assert_allclose(np.asarray(expected)[0], along, rtol=1e-6)


# ---- transforms of values of the outer function, found again ------------------------------------

V = np.array([0.3, -0.7, 0.2])
LARGE = np.linspace(0.5, 1.5, 20_000)  # more bytes than are copied
SIDES = np.outer([1.0, -2.0], V)


def cubes(x):
    return np.sum(x**3)


def gradient_of_a_gradient(i):
    """∇(v·∇Σx³) = 6 x v"""
    return lambda x: np.sum(tn.grad(cubes)(x) * V), (point(i),), 6 * point(i) * V


def gradient_of_a_tangent(i):
    return lambda x: tn.jvp(cubes, (x,), (V,))[1], (point(i),), 6 * point(i) * V


def directions_that_change(i):
    return lambda x: tn.jvp(cubes, (x,), (V * i,))[1], (point(i),), 6 * point(i) * V * i


def a_direction_that_is_followed(i):
    """∇ Σ 3 x² (2 x)"""
    return lambda x: np.sum(tn.jvp(cubes, (x,), (2.0 * x,))[1]), (point(i),), 18 * point(i) ** 2


def a_direction_that_is_a_number(i):
    """d/dx (i + 2) 3 x²"""
    return lambda x: tn.jvp(lambda x: x**3, (x,), (i + 2.0,))[1], (0.7,), 6 * 0.7 * (i + 2.0)


def third_derivative(i):
    """∇(v·∇(v·∇Σx³)) = 6 v²"""

    def second(x):
        return np.sum(tn.grad(lambda x: np.sum(tn.grad(cubes)(x) * V))(x) * V)

    return second, (point(i),), 6 * V**2


def one_function_twice(i):
    return (
        lambda x: np.sum(tn.grad(cubes)(x) * V) + np.sum(tn.grad(cubes)(x) * 2.0),
        (point(i),),
        6 * point(i) * (V + 2),
    )


def another_number_of_times(i):
    def f(x):
        return sum(np.sum(tn.grad(cubes)(x) * k) for k in range(1 + i % 3))

    return f, (point(i),), 6 * point(i) * sum(range(1 + i % 3))


def an_argument_of_numpy(i):
    """∇ₓ Σ ∂/∂y (i w x y³)"""

    def inner(y, w, x):
        return np.sum(w * x * y**3)

    return (
        lambda x: np.sum(tn.grad(inner)(x, V * i, x=x)),
        (point(i),),
        9 * point(i) ** 2 * V * i,
    )


def a_large_argument(i):
    def f(x):
        w = LARGE * (i + 1)
        found = np.sum(tn.grad(lambda y, w: np.sum(y**2 * w))(x, w))
        w[:] = 0.0  # it is the user's again
        return found

    return f, (2.0 * LARGE,), 2 * LARGE * (i + 1)


def an_inner_closure(i):
    """∇ₓ Σ ∂/∂y (x y² V i) at y = 2x"""
    w = V * i

    def f(x):
        return np.sum(tn.grad(lambda y: np.sum(x * y**2 * w))(2.0 * x))

    return f, (point(i),), 8 * point(i) * w


def value_and_aux(i):
    def f(x):
        (value, aux), slope = tn.value_and_grad(lambda x: (cubes(x), x * 2.0), has_aux=True)(x)
        return value + np.sum(aux) + np.sum(slope)

    return f, (point(i),), 3 * point(i) ** 2 + 2 + 6 * point(i)


def another_transform(i):
    """∇ Σ ∇(Σx³) by one transform or another"""

    def f(x):
        return np.sum(tn.grad(cubes)(x) if i % 2 else tn.value_and_grad(cubes)(x)[1])

    return f, (point(i),), 6 * point(i)


def trees_inside(i):
    def f(x):
        found = tn.grad(lambda p: np.sum(p["a"] ** 2 * p["b"][0]))({"a": x, "b": [x * 2.0]})
        return np.sum(found["a"]) + np.sum(found["b"][0])

    return f, (point(i),), 8 * point(i) + 2 * point(i)


def mapped(i):
    """∇ Σᵢⱼ (sᵢⱼ xⱼ)³"""
    return (
        lambda x: np.sum(tn.vmap(lambda s: cubes(s * x))(SIDES)),
        (point(i),),
        3 * point(i) ** 2 * np.sum(SIDES**3, axis=0),
    )


def mapped_by_the_batch(i):
    return (
        lambda x: np.sum(tn.vmap(lambda y, s: cubes(y) * np.sum(s))(x * SIDES, SIDES)),
        (point(i),),
        3 * point(i) ** 2 * np.sum(SIDES**3 * SIDES.sum(axis=1)[:, None], axis=0),
    )


def mapped_beside_shared(i):
    return (
        lambda x: np.sum(tn.vmap(lambda s, y: cubes(s * y), in_axes=(1, None))(SIDES.T, x)),
        (point(i),),
        3 * point(i) ** 2 * np.sum(SIDES**3, axis=0),
    )


def mapped_operands_of_one_name(i):
    """∇ (Σ x) Σᵢⱼ aᵢⱼ bᵢⱼ; both operands are called x0 where names are shown"""
    a, b = SIDES + i, SIDES * (i + 1)

    def product(*factors, **others):
        return np.sum(factors[0] * others["x0"])

    return (
        lambda x: np.sum(tn.vmap(product)(a, x0=b) * np.sum(x)),
        (point(i),),
        np.sum(a * b) + V * 0,
    )


def mapped_gradients(i):
    return (
        lambda x: np.sum(tn.vmap(tn.grad(cubes))(x * SIDES)),
        (point(i),),
        6 * point(i) * np.sum(SIDES**2, axis=0),
    )


def another_size_of_the_batch(i):
    sides = SIDES[: 1 + i % 2]
    return (
        lambda x: np.sum(tn.vmap(lambda s: cubes(s * x))(sides)),
        (point(i),),
        3 * point(i) ** 2 * np.sum(sides**3, axis=0),
    )


def gradient_of_a_jacobian(i):
    """∇ Σ (J of x³) = 6 x"""
    return lambda x: np.sum(tn.jacobian(lambda x: x**3)(x)), (point(i),), 6 * point(i)


def gradient_of_a_jacobian_of_elements(i):
    """J of two squares of elements, whose entries are where the positions of the call say"""
    places = np.array([[0, 2], [2, 0], [1, 0]][i % 3])
    weights = np.arange(6.0).reshape(2, 3)
    expected = np.zeros(3)
    expected[places] = 2 * weights[[0, 1], places]

    def f(x):
        return np.sum(tn.jacobian(lambda x: x[places] ** 2, compress=True)(x) * weights)

    return f, (point(i),), expected


def complex_values(i):
    """∇ Σ |f′(x)|² of f = (1 + 2i) x³, real x"""

    def f(x):
        _, tangent = tn.jvp(lambda x: (1 + 2j) * x**3, (x,), (V,))
        return np.sum(np.abs(tangent) ** 2)

    return f, (point(i),), 5 * 36 * point(i) ** 3 * V**2


def nothing_in_it(i):
    return lambda x: np.sum(tn.grad(cubes)(x)), (np.zeros(0),), np.zeros(0)


NESTED = [
    gradient_of_a_gradient, gradient_of_a_tangent, directions_that_change,
    a_direction_that_is_followed, a_direction_that_is_a_number, third_derivative,
    one_function_twice, another_number_of_times,
    an_argument_of_numpy, a_large_argument, an_inner_closure, value_and_aux, another_transform,
    trees_inside, mapped, mapped_by_the_batch, mapped_beside_shared,
    mapped_operands_of_one_name, mapped_gradients,
    another_size_of_the_batch, gradient_of_a_jacobian, complex_values, nothing_in_it,
]  # fmt: skip
#: those that record something new if positions change
UNSTEADY = [gradient_of_a_jacobian_of_elements]


@pytest.mark.parametrize("way", [*NESTED, *UNSTEADY], ids=lambda way: way.__name__)
def test_nested_transforms_have_the_results_of_their_call(way):
    found = []
    for i in range(CALLS):
        f, args, expected = way(i)
        found.append(tn.grad(f)(*args))
        np.testing.assert_allclose(found[-1], expected, rtol=1e-12, atol=1e-12)
    f, args, _ = way(0)
    np.testing.assert_array_equal(tn.grad(f)(*args), found[0])  # the first and a later call


@pytest.mark.skipif(not HAS_MEMOS, reason="references are not counted exactly without the GIL")
@pytest.mark.parametrize("way", NESTED, ids=lambda way: way.__name__)
def test_nested_transforms_record_nothing_new(way):
    memos = []
    for i in range(10):
        f, args, _ = way(i)
        tn.grad(f)(*args)
        memos.append([(lent.memo, lent.size) for lent in MEMOS.waiting])
    assert memos[-1] == memos[-4]
    assert sum(size for _, size in memos[-1]) > 0


@pytest.mark.skipif(not HAS_MEMOS, reason="there are no memos without the GIL")
@pytest.mark.parametrize(
    "transform",
    [lambda f, x, v: tn.jvp(tn.grad(f), (x,), (v,)), lambda f, x, v: tn.hvp(f)(x, v)],
    ids=["jvp of grad", "hvp"],
)
def test_a_direction_is_that_of_the_call_and_is_not_held(transform):
    """H v = 6 x v"""
    for i in range(CALLS):
        direction = V * i
        found = transform(cubes, point(i), direction)
        product = found[1] if isinstance(found, tuple) else found
        np.testing.assert_allclose(product, 6 * point(i) * V * i, rtol=1e-12)
    (lent,) = [each for each in MEMOS.waiting if each.size]
    assert len(lent.others) == 1
    assert all(leaf.held is UNKNOWN for leaf in lent.arguments)


def test_what_one_inner_function_leaves_behind_is_constant_for_the_next_one():
    """∂/∂y (y · a) with a = y² of the transform before: y², whose derivative is 2 y"""

    def function(x):
        left = []

        def inner(y):
            left.append(y * y)
            return np.sum(y * left[0])

        first, second = tn.grad(inner)(x), tn.grad(inner)(x)
        return np.sum(first + 10.0 * second)

    for i in range(CALLS):
        expected = 6 * point(i) + 10 * 2 * point(i)
        np.testing.assert_allclose(tn.grad(function)(point(i)), expected, rtol=1e-12)


READ_BY_RULES = [1.0]


@tn.custom_vjp
def squares(y):
    return np.sum(y**2)


squares.defvjp(lambda y: (squares(y), y), lambda y, ct: (ct * y * READ_BY_RULES[0],))


def read_by_a_context(operation, rule, primals, outputs, tangents):
    return [tangents[0] * primals[0] * Handle(READ_BY_RULES[0].key)]


CONTEXT = ADContext({Sin: Rules(jvp=read_by_a_context)})


@pytest.mark.parametrize(
    "gradient",
    [tn.grad(squares), tn.grad(lambda y: np.sum(np.sin(y)), context=CONTEXT)],
    ids=["custom", "context"],
)
def test_what_a_rule_reads_is_that_of_the_call(gradient):
    """The inner derivative is y a, with an a that only the rule reads."""

    def function(x):
        return np.sum(gradient(x) * x)

    for i in range(CALLS):
        READ_BY_RULES[0] = tn.asarray(LARGE[:3] * (i + 1))
        expected = 2 * point(i) * LARGE[:3] * (i + 1)
        np.testing.assert_allclose(tn.grad(function)(point(i)), expected, rtol=1e-12)


def test_an_inner_argument_that_is_read_has_the_value_of_the_call():
    """Only the last calls read it, when there is a memo."""

    def function(x, reads):
        def inner(y):
            return np.sum(x * y**2) * (float(tn.stop_gradient(y)[0]) if reads else 1.0)

        return np.sum(tn.grad(inner)(x))

    for i in range(CALLS):
        found = tn.grad(function)(point(i), i > 4)
        x = point(i)
        expected = 4 * x * (x[0] if i > 4 else 1.0)
        np.testing.assert_allclose(found, expected, rtol=1e-12)


NOT_RUN = {
    "branch in vmap": lambda p: np.sum(
        tn.vmap(lambda g: tn.cond(g > -1, lambda: p * 2.0, lambda: np.sqrt(p - 0.5)))(np.ones(2))
    ),
    "branch of examples": lambda p: np.sum(
        tn.vmap(lambda g: tn.cond(g > 0, lambda: np.sqrt(p * g), lambda: p * 2.0))(np.zeros(2))
    ),
    "branch in scan": lambda p: tn.scan(
        lambda c, g: (c + tn.switch(g, [lambda: p * 2.0, lambda: np.sqrt(p - 0.5)]), None),
        0.0,
        np.zeros(2, int),
    )[0],
    "body of while": lambda p: tn.while_loop(
        lambda c: c > 9, lambda c: c + np.sqrt(p - 0.5), 4.0 * p, max_steps=2
    ),
}


@pytest.mark.parametrize("function", NOT_RUN.values(), ids=NOT_RUN)
def test_what_a_body_that_does_not_run_makes_of_its_closure_stays_in_it(function):
    """The slope of 4 p at 0.5; a square root there, at zero, would make it NaN."""
    for _ in range(CALLS):
        assert float(tn.grad(function)(0.5)) == 4.0


def test_an_example_that_is_returned_is_refused_when_its_operations_are_found():
    """Only the last call returns it; what is done to it then was done inside, too."""

    def function(x, leaks):
        kept = []

        def example(s):
            kept.append(s * 2.0)
            return np.sum(kept[0] * 3.0)

        total = np.sum(tn.vmap(example)(SIDES * x))
        return np.sum(kept[0] * 3.0) if leaks else total

    for i in range(CALLS):
        expected = 6 * SIDES.sum(axis=0)
        np.testing.assert_allclose(tn.grad(function)(point(i), False), expected, rtol=1e-12)
    with pytest.raises(tn.LeakedArrayError):
        tn.grad(function)(point(CALLS), True)


def test_an_error_inside_that_the_outer_function_catches():
    def inner(y, fails):
        y = y * 2.0
        if fails:
            raise ZeroDivisionError
        return cubes(y)

    def function(x, fails):
        try:
            return np.sum(tn.grad(inner)(x, fails))
        except ZeroDivisionError:
            return np.sum(x)

    for i in range(CALLS):
        expected = np.ones(3) if i % 2 else 48 * point(i)
        np.testing.assert_allclose(tn.grad(function)(point(i), i % 2), expected, rtol=1e-12)


@pytest.mark.skipif(not HAS_MEMOS, reason="there are no memos without the GIL")
def test_no_operand_of_a_nested_transform_is_held():
    for way in (an_argument_of_numpy, a_large_argument, mapped, mapped_by_the_batch):
        for i in range(4):
            f, args, _ = way(i)
            tn.grad(f)(*args)
    lent = [each for each in MEMOS.waiting if each.memo is not None]
    assert len(lent) == 4
    assert all(leaf.held is UNKNOWN for each in lent for leaf in each.arguments)
    assert all(leaf.held is UNKNOWN for each in lent for leaf in each.memo.captured)
