"""Loops in one launch, run on the CPU, give what Python's loop gives."""

import numpy as np
import pytest
from on_cpu import compiler

import tenferro as tn
from tenferro_cupy.kernels import loop

pytestmark = pytest.mark.skipif(compiler.COMPILER is None, reason="there is no C++ compiler")
C = np.linspace(-1.0, 1.0, 12).reshape(3, 4)
ROWS = np.cos(np.arange(7 * 12.0)).reshape(7, 3, 4)


def exchanged(carry, row):
    """Each carried value becomes another: none may be overwritten before it is read."""
    a, b, c = carry
    return (c, a, b + row), c


def turned(carry, row):
    """A carried value becomes a view of itself."""
    return carry[::-1, ::-1], carry * row


LOOPS = {
    "a chain rule": (lambda c, r: (np.sin(c) * r, c + r), C, {}),
    "backwards": (lambda c, r: (np.sin(c) * r, c + r), C, {"reverse": True}),
    "carried values change places": (exchanged, (C, C + 1, C * 2), {}),
    "a view is carried": (turned, C, {}),
    "a value stays": (lambda c, r: ((c[0], c[0] * c[1] + r), r), (C, C), {}),
    "the value before the step": (lambda c, r: (c * 0.5 + r, c), C, {}),
    "one value twice": (lambda c, r: (np.exp(-c * r), (c * r, c * r)), C, {}),
    "a rolled value": (lambda c, r: (np.roll(c, 1, 1) + np.roll(c, -1, 0) * r, c[1:]), C, {}),
    "sums": (lambda c, r: (c - np.mean(c, 1, keepdims=True) * r, np.sum(c * r)), C, {}),
    "a reshaped value": (lambda c, r: (np.tanh((c * r).reshape(4, 3).T), c[0] * 1.5), C, {}),
    "elements at carried positions": (
        lambda c, r: (((c[0] + 1) % 3, c[1] + r[c[0]]), c[0]), (np.array(2), C), {},
    ),
    "complex numbers": (lambda c, r: (np.exp(1j * r) * c, np.abs(c)), C + 1j, {}),
    "narrow numbers": (
        lambda c, r: ((c[0] + r.astype("float32"), ~c[1]), c[1]),
        (C.astype("float32"), C > 0), {},
    ),
}  # fmt: skip


def scanned(name, rows=ROWS):
    function, first, options = LOOPS[name]
    return lambda rows: tn.scan(function, first, rows, **options)


def leaves(values):
    if isinstance(values, (tuple, list)):
        return [leaf for value in values for leaf in leaves(value)]
    return [np.asarray(values)]


def check(function, backend, interpreting, rows):
    jitted = tn.jit(function, backend=backend)
    got = leaves(jitted(rows))
    names = [name for name, _ in backend.cupy.launches]
    want = leaves(tn.jit(function, backend=interpreting)(rows))
    for a, b in zip(got, want, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=1e-6 if a.dtype == "float32" else 1e-12, atol=1e-12)
    return names


@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_takes_fewer_launches_than_steps(name, real, make_backend, interpreted):
    """(carry, rows of ys) of one kernel = those of Python's loop

    What depends on no carried value is computed for all rows before or after the loop.
    """
    backend = make_backend()
    names = check(scanned(name), backend, interpreted(make_backend()), ROWS)
    assert 1 <= len(names) < len(ROWS)


def test_rows_may_be_views(real, make_backend, interpreted):
    """Every other row of an array that is stored column by column"""
    rows = np.cos(np.arange(14 * 12.0)).reshape(4, 3, 14).T.transpose(0, 1, 2)
    function = lambda rows: scanned("a chain rule")(rows[::2])  # noqa: E731
    names = check(function, make_backend(), interpreted(make_backend()), rows)
    assert len(names) < 4


def test_a_long_loop_is_several_launches(real, make_backend, interpreted, monkeypatch):
    """Carried values and rows go on where the launch before ended"""
    monkeypatch.setattr(loop, "MAX_STEPS", 3)
    names = check(scanned("sums"), make_backend(), interpreted(make_backend()), ROWS)
    assert sum(name.startswith("tenferro_chain") for name in names) == 3


@pytest.mark.parametrize("reverse", [False, True])
def test_gradients(real, make_backend, interpreted, reverse):
    """The gradient of a loop is two loops"""

    def loss(rows):
        carry, ys = tn.scan(lambda c, r: (np.sin(c) * r, c * r), C, rows, reverse=reverse)
        return np.sum(carry) + np.sum(ys**2)

    names = check(tn.value_and_grad(loss), make_backend(), interpreted(make_backend()), ROWS)
    assert len(names) < len(ROWS)
