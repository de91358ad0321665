"""Draws under transforms: vmap equals a loop, jit equals its absence, keys travel in pytrees."""

import numpy as np
import pytest

import tenferro as tn
from tenferro import random

DRAWS = {
    "bits": lambda k: random.bits(k, 5),
    "bits of 64": lambda k: random.bits(k, (2, 3), "uint64"),
    "uniform": lambda k: random.uniform(k, 3),
    "normal": lambda k: random.normal(k, (2, 2)),
    "randint": lambda k: random.randint(k, 4, -5, 5),
    "split": lambda k: random.split(k, 3),
    "fold_in": lambda k: random.fold_in(k, 3),
    "gamma": lambda k: random.gamma(k, np.array([0.3, 2.0])),
    "gamma of rank 0": lambda k: random.gamma(k, 0.3),
    "beta": lambda k: random.beta(k, 0.3, 2.0, 2),
    "permutation": lambda k: random.permutation(k, 6),
    "choice": lambda k: random.choice(k, 6, 3, replace=False),
    "categorical": lambda k: random.categorical(k, np.array([0.0, 1.0, 2.0])),
    "poisson": lambda k: random.poisson(k, np.array([0.3, 20.0])),
    "binomial": lambda k: random.binomial(k, np.array([3, 100]), 0.4),
    "bernoulli": lambda k: random.bernoulli(k, 0.5, 4),
}


@pytest.mark.parametrize("name", DRAWS)
def test_mapping_over_keys_is_a_loop(name):
    draw = DRAWS[name]
    keys = random.split(random.key(1), 3)
    mapped = np.asarray(tn.vmap(draw)(keys))
    looped = np.stack([np.asarray(draw(key)) for key in keys])
    np.testing.assert_allclose(mapped, looped, rtol=1e-14)
    assert mapped.dtype == looped.dtype


@pytest.mark.parametrize("name", DRAWS)
def test_compiled_draws_are_the_same(name):
    draw = DRAWS[name]
    plain = np.asarray(draw(random.key(1)))
    np.testing.assert_allclose(np.asarray(tn.jit(draw)(random.key(1))), plain, rtol=1e-14)


def test_parameters_may_be_mapped_over_under_one_key():
    a = np.array([0.2, 1.0, 3.0])
    mapped = np.asarray(tn.vmap(lambda a: random.gamma(random.key(1), a, (2,)))(a))
    looped = [np.asarray(random.gamma(random.key(1), value, (2,))) for value in a]
    np.testing.assert_allclose(mapped, looped, rtol=1e-14)


def test_derivatives_are_mapped_over_keys_too():
    def loss(key, a):
        return random.gamma(key, a, (2,)).sum()

    keys = random.split(random.key(1), 3)
    mapped = tn.vmap(tn.grad(loss, argnums=1), in_axes=(0, None))(keys, 0.7)
    looped = [float(tn.grad(loss, argnums=1)(key, 0.7)) for key in keys]
    np.testing.assert_allclose(np.asarray(mapped), looped, rtol=1e-13)


def test_another_seed_is_the_same_program():
    traces = []

    @tn.jit
    def draw(key):
        traces.append(key)
        return random.normal(key, 3)

    first, second = draw(random.key(1)), draw(random.key(2))
    assert len(traces) == 1
    assert (np.asarray(first) != np.asarray(second)).all()


def test_keys_travel_in_containers():
    @tn.jit
    def step(state):
        key, draw = random.split(state["key"])
        return {"key": key, "x": state["x"] + random.normal(draw)}

    state = {"key": random.key(0), "x": 0.0}
    for _ in range(3):
        state = step(state)
    key, x = random.key(0), 0.0
    for _ in range(3):
        key, draw = random.split(key)
        x = x + float(random.normal(draw))
    assert float(state["x"]) == pytest.approx(x, rel=1e-14)


def test_several_keys_at_once_are_refused_with_the_remedy():
    with pytest.raises(random.NotAKeyError, match=r"tenferro\.vmap"):
        random.normal(random.split(random.key(0)), 3)
