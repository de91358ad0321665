"""`scan(..., unroll=k)`: k steps in the body of the loop, and the same function."""

from functools import partial

import numpy as np
import pytest
from control import programs

import tenferro as tn

W, V = 0.7, np.array([0.4, -0.3, 0.2])
PROGRAMS = {
    f.__name__: f
    for f in (
        programs.recurrence, programs.backwards, programs.without_rows, programs.rows_that_vary,
        programs.unused_carry, programs.integer_carry, programs.bool_carry,
    )
}  # fmt: skip
TRANSFORMS = {
    "value": lambda f: f(W, V),
    "jit": lambda f: tn.jit(f)(W, V),
    "jvp": lambda f: tn.jvp(f, (W, V), (1.0, 0.5 * V)),
    "grad": lambda f: tn.grad(f, (0, 1))(W, V),
    "jvp of grad": lambda f: tn.jvp(tn.grad(f), (W, V), (1.0, None))[1],
    "vmap of grad": lambda f: tn.vmap(tn.grad(f, 1), (None, 0))(W, np.stack([V, -V])),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("unroll", [2, 3, 9])
def test_unroll_is_the_same_function(name, transform, unroll):
    """T(scan with unroll=k) = T(scan) for transforms T"""
    make = TRANSFORMS[transform]
    got, need = (make(partial(PROGRAMS[name], partial(tn.scan, unroll=k))) for k in (unroll, 1))
    for x, y in zip(flat(got), flat(need), strict=True):
        np.testing.assert_allclose(np.array(x), np.array(y), rtol=1e-12, atol=1e-14)


def flat(found):
    return list(found) if isinstance(found, tuple) else [found]


@pytest.mark.parametrize("checkpoint", ["none", "sqrt"])
@pytest.mark.parametrize("reverse", [False, True])
def test_unroll_with_checkpoints(checkpoint, reverse):
    """d/dw is the same, whatever is stored"""

    def f(w, unroll):
        step = lambda c, r: (np.sin(w * c) + r, c * r)  # noqa: E731
        given = {"reverse": reverse, "unroll": unroll, "checkpoint": checkpoint}
        c, ys = tn.scan(step, 0.3, np.linspace(0.0, 1.0, 23), **given)
        return c + np.sum(ys**2)

    for argnums in (tn.grad(f), tn.grad(tn.grad(f))):
        np.testing.assert_allclose(argnums(0.7, 3), argnums(0.7, 1), rtol=1e-12)


def test_the_loop_has_fewer_iterations_and_a_longer_body():
    """7 steps by 3: a loop of 2 iterations with 3 steps each, and one of 1 step"""

    def f(x, rows):
        return tn.scan(lambda c, r: (np.sin(c) + r, None), x, rows, unroll=3)[0]

    loops = [
        (node.operation.length, len(node.operation.body))
        for node in tn.jit(f).lower(0.1, np.ones(7)).nodes
        if node.operation.name == "scan"
    ]
    assert [length for length, _ in loops] == [2, 1]
    assert loops[0][1] > 2 * loops[1][1]


def test_a_body_is_recorded_as_often_as_without_it():
    calls = []

    def step(c, r):
        calls.append(r)
        return c + r, c

    tn.scan(step, np.zeros(()), np.ones(8), unroll=4)
    assert len(calls) == 1


def test_unroll_of_no_steps_and_in_python():
    """Length 0 gives the first carry; `debug.unrolled` runs the steps one by one"""
    c, ys = tn.scan(lambda c, r: (c + r, c), 1.5, np.ones(0), unroll=4)
    assert (float(c), np.shape(ys)) == (1.5, (0,))
    with tn.debug.unrolled():
        c, ys = tn.scan(lambda c, r: (c + r, c), 0.0, np.ones(3), unroll=2)
    np.testing.assert_array_equal(ys, [0.0, 1.0, 2.0])


@pytest.mark.parametrize("unroll", [0, -1, 1.0, True, "2", None])
def test_bad_values_are_refused(unroll):
    with pytest.raises(ValueError, match="unroll is a number of steps"):
        tn.scan(lambda c, r: (c + r, None), 0.0, np.ones(3), unroll=unroll)
