"""Hidden states: the Kalman filter and the forward algorithm of hidden Markov models.

Both are one pass over the observations, a scan, and give the logarithm of the likelihood, whose
gradient fits the parameters.

Source: S. Särkkä, Bayesian Filtering and Smoothing (2013), theorem 4.2; L. R. Rabiner, Proc. IEEE
77 (1989), section III.
"""

import numpy as np

import tenferro as tn


def kalman_filter(model, observations):
    """Filter y of a linear Gaussian model.

    x₀ ~ N(mean, covariance),   xₖ₊₁ = F xₖ + N(0, Q),   yₖ = H xₖ + N(0, R)

    `model` is a dictionary with the keys "mean", "covariance", "F", "Q", "H", "R". Returns the
    means and covariances of xₖ given y₀ … yₖ, and the log-likelihood of all y.
    """
    f, q, h, r = (model[key] for key in "FQHR")

    def step(state, y):
        mean, covariance, total = state
        error = y - h @ mean
        spread = h @ covariance @ h.T + r
        gain = np.linalg.solve(spread, h @ covariance).T
        total = total - 0.5 * (
            error @ np.linalg.solve(spread, error)
            + np.linalg.slogdet(spread)[1]
            + error.shape[0] * np.log(2 * np.pi)
        )
        mean = mean + gain @ error
        covariance = covariance - gain @ h @ covariance
        after = f @ mean, f @ covariance @ f.T + q, total
        return after, (mean, covariance)

    start = model["mean"], model["covariance"], 0.0
    (_, _, total), (means, covariances) = tn.scan(step, start, observations)
    return means, covariances, total


def hmm_log_likelihood(log_start, log_transition, log_emission, observations):
    """The log-probability of observed symbols under a hidden Markov model.

    `log_transition[i, j]` is that of state j after state i, `log_emission[i, k]` that of symbol k
    in state i. Observations are integers.
    """
    log_emission = tn.asarray(log_emission)  # indexed by a symbol that is not known yet

    def step(forward, symbol):
        ahead = logsumexp(forward[:, None] + log_transition)
        return ahead + log_emission[:, symbol], None

    first = log_start + log_emission[:, observations[0]]
    last, _ = tn.scan(step, first, observations[1:])
    return logsumexp(last)


def logsumexp(x):
    """log Σ exp over the first axis, without overflow."""
    top = tn.stop_gradient(np.max(x, axis=0))
    return top + np.log(np.sum(np.exp(x - top), axis=0))
