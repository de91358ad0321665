"""A device as the measurements see it: its backend, its arrays, and how to wait for it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

Call = Callable[[], Any]


@dataclass(frozen=True)
class Device:
    """A device, the tenferro backend that runs on it, and the libraries to compare with.

    backend           name of the tenferro backend
    cupy              CuPy, whose arrays the backend takes
    by_hand           namespace in which the versions by hand are written: CuPy
    solve_triangular  that of the same library
    peers             of `jax` and `torch`, those that are installed and find the device
    budget            seconds for the calls of one contestant
    is_small          measure the quick cases, to see whether everything runs
    """

    backend: str
    cupy: Any
    by_hand: Any
    solve_triangular: Callable[..., Any]
    peers: tuple[str, ...] = ()
    budget: float = 1.0
    is_small: bool = False

    def arrays(self, given: Any) -> Any:
        """Return nested inputs with their NumPy arrays on the device."""
        return moved(self.cupy, given)

    def wait(self) -> None:
        """Wait until the work of all streams is done, whichever library queued it."""
        self.cupy.cuda.Device().synchronize()


def moved(namespace: Any, given: Any) -> Any:
    """Return nested inputs with their NumPy arrays as those of a library."""
    if isinstance(given, (tuple, list)):
        return type(given)([moved(namespace, x) for x in given])
    return namespace.asarray(given) if isinstance(given, np.ndarray) else given


def times(device: Device, call: Call) -> dict[str, float]:
    """Return seconds of the first call, and those that `repeated` tells."""
    return {"first": timed(device, call)[0], **repeated(device, call)}


def repeated(device: Device, call: Call) -> dict[str, float]:
    """Return seconds of the second call, and of those after it the least and the median.

    With CUDA graphs the second call captures, and those after it replay.
    """
    second = timed(device, call)[0]
    end = time.perf_counter() + device.budget
    seconds = [timed(device, call)[0]]
    while len(seconds) < 5 or (len(seconds) < 200 and time.perf_counter() < end):
        seconds.append(timed(device, call)[0])
    return {"second": second, "seconds": min(seconds), "median": median(seconds)}


def timed(device: Device, call: Call) -> tuple[float, Any]:
    """Return the seconds of one call until the device is done, and its result."""
    device.wait()
    start = time.perf_counter()
    result = call()
    device.wait()
    return time.perf_counter() - start, result


def leaves(result: Any) -> Iterator[Any]:
    """The arrays of a nested result, in order."""
    if isinstance(result, (list, tuple)):
        for part in result:
            yield from leaves(part)
    else:
        yield result


def host(leaf: Any) -> np.ndarray:
    """A result of any library as an array of NumPy."""
    value = getattr(leaf, "operand", leaf)
    if hasattr(value, "detach"):
        return np.asarray(value.detach().cpu())
    if hasattr(value, "get"):
        return np.asarray(value.get())
    return np.asarray(value)
