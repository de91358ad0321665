"""The light module, which tenferro finds by its entry point; it imports no PyTorch at its top.

Read next: ``tensors.py``.
"""

from __future__ import annotations

from collections.abc import Iterable

from tenferro.backend import (
    Backend,
    BackendConfig,
    BackendInfo,
    Lowering,
    PluginManifest,
    Probe,
    hookimpl,
)

TENFERRO_PLUGIN = PluginManifest(
    api=(1, 0),
    name="torch",
    kind="backend",
    summary="PyTorch on the CPU, one call per equation",
    requires_libs=("torch", "array_api_compat"),
    install_hint="pip install tenferro-torch",
)
DTYPES = frozenset(
    {
        *("bool", "int8", "int16", "int32", "int64", "uint8"),
        *("float32", "float64", "complex64", "complex128"),
    }
)


@hookimpl
def tenferro_backend_info() -> BackendInfo:
    """Describe the backend without importing PyTorch; subclasses of a tensor count as tensors."""
    return BackendInfo(
        name="torch",
        dtypes=DTYPES,
        features=frozenset({"f64", "complex", "int64"}),
        operand_types=("torch.Tensor",),
    )


@hookimpl
def tenferro_backend_probe() -> Probe:
    """Say whether the backend can run here."""
    try:
        import array_api_compat
        import torch
    except ImportError as error:
        return Probe(available=False, reason=f"{error.name} cannot be imported: {error}")
    versions = {"torch": torch.__version__, "array_api_compat": array_api_compat.__version__}
    return Probe(available=True, lib_versions=versions, devices=("cpu",))


@hookimpl
def tenferro_backend_create(config: BackendConfig) -> Backend:
    """Make the backend."""
    from tenferro_torch.tensors import TorchBackend

    return TorchBackend()


@hookimpl
def tenferro_lowerings(backend: str) -> Iterable[Lowering]:
    """List the lowerings; they are asked for when the backend is used first."""
    if backend != "torch":
        return []
    from tenferro_torch.lowerings import lowerings

    return lowerings()
