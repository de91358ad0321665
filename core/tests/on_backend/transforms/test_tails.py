"""Derivatives keep their relative accuracy where the function saturates."""

import math

import pytest

import tenferro as tn


@pytest.mark.parametrize("x", [-40.0, -2.0, 0.0, 30.0, 40.0])
def test_the_derivative_of_logistic_in_its_tails(x):
    """e⁻ˣ / (1 + e⁻ˣ)²"""
    need = math.exp(-abs(x)) / (1 + math.exp(-abs(x))) ** 2
    assert float(tn.grad(tn.logistic)(x)) == pytest.approx(need, rel=1e-14)
