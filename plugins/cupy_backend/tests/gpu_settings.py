"""Settings of `tools/gpu_check.py` that need no device: the stand-in, and stages that break off."""

import os
import sys
from pathlib import Path

import numpy as np
import stand_in_plugin
from gpu_stages import Stage
from gpu_stages.setting import Setting
from scipy.linalg import solve_triangular

from tenferro.backend import host

FOLDER = Path(__file__).parent


class StandIn(Setting):
    """The stand-in, small cases, and the kit on one family."""

    name = "gpu_settings:StandIn"
    backend = stand_in_plugin.NAME
    cupy = stand_in_plugin.FAKE
    by_hand = np
    solve_triangular = staticmethod(solve_triangular)
    peers = ()
    jobs = 1
    compiles, budget, is_small = False, 0.0, True
    kit = (
        *("--plugin", "stand_in_plugin", "--declare", "cupy_stand_in=stand_in_plugin:PROFILE"),
        *("--primitive", "std::select", "--primitive", "std::cummax", "--tier", "quick"),
    )

    def __init__(self):
        os.environ["PYTHONPATH"] = self.python_path(str(FOLDER))
        if "cupy_stand_in" not in {record.name for record in host().records()}:
            host().register(stand_in_plugin)

    def xla_command(self):
        return [sys.executable, "-c", "print('12 passed')"]


def _ends_its_process(setting, notes):
    notes["found"] = 1
    os._exit(7)


def _never_ends(setting, notes):
    os.read(os.pipe()[0], 1)


def _passes(setting, notes):
    notes["found"] = 2


class BrokenOff(Setting):
    """A stage that ends its process, one that never ends, and one after them."""

    grace = 0.0
    stages = (
        Stage("ends its process", 1, _ends_its_process),
        Stage("never ends", 0.001, _never_ends),
        Stage("after them", 1, _passes),
    )
