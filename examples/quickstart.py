"""Fit a classifier of handwritten digits with gradients and Hessian products of plain NumPy code.

Run it with `python -m tox -e demo`, or by hand with scikit-learn, matplotlib and rich installed.
It prints the test accuracy, the graph of the gradient and the table of plugins, and saves the loss
curve. What it does not show is how it works: read `docs/tutorial/from_scratch.py` next.
"""

import argparse
import subprocess
import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from scipy.optimize import OptimizeResult, minimize
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import tenferro as tn

SEED = 0
CLASSES = 10
DECAY = 1e-4
NEEDED = 0.90


def loss(w, x, y, decay):
    """Mean cross-entropy of the softmax of x w, plus decay·|w|²; nothing in it but NumPy."""
    scores = x @ w.reshape(x.shape[1], y.shape[1])  # SciPy hands w over as a vector
    # softmax(s) = softmax(s - max s), and exp of that cannot overflow
    shifted = scores - np.max(scores, axis=1, keepdims=True)
    log_p = shifted - np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))
    return -np.mean(np.sum(y * log_p, axis=1)) + decay * np.sum(w**2)


def digits():
    """Images as rows of 64 pixels in [0, 1] and a constant 1 for the bias; labels 0 to 9."""
    images, labels = load_digits(return_X_y=True)
    rows = np.hstack([images / 16, np.ones((len(images), 1))])
    return train_test_split(rows, labels, test_size=0.25, random_state=SEED, stratify=labels)


def fit(w, data, backend, max_iter):
    """Minimize by Newton's method in a trust region; give SciPy's result and the losses."""
    # One program gives value and gradient, another H·v; the Hessian itself (650²) is never formed.
    # Without `jit` both lines work too, and record the function anew at each call.
    value_and_grad = tn.jit(tn.value_and_grad(loss), backend=backend)
    hessian_product = tn.jit(tn.hvp(loss), backend=backend)
    losses = [float(value_and_grad(w, *data)[0])]
    # rich: where the output is no terminal, it prints the last state as one line without codes
    columns = TextColumn("fit"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}")
    with Progress(*columns, TimeElapsedColumn()) as progress:
        task = progress.add_task(f"loss {losses[0]:.4f}", total=max_iter)

        def step(intermediate_result: OptimizeResult):
            losses.append(float(intermediate_result.fun))
            progress.update(task, advance=1, description=f"loss {losses[-1]:.4f}")

        options = {"method": "trust-ncg", "callback": step, "options": {"maxiter": max_iter}}
        found = minimize(value_and_grad, w, data, jac=True, hessp=hessian_product, **options)
        progress.update(task, total=len(losses) - 1)  # it may converge before the limit
    return found, losses


def plot(losses, path):
    """Save the loss curve; a `Figure` of its own needs no display."""
    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    axes.plot(losses, marker="o")
    axes.set(title="Digits, logistic regression", xlabel="Newton step", ylabel="loss (training)")
    axes.set_ylim(bottom=0)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.grid(alpha=0.3)
    figure.savefig(path, dpi=150)


def show_graphs(w, data):
    """Print the gradient's graph: unmarked lines are primal, `transposed` ones flow backward."""
    gradient = tn.trace(tn.grad(loss), w, *data)
    print(f"\nThe gradient's graph\n{gradient}")
    print(f"equations of the gradient         {gradient.counts()}")
    # forward over reverse: the tangents add their own, linear part
    print(f"equations of a Hessian product    {tn.trace(tn.hvp(loss), w, w, *data).counts()}")


def main():
    parser = argparse.ArgumentParser(description="Fit scikit-learn's digits.")
    parser.add_argument("--backend", default="numpy", help="numpy or xla (default: numpy)")
    parser.add_argument("--max-iter", type=int, default=30, help="Newton steps (default: 30)")
    beside = Path(__file__).with_suffix(".png")
    parser.add_argument("--plot", type=Path, default=beside, help="where the loss curve goes")
    options = parser.parse_args()
    try:
        tn.host().backend(options.backend)
    except RuntimeError as missing:  # it says what to install
        return str(missing)

    x_train, x_test, t_train, t_test = digits()
    data = (x_train, np.eye(CLASSES)[t_train], DECAY)
    w = np.zeros(x_train.shape[1] * CLASSES)
    found, losses = fit(w, data, options.backend, options.max_iter)
    scores = x_test @ found.x.reshape(-1, CLASSES)
    accuracy = np.mean(np.argmax(scores, axis=1) == t_test)
    plot(losses, options.plot)

    show_graphs(w, data)
    print("\nThe plugins (`tenferro plugins`)", flush=True)
    subprocess.run([sys.executable, "-m", "tenferro", "plugins"], check=True)
    print(f"\nloss {losses[0]:.4f} -> {losses[-1]:.4f}, test accuracy {accuracy:.4f}")
    print(f"evaluations: {found.nfev} of loss and gradient, {found.nhev} of Hessian products")
    if accuracy < NEEDED:
        return f"The accuracy is below {NEEDED:.2f}: the fit has failed."
    print(f"Success: the model reads the digits, and its loss curve is in {options.plot}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
