"""Random programs, evaluated in random pieces, give the values of NumPy."""

import numpy as np
import pytest

import tenferro as tn

UNARY = (np.sin, np.cos, np.tanh, np.negative, np.flip)
BINARY = (np.add, np.multiply, np.subtract, np.maximum, np.hypot)
NUMBERS = (0.5, 2.0, 1.0, -1.0)  # few, so that many are equal


def grown(values, random, steps):
    """More values, made of earlier ones; the same choices for NumPy's arrays and for ours."""
    for _ in range(steps):
        i, j = random.integers(len(values), size=2)
        kind, which = random.integers(4), random.integers(5)
        if kind == 0:
            new = UNARY[which](values[i])
        elif kind == 1:
            new = BINARY[which](values[i], values[j])
        elif kind == 2:
            new = BINARY[which](values[i], NUMBERS[random.integers(4)])
        else:
            new = values[i].copy()
            new[int(random.integers(4))] = values[j][0]
        values.append(np.clip(new, -5, 5))
    return values


@pytest.mark.parametrize("seed", range(40))
def test_a_random_program_gives_numpys_values(seed):
    start = [np.random.default_rng(seed + k).normal(size=4) for k in range(3)]
    want = grown([*start], np.random.default_rng(seed), 30)
    got = grown([tn.asarray(x) * 1 for x in start], np.random.default_rng(seed), 30)
    pieces = np.random.default_rng(seed).permutation(len(got))
    tn.evaluate(*[got[k] for k in pieces[:3]])
    for k in pieces:
        np.testing.assert_allclose(got[k], want[k], rtol=1e-12, atol=1e-12)
