"""Loops with elementwise steps, run on the CPU in one launch, give what Python's loop gives."""

import numpy as np
import pytest
from on_cpu import compiler
from test_loops_on_cpu import check

import tenferro as tn
from tenferro_cupy.kernels import element_loop

pytestmark = pytest.mark.skipif(compiler.COMPILER is None, reason="there is no C++ compiler")
C = np.linspace(-1.0, 1.0, 5050).reshape(50, 101)  # more than a chain takes
ROWS = np.cos(np.arange(5 * 5050.0)).reshape(5, 50, 101)
NUMBERS = np.array([0.5, -1.0, 2.0, 0.25, 1.5])


def exchanged(carry, row):
    """Each carried value becomes another: none may be overwritten before it is read."""
    a, b, c = carry
    return (c, a, b + row), c


def counted(carry, row):
    """A number is carried beside arrays."""
    count, x = carry
    return (count + 1, np.tanh(x * count) + row), (count * 2, x)


LOOPS = {
    "a chain rule": (lambda c, r: (np.sin(c) * r, c + r), C, ROWS, {}),
    "backwards": (lambda c, r: (np.sin(c) * r, c + r), C, ROWS, {"reverse": True}),
    "carried values change places": (exchanged, (C, C + 1, C * 2), ROWS, {}),
    "a value stays": (lambda c, r: ((c[0], c[0] * c[1] + r), r), (C, C), ROWS, {}),
    "a row becomes the value": (lambda c, r: (r, c), C, ROWS, {}),
    "a counter": (counted, (0.0, C), ROWS, {}),
    "a counter backwards": (counted, (np.float64(0), C), ROWS, {"reverse": True}),
    "a row of numbers": (lambda c, r: (np.sin(c) * r, c), C, NUMBERS, {}),
    "views of what stays": (lambda c, r: (c * C[0] + C.T.reshape(50, 101) * r, c), C, ROWS, {}),
    "rows by columns": (lambda c, r: (c * r, c), C[:, :50], ROWS[:, :, :50].transpose(0, 2, 1), {}),
    "numbers alone": (lambda c, r: (np.sin(c) + r, c), 1.0, NUMBERS, {}),
    "nothing": (lambda c, r: (np.sin(c) * r, c), C[:0], ROWS[:, :0], {}),
    "complex numbers": (lambda c, r: (np.exp(1j * r) * c, np.abs(c)), C + 1j, ROWS, {}),
    "narrow numbers": (
        lambda c, r: ((c[0] / 2 + r.astype("float32"), ~c[1]), c[1]),
        (C.astype("float32"), C > 0), ROWS, {},
    ),
}  # fmt: skip


def is_one_launch(names):
    return sum(name.startswith("tenferro_elements") for name in names) == 1


@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_is_one_launch(name, real, make_backend, interpreted):
    """(carry, rows of ys) of one kernel = those of Python's loop"""
    step, first, rows, options = LOOPS[name]
    function = lambda rows: tn.scan(step, first, rows, **options)  # noqa: E731
    assert is_one_launch(check(function, make_backend(), interpreted(make_backend()), rows))


@pytest.mark.parametrize("name", ["backwards", "a counter"])
def test_a_long_loop_is_several_launches(name, real, make_backend, interpreted, monkeypatch):
    """Carried values and rows go on where the launch before ended"""
    monkeypatch.setattr(element_loop, "MAX_STEPS", 2)
    step, first, rows, options = LOOPS[name]
    function = lambda rows: tn.scan(step, first, rows, **options)  # noqa: E731
    names = check(function, make_backend(), interpreted(make_backend()), rows)
    assert sum(name.startswith("tenferro_elements") for name in names) == 3


@pytest.mark.parametrize("reverse", [False, True])
def test_gradients(real, make_backend, interpreted, reverse):
    """The gradient by first values, rows and a number that all steps share is two loops"""

    def loss(rows):
        def of(first, rate, rows):
            step = lambda c, r: (np.sin(c * rate) * r, c * r)  # noqa: E731
            carry, ys = tn.scan(step, first, rows, reverse=reverse)
            return np.sum(carry) + np.sum(ys**2)

        return tn.value_and_grad(of, argnums=(0, 1, 2))(C, 0.7, rows)

    names = check(loss, make_backend(), interpreted(make_backend()), ROWS)
    assert sum(name.startswith("tenferro_elements") for name in names) == 2
