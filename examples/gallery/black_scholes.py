"""Option Greeks to third order.

The price of a European call has a closed form, and so has each of its derivatives. Here the
derivatives come from the price alone; the closed forms only check them.
"""

# %%
import sys

import numpy as np

import tenferro as tn

# %% [markdown]
# ## The price
#
# F. Black, M. Scholes, J. Polit. Econ. 81 (1973) 637. NumPy has no error function, so that one name
# is tenferro's; all else is NumPy.


# %%
def normal_cdf(x):
    return (1 + tn.erf(x / np.sqrt(2))) / 2


def call(spot, volatility, time, rate, strike=100.0):
    """The value of the right to buy at the strike after that time."""
    d1, d2 = d_plus_minus(spot, volatility, time, rate, strike)
    return spot * normal_cdf(d1) - strike * np.exp(-rate * time) * normal_cdf(d2)


def d_plus_minus(spot, volatility, time, rate, strike=100.0):
    width = volatility * np.sqrt(time)
    d1 = (np.log(spot / strike) + (rate + volatility**2 / 2) * time) / width
    return d1, d1 - width


# %% [markdown]
# ## A derivative of every option at once
#
# Options do not influence each other. So the gradient of the *sum* of all prices holds the
# derivative of each price, and this combinator nests as often as one likes.


# %%
def d(function, argument):
    """The derivative of an elementwise function in one of its arguments."""
    return tn.grad(lambda *arguments: np.sum(function(*arguments)), argnums=argument)


SPOT, VOLATILITY, TIME = 0, 1, 2
greeks = {
    "delta": d(call, SPOT),
    "vega": d(call, VOLATILITY),
    "gamma": d(d(call, SPOT), SPOT),
    "vanna": d(d(call, SPOT), VOLATILITY),
    "volga": d(d(call, VOLATILITY), VOLATILITY),
    "speed": d(d(d(call, SPOT), SPOT), SPOT),
    "zomma": d(d(d(call, SPOT), SPOT), VOLATILITY),
    "color": d(d(d(call, SPOT), SPOT), TIME),
    "ultima": d(d(d(call, VOLATILITY), VOLATILITY), VOLATILITY),
}

# %% [markdown]
# ## The closed forms
#
# As listed by E. G. Haug, *The Complete Guide to Option Pricing Formulas* (2007), chapter 2.


# %%
def closed_forms(s, v, t, r):
    d1, d2 = d_plus_minus(s, v, t, r)
    density = np.exp(-(d1**2) / 2) / np.sqrt(2 * np.pi)
    width = v * np.sqrt(t)
    gamma = density / (s * width)
    vega = s * density * np.sqrt(t)
    volga = vega * d1 * d2 / v
    drift = 1 + d1 * (2 * r * t - d2 * width) / width
    return {
        "delta": normal_cdf(d1),
        "vega": vega,
        "gamma": gamma,
        "vanna": -density * d2 / v,
        "volga": volga,
        "speed": -gamma / s * (d1 / width + 1),
        "zomma": gamma * (d1 * d2 - 1) / v,
        # the time that is left: its sign is opposite to that of the calendar
        "color": -density / (2 * s * t * width) * drift,
        "ultima": -vega / v**2 * (d1 * d2 * (1 - d1 * d2) + d1**2 + d2**2),
    }


# %% [markdown]
# ## The comparison

# %%
spot = np.linspace(60, 150, 181)
options = (spot, np.full_like(spot, 0.25), np.full_like(spot, 0.5), np.full_like(spot, 0.03))
found = {name: greek(*options) for name, greek in greeks.items()}
need = closed_forms(*options)
errors = {
    name: np.max(np.abs(found[name] - need[name])) / np.max(np.abs(need[name])) for name in greeks
}
for name, error in errors.items():
    print(f"{name:8} largest {np.max(np.abs(found[name])):10.6f}   relative error {error:.1e}")
assert max(errors.values()) < 1e-11, errors
print(f"Nine Greeks of {len(spot)} options agree with their closed forms.")


# %%
SHOWN = ("delta", "gamma", "vanna", "speed", "ultima")


def plot(path):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5), layout="constrained")
    rows = {"value": call(*options)} | {name: found[name] for name in SHOWN}
    for axes, (name, values) in zip(figure.subplots(2, 3).flat, rows.items(), strict=True):
        axes.axvline(100, color="0.8", linewidth=1)
        axes.axhline(0, color="0.8", linewidth=1)
        axes.plot(spot, np.asarray(values), color="#0072b2")
        axes.set(title=name, xlabel="spot")
    figure.suptitle("A call with strike 100, half a year before it ends")
    figure.savefig(path)


if sys.argv[1:2] == ["--plot"]:
    plot(sys.argv[2])
