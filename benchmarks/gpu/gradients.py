"""Value and gradient of W1, W2, W3, W5, W6 and W7 on a device, beside CuPy by hand and the peers.

Each contestant's first and last results must agree with those by hand. JAX computes products in
full float32, as tenferro, CuPy and PyTorch do. Its contestant and PyTorch's are those of the
workload; JAX finds the device by itself, PyTorch by its default device.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from benchmarks.gpu.device import Call, Device, host, leaves, moved, repeated, timed
from benchmarks.harness.compare import agree
from benchmarks.harness.workload import Case, Workload

Row = dict[str, Any]
GRAPH = {"cuda_graph": True}


class Gradient(NamedTuple):
    """A workload on a device.

    derivative  inputs → tenferro's value and gradient, a function of those that are arrays
    by_hand     (device, inputs) → call, in CuPy's names
    """

    module: str
    case: str
    quick: str
    derivative: Callable[..., Any]
    by_hand: Callable[..., Call]

    @property
    def workload(self) -> Workload:
        found: Workload = import_module(f"benchmarks.{self.module}").W
        return found

    def chosen(self, device: Device) -> Case:
        return self.workload.case(self.quick if device.is_small else self.case)


def derivative(module: str, argnums: int | tuple[int, ...] = 0) -> Callable[..., Any]:
    """tenferro's derivative of the loss of a workload."""

    def made(*_: Any) -> Any:
        import tenferro as tn

        w = import_module(f"benchmarks.{module}")
        return tn.value_and_grad(lambda *xs: w.loss(np, *xs), argnums=argnums)

    return made


def by_hand(module: str) -> Callable[..., Call]:
    """The version by hand of a workload, in CuPy's names."""

    def made(device: Device, *inputs: Any) -> Call:
        call: Call = import_module(f"benchmarks.{module}").by_hand(device.by_hand, *inputs)
        return call

    return made


def heat(_: Any, steps: int) -> Any:
    import tenferro as tn
    from benchmarks import w07_heat_equation as w

    return tn.value_and_grad(lambda u: w.scanned_loss(np, tn.scan, u, steps))


def overlap(*chains: Any) -> Any:
    from benchmarks import w05_mps_overlap as w

    return w.value_and_grad(chains)


def factorization(name: str, *_: Any) -> Any:
    from benchmarks import w06_factorizations as w

    return w.ours(name)


def factorization_by_hand(device: Device, name: str, *given: Any) -> Call:
    from benchmarks import w06_factorizations as w

    if name == "gp":
        through = w.gp_by_hand_through_the_triangle
        return lambda: through(device.by_hand, device.solve_triangular, *given)
    found = {"svd": w.svd_by_hand, "eigh": w.eigh_by_hand}[name]
    return lambda: found(device.by_hand, *given)


GMM, MLP, ELEMENTWISE = "w01_gmm", "w02_mlp", "w03_elementwise"
MPS, FACTORIZATIONS, HEAT = "w05_mps_overlap", "w06_factorizations", "w07_heat_equation"
GRADIENTS = (
    Gradient(ELEMENTWISE, "10⁷", "10⁵", derivative(ELEMENTWISE), by_hand(ELEMENTWISE)),
    Gradient(GMM, "n = 10,000", "n = 100", derivative(GMM, (0, 1, 2)), by_hand(GMM)),
    Gradient(MLP, "batch 256", "batch 16", derivative(MLP), by_hand(MLP)),
    Gradient(HEAT, "10⁵ points, 1,000 steps", "1,000 points, 36 steps", heat, by_hand(HEAT)),
    Gradient(MPS, "⟨A|B⟩, L = 32", "⟨A|B⟩, L = 8", overlap, by_hand(MPS)),
    *[
        Gradient(FACTORIZATIONS, name, f"{name}, n = 40", factorization, factorization_by_hand)
        for name in ("svd", "eigh", "gp")
    ],
)


def measured(device: Device, done: frozenset[tuple[str, str]] = frozenset()) -> Iterator[Row]:
    """Yield a row for each contestant of each workload as soon as it is measured.

    `done` has workloads and cases that a run before this one measured.
    """
    for gradient in GRADIENTS:
        workload, case = gradient.workload, gradient.chosen(device)
        if (workload.id, case.name) not in done:
            for row in measured_case(device, gradient, case):
                yield {"workload": workload.id, "case": case.name, **row}


def measured_case(device: Device, gradient: Gradient, case: Case) -> Iterator[Row]:
    """Yield a row for each contestant of a case; one that fails or disagrees says why."""
    workload, want = gradient.workload, None
    for name, make in contestants(device, gradient, workload.inputs(case.given)):
        row: Row = {"contestant": name}
        try:
            call = make()
            row["first"], result = timed(device, call)
            found = compared(workload, case, result)
            want = found if want is None else want
            agree(found, want, case.tolerance or workload.tolerance)
            row |= repeated(device, call)
            agree(compared(workload, case, call()), want, case.tolerance or workload.tolerance)
        except Exception as error:  # a peer may fail in any way, and the others go on
            row["why"] = f"{type(error).__name__}: {error}".split("\n")[0][:300]
        yield row


def compared(workload: Workload, case: Case, result: Any) -> Any:
    """Return what is compared of a result, on the host."""
    return workload.compared(case, [host(leaf) for leaf in leaves(result)])


def contestants(
    device: Device, gradient: Gradient, inputs: tuple[Any, ...]
) -> Iterator[tuple[str, Callable[[], Call]]]:
    """Yield the contestants by name: what makes the call of each, with its inputs in place."""
    yield "CuPy by hand", lambda: gradient.by_hand(device, *moved(device.by_hand, inputs))
    yield "tenferro", lambda: ours(device, gradient, inputs, {})
    yield "tenferro, CUDA graph", lambda: ours(device, gradient, inputs, GRAPH)
    for contestant in gradient.workload.contestants:
        if contestant.peer in device.peers:
            make = {"jax": on_jax, "torch": on_torch}[contestant.peer]
            yield contestant.name, lambda m=make, c=contestant: m(c.make, inputs)


def ours(device: Device, gradient: Gradient, inputs: Any, options: dict[str, bool]) -> Call:
    """tenferro's call on the device's arrays."""
    import tenferro as tn

    arrays = [device.arrays(x) for x in inputs if not isinstance(x, (str, int))]
    f = tn.jit(gradient.derivative(*inputs), backend=device.backend, options=options)
    return lambda: f(*arrays)


def on_jax(make: Callable[..., Call], inputs: Any) -> Call:
    """JAX's call, with float64 and without TF32."""
    import jax

    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_default_matmul_precision", "highest")
    return make(*inputs)


def on_torch(make: Callable[..., Call], inputs: Any) -> Call:
    """PyTorch's call, on its GPU; TF32 is off by default."""
    import torch

    torch.set_default_device("cuda")
    return make(*inputs)
