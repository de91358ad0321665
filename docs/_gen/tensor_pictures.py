"""Draw what the programs of `examples/tensor_networks` find: `python tensor_pictures.py FOLDER`.

Each function draws one program beside an independent result, and asserts that both agree where
they must. The programs stay free of matplotlib; the site's hooks show the pictures in the gallery.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import tenferro as tn

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples/tensor_networks"))

import ctmrg
import tebd
import trg

EXACT = {"color": "0.6", "linewidth": 3, "zorder": 0, "label": "exact"}


def draw_ctmrg() -> Figure:
    """Draw magnetization and energy of the Ising model by β."""
    betas = np.linspace(0.3, 0.6, 13)
    _, slopes, spins = np.transpose([ctmrg.results(beta) for beta in betas])
    yang = np.maximum(1 - np.sinh(2 * betas) ** -4, 0) ** 0.125
    far = np.abs(betas - 0.44) > 0.06  # nearer to the transition, 60 steps are too few
    assert np.max(np.abs(spins - yang)[far]) < 1e-6
    figure = Figure(figsize=(8, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    fine = np.linspace(0.3, 0.6, 600)
    left.plot(fine, np.maximum(1 - np.sinh(2 * fine) ** -4, 0) ** 0.125, **EXACT)
    left.plot(betas, np.abs(spins), "o", color="#0072b2", label="CTMRG, bond 12")
    left.set(xlabel="β", title="Magnetization")
    right.plot(betas, [trg.onsager(beta, 1) for beta in betas], **EXACT)
    right.plot(betas, slopes, "o", color="#0072b2")
    right.set(xlabel="β", title="d ln Z / dβ, by grad")
    left.legend()
    return figure


def draw_trg() -> Figure:
    """Draw the errors of ln Z and its derivative by the number of singular values."""
    beta, bonds = 0.35, [2, 4, 6, 8, 12]
    found = [tn.value_and_grad(lambda b, n=bond: trg.log_z(b, bond=n))(beta) for bond in bonds]
    exact = [trg.onsager(beta, order) for order in (0, 1)]
    errors = np.abs(np.array(found, "float64") - exact)
    assert errors[-1, 0] < errors[0, 0] / 10
    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    axes.semilogy(bonds, errors[:, 0], "o-", color="#0072b2", label="ln Z")
    axes.semilogy(bonds, errors[:, 1], "s--", color="#d55e00", label="d ln Z / dβ, by grad")
    axes.set(xlabel="singular values that are kept", ylabel="error", title="β = 0.35")
    axes.legend()
    return figure


def draw_tebd() -> Figure:
    """Draw the magnetization after a quench, and its derivative by the field."""
    times = np.linspace(0.2, 1.0, 5)
    fine = np.linspace(0.0, 1.0, 21)
    steps = [max(2, round(time / 0.1)) for time in times]
    found = [
        tn.value_and_grad(lambda h, t=time, n=count: tebd.magnetization(h, time=t, steps=n))(1.0)
        for time, count in zip(times, steps, strict=True)
    ]
    values, slopes = np.transpose(np.array(found, "float64"))
    exact = np.array([[tebd.exact(h, time=t) for t in fine] for h in (1.0, 1.0 + 1e-5, 1.0 - 1e-5)])
    assert np.max(np.abs(values - [tebd.exact(1.0, time=t) for t in times])) < 5e-3
    figure = Figure(figsize=(8, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.plot(fine, exact[0], **EXACT)
    left.plot(times, values, "o", color="#0072b2", label="TEBD")
    left.set(xlabel="time", title="⟨Z⟩ of the first spin")
    right.plot(fine, (exact[1] - exact[2]) / 2e-5, **EXACT)
    right.plot(times, slopes, "o", color="#d55e00")
    right.set(xlabel="time", title="d⟨Z⟩ / dh, by grad")
    left.legend()
    return figure


PICTURES = {"ctmrg": draw_ctmrg, "trg": draw_trg, "tebd": draw_tebd}


def main(folder: str) -> None:
    """Write every picture into the folder."""
    for name, draw in PICTURES.items():
        draw().savefig(Path(folder) / f"{name}.svg")


if __name__ == "__main__":
    main(*sys.argv[1:])
