"""Fused chains in percent of the bandwidth of a copy, and 1,000 small operations by CUDA graphs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.gpu.device import Device, times

Row = dict[str, Any]
#: elements of the arrays whose traffic is measured: 512 MiB of float32
ELEMENTS = 1 << 27
FEW_ELEMENTS = 1000
#: operations of the launch-bound program: half of them products, which no kernel fuses
OPERATIONS = 1000
FEW_OPERATIONS = 20


def loss(x: Any) -> Any:
    return np.sum(np.tanh(x * 2 + 1) * np.exp(-x) + x)


def gradient(x: Any) -> Any:
    import tenferro as tn

    return tn.grad(loss)(x)


#: name → (function, arrays that it reads, arrays that it writes)
FUSED: dict[str, tuple[Callable[..., Any], int, int]] = {
    "tanh(2x + 1) exp(−x) + x": (lambda x: np.tanh(x * 2 + 1) * np.exp(-x) + x, 1, 1),
    "x sin(y) + y": (lambda x, y: x * np.sin(y) + y, 2, 1),
    "sum of the first": (loss, 1, 0),
    "gradient of that sum": (gradient, 1, 1),
}


def bandwidths(device: Device) -> Iterator[tuple[str, Row]]:
    """Yield bytes per second of a copy, then of each chain, and its percentage of a copy's."""
    import tenferro as tn

    count = FEW_ELEMENTS if device.is_small else ELEMENTS
    x = device.arrays(np.ones(count, "float32"))
    y = x.copy()
    copied = 2 * x.nbytes / times(device, x.copy)["seconds"]
    yield "copy", {"GB/s": copied / 1e9}
    for name, (function, reads, writes) in FUSED.items():
        f = tn.jit(function, backend=device.backend)
        given = (x, y)[:reads]
        found = (reads + writes) * x.nbytes / times(device, lambda f=f, g=given: f(*g))["seconds"]
        yield name, {"GB/s": found / 1e9, "% of copy": 100 * found / copied}


def small_steps(x: Any, w: Any, count: int) -> Any:
    """x ← tanh(x w), count/2 times: each product and each tanh is a launch of its own."""
    for _ in range(count // 2):
        x = np.tanh(x @ w)
    return x


def launches(device: Device) -> Iterator[tuple[str, Row]]:
    """Yield µs per operation of small operations in a row, by steps and by a CUDA graph.

    Of a graph also the seconds of its first call, of its capture, and of a replay.
    """
    import tenferro as tn

    count = FEW_OPERATIONS if device.is_small else OPERATIONS
    x, w = device.arrays((np.full((16, 16), 0.1, "float32"), np.eye(16, dtype="float32")))
    for name, options in (("steps", {}), ("CUDA graph", {"cuda_graph": True})):
        f = tn.jit(lambda x, w: small_steps(x, w, count), backend=device.backend, options=options)
        found = times(device, lambda f=f: f(x, w))
        row = {"operations": count, "µs per operation": 1e6 * found["seconds"] / count}
        if options:
            row |= {"first call, s": found["first"], "capture, s": found["second"]}
            row |= {"replay, s": found["seconds"]}
        yield name, row
    single, small = tn.jit(lambda x: x * 2 + 1, backend=device.backend), x[0]
    yield "one small call", {"µs": 1e6 * times(device, lambda: single(small))["seconds"]}
