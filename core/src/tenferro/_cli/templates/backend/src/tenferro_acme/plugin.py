"""The light module, which tenferro finds by its entry point.

It is imported when backends are listed, so it imports no array library at its top.
Read next: ``arrays.py``.
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
    api=(1, 0),  # the generation of the interface that this was written for
    name="acme",
    kind="backend",
    summary="NumPy in arrays of its own",
    requires_libs=("numpy",),
    install_hint="pip install tenferro-acme",
)
DTYPES = frozenset(
    {
        *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        *("float16", "float32", "float64", "complex64", "complex128"),
    }
)


@hookimpl
def tenferro_backend_info() -> BackendInfo:
    """Describe the backend without importing its library."""
    return BackendInfo(
        name="acme",
        dtypes=DTYPES,
        features=frozenset({"f64", "complex", "int64", "f16"}),
        operand_types=("tenferro_acme.arrays.AcmeArray",),
    )


@hookimpl
def tenferro_backend_probe() -> Probe:
    """Say whether the backend can run here; a missing device is an answer and no exception."""
    try:
        import numpy
    except ImportError as error:
        return Probe(available=False, reason=f"NumPy cannot be imported: {error}")
    return Probe(available=True, lib_versions={"numpy": numpy.__version__}, devices=("cpu",))


@hookimpl
def tenferro_backend_create(config: BackendConfig) -> Backend:
    """Make the backend."""
    from tenferro_acme.arrays import AcmeBackend

    return AcmeBackend()


@hookimpl
def tenferro_lowerings(backend: str) -> Iterable[Lowering]:
    """List the lowerings; they are asked for when the backend is used first."""
    if backend != "acme":
        return []
    from tenferro_acme.lowerings import lowerings

    return lowerings()
