"""The ground state of a spin chain, by gradient descent.

A ring of spins in a transverse field has 2ⁿ amplitudes. A family of states with a few angles is
enough to reach its ground state; the gradient of the energy leads there, through complex numbers
all the way.
"""

# %%
import sys
from itertools import product

import numpy as np

import tenferro as tn

SPINS, LAYERS = 6, 3

# %% [markdown]
# ## The energy
#
# H = −Σ ZᵢZᵢ₊₁ − Σ Xᵢ on a ring, at the critical field. The state is an array with one axis of
# length 2 per spin: Z multiplies by ±1 along an axis, and X reverses the axis.

# %%
signs = np.array(list(product([1.0, -1.0], repeat=SPINS)))
bonds = np.sum(signs * np.roll(signs, 1, axis=1), axis=1).reshape((2,) * SPINS)  # Σ ZᵢZᵢ₊₁


def applied(state):
    """H applied to a state."""
    flipped = sum(np.flip(state, axis=i) for i in range(SPINS))
    return -bonds * state - flipped


def energy(angles):
    """The energy of the state that these angles prepare; angles[l] belong to layer l.

    exp(iγ Σ ZZ) is a phase for each amplitude; exp(iβX) = cos β + i sin β X acts on one axis.
    """
    state = np.full((2,) * SPINS, 2 ** (-SPINS / 2), dtype=complex)  # all spins along the field
    for layer in range(LAYERS):
        gamma, beta = angles[layer, 0], angles[layer, 1]
        state = np.exp(1j * gamma * bonds) * state
        for i in range(SPINS):
            state = np.cos(beta) * state + 1j * np.sin(beta) * np.flip(state, axis=i)
    return np.real(np.sum(np.conj(state) * applied(state)))


# %% [markdown]
# ## The answer to compare with
#
# NumPy diagonalizes the matrix of 64 × 64.

# %%
basis = np.eye(2**SPINS).reshape((-1, *(2,) * SPINS))
matrix = np.stack([np.asarray(applied(state)).ravel() for state in basis])
exact = np.linalg.eigvalsh(matrix)[0]

# %% [markdown]
# ## The descent
#
# Gradient descent with momentum (B. Polyak, USSR Comput. Math. 4 (1964) 1). That n/2 layers reach
# the ground state is a result of W. W. Ho and T. Hsieh, SciPost Phys. 6 (2019) 029.

# %%
value_and_grad = tn.jit(tn.value_and_grad(energy))
angles = np.full((LAYERS, 2), 0.3)
velocity = np.zeros_like(angles)
energies = []
for _ in range(600):
    now, slope = value_and_grad(angles)
    energies.append(float(now))
    velocity = 0.9 * velocity - 0.004 * slope
    angles = angles + velocity
above = energies[-1] - exact
print(f"energy    {energies[0]:.6f} -> {energies[-1]:.10f}")
print(f"exact     {exact:.10f}   (difference {above:.1e})")
assert -1e-12 < above < 1e-9, "a variational energy is above the exact one, and near it"

# %% [markdown]
# The gradient vanishes there and the Hessian has no negative direction: it is a minimum.

# %%
hessian = tn.hessian(energy)(angles).reshape(angles.size, angles.size)
print(
    f"gradient  {np.max(np.abs(slope)):.1e} at most;   lowest curvature "
    f"{np.linalg.eigvalsh(hessian)[0]:.1e}"
)
assert np.max(np.abs(slope)) < 1e-3
assert np.linalg.eigvalsh(hessian)[0] > -1e-6


# %%
def plot(path):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.plot(energies, color="#0072b2")
    left.axhline(exact, color="#d55e00", linestyle="--", label="exact")
    left.set(xlabel="step", ylabel="energy", xlim=(0, 300))
    left.legend()
    right.semilogy(np.maximum(np.array(energies) - exact, 1e-14), color="#0072b2")
    right.set(xlabel="step", title="above the exact energy")
    left.set_title(f"{SPINS} spins, {angles.size} angles")
    for axes in (left, right):
        axes.grid(alpha=0.3)
    figure.savefig(path)


if sys.argv[1:2] == ["--plot"]:
    plot(sys.argv[2])
