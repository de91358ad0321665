"""Black-box stochastic variational inference, after autograd's `black_box_svi`.

A Gaussian with a diagonal covariance approximates a density of two dimensions by samples that
follow from mean and deviation (the reparameterization). The noise is an input.
Read next: `hidden_markov.py`.
"""

from __future__ import annotations

from typing import Any

import numpy

from benchmarks.formulations.library import Library

from .small import program, random

D = 2


def inputs(samples: int) -> tuple[Any, ...]:
    """Mean and logarithms of deviations; noise."""
    return numpy.array([-0.5, 0.3, -1.0, -0.7]), random(0, samples, D)


BBSVI = program("bbsvi", inputs, 2000, 20)


def gaussian(np: Any, x: Any, mean: Any, log_deviation: Any) -> Any:
    """Return the logarithm of a normal density."""
    z = (x - mean) / np.exp(log_deviation)
    return -0.5 * z**2 - log_deviation - 0.5 * numpy.log(2 * numpy.pi)


@BBSVI.way("lower bound")
def negative_lower_bound(lib: Library, parameters: Any, noise: Any) -> Any:
    """Minus entropy and mean log density of a funnel: its width depends on the other axis."""
    np = lib.np
    mean, log_deviation = parameters[:D], parameters[D:]
    x = mean + np.exp(log_deviation) * noise
    density = gaussian(np, x[:, 1], 0.0, 1.35) + gaussian(np, x[:, 0], 0.0, x[:, 1])
    entropy = 0.5 * D * (1 + numpy.log(2 * numpy.pi)) + np.sum(log_deviation)
    return -entropy - np.mean(density)
