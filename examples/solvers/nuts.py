"""The No-U-Turn sampler: Hamiltonian Monte Carlo that chooses the length of its trajectories.

A draw doubles its trajectory, forward or backward, until it turns back on itself, and chooses one
of its points with weight exp(-H), H = |v|²/2 - logp(x). A doubling is a loop instead of a
recursion: of 2ᵏ momenta it keeps k, those where subtrees begin. Warm-up adapts the step size.

Source: Hoffman and Gelman, JMLR 15 (2014), section 3.2 for the step size; Betancourt,
arXiv:1701.02434, for the weights; Phan, Pradhan and Jankowiak, arXiv:1912.11554, for the loop.
"""

import numpy as np

import tenferro as tn


def sample(logp, x, key, draws, warmup=300, target=0.8, max_depth=8):
    """Return draws of a vector x whose density is proportional to exp(logp(x)), and the step size.

    draws: f[draws, n]   step size: f[]
    """

    def adapt(state, key):
        x, size, mean_log, error, t = state
        x, accepted = draw(logp, x, size, key, max_depth)
        error = error + (target - accepted - error) / (t + 10)
        log_size = -np.sqrt(t) / 0.05 * error
        mean_log = mean_log + t**-0.75 * (log_size - mean_log)
        return (x, np.exp(log_size), mean_log, error, t + 1), None

    def step(x, key):
        x, _ = draw(logp, x, size, key, max_depth)
        return x, x

    keys = tn.random.split(key, warmup + draws)
    (x, _, mean_log, _, _), _ = tn.scan(adapt, (x, 0.1, 0.0, 0.0, 1.0), keys[:warmup])
    size = np.exp(mean_log)
    return tn.scan(step, x, keys[warmup:])[1], size


def draw(logp, x, size, key, max_depth):
    """Return the next draw, and the mean over its trajectory of the probability to accept."""
    first, key = tn.random.split(key)
    value, slope = tn.value_and_grad(logp)(x)
    start = np.stack([x, tn.random.normal(first, x.shape), slope])
    energy = np.sum(start[1] ** 2) / 2 - value

    def unfinished(state):
        depth, turned = state[0], state[-1]
        return (depth < max_depth) & ~turned

    def double(state):
        depth, left, right, x, weight, momenta, accepted, count, key, _ = state
        key, inner, side, choice = tn.random.split(key, 4)
        ahead = tn.random.uniform(side) < 0.5
        begin, signed = np.where(ahead, right, left), np.where(ahead, size, -size)
        steps, end, y, new, more, gain, turned = subtree(
            logp, begin, signed, inner, depth, energy, max_depth
        )
        left, right = np.where(ahead, left, end), np.where(ahead, end, right)
        x = np.where(~turned & (np.log(tn.random.uniform(choice)) + weight < new), y, x)
        momenta, accepted = momenta + more, accepted + gain
        turned = turned | is_turning(left[1], right[1], momenta)
        weight = np.logaddexp(weight, new)
        return depth + 1, left, right, x, weight, momenta, accepted, count + steps, key, turned

    state = (0, start, start, x, 0.0, start[1], 0.0, 0, key, False)
    _, _, _, x, _, _, accepted, count, _, _ = tn.while_loop(unfinished, double, state)
    return x, accepted / count


def subtree(logp, point, size, key, depth, energy, max_depth):
    """Take 2**depth leapfrog steps, fewer if a subtree turns or the energy diverges."""
    levels = np.arange(max_depth)

    def unfinished(state):
        n, turned = state[0], state[-1]
        return (n < 2**depth) & ~turned

    def grow(state):
        n, point, chosen, weight, momenta, accepted, kept, _ = state
        point, value = leapfrog(logp, point, size)
        v = point[1]
        gain = energy + value - np.sum(v**2) / 2
        diverged = ~(gain > -1000)
        gain = np.where(diverged, -np.inf, gain)
        weight = np.logaddexp(weight, gain)
        chance = tn.random.uniform(tn.random.fold_in(key, n))
        chosen = np.where(np.log(chance) + weight < gain, point[0], chosen)
        bits = (n >> levels) & 1  # point n closes a subtree for each of its trailing ones
        level, closed = np.sum(bits[1:]), np.sum(np.cumprod(bits))
        begins = (levels == level) & (bits[0] == 0)
        kept = np.where(begins[:, None, None], np.stack([v, momenta]), kept)
        closes = (levels > level - closed) & (levels <= level)
        momenta = momenta + v
        turned = np.any(closes & is_turning(kept[:, 0], v, momenta - kept[:, 1]))
        accepted = accepted + np.exp(np.minimum(gain, 0))
        return n + 1, point, chosen, weight, momenta, accepted, kept, turned | diverged

    zero = np.zeros_like(point[0])
    kept = np.zeros((max_depth, 2, *zero.shape))
    state = (0, point, point[0], -np.inf, zero, 0.0, kept, False)
    steps, end, chosen, weight, momenta, accepted, _, turned = tn.while_loop(
        unfinished, grow, state
    )
    return steps, end, chosen, weight, momenta, accepted, turned


def leapfrog(logp, point, size):
    """Return the next point, rows x, v and the gradient of logp, and logp there."""
    x, v, slope = point
    v = v + size / 2 * slope
    x = x + size * v
    value, slope = tn.value_and_grad(logp)(x)
    return np.stack([x, v + size / 2 * slope, slope]), value


def is_turning(v, w, momenta):
    """Tell whether a trajectory with these momenta at its ends, and their sum, turns back.

    Half of each end is taken off: the criterion of Betancourt (2017), A.4.2, for the midpoints.
    """
    inner = momenta - (v + w) / 2
    return (np.sum(v * inner, axis=-1) <= 0) | (np.sum(w * inner, axis=-1) <= 0)
