"""Measured memory: what un-jitted `vjp` holds, and the peak of a gradient."""

import tracemalloc

import numpy as np

import tenferro as tn

SIZE = 50_000


def layer(x):
    return np.sin(np.exp(np.cos(x)) * x)


def chain(part, count=8):
    def function(x):
        for _ in range(count):
            x = part(x)
        return np.sum(x)

    return function


def held(function, x):
    """Return how many arrays of the size of x a pullback holds."""
    tn.vjp(function, x)
    tracemalloc.start()
    try:
        _, pullback = tn.vjp(function, x)
        found = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert callable(pullback)
    return found / x.nbytes


def peak(function, x):
    """Return the peak of a call, in arrays of the size of x."""
    function(x)
    tracemalloc.start()
    try:
        function(x)
        return tracemalloc.get_traced_memory()[1] / x.nbytes
    finally:
        tracemalloc.stop()


def test_a_pullback_holds_the_arguments_of_checkpoints_alone():
    x = np.linspace(0.0, 1.0, SIZE)
    assert held(chain(tn.checkpoint(layer)), x) < 8.5 < 16 < held(chain(layer), x)


def test_a_policy_adds_what_it_keeps():
    x = np.linspace(0.0, 1.0, SIZE)
    keeping = tn.checkpoint(layer, policy=lambda primitive: primitive.name == "exp")
    assert 15 < held(chain(keeping), x) < 16.5


def test_the_peak_of_a_loop_with_segments():
    """2√n states and a few, in place of n"""
    x = np.linspace(0.0, 1.0, 10_000)

    def gradient(store):
        step = lambda c, _: (c + 0.1 * np.sin(c), None)  # noqa: E731
        return tn.jit(
            tn.grad(lambda x: np.sum(tn.scan(step, x, None, 256, checkpoint=store)[0] ** 2))
        )

    assert peak(gradient("sqrt"), x) < 2 * 16 + 10 < 256 < peak(gradient("auto"), x)
