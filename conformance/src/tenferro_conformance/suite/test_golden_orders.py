"""Golden numbers of higher order: transforms of transforms, in every order of the two modes."""

from math import cos, e, exp, sin

import numpy as np
import pytest

import tenferro.primitives as p
from tenferro_conformance.running.doors import close

pytestmark = pytest.mark.tenferro_golden
modes = pytest.mark.parametrize("outer", ["push", "pull"])
inner_modes = pytest.mark.parametrize("inner", ["push", "pull"])


def derivative(door, mode, f, seed=1.0):
    """Return the function x ↦ f′(x)·seed, by one of the two modes."""
    return lambda x: getattr(door, mode)(f, [x], [seed])[0]


@modes
@inner_modes
@pytest.mark.parametrize(
    "f, at, want",
    [
        (lambda x: x * x, 3.0, 2.0),
        (lambda x: p.exp(2.0 * x), 1.0, 4 * exp(2)),
        (lambda x: p.sin(x) * x, 0.5, 2 * cos(0.5) - 0.5 * sin(0.5)),
        (lambda x: x * x, [2.0, 3.0], [2.0, 2.0]),
        (lambda z: z * z, 1 + 2j, 2.0 + 0j),
    ],
    ids=["x²", "exp(ax)", "x sin x", "x² of a vector", "z²"],
)
def test_second_order(tenferro_door, outer, inner, f, at, want):
    """FoF = FoR = RoF = RoR."""
    second = derivative(tenferro_door, outer, derivative(tenferro_door, inner, f))
    close(tenferro_door.numbers(second(tenferro_door.x(at))), [np.asarray(want)])


@modes
def test_third_order(tenferro_door, outer):
    """The third derivative of x³ is 6, of vectors too."""
    for at, want in ((3.0, 6.0), ([2.0, 3.0], [6.0, 6.0])):
        f = lambda x: x * x * x  # noqa: E731
        for _ in range(2):
            f = derivative(tenferro_door, "push", f)
        third = derivative(tenferro_door, outer, f)
        close(tenferro_door.numbers(third(tenferro_door.x(at))), [np.asarray(want)])


@modes
def test_fourth_order_of_a_shared_square(tenferro_door, outer):
    """(x·x)(x·x), with x·x built twice: 24."""
    f = lambda x: (x * x) * (x * x)  # noqa: E731
    for _ in range(3):
        f = derivative(tenferro_door, "push", f)
    close(
        tenferro_door.numbers(derivative(tenferro_door, outer, f)(tenferro_door.x(1.5))),
        [np.asarray(24.0)],
    )


def test_reverse_then_forward_twice(tenferro_door):
    """Exp at 1: reverse, then forward twice: e."""
    f = derivative(tenferro_door, "pull", p.exp)
    for _ in range(2):
        f = derivative(tenferro_door, "push", f)
    close(tenferro_door.numbers(f(tenferro_door.x(1.0))), [np.asarray(e)])


@inner_modes
def test_two_directions(tenferro_door, inner):
    """Exp at [1, 2] along [.3, .7] and [.5, .4]: [.15·e, .28·e²]."""
    first = derivative(tenferro_door, inner, p.exp, np.array([0.3, 0.7]))
    second = derivative(tenferro_door, "push", first, np.array([0.5, 0.4]))
    close(
        tenferro_door.numbers(second(tenferro_door.x([1.0, 2.0]))),
        [np.array([0.15 * e, 0.28 * exp(2)])],
    )


@pytest.mark.parametrize(
    "f, at, v",
    [
        (lambda x: p.exp(2.0 * x), 1.0, 1.0),
        (lambda x: p.reduce_sum(p.exp(x * x), (0,)), [0.5, -0.25], [1.0, 0.5]),
    ],
    ids=["exp(ax)", "sum exp(x²)"],
)
@pytest.mark.parametrize("mode", ["push", "pull"])
def test_against_differences(tenferro_door, f, at, v, mode):
    """J v = (f(x−2hv) − 8 f(x−hv) + 8 f(x+hv) − f(x+2hv)) / 12h, h = 1e-3."""
    h, at, v = 1e-3, np.asarray(at), np.asarray(v)
    points = tenferro_door.numbers(*(f(tenferro_door.x(at + k * h * v)) for k in (-2, -1, 1, 2)))
    difference = (points[0] - 8 * points[1] + 8 * points[2] - points[3]) / (12 * h)
    seed = v if mode == "push" else np.ones_like(points[0])
    found = tenferro_door.numbers(*getattr(tenferro_door, mode)(f, [tenferro_door.x(at)], [seed]))[
        0
    ]
    close([found if mode == "push" else np.sum(found * v)], [difference], tolerance=1e-5)


@pytest.mark.parametrize("seed", [1 + 0j, 1j], ids=["1", "i"])
def test_complex_exponential_against_differences(tenferro_door, seed):
    """The cotangent of z is the gradient of Re(conj(seed)·exp z) in both parts of z."""
    z, h = 0.4 - 0.2j, 1e-3
    steps = [(k * h * d) for d in (1, 1j) for k in (-2, -1, 1, 2)]
    points = [
        (np.conj(seed) * y).real
        for y in tenferro_door.numbers(*(p.exp(tenferro_door.x(z + s)) for s in steps))
    ]
    parts = [(a - 8 * b + 8 * c - d) / (12 * h) for a, b, c, d in (points[:4], points[4:])]
    found = tenferro_door.numbers(*tenferro_door.pull(p.exp, [tenferro_door.x(z)], [seed]))
    close(found, [np.asarray(complex(*parts))], tolerance=1e-5)


def test_repeated_square_is_one_equation(tenferro_session):
    """x·x built twice is one value, and one equation of the program."""
    from tenferro.computegraph import KeyView, materialize_merge

    x = p.variable("x", (), "float64")
    y = (x * x) * (x * x)
    assert len(materialize_merge(KeyView(), [y.key])) == 2
