"""Golden tests of recording: what is linearized, what accumulates, what is left alone."""

import numpy as np
import pytest

import tenferro as tn
import tenferro.primitives as p
from tenferro_conformance.running.doors import close

pytestmark = pytest.mark.tenferro_golden


@pytest.mark.parametrize(
    "f, at, want",
    [
        (lambda a, b: a + b, [1.0, 2.0], [1.0, 1.0]),
        (lambda a, b: -(a + b), [1.0, 2.0], [-1.0, -1.0]),
        (lambda x: x * x, [3.0], [6.0]),
        (lambda x, y: x * y + y, [2.0, 3.0], [3.0, 3.0]),
        (lambda x: x + x, [1.0], [2.0]),
    ],
    ids=["a+b", "-(a+b)", "x²", "xy+y", "fan-out"],
)
def test_gradients(tenferro_door, f, at, want):
    """Contributions to one value are added under one key."""
    found = tenferro_door.pull(f, [tenferro_door.x(v) for v in at], [1.0])
    close(tenferro_door.numbers(*found), [np.asarray(w) for w in want])


def test_only_seeded_outputs_count(tenferro_door):
    """Of (x³, 2x) only the second is seeded: gradient 2."""
    found = tenferro_door.pull(lambda x: (x * x * x, x * 2.0), [tenferro_door.x(3.0)], [None, 1.0])
    close(tenferro_door.numbers(*found), [np.asarray(2.0)])


def test_an_inactive_input_gets_nothing(tenferro_door):
    """N-ary: active inputs get 1, the inactive one is not differentiated."""
    fixed = tenferro_door.x([5.0])
    parts = [tenferro_door.x([1.0]), tenferro_door.x([2.0])]
    found = tenferro_door.pull(lambda a, b: p.concatenate([a, fixed, b], 0), parts, [np.ones(3)])
    close(tenferro_door.numbers(*found), [np.ones(1), np.ones(1)])


def test_seed_on_the_second_output(tenferro_door):
    """Two outputs (x, −x), seed on slot 1: −1."""
    found = tenferro_door.pull(lambda x: (x, -x), [tenferro_door.x(2.0)], [None, 1.0])
    close(tenferro_door.numbers(*found), [np.asarray(-1.0)])


def test_constant_output(tenferro_door):
    """An output that does not depend on the input: nothing flows."""
    x = tenferro_door.x(2.0)
    forward = tenferro_door.push(lambda x: tenferro_door.x(7.0), [x], [1.0])
    reverse = tenferro_door.pull(lambda x: tenferro_door.x(7.0), [x], [1.0])
    close(tenferro_door.numbers(*forward, *reverse), [None, None])


def test_gradient_functions_agree(tenferro_backend):
    """Grad, value_and_grad, linearize, hvp, jit: one function, the same numbers."""
    f = lambda x: tn.sum(x * x * x)  # noqa: E731
    x, v = np.array([2.0, 3.0]), np.array([1.0, -1.0])
    value, gradient = tn.value_and_grad(f)(x)
    y, linear = tn.linearize(f, x)
    close(
        [value, gradient, tn.grad(f)(x), tn.jit(tn.grad(f))(x)],
        [35.0, 3 * x * x, 3 * x * x, 3 * x * x],
    )
    close([y, linear(v), *linear.transpose(1.0)], [35.0, np.sum(3 * x * x * v), 3 * x * x])
    close([tn.hvp(f)(x, v)], [6 * x * v])


def test_operands_of_the_user_come_back_as_they_went(tenferro_backend):
    """NumPy in, NumPy out; an Array in, an Array out; the argument is not changed."""
    x = np.array([1.0, 2.0])
    gradient = tn.grad(lambda x: tn.sum(x * x))(x)
    assert isinstance(gradient, np.ndarray)
    gradient += 1
    assert isinstance(tn.grad(lambda x: tn.sum(x * x))(tn.asarray(x)), tn.Array)
    np.testing.assert_array_equal(x, [1.0, 2.0])
