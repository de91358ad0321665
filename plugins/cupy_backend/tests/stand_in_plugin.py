"""The stand-in as a plugin, which the conformance kit takes with `--plugin stand_in_plugin`.

    cd plugins/cupy_backend/tests
    tenferro-conformance run --plugin stand_in_plugin --backend cupy_stand_in \
        --declare cupy_stand_in=stand_in_plugin:PROFILE

Kernels are computed with NumPy: to compile thousands of them for the CPU takes an hour.
"""

import os

os.environ["TENFERRO_CUPY_CACHE"] = ""

import fake_cupy
import numpy as np
from kernel_on_numpy import install

from tenferro._runtime.frozen import replace
from tenferro.backend import Probe, hookimpl
from tenferro_cupy import plugin
from tenferro_cupy._backend import CupyBackend
from tenferro_cupy.lowerings import lowerings
from tenferro_cupy.profile import PROFILE

__all__ = ["PROFILE", "TENFERRO_PLUGIN"]

install()
NAME = "cupy_stand_in"
FAKE = fake_cupy.Fake()
TENFERRO_PLUGIN = replace(plugin.TENFERRO_PLUGIN, name=NAME, requires_libs=())


@hookimpl
def tenferro_backend_info():
    """Describe the backend under its other name."""
    info = plugin.tenferro_backend_info()
    return replace(info, name=NAME, operand_types=("fake_cupy.ndarray",))


@hookimpl
def tenferro_backend_probe():
    """Say that this is no device."""
    versions = {"cupy": f"{FAKE.__version__} (names alone)", "numpy": np.__version__}
    return Probe(available=True, lib_versions=versions, devices=("stand-in (no device)",))


@hookimpl
def tenferro_backend_create(config):
    """Make the backend over the stand-in."""
    return CupyBackend(config, FAKE)


@hookimpl
def tenferro_lowerings(backend):
    """Give CuPy's lowerings over the stand-in."""
    return lowerings(FAKE, *fake_cupy.cupyx) if backend == NAME else ()
