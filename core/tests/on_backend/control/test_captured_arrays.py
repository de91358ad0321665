"""Arrays from outside in the body of a loop or branch: they are read, never assigned to."""

import numpy as np
import pytest

import tenferro as tn

CARRY = "make the array a part of the carry"
RESULT = "return the new value as a result"
INSIDE = {
    "scan": (lambda f: tn.scan(lambda c, x: (c, f(x)), 0.0, np.ones(3)), CARRY),
    "fori_loop": (lambda f: tn.fori_loop(0, 3, lambda i, c: c + f(i), 0.0), CARRY),
    "while_loop": (lambda f: tn.while_loop(lambda c: c < 3, lambda c: c + f(c), 1.0), CARRY),
    "fori_loop of an Array": (
        lambda f: tn.fori_loop(tn.asarray(0), 3, lambda i, c: c + f(i), 0.0),
        CARRY,
    ),
    "while_loop with a bound": (
        lambda f: tn.while_loop(lambda c: c < 3, lambda c: c + f(c), 1.0, max_steps=3),
        CARRY,
    ),
    "map of blocks": (lambda f: tn.map(f, np.ones(3), batch_size=2), RESULT),
    "map": (lambda f: tn.map(f, np.ones(3)), RESULT),
    "cond": (lambda f: tn.cond(True, f, lambda x: x, 1.0), RESULT),
    "switch": (lambda f: tn.switch(0, [f], 1.0), RESULT),
    "checkpoint": (lambda f: tn.checkpoint(f)(1.0), RESULT),
}


def _by_index(a, x):
    a[0] = x


def _by_constant(a, x):
    a[0] = 1.0


def _by_addition(a, x):
    a += x


def _by_out(a, x):
    np.add(a, x, out=a)


def _by_sorting(a, x):
    a.sort()


def _by_part(a, x):
    a.real = x


def _by_flat(a, x):
    a.flat[1] = x


def _by_function(a, x):
    np.put(a, 0, x)


ASSIGNMENTS = [
    _by_index, _by_constant, _by_addition, _by_out, _by_sorting, _by_part, _by_flat, _by_function
]  # fmt: skip


@pytest.mark.parametrize("name", INSIDE)
def test_a_body_does_not_assign_to_an_array_from_outside(name):
    """The error is raised by the line that assigns, and names the cure"""
    run, cure = INSIDE[name]
    a = tn.asarray([1.0, 2.0])

    def assigns(x):
        a[0] = x
        return x + a[0]

    name = name.partition(" ")[0]
    with pytest.raises(tn.CapturedAssignmentError, match=f"{name}: the body assigns") as caught:
        run(assigns)
    assert caught.value.body == name
    assert cure in str(caught.value)
    assert "a[0] = x" in "".join(caught.value.__notes__)
    np.testing.assert_array_equal(a, [1.0, 2.0])


@pytest.mark.parametrize("assign", ASSIGNMENTS)
@pytest.mark.parametrize("transform", [lambda f: f, tn.jit, tn.grad, tn.vmap])
def test_every_way_to_assign_is_refused(assign, transform):
    """x[i] = v, x += v, out=, methods and functions that write, under every transform"""

    def f(start):
        a = start * np.ones(2)

        def step(carry, x):
            assign(a, x)
            return carry + a[0] * x, None

        return tn.scan(step, 0.0 * start.sum(), np.ones(3))[0]

    start = np.ones(2) if transform is tn.vmap else 1.0
    with pytest.raises(tn.CapturedAssignmentError):
        transform(lambda x: f(tn.asarray(x)))(start)


def test_an_inner_body_does_not_assign_to_an_array_of_an_outer_one():
    def outer(carry, row):
        a = row * 2

        def inner(c, x):
            a[0] = x
            return c, None

        return tn.scan(inner, carry, row)[0], None

    with pytest.raises(tn.CapturedAssignmentError):
        tn.scan(outer, 0.0, np.ones((2, 3)))


@pytest.mark.parametrize("name", INSIDE)
def test_a_body_assigns_to_arrays_that_it_makes_or_receives(name):
    """Copies of outer arrays and equal values too, which share their graph value"""
    a = tn.asarray([1.0, 2.0])
    double = a * 2

    def assigns(x):
        own, same, new = a.copy(), a * 2, np.zeros(2, like=a)
        own[0] = same[1] = new[0] = x
        own += same
        return x + own[0] + same[1] + new[0]

    INSIDE[name][0](assigns)
    np.testing.assert_array_equal(a, [1.0, 2.0])
    np.testing.assert_array_equal(double, [2.0, 4.0])


def test_a_carry_may_be_assigned_to():
    def step(buffer, i):
        buffer[i] = i * 2.0
        buffer += 1.0
        return buffer, None

    last, _ = tn.scan(step, np.zeros(3), np.arange(3))
    np.testing.assert_array_equal(last, [3.0, 4.0, 5.0])


def test_after_a_body_arrays_may_be_assigned_to():
    """Also after a body that raised"""
    a = tn.asarray([1.0, 2.0])
    tn.scan(lambda c, x: (c + a[0], None), 0.0, np.ones(2))
    with pytest.raises(ZeroDivisionError):
        tn.scan(lambda c, x: 1 / 0, 0.0, np.ones(2))
    a[0] = 5.0
    np.testing.assert_array_equal(a, [5.0, 2.0])
