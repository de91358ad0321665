"""Stage: name the device and the libraries, and compute one gradient."""

from __future__ import annotations

import numpy as np
from benchmarks.gpu.device import host

import tenferro as tn
from gpu_stages.notes import StageNotes
from gpu_stages.setting import Setting

__all__ = ["probe"]


def probe(setting: Setting, notes: StageNotes) -> None:
    """Note devices and versions; d/dx Σ sin(x) exp(x) = (cos x + sin x) exp x, to 1e-12."""
    runtime = setting.cupy.cuda.runtime
    names = [runtime.getDeviceProperties(i)["name"] for i in range(runtime.getDeviceCount())]
    notes["devices"] = [n.decode() if isinstance(n, bytes) else n for n in names]
    notes["cupy"], notes["cuda"] = setting.cupy.__version__, runtime.runtimeGetVersion()
    notes["tenferro"] = tn.__version__
    x = np.linspace(0.1, 1, 1000)
    found = tn.jit(tn.grad(lambda x: np.sum(np.sin(x) * np.exp(x))), backend=setting.backend)(x)
    want = (np.cos(x) + np.sin(x)) * np.exp(x)
    error = float(abs(host(found) - want).max())
    notes["error of a gradient"] = error
    assert error < 1e-12, f"the gradient is wrong by {error}"
