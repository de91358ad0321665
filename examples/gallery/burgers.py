"""Where did the wave come from?

A wave that steepens while it spreads was seen at one moment, with noise. What did it look like
before? The program that moves it on in time is made of Fourier transforms; its gradient with
respect to the initial wave leads back.
"""

# %%
import sys

import numpy as np
from scipy.optimize import minimize

import tenferro as tn

POINTS, STEPS, TIME, VISCOSITY = 64, 24, 0.6, 0.2
x = 2 * np.pi * np.arange(POINTS) / POINTS
wavenumber = np.arange(POINTS // 2 + 1)
derivative = 1j * wavenumber * (wavenumber < POINTS // 2)  # the highest one is real

# %% [markdown]
# ## Step by step
#
# Burgers' equation u_t + u u_x = ν u_xx on a ring. Derivatives in space are products with ik in the
# spectrum; the linear term is integrated exactly, the other one by the classical Runge–Kutta method
# (L. N. Trefethen, *Spectral Methods in MATLAB* (2000), program 27, does so for another equation).


# %%
def stepped(wave):
    """The wave after the whole time."""
    step = TIME / STEPS
    half = np.exp(-VISCOSITY * wavenumber**2 * step / 2)

    def slope(spectrum):
        wave = np.fft.irfft(spectrum, POINTS)
        return -step / 2 * derivative * np.fft.rfft(wave**2)

    spectrum = np.fft.rfft(wave)
    for _ in range(STEPS):
        a = slope(spectrum)
        b = slope(half * (spectrum + a / 2))
        c = slope(half * spectrum + b / 2)
        d = slope(half**2 * spectrum + half * c)
        spectrum = half**2 * (spectrum + a / 6) + half * (b + c) / 3 + d / 6
    return np.fft.irfft(spectrum, POINTS)


# %% [markdown]
# ## In one step
#
# E. Hopf (1950) and J. Cole (1951) found that u = −2ν φ_x/φ, where φ obeys the equation of heat. So
# there is another program for the same wave, which has nothing in common with the first one but
# Fourier transforms.


# %%
def closed(wave):
    """The wave after the whole time, by way of heat; its mean must be zero."""
    spectrum = np.fft.rfft(wave)
    integral = spectrum / np.where(wavenumber, 1j * wavenumber, 1)
    heat = np.fft.rfft(np.exp(-np.fft.irfft(integral, POINTS) / (2 * VISCOSITY)))
    heat = np.exp(-VISCOSITY * wavenumber**2 * TIME) * heat
    return -2 * VISCOSITY * np.fft.irfft(derivative * heat, POINTS) / np.fft.irfft(heat, POINTS)


# %% [markdown]
# Both give the same wave, and the same derivatives of it along sixteen waves of mean zero.

# %%
truth = np.sin(x) + 0.6 * np.cos(2 * x + 1) - 0.3 * np.sin(3 * x)
after = np.asarray(stepped(truth))
error = np.max(np.abs(after - closed(truth)))
print(f"wave        two programs differ by {error:.1e}")
assert error < 1e-5

smooth = np.array([np.cos(k * x + p) for k in range(1, 9) for p in (0, 1.5)])
by_steps, by_heat = (tn.vmap(lambda v, f=f: tn.jvp(f, (truth,), (v,))[1])(smooth)
                     for f in (stepped, closed))  # fmt: skip
error = np.max(np.abs(by_steps - by_heat)) / np.max(np.abs(by_heat))
print(f"derivative  two programs differ by {error:.1e}, in 16 directions")
assert error < 1e-5

# %% [markdown]
# ## Back in time
#
# The wave that was seen has noise. What it was before is a sum of the lowest few waves, whose
# amplitudes are found by least squares: SciPy minimizes, and the gradient runs backwards through
# all steps. The second derivatives at the end tell how uncertain the amplitudes are.

# %%
NOISE, LOWEST = 0.01, 4
seen = after + NOISE * np.random.default_rng(1).normal(size=POINTS)


def wave_of(amplitudes):
    """The sum of the waves 1 … 4; amplitudes are those of cosines, then those of sines."""
    low = amplitudes[:LOWEST] - 1j * amplitudes[LOWEST:]
    spectrum = np.concatenate([np.zeros(1), low, np.zeros(POINTS // 2 - LOWEST)])
    return np.fft.irfft(spectrum, POINTS) * POINTS / 2


def misfit(amplitudes):
    return np.sum((stepped(wave_of(amplitudes)) - seen) ** 2) / (2 * NOISE**2)


value_and_grad = tn.jit(tn.value_and_grad(misfit))
start, v, h = np.zeros(2 * LOWEST), np.linspace(-1, 1, 2 * LOWEST), 1e-5
slope = value_and_grad(start)[1] @ v
difference = (value_and_grad(start + h * v)[0] - value_and_grad(start - h * v)[0]) / (2 * h)
print(f"gradient    {slope:.4f} along one direction, {difference:.4f} by differences")
assert abs(slope - difference) < 1e-6 * abs(slope)

found = minimize(value_and_grad, start, jac=True, method="BFGS", options={"gtol": 1e-2})
print(f"misfit      {value_and_grad(start)[0]:.0f} -> {found.fun:.1f} in {found.nit} iterations")
uncertain = np.sqrt(np.diag(np.linalg.inv(tn.hessian(misfit)(found.x))))
true = (
    2
    / POINTS
    * np.array([f(k * x) @ truth for f in (np.cos, np.sin) for k in range(1, LOWEST + 1)])
)
print("amplitude   true    found")
for i in range(2 * LOWEST):
    name = f"{'cos' if i < LOWEST else 'sin'} {i % LOWEST + 1}x"
    print(f"{name:10} {true[i]:6.3f}   {found.x[i]:6.3f} ± {uncertain[i]:.3f}")
assert np.max(np.abs(found.x - true) / uncertain) < 3.5  # eight amplitudes


# %%
def plot(path):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4), layout="constrained")
    axes = figure.subplots()
    axes.plot(x, seen, ".", color="#d55e00", label="seen, with noise")
    axes.plot(x, truth, color="#1b1f24", linestyle=":", label="true wave before")
    axes.plot(x, wave_of(found.x), color="#0072b2", label="wave before, found")
    axes.set(xlabel="x", ylabel="u", title=f"Burgers' equation, {TIME} units of time back")
    axes.legend(fontsize="small")
    figure.savefig(path)


if sys.argv[1:2] == ["--plot"]:
    plot(sys.argv[2])
