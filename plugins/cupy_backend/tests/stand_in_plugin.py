"""Loaded into a pytest of the conformance kit by `-p`: registers the stand-in as a backend.

Kernels are computed with NumPy: to compile thousands of them for the CPU takes an hour.
"""

import os

os.environ["TENFERRO_CUPY_CACHE"] = ""

import fake_cupy
import numpy as np
from kernel_on_numpy import RAW, ChainOnNumpy, LoopOnNumpy, RegionOnNumpy

from tenferro._runtime.frozen import replace
from tenferro.backend import Probe, hookimpl, host
from tenferro_conformance.kit import register_profile
from tenferro_cupy import plugin
from tenferro_cupy._backend import CupyBackend
from tenferro_cupy.lowerings import lowerings
from tenferro_cupy.plan import chains, loops, regions
from tenferro_cupy.profile import PROFILE

regions.Region = RegionOnNumpy
chains.Chain = ChainOnNumpy
loops.Loop = LoopOnNumpy
fake_cupy.RAW_ON_NUMPY.update(RAW)
NAME = "cupy_stand_in"
FAKE = fake_cupy.Fake()


class StandIn:
    """The plugin module of the CuPy backend under another name and over another namespace."""

    TENFERRO_PLUGIN = replace(plugin.TENFERRO_PLUGIN, name=NAME, requires_libs=())

    @staticmethod
    @hookimpl
    def tenferro_backend_info():
        info = plugin.tenferro_backend_info()
        return replace(info, name=NAME, operand_types=("fake_cupy.ndarray",))

    @staticmethod
    @hookimpl
    def tenferro_backend_probe():
        versions = {"cupy": f"{FAKE.__version__} (names alone)", "numpy": np.__version__}
        return Probe(available=True, lib_versions=versions, devices=("stand-in (no device)",))

    @staticmethod
    @hookimpl
    def tenferro_backend_create(config):
        return CupyBackend(config, FAKE)

    @staticmethod
    @hookimpl
    def tenferro_lowerings(backend):
        if backend != NAME:
            return ()
        return lowerings(FAKE, *fake_cupy.cupyx)


host().register(StandIn())
register_profile(NAME, PROFILE)
