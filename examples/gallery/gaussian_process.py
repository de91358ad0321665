"""A Gaussian process, fitted by its marginal likelihood.

How smooth is a curve that was measured with noise, and how large is the noise? The likelihood of
the data answers, if one can differentiate through a factorization: `np.linalg.cholesky` is
differentiated like all else.
"""

# %%
import sys

import numpy as np
from scipy.optimize import minimize

import tenferro as tn

# %% [markdown]
# ## The data
#
# 24 values of a known curve with noise of standard deviation 0.2.

# %%
NOISE = 0.2
rng = np.random.default_rng(3)
place = np.sort(rng.uniform(0, 6, 24))
value = np.sin(1.5 * place) + NOISE * rng.normal(size=place.size)


# %% [markdown]
# ## The likelihood
#
# With the covariance K(θ) = a² exp(−(x − x′)²/2ℓ²) + s² δ the negative logarithm of the likelihood
# is (yᵀ K⁻¹ y + log det K + n log 2π) / 2 (C. Rasmussen, C. Williams, *Gaussian Processes for
# Machine Learning* (2006), equation 2.30). Both terms come out of one Cholesky factor K = L Lᵀ: the
# first is |L⁻¹ y|², the second 2 Σ log L_ii.


# %%
def covariance(parameters, x, z):
    length, amplitude = np.exp(parameters[0]), np.exp(parameters[1])
    return amplitude**2 * np.exp(-((x[:, None] - z[None, :]) ** 2) / (2 * length**2))


def negative_log_likelihood(parameters, x, y):
    """Of the logarithms of length, amplitude and noise."""
    K = covariance(parameters, x, x) + np.exp(2 * parameters[2]) * np.eye(len(x))
    factor = np.linalg.cholesky(K)
    quadratic = np.sum(np.linalg.solve(factor, y) ** 2)
    log_determinant = 2 * np.sum(np.log(np.diag(factor)))
    return (quadratic + log_determinant + len(x) * np.log(2 * np.pi)) / 2


# %% [markdown]
# Solving with K itself gives the same value, and the gradient is that of differences:

# %%
start = np.log([0.5, 0.5, 0.5])
K = covariance(start, place, place) + 0.25 * np.eye(place.size)
plain = value @ np.linalg.solve(K, value) + np.linalg.slogdet(2 * np.pi * K)[1]
ours = negative_log_likelihood(start, place, value)
print(f"value at the start      {ours:.12f}, without the factor {plain / 2:.12f}")
assert abs(ours - plain / 2) < 1e-10

value_and_grad = tn.jit(tn.value_and_grad(negative_log_likelihood))
gradient = value_and_grad(start, place, value)[1]
h = 1e-5
differences = [
    (
        negative_log_likelihood(start + h * unit, place, value)
        - negative_log_likelihood(start - h * unit, place, value)
    )
    / (2 * h)
    for unit in np.eye(3)
]
print(f"gradient                {gradient}")
print(f"differences             {np.array(differences)}")
assert np.max(np.abs(gradient - differences)) < 1e-7

# %% [markdown]
# ## The fit
#
# SciPy minimizes; the gradient is ours. The Hessian at the minimum gives the errors of what was
# fitted, by Laplace's approximation.

# %%
fit = minimize(value_and_grad, start, (place, value), jac=True, method="BFGS")
hessian = tn.hessian(negative_log_likelihood)(fit.x, place, value)
error = np.sqrt(np.diag(np.linalg.inv(hessian)))
for name, logarithm, width in zip(("length", "amplitude", "noise"), fit.x, error, strict=True):
    print(f"{name:10} {np.exp(logarithm):.3f}   times or divided by {np.exp(width):.2f}")
assert np.max(np.abs(fit.jac)) < 1e-4
assert np.all(np.linalg.eigvalsh(hessian) > 0)  # a minimum indeed
assert abs(fit.x[2] - np.log(NOISE)) < 2 * error[2]
print(f"The noise that was put in, {NOISE}, is within two errors of the fit.")


# %%
def predict(where):
    """Mean and standard deviation of the curve, given the data."""
    K = covariance(fit.x, place, place) + np.exp(2 * fit.x[2]) * np.eye(place.size)
    across = covariance(fit.x, where, place)
    mean = across @ np.linalg.solve(K, value)
    spread = np.exp(2 * fit.x[1]) - np.sum(across.T * np.linalg.solve(K, across.T), axis=0)
    return mean, np.sqrt(spread)


def plot(path):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4), layout="constrained")
    axes = figure.subplots()
    where = np.linspace(-0.5, 6.5, 300)
    mean, spread = predict(where)
    axes.fill_between(
        where, mean - 2 * spread, mean + 2 * spread, color="#e3f1fa", label="±2 standard deviations"
    )
    axes.plot(where, mean, color="#0072b2", label="fitted mean")
    axes.plot(where, np.sin(1.5 * where), color="#1b1f24", linestyle=":", label="true curve")
    axes.plot(place, value, "o", color="#d55e00", markersize=4, label="data")
    axes.set(title="A Gaussian process fitted by its marginal likelihood", xlabel="x", ylabel="y")
    axes.legend(loc="upper right", ncols=2, fontsize="small")
    axes.set_ylim(-2, 2.4)
    figure.savefig(path)


if sys.argv[1:2] == ["--plot"]:
    plot(sys.argv[2])
