"""A setting: which backend is checked, over which CuPy, and how its commands are called."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from functools import cached_property
from typing import Any

from gpu_stages import STAGES, Stage

__all__ = ["LeftOutError", "Setting", "jax_has_a_gpu"]


class LeftOutError(Exception):
    """A stage cannot run here, for a reason that is no fault of the backend."""


class Setting:
    """The CuPy backend on the device that CuPy finds; a subclass checks a stand-in.

    end     when the present stage must be done, by the monotonic clock
    dtypes  those whose kernels are checked; none: all
    kit     further arguments of the conformance kit: which plugin, which cases
    """

    stages: tuple[Stage, ...] = STAGES
    backend = "cupy"
    kit: tuple[str, ...] = ("--tier", "quick")
    dtypes: tuple[str, ...] = ()
    end = float("inf")
    grace = 5.0  # seconds after its limit until the process of a stage is ended
    compiles = True  # whether kernels are compiled; a stand-in computes them otherwise
    budget = 1.0  # seconds for the calls of one contestant
    is_small = False  # whether speed is measured on small cases, to see that all runs
    name = "gpu_stages.setting:Setting"  # for a process that a stage starts

    @cached_property
    def cupy(self) -> Any:
        """CuPy's namespace; imported when a stage asks for it."""
        import cupy

        return cupy

    @property
    def by_hand(self) -> Any:
        """The namespace in which programs are written by hand for the device."""
        return self.cupy

    @property
    def solve_triangular(self) -> Callable[..., Any]:
        """The solver of triangular systems that belongs to `by_hand`."""
        from cupyx.scipy.linalg import solve_triangular

        found: Callable[..., Any] = solve_triangular
        return found

    @property
    def peers(self) -> tuple[str, ...]:
        """The libraries beside CuPy that are installed and find a GPU."""
        found = (("jax", jax_has_a_gpu), ("torch", _torch_has_a_gpu))
        return tuple([name for name, has in found if has()])

    @property
    def jobs(self) -> int:
        """Processes of the kit at a time, which compile kernels on the host most of the time."""
        return max(1, min(8, (os.cpu_count() or 1) // 2))

    def seconds_left(self) -> float:
        """Return the seconds that the present stage has left."""
        return max(1.0, self.end - time.monotonic())

    def python_path(self, folder: str) -> str:
        """Return the search path of a process that also finds the modules of a folder."""
        return os.pathsep.join(filter(None, [folder, os.environ.get("PYTHONPATH", "")]))

    def kit_command(self, *more: str) -> list[str]:
        """Return the command that runs the conformance kit over the backend."""
        found = [*_KIT, "--backend", self.backend, "--require", self.backend, "--laws", "backend"]
        return [*found, "--jobs", str(self.jobs), *self.kit, *more]

    def xla_command(self) -> list[str]:
        """Return the command that runs typical cases of the kit over XLA on the same device.

        Raises LeftOutError: if JAX is not installed or finds no GPU.
        """
        if not jax_has_a_gpu():
            raise LeftOutError("JAX is not installed here, or finds no GPU")
        found = [*_KIT, "--backend", "xla", "--require", "xla", "--laws", "backend"]
        return [*found, "--tier", "quick"]


_KIT = (sys.executable, "-m", "tenferro_conformance", "run")


def jax_has_a_gpu() -> bool:
    """Return True if JAX is installed and finds a GPU."""
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # CuPy needs memory as well
    try:
        import jax

        return bool(jax.devices("gpu"))
    except (ImportError, RuntimeError):
        return False


def _torch_has_a_gpu() -> bool:
    try:
        import torch

        return bool(torch.cuda.is_available())
    except ImportError:
        return False
