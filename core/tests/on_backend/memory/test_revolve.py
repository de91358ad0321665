"""Loops that store so many carries: how many at a time, and how often steps are run again."""

import tracemalloc
from functools import cache

import numpy as np
import pytest

import tenferro as tn
from tenferro.transforms.control.revolve import repetitions, split


def carries_at_a_time(steps, slots):
    """Carries stored besides the first: those before a part, and those inside it"""
    parts = split(steps, slots)
    *inner, (last, _) = parts
    inside = [carries_at_a_time(*part) for part in inner]
    return max(before + count for before, count in enumerate([*inside, last - 1]))


def depth(steps, slots):
    return max([1 + depth(*part) for part in split(steps, slots)[:-1]], default=0)


@cache
def fewest_repetitions(steps, slots):
    """min over m of max(1 + f(m, slots), f(steps - m, slots - 1)), f = 0 with a slot for each"""
    if steps <= slots + 1:
        return 0
    if not slots:
        return 10**6  # never
    parts = ((m, steps - m) for m in range(1, steps))
    return min(
        max(1 + fewest_repetitions(m, slots), fewest_repetitions(rest, slots - 1))
        for m, rest in parts
    )


@pytest.mark.parametrize("slots", range(1, 8))
def test_parts_fit_into_the_slots_and_are_repeated_as_rarely_as_possible(slots):
    for steps in range(1, 34):
        assert sum(length for length, _ in split(steps, slots)) == steps
        assert carries_at_a_time(steps, slots) <= slots
        assert depth(steps, slots) == repetitions(steps, slots) == fewest_repetitions(steps, slots)


def repeated_steps(steps, slots):
    """Steps that are run again, all together: those of each checkpoint, and again inside it"""
    return sum(length + repeated_steps(length, own) for length, own in split(steps, slots)[:-1])


@cache
def fewest_repeated_steps(steps, slots):
    """t(n, s) = min over m of m + t(m, s) + t(n - m, s - 1), t = 0 with a slot for each"""
    if steps <= slots + 1:
        return 0
    if not slots:
        return 10**6  # never
    parts = ((m, steps - m) for m in range(1, steps))
    return min(
        m + fewest_repeated_steps(m, slots) + fewest_repeated_steps(rest, slots - 1)
        for m, rest in parts
    )


@pytest.mark.parametrize("slots", range(1, 8))
def test_all_repeated_steps_together_are_at_most_4_percent_more_than_the_fewest(slots):
    """t(n, s) ≤ steps run again ≤ 1.04 t(n, s); equal for one and two slots"""
    allowed = 1.0 if slots <= 2 else 1.04
    for steps in range(1, 34 if slots == 1 else 61):
        fewest = fewest_repeated_steps(steps, slots)
        assert fewest <= repeated_steps(steps, slots) <= allowed * fewest


def rows_and_results(store, length, reverse):
    rows = np.linspace(0.1, 0.4, length)

    def function(x):
        body = lambda c, row: (np.sin(c) + row * c, c * row)  # noqa: E731
        last, ys = tn.scan(body, x, rows, reverse=reverse, checkpoint=store)
        return np.sum(last) + np.sum(ys[0] * ys[-1])

    return function


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("length", [13, 40])
@pytest.mark.parametrize("slots", [2, 3, 6])
def test_batches_of_gradients_are_those_with_all_carries_stored(slots, length, reverse):
    """vmap(grad(f)) with s slots = vmap(grad(f)) with a slot for each carry"""
    xs = np.linspace(-1.0, 1.0, 6).reshape(2, 3)
    found = tn.vmap(tn.grad(rows_and_results(tn.revolve(slots), length, reverse)))(xs)
    expected = tn.vmap(tn.grad(rows_and_results("none", length, reverse)))(xs)
    np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=1e-12)


def heat(x, store):
    step = lambda u: u + 0.1 * (np.roll(u, 1) - 2.0 * u + np.roll(u, -1)) - 0.01 * u**3  # noqa: E731
    last, means = tn.scan(lambda u, _: (step(u), np.mean(u)), x, None, 300, checkpoint=store)
    return np.sum(last**2) + means[100] * means[250]


@pytest.mark.parametrize("slots", [25, 10, 5])
def test_memory_follows_the_slots(slots):
    """peak ≤ slots + 2 r + 8 states for r repetitions; the bits are those with all states stored"""
    x = np.sin(np.linspace(0.0, 6.0, 20_000))
    gradient = tn.jit(tn.grad(lambda x: heat(x, tn.revolve(slots))))
    np.testing.assert_array_equal(gradient(x), tn.grad(lambda x: heat(x, "none"))(x))
    tracemalloc.start()
    gradient(x)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= (slots + 2 * repetitions(300, slots) + 8) * x.nbytes


@pytest.mark.parametrize("slots", [0, -1, 1.5, "2", None])
def test_no_number_of_slots_is_refused(slots):
    with pytest.raises(ValueError, match="slots is an integer of 1 or more"):
        tn.revolve(slots)


def test_too_few_slots_are_refused_with_the_number_that_is_needed():
    loop = lambda x, slots: tn.scan(  # noqa: E731
        lambda c, _: (np.sin(c), None), x, None, 1000, checkpoint=tn.revolve(slots)
    )[0]
    with pytest.raises(ValueError, match="need       3 slots or more"):
        tn.grad(lambda x: loop(x, 1))(0.5)
    assert tn.grad(lambda x: loop(x, 10))(0.5) == tn.grad(lambda x: loop(x, 998))(0.5)
