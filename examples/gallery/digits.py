"""A network of two layers that reads digits.

1797 images of 8 × 8 pixels, a hidden layer, stochastic gradient descent, and nothing but NumPy in
the model. Parameters are a dictionary; so is their gradient.
"""

# %%
import sys

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import tenferro as tn

# %% [markdown]
# ## The data
#
# They come with scikit-learn (E. Alpaydin, C. Kaynak, UCI Machine Learning Repository, 1998).

# %%
images, labels = load_digits(return_X_y=True)
x_train, x_test, t_train, t_test = train_test_split(
    images / 16, labels, test_size=0.25, random_state=0, stratify=labels
)

# %% [markdown]
# ## The model and its loss


# %%
def scores(weights, x):
    hidden = np.tanh(x @ weights["first"] + weights["first bias"])
    return hidden @ weights["second"] + weights["second bias"]


def loss(weights, x, target):
    """Mean cross-entropy; the largest score is taken off first, so that nothing overflows."""
    s = scores(weights, x)
    s = s - np.max(s, axis=1, keepdims=True)
    log_p = s - np.log(np.sum(np.exp(s), axis=1, keepdims=True))
    return -np.mean(np.sum(target * log_p, axis=1))


rng = np.random.default_rng(0)
HIDDEN = 48
weights = {
    "first": rng.normal(size=(64, HIDDEN)) / 8,
    "first bias": np.zeros(HIDDEN),
    "second": rng.normal(size=(HIDDEN, 10)) / np.sqrt(HIDDEN),
    "second bias": np.zeros(10),
}

# %% [markdown]
# The gradient has the structure of the weights. Before it is trusted, it is checked against
# differences, in both modes:

# %%
targets = np.eye(10)[t_train]
tn.check_grads(lambda w: loss(w, x_train[:5], targets[:5]), (weights,), order=1)

# %% [markdown]
# ## The training
#
# Momentum, batches of 64. `jit` records the step once; all batches have one shape, so one program
# serves them all.

# %%
value_and_grad = tn.jit(tn.value_and_grad(loss))
velocity = {name: np.zeros_like(w) for name, w in weights.items()}
losses = []
for _ in range(40):
    order = rng.permutation(len(x_train))
    for batch in order[: len(order) // 64 * 64].reshape(-1, 64):
        value, slopes = value_and_grad(weights, x_train[batch], targets[batch])
        for name, slope in slopes.items():
            velocity[name] = 0.9 * velocity[name] - 0.05 * slope
            weights[name] = weights[name] + velocity[name]
        losses.append(float(value))

accuracy = np.mean(np.argmax(scores(weights, x_test), axis=1) == t_test)
print(f"loss {losses[0]:.3f} -> {losses[-1]:.4f} in {len(losses)} steps")
print(f"test accuracy {accuracy:.4f}; programs traced: {value_and_grad.cache_info().misses}")
assert accuracy > 0.95
assert value_and_grad.cache_info().misses == 1

# %% [markdown]
# ## What the network looks at
#
# The gradient of a score in the *pixels* says which of them speak for a digit.


# %%
def saliency(digit):
    """The mean gradient of the score of a digit over the test images that show it."""
    shown = x_test[t_test == digit]
    slope = tn.grad(lambda x: np.sum(scores(weights, x)[:, digit]))(shown)
    return np.mean(slope, axis=0).reshape(8, 8)


def plot(path):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.5), layout="constrained")
    grid = figure.add_gridspec(3, 5, height_ratios=[1.6, 1, 1])
    axes = figure.add_subplot(grid[0, :])
    axes.plot(losses, color="#0072b2", linewidth=0.8)
    axes.set(yscale="log", ylabel="loss of a batch", title=f"Test accuracy {accuracy:.3f}")
    for digit in range(10):
        axes = figure.add_subplot(grid[1 + digit // 5, digit % 5])
        picture = saliency(digit)
        most = np.max(np.abs(picture))
        axes.imshow(picture, cmap="PuOr", vmin=-most, vmax=most)
        axes.set_title(str(digit), fontsize="small", pad=2)
        axes.set_axis_off()
    figure.savefig(path)


if sys.argv[1:2] == ["--plot"]:
    plot(sys.argv[2])
