"""One step of expectation maximization for a hidden Markov model, after autograd's `hmm_em`.

The expected counts are the gradient of the log likelihood by the logarithms of probabilities;
normalized, they are the next probabilities. Read next: `fluid.py`.
"""

from __future__ import annotations

from typing import Any

import numpy

from benchmarks.formulations.library import Library

from .small import program

STATES, SYMBOLS = 5, 8


def inputs(length: int) -> tuple[Any, ...]:
    """Logarithms of the start's, the transitions' and the symbols' probabilities; what was seen."""
    rng = numpy.random.default_rng(0)
    shapes = (STATES,), (STATES, STATES), (STATES, SYMBOLS)
    logs = tuple(numpy.log(rng.dirichlet(numpy.ones(s[-1]), s[:-1])) for s in shapes)
    return *logs, rng.integers(0, SYMBOLS, length)


HMM = program("hmm", inputs, 50, 5)


@HMM.task("EM")
def step(lib: Library) -> Any:
    """Return the log likelihood and the next parameters."""
    np, logsumexp = lib.np, lib.special.logsumexp

    def log_likelihood(parameters: Any, seen: Any) -> Any:
        start, transitions, symbols = parameters
        emitted = symbols[:, seen]
        alpha = start + emitted[:, 0]
        for t in range(1, len(seen)):
            alpha = logsumexp(alpha[:, None] + transitions, axis=0) + emitted[:, t]
        return logsumexp(alpha)

    def normalized(counts: Any) -> Any:
        counts = counts + 1e-6
        return np.log(counts / np.sum(counts, axis=-1, keepdims=True))

    def em(start: Any, transitions: Any, symbols: Any, seen: Any) -> Any:
        parameters = (start, transitions, symbols)
        value, counts = lib.value_and_grad(log_likelihood)(parameters, seen)
        return value, [normalized(count) for count in counts]

    return em
