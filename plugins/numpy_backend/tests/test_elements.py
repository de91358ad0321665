"""Single elements: read by one call, put together by one call; numbers stay what they were."""

import numpy as np
import pytest

import tenferro as tn

X = np.linspace(0.3, 1.1, 12).reshape(3, 4)
SPECIAL = np.array([np.nan, np.inf, -np.inf, -0.0])


def rotation(x):
    c, s = np.cos(x[0, 1]), np.sin(x[0, 1])
    zero, one = tn.zeros((), x.dtype), tn.ones((), x.dtype)
    rows = [np.stack([c, -s, zero]), np.stack([s, c, zero]), np.stack([zero, zero, one])]
    return np.stack(rows) @ x


def joined_along_another_axis(x):
    column = np.concatenate([x[0, :1, None], x[1, 2:3, None]], axis=0)
    return np.concatenate([column, 2 * column, column * x[2, 3]], axis=1)


def every_second_of_a_slice(x):
    part = x[1:, ::2]
    return part[0, 1] * part[1, 0] + part[1, 1]


def reshaped_between(x):
    row = x.reshape(2, 6)[1:].reshape(6)[::2]
    return np.stack([row[2], row[0], row[1] * row[1]]).reshape(3, 1)


def backwards_and_kept(x):
    turned = x[:, ::-1]
    return turned[0, 0] * turned, np.stack([turned[2, 1], turned[0, 3]])


def negative_zero(x):
    zero = -(x[0, 0] * 0)
    return 1 / np.stack([zero, -zero, zero])


def repeated(x):
    number = np.exp(x[1, 1])
    return np.concatenate([tn.broadcast_to(number, (3,)), number[None], x[0, :1]])


def more_than_are_put_together(x):
    return np.stack([np.sin(x[i % 3, i % 4]) for i in range(70)])


def slope(y):
    return np.stack([1.5 * y[0] - y[1], y[1] * y[0]])


def state_of_a_system(x):
    y = x[0, :2]
    first = slope(y)
    second = slope(y + 0.5 * first)
    return y - (first + second * x[2, 3]) * 0.25


def read_as_a_whole_too(x):
    y = slope(x[1, 1:3])
    z = -y + tn.asarray(np.array([0.5, 2.0]), dtype=x.dtype)
    return y, z[1], np.exp(z), z * z[0], z[:1]


def states_in_a_loop(x):
    y = x[:2, 0]
    for _ in range(12):
        y = y + 0.1 * slope(y)
    return y


def more_than_are_split(x):
    y = np.stack([np.sin(x[i % 3, i % 4]) for i in range(5)])
    return y * y - 2 * y


PROGRAMS = (
    state_of_a_system, read_as_a_whole_too, states_in_a_loop, more_than_are_split,
    rotation, joined_along_another_axis, every_second_of_a_slice, reshaped_between,
    backwards_and_kept, negative_zero, repeated, more_than_are_put_together,
)  # fmt: skip
INPUTS = {
    "float64": X,
    "float32": X.astype("float32"),
    "complex128": X * (1 + 0.5j),
    "in columns": np.asfortranarray(X),
    "strided": np.repeat(X, 2, axis=1)[:, ::2],
}


def compiled(function, without=()):
    options = {"without": without, "executor": "source"}
    return tn.jit(function, backend="numpy", options=options)


def leaves(found):
    return found if isinstance(found, tuple) else (found,)


@pytest.mark.parametrize("kind", INPUTS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_elements_are_what_they_were(program, kind):
    """A program has the same bits without the pass, in the first call and as generated source"""
    x = INPUTS[kind]
    need = leaves(compiled(program, ("elements",))(x))
    for function in (compiled(program), tn.jit(program, backend="numpy")):
        for y, z in zip(leaves(function(x)), need, strict=True):
            np.testing.assert_array_equal(y, z, strict=True)


@pytest.mark.parametrize("program", [rotation, reshaped_between, repeated])
def test_derivatives_are_what_they_were(program):
    """So do gradients, gradients of gradients, and programs of many inputs at once"""

    def loss(x):
        return np.sum(np.sin(program(x)))

    def second(x):
        return tn.grad(lambda x: np.sum(tn.grad(loss)(x) ** 2))(x)

    for function, x in ((tn.grad(loss), X), (second, X), (tn.vmap(loss), np.stack([X, 2 * X]))):
        found, need = compiled(function)(x), compiled(function, ("elements",))(x)
        np.testing.assert_allclose(found, need, rtol=1e-12)


def test_numbers_without_a_value_pass_through():
    def function(x):
        return np.stack([x[3], x[0], x[2], x[1]]), np.stack([x[0], x[3] * 2.0])

    found = compiled(function)(SPECIAL)
    np.testing.assert_array_equal(found[0], SPECIAL[[3, 0, 2, 1]])
    np.testing.assert_array_equal(np.signbit(found[1]), np.signbit(SPECIAL[[0, 3]]))


@pytest.mark.parametrize("kind", ["int64", "bool", "float32"])
def test_other_dtypes_are_read_in_their_own(kind):
    x = (np.arange(6) % 5).astype(kind).reshape(2, 3)
    found = compiled(lambda x: (x[1, 0], x[0, 2][None]))(x)
    np.testing.assert_array_equal(found[0], x[1, 0], strict=True)
    np.testing.assert_array_equal(found[1], x[0, 2:3], strict=True)


def test_steps_of_a_loop_read_and_make_small_arrays():
    """A carry is read by its elements and made of numbers; its memory is written over meanwhile"""

    def pendulum(y, rates):
        def step(y, rate):
            return y + rate * np.stack([y[1], -np.sin(y[0])]), y[0] * y[1]

        return tn.scan(step, y, rates)

    y, rates = np.array([0.4, 0.0]), np.linspace(0.01, 0.02, 30)
    last, products = compiled(pendulum)(y, rates)
    for rate, product in zip(rates, products, strict=True):
        assert product == y[0] * y[1]
        y = y + rate * np.stack([y[1], -np.sin(y[0])])
    np.testing.assert_allclose(last, y, rtol=1e-14)


def test_a_long_chain_of_moves_is_planned_in_parts():
    """What is looked at behind a step has a bound: so have the stack and the time of a plan"""

    def chain(x):
        y = x
        for _ in range(3000):
            y = np.concatenate([y, y[:0]])
        return np.concatenate([y[:1], 2.0 * x[1:], y])

    options = {"passes": "none"}
    found = tn.jit(chain, backend="numpy", options=options)(np.array([1.0, 2.0]))
    np.testing.assert_array_equal(found, [1.0, 4.0, 1.0, 2.0])


def test_one_call_reads_an_element_and_one_makes_a_matrix():
    text = compiled(rotation).explain(X)
    source = text[text.index("def make") :]
    assert source.count("(1, 3)") == 0
    assert ".item(" in source
    assert "[p" not in source.replace("[()]", "")
