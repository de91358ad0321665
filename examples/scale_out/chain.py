"""The norm of a long matrix product state and its gradient, with its bonds split over devices.

    python examples/scale_out/chain.py

A chain of L tensors [bond, 2, bond] is contracted from the left: the environment is a matrix
[bond, bond] whose rows are split. Each step is two products; devices exchange one environment per
step. The result is that of one device.
"""

import numpy as np
from start import finish, start

import tenferro as tn

LENGTH, BOND = 12, 64


def log_norm(tensors):
    """ln ⟨ψ|ψ⟩ per site; the environment is normalized at each step."""

    def step(environment, tensor):
        upper = np.einsum("ab,asc->bsc", environment, tensor)
        environment = np.einsum("bsc,bsd->cd", upper, tensor)
        environment = tn.sharding_constraint(environment, ("bond", None))
        size = np.sqrt(np.sum(environment**2))
        return environment / size, np.log(size)

    bond = tensors.shape[-1]
    _, logs = tn.scan(step, np.eye(bond) / np.sqrt(bond), tensors)
    return np.mean(logs)


def jitted(mesh):
    """Value and gradient; each device holds a part of each tensor."""
    split = (None, None, None, "bond")
    return tn.jit(
        tn.value_and_grad(log_norm),
        backend="xla",
        mesh=mesh,
        in_shardings=(split,),
        out_shardings=[(), split],
    )


def main():
    others, _ = start(processes=(1,))  # it compares with a mesh of one device
    tensors = np.random.default_rng(0).normal(size=(LENGTH, BOND, 2, BOND)) / np.sqrt(BOND)
    found = {}
    for devices in (1, 8):
        value, slope = jitted(tn.mesh({"bond": devices}))(tensors)
        found[devices] = value, slope
        print(f"{devices} device(s): ln norm per site {value:.12f}")
    np.testing.assert_allclose(found[8][0], found[1][0], rtol=1e-12)
    np.testing.assert_allclose(found[8][1], found[1][1], rtol=1e-9, atol=1e-12)
    finish(others)


if __name__ == "__main__":
    main()
