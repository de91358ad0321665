"""The plugin module of the XLA backend: light, so that listing it imports no jax.

Importing this module and asking for its information costs nothing; ``probe`` imports jax, and
``create`` and ``lowerings`` load the rest of the package. Read next: ``_backend.py``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from tenferro.backend.records import BackendConfig, BackendInfo, PluginManifest, Probe
from tenferro.backend.spec import hookimpl

if TYPE_CHECKING:
    from tenferro.backend.base import Backend
    from tenferro.backend.exporting import Exporter
    from tenferro.backend.lowering import Lowering
    from tenferro.backend.sharding import Processes

TENFERRO_PLUGIN = PluginManifest(
    api=(1, 0),
    name="xla",
    kind="backend",
    summary="whole programs compiled by XLA, through JAX",
    requires_libs=("jax",),
    install_hint="pip install tenferro-xla",
)
_DTYPES = (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 "
    "float16 bfloat16 float32 float64 complex64 complex128"
)


# XLA orders equations by itself (`residuals`); loops are rolled when a function is recorded
# (`roll`); elementwise equations of a step cost less than their rows (`fission`); what `packs`
# gains on XLA was not measured; half spectra gain nothing on a CPU (`spectra`). A new pass runs
# here if named.
_PASSES = (
    "sums", "fold", "simplify", "moves", "windows", "diagonals", "broadcast", "factors", "reduce",
    "contract", "systems", "cse", "outputs", "loops", "product_fission",
)  # fmt: skip


@hookimpl
def tenferro_backend_info() -> BackendInfo:
    """Describe the backend."""
    return BackendInfo(
        name="xla",
        summary="XLA through JAX, on CPU, GPU or TPU",
        dtypes=frozenset(_DTYPES.split()),
        device_kinds=("cpu", "gpu", "tpu"),
        features=frozenset(
            {"f64", "complex", "int64", "f16", "bf16", "ints", "special", "sharding"}
        ),
        whole_program=True,
        passes=_PASSES,
        options=("segment_size", "cache_bytes", "compiler_options", "check_errors", "donated"),
        operand_types=("jaxlib._jax.ArrayImpl", "jaxlib._jax.Array", "jax.jaxlib._jax.Array"),
    )


@hookimpl
def tenferro_backend_probe() -> Probe:
    """Say whether jax is there and sees a device; no device is touched where that allocates."""
    versions = _versions()
    try:
        devices = _devices()
    except Exception as error:
        first_line = str(error).strip().partition("\n")[0]
        reason = f"jax cannot be used: {type(error).__name__}: {first_line}"
        return Probe(available=False, reason=reason, lib_versions=versions)
    return Probe(available=True, lib_versions=versions, devices=devices)


def _devices() -> tuple[str, ...]:
    """Return the devices by name; accelerators by kind, since counting them reserves memory."""
    jax = import_module("jax")
    if not hasattr(jax, "enable_x64"):
        raise ImportError(f"jax {jax.__version__} has no enable_x64; pip install -U jax")
    platforms = str(getattr(jax.config, "jax_platforms", None) or "")
    if platforms == "cpu" or find_spec("jax_plugins") is None:
        if _are_awaited():
            return ("cpu",)
        return tuple(f"{device.platform}:{device.id}" for device in jax.local_devices())
    return tuple(platforms.split(",")) if platforms else ("cpu", "gpu")


def _are_awaited() -> bool:
    """Return True while connected processes wait until the devices of all are known."""
    watch = sys.modules.get("tenferro_xla._watch")
    return watch is not None and watch.awaits_devices()


def _versions() -> dict[str, str]:
    metadata = import_module("importlib.metadata")  # slow to load, and only a probe needs it
    found = {}
    for name in ("jax", "jaxlib"):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


@hookimpl
def tenferro_backend_create(config: BackendConfig) -> Backend:
    """Make the backend."""
    backend: Backend = import_module("tenferro_xla._backend").XlaBackend(config)
    return backend


@hookimpl
def tenferro_backend_processes() -> Processes:
    """Return JAX's processes."""
    processes: Processes = import_module("tenferro_xla._processes").XlaProcesses()
    return processes


@hookimpl
def tenferro_backend_exporter() -> Exporter:
    """Return what compiles programs to StableHLO."""
    exporter: Exporter = import_module("tenferro_xla._exported").XlaExporter()
    return exporter


@hookimpl
def tenferro_lowerings(backend: str) -> Iterable[Lowering]:
    """List the lowerings of the standard set."""
    if backend != "xla":
        return ()
    lowerings: Iterable[Lowering] = import_module("tenferro_xla.lowerings").lowerings
    return lowerings
