"""What is computed again on the CPU waits for the sweep that reads it, so that it saves memory."""

import numpy as np

import tenferro as tn
from tenferro.transforms.control.revolve import repetitions

STEPS = 40
X = np.sin(np.linspace(0.0, 6.0, 2_000))


def heat(x, store):
    step = lambda u: u + 0.1 * (np.roll(u, 1) - 2.0 * u + np.roll(u, -1)) - 0.01 * u**3  # noqa: E731
    last, means = tn.scan(lambda u, _: (step(u), np.mean(u)), x, None, STEPS, checkpoint=store)
    return np.sum(last**2) + means[10] * means[25]


def gradient_of(function):
    """The gradient at X, and how many arrays like X its temporaries are."""
    gradient = tn.jit(tn.grad(function), backend="xla")
    lines = gradient.explain(X).splitlines()
    (figure,) = [line.split()[-1] for line in lines if line.startswith("  temporary bytes")]
    return np.asarray(gradient(X)), int(figure) / X.nbytes


def test_memory_of_a_loop_follows_its_slots():
    """temporaries ≤ slots + 2 r + 8 states for r repetitions; the bits are those of "sqrt\""""
    slots = 6
    found, states = gradient_of(lambda x: heat(x, tn.revolve(slots)))
    assert states <= slots + 2 * repetitions(STEPS, slots) + 8
    expected = gradient_of(lambda x: heat(x, "all"))[0]
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)


def layer(x):
    for k in range(4):
        x = np.sin(np.exp(np.cos(x + k)))
    return x


def layers(count, part):
    def function(x):
        for _ in range(count):
            x = part(x)
        return np.sum(x)

    return function


def test_a_checkpoint_stores_its_arguments():
    """Four layers more take little more than four arrays; the values inside are 12 of each"""
    part = tn.checkpoint(layer)
    (found, few), (_, many) = gradient_of(layers(4, part)), gradient_of(layers(8, part))
    assert many - few <= 6
    np.testing.assert_allclose(found, gradient_of(layers(4, layer))[0], rtol=1e-12)


def test_results_of_each_kind_are_computed_again():
    """Complex numbers, half precision, and an argument that has no derivative"""
    part = tn.checkpoint(lambda z, h, n: (np.exp(1j * z) * n, np.tanh(h)))

    def function(x):
        z, h = part(x, x.astype("float16"), np.arange(x.size))
        return np.sum(np.abs(z * z) ** 2) + np.sum(h).astype("float64")

    x = np.linspace(0.1, 0.9, 5)
    compiled = tn.jit(tn.grad(function), backend="xla")
    np.testing.assert_allclose(np.asarray(compiled(x)), tn.grad(function)(x), rtol=1e-3)


def test_derivatives_of_order_2():
    x = np.linspace(0.1, 0.9, 5)
    checked, plain = [tn.hessian(layers(2, part)) for part in (tn.checkpoint(layer), layer)]
    np.testing.assert_allclose(tn.jit(checked, backend="xla")(x), plain(x), rtol=1e-10)
