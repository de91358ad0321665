"""Which loops run in one launch, and which are left to Python."""

import numpy as np
import pytest

import tenferro as tn

C = np.linspace(-1.0, 1.0, 12).reshape(3, 4)
ROWS = np.cos(np.arange(5 * 12.0)).reshape(5, 3, 4)
LARGE = np.linspace(-1.0, 1.0, 5000)


def launches(function, backend, *given):
    jitted = tn.jit(function, backend=backend)
    jitted(*given)
    del backend.cupy.launches[:]
    jitted(*given)
    return [name for name, _ in backend.cupy.launches]


def test_many_steps_are_one_launch(make_backend):
    def scanned(x):
        return tn.scan(lambda c, _: (np.sin(c) * 0.9 + 0.1, None), x, length=2000)[0]

    assert launches(scanned, make_backend(), C) == ["kernel"]


@pytest.mark.parametrize(
    "step, first",
    [
        (lambda c, r: (c @ r.T @ r, None), C),
        (lambda c, r: (np.sort(c, axis=1) * r, None), C),
        (lambda c, r: (tn.cond(np.sum(c) > 0, lambda x: x, lambda x: -x, c) * r, None), C),
    ],
)
def test_other_steps_leave_a_loop_to_python(step, first, make_backend):
    function = lambda rows: tn.scan(step, first, rows)[0]  # noqa: E731
    assert len(launches(function, make_backend(), ROWS)) >= len(ROWS)
    want = np.asarray(function(ROWS))
    np.testing.assert_allclose(tn.jit(function, backend=make_backend())(ROWS), want, rtol=1e-12)


@pytest.mark.parametrize(
    "step", [lambda c, _: (np.sin(c) - np.mean(c), None), lambda c, _: (np.roll(c, 1) * c, None)]
)
def test_large_values_leave_a_loop_to_python(step, make_backend):
    """One block of threads would be slow, and an element needs others"""
    function = lambda x: tn.scan(step, x, length=5)[0]  # noqa: E731
    assert len(launches(function, make_backend(), LARGE)) >= 5


def test_elementwise_steps_of_large_values_are_one_launch(make_backend):
    """Each thread computes one element of all steps"""
    function = lambda x: tn.scan(lambda c, _: (np.sin(c), None), x, length=5)[0]  # noqa: E731
    assert launches(function, make_backend(), LARGE) == ["kernel"]


def test_a_loop_in_a_loop_is_one_launch_a_step(make_backend):
    def inner(x):
        return tn.scan(lambda c, _: (np.sin(c), None), x, length=4)[0]

    function = lambda x: tn.scan(lambda c, _: (inner(c), None), x, length=5)[0]  # noqa: E731
    names = launches(function, make_backend(), C)
    assert names.count("kernel") == len(names) == 5


def test_a_callback_in_a_body_leaves_a_loop_to_python(make_backend):
    seen = []

    def step(c, _):
        tn.debug.callback(lambda x: seen.append(float(x)), c[0, 0])
        return c * 2, None

    tn.jit(lambda x: tn.scan(step, x, length=3)[0], backend=make_backend())(C)
    assert seen == [-1.0, -2.0, -4.0]


def test_a_captured_loop(make_backend):
    """A loop in one launch is captured like any kernel"""
    options = {"cuda_graph": True}
    function = lambda rows: tn.scan(lambda c, r: (c * r, c), C, rows)  # noqa: E731
    replayed = tn.jit(function, backend=make_backend(), options=options)
    for k in range(3):
        got, want = replayed(ROWS + k), function(ROWS + k)
        np.testing.assert_allclose(got[0], np.asarray(want[0]), rtol=1e-12)
        np.testing.assert_allclose(got[1], np.asarray(want[1]), rtol=1e-12)
