"""How sensitive is a pendulum?

A program that integrates an equation of motion step by step is a function like any other. Its
derivative says how the motion changes with the length of the pendulum and with the angle at which
it is released, at every moment at once.
"""

# %%
import sys

import numpy as np

import tenferro as tn

GRAVITY = 9.81
STEP, STEPS = 0.01, 400

# %% [markdown]
# ## The motion
#
# θ″ = −(g/ℓ) sin θ, by the classical Runge–Kutta method in a plain Python loop.


# %%
def trajectory(release, length):
    """The angle at all times, released at rest."""

    def slope(angle, speed):
        return speed, -(GRAVITY / length) * np.sin(angle)

    angle, speed = release, 0.0 * release
    angles = [angle]
    for _ in range(STEPS):
        a1, s1 = slope(angle, speed)
        a2, s2 = slope(angle + STEP / 2 * a1, speed + STEP / 2 * s1)
        a3, s3 = slope(angle + STEP / 2 * a2, speed + STEP / 2 * s2)
        a4, s4 = slope(angle + STEP * a3, speed + STEP * s3)
        angle = angle + STEP / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
        speed = speed + STEP / 6 * (s1 + 2 * s2 + 2 * s3 + s4)
        angles.append(angle)
    return np.stack(angles)


# %% [markdown]
# ## Its sensitivities
#
# One direction in the arguments changes 401 numbers: the shape for forward mode. `jvp` gives the
# motion and its derivative together, for the price of about two motions.


# %%
def sensitivities(release, length):
    """The angle at all times, and its derivatives in the release angle and in the length."""
    angles, by_release = tn.jvp(trajectory, (release, length), (1.0, 0.0))
    _, by_length = tn.jvp(trajectory, (release, length), (0.0, 1.0))
    return angles, by_release, by_length


# %% [markdown]
# ## Against the closed form for small angles
#
# θ(t) = θ₀ cos ωt with ω = √(g/ℓ). So ∂θ/∂θ₀ = cos ωt and ∂θ/∂ℓ = θ₀ ωt sin(ωt) / 2ℓ.

# %%
time = STEP * np.arange(STEPS + 1)
small, length = 1e-4, 0.8
omega = np.sqrt(GRAVITY / length)
_, by_release, by_length = sensitivities(small, length)
error_release = np.max(np.abs(by_release - np.cos(omega * time)))
error_length = np.max(
    np.abs(by_length / small - omega * time * np.sin(omega * time) / (2 * length))
)
print(f"small angle   against the closed form   {error_release:.1e}  {error_length:.1e}")
accuracy = (omega * STEP) ** 4 * time[-1]  # of the method, whose error is of fourth order
assert error_release < accuracy
assert error_length < accuracy

# %% [markdown]
# ## Against differences for large ones
#
# At 2 rad there is no elementary closed form. Central differences of the same program lose digits,
# but they are independent of every rule of differentiation.

# %%
large, h = 2.0, 1e-5
angles, by_release, by_length = sensitivities(large, length)
difference = np.asarray(trajectory(large + h, length) - trajectory(large - h, length)) / (2 * h)
error_release = np.max(np.abs(by_release - difference))
difference = np.asarray(trajectory(large, length + h) - trajectory(large, length - h)) / (2 * h)
error_length = np.max(np.abs(by_length - difference))
print(f"large angle   against differences       {error_release:.1e}  {error_length:.1e}")
assert error_release < 1e-7
assert error_length < 1e-7

# %% [markdown]
# ## Using it: how long is the pendulum?
#
# Newton's method on one observed angle; the derivative is the last entry of the sensitivity.

# %%
observed, guess = trajectory(large, 0.8)[-1], 0.85
for _ in range(8):
    angles_of_guess, _, slope_of_guess = sensitivities(large, guess)
    guess -= (angles_of_guess[-1] - observed) / slope_of_guess[-1]
print(f"the length from one angle after {time[-1]:.0f} s   {float(guess):.12f} m")
assert abs(guess - 0.8) < 1e-10


# %%
def plot(path):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    above.plot(time, angles, color="#1b1f24")
    above.set(ylabel="angle / rad", title="A pendulum of 0.8 m, released at 2 rad")
    below.plot(time, by_release, color="#0072b2", label="∂θ/∂θ₀")
    below.plot(time, by_length, color="#d55e00", linestyle="--", label="∂θ/∂ℓ, per metre")
    below.set(xlabel="time / s", ylabel="sensitivity")
    below.legend(loc="upper left")
    for axes in (above, below):
        axes.axhline(0, color="0.8", linewidth=1, zorder=0)
    figure.savefig(path)


if sys.argv[1:2] == ["--plot"]:
    plot(sys.argv[2])
