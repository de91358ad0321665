"""Train a network that reads digits on several devices: its data and its weights are split.

    python examples/scale_out/digits.py                   one process with 8 virtual devices
    python examples/scale_out/digits.py --processes 2     two processes with 4 devices each

The rows of a batch are split over the axis `data`, the hidden layer over the axis `model`. The
model is that of `gallery/digits.py`; what is split is said where the step is jitted, nowhere else.
"""

import numpy as np
from sklearn.datasets import load_digits
from start import finish, start

import tenferro as tn

HIDDEN, BATCH, EPOCHS = 64, 184, 6
ROWS = ("data", None)
SPLIT = {"first": (None, "model"), "bias": ("model",), "second": ("model", None)}


def scores(weights, x):
    hidden = np.tanh(x @ weights["first"] + weights["bias"])
    hidden = tn.sharding_constraint(hidden, ("data", "model"))
    return hidden @ weights["second"]


def loss(weights, x, target):
    """Mean cross-entropy."""
    s = scores(weights, x)
    s = s - np.max(s, axis=1, keepdims=True)
    log_p = s - np.log(np.sum(np.exp(s), axis=1, keepdims=True))
    return -np.mean(np.sum(target * log_p, axis=1))


def step(weights, velocity, x, target):
    """One step of gradient descent with momentum."""
    value, slopes = tn.value_and_grad(loss)(weights, x, target)
    velocity = {name: 0.9 * velocity[name] - 0.2 * slope for name, slope in slopes.items()}
    return {name: w + velocity[name] for name, w in weights.items()}, velocity, value


def data():
    """Images and labels: 1,472 to learn from, 256 to test with."""
    images, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(images))[:1728]
    return np.split(images[order] / 16, [1472]), np.split(labels[order], [1472])


def train(mesh):
    """Return the last loss, and the part of the test images that are read correctly."""
    rng = np.random.default_rng(1)
    weights = {
        "first": rng.normal(size=(64, HIDDEN)) / 8,
        "bias": np.zeros(HIDDEN),
        "second": rng.normal(size=(HIDDEN, 10)) / 8,
    }
    weights = tn.shard(weights, mesh, SPLIT)
    velocity = tn.shard({k: np.zeros(w.shape) for k, w in weights.items()}, mesh, SPLIT)
    run = tn.jit(
        step,
        backend="xla",
        mesh=mesh,
        in_shardings=(SPLIT, SPLIT, ROWS, ROWS),
        out_shardings=[SPLIT, SPLIT, ()],
        donate_argnums=(0, 1),
    )
    (x, x_test), (labels, labels_test) = data()
    targets = np.eye(10)[labels]
    process, processes = tn.distributed.process_index(), tn.distributed.process_count()
    for _ in range(EPOCHS):
        for batch in rng.permutation(len(x)).reshape(-1, BATCH):
            own = np.split(batch, processes)[process]  # what another machine would have read
            rows = tn.from_local((x[own], targets[own]), mesh, ROWS)
            weights, velocity, value = run(weights, velocity, *rows)
    read = tn.jit(
        lambda w, x: np.argmax(scores(w, x), axis=1), backend="xla", mesh=mesh, out_shardings=()
    )
    accuracy = np.mean(np.asarray(read(weights, x_test)) == labels_test)
    return weights, float(value), float(accuracy)


def saved_and_loaded(weights, mesh, folder):
    """Whether weights that were saved come back, whole and split."""
    tn.save_arrays(folder, weights)
    whole = tn.load_arrays(folder)
    again = tn.load_arrays(folder, mesh, SPLIT)
    back = tn.jit(lambda w: w, backend="xla", mesh=mesh, out_shardings=())(again)
    return all([np.array_equal(np.asarray(back[name]), w) for name, w in whole.items()])


def main():
    others, folder = start()
    mesh = tn.mesh({"data": 4, "model": 2})
    weights, value, accuracy = train(mesh)
    print(f"{mesh}: loss {value:.6f}, test accuracy {accuracy:.4f}")
    assert accuracy > 0.9
    assert saved_and_loaded(weights, mesh, folder)
    finish(others)


if __name__ == "__main__":
    main()
