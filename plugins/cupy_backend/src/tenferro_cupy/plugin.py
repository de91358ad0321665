"""The CuPy backend as core finds it: a manifest and hooks, and no import of CuPy.

Listing plugins imports this module; CuPy comes in when the backend is probed, created or asked for
lowerings. Without a device the backend is listed as unavailable, with the reason.
Read next: `_device.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tenferro.backend.records import BackendConfig, BackendInfo, PluginManifest, Probe
from tenferro.backend.spec import hookimpl
from tenferro_cupy._device import probe

if TYPE_CHECKING:
    from tenferro.backend.base import Backend
    from tenferro.backend.lowering import Lowering

__all__ = ["TENFERRO_PLUGIN"]

TENFERRO_PLUGIN = PluginManifest(
    api=(1, 0),
    name="cupy",
    kind="backend",
    summary="CuPy on NVIDIA GPUs",
    requires_libs=("cupy",),
    install_hint='pip install "tenferro-cupy[cuda13]"',
)

# A choice among loops waits for the device (`unswitch`), where a loop of small arrays is one launch
# anyway; what half spectra gain there was not measured (`spectra`). A new pass runs here if named.
_PASSES = (
    "roll", "packs", "sums", "fold", "simplify", "moves", "windows", "diagonals", "broadcast",
    "factors", "reduce", "contract", "systems", "cse", "outputs", "loops", "fission",
    "product_fission", "layout", "residuals",
)  # fmt: skip

_INFO = BackendInfo(
    name="cupy",
    summary=TENFERRO_PLUGIN.summary,
    dtypes=frozenset(
        (
            "bool",
            *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
            *("float16", "float32", "float64", "complex64", "complex128"),
        )
    ),
    device_kinds=("cuda",),
    features=frozenset({"f64", "complex", "int64", "f16", "ints", "special"}),
    passes=_PASSES,
    options=("cuda_graph", "cutensor", "donated"),
    operand_types=("cupy.ndarray", "cupy._core.core.ndarray"),
)


@hookimpl
def tenferro_backend_info() -> BackendInfo:
    """Describe the backend."""
    return _INFO


@hookimpl
def tenferro_backend_probe() -> Probe:
    """Ask the CUDA runtime for devices; allocates nothing and never raises."""
    return probe()


@hookimpl
def tenferro_backend_create(config: BackendConfig) -> Backend:
    """Make the backend.

    Raises DeviceUnavailableError: if there is no such device.
    """
    import cupy

    from tenferro_cupy._backend import CupyBackend  # noqa: PLC0415 - with the library only

    return CupyBackend(config, cupy)


@hookimpl
def tenferro_lowerings(backend: str) -> Iterable[Lowering]:
    """Give the lowerings of the standard set, for this backend only."""
    if backend != TENFERRO_PLUGIN.name:
        return ()
    import cupy

    from tenferro_cupy.lowerings import lowerings  # noqa: PLC0415 - with the library only

    return lowerings(cupy)
