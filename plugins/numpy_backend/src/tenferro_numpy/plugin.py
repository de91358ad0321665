"""The NumPy backend as core finds it: a manifest and hooks, and no import of NumPy.

Listing plugins imports this module; NumPy comes in when the backend is probed or created.
Read next: `backend.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tenferro.backend.records import BackendConfig, BackendInfo, PluginManifest, Probe
from tenferro.backend.spec import hookimpl

if TYPE_CHECKING:
    from tenferro.backend.base import Backend
    from tenferro.backend.lowering import Lowering

__all__ = ["TENFERRO_PLUGIN"]

TENFERRO_PLUGIN = PluginManifest(
    api=(1, 0),
    name="numpy",
    kind="backend",
    summary="NumPy on the CPU: one generated Python function per program",
    requires_libs=("numpy", "scipy"),
    install_hint="pip install tenferro-numpy",
)

_INFO = BackendInfo(
    name="numpy",
    summary=TENFERRO_PLUGIN.summary,
    dtypes=frozenset(
        (
            "bool",
            *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
            *("float16", "float32", "float64", "complex64", "complex128"),
        )
    ),
    device_kinds=("cpu",),
    features=frozenset({"f64", "complex", "int64", "f16", "ints", "special"}),
    operand_types=("numpy.ndarray", "numpy.generic"),
    options=("executor", "debug", "threads", "tile", "poison", "donated", "without"),
)


@hookimpl
def tenferro_backend_info() -> BackendInfo:
    """Describe the backend."""
    return _INFO


@hookimpl
def tenferro_backend_probe() -> Probe:
    """Say which versions are there; NumPy needs no device."""
    try:
        from tenferro_numpy.backend import library_versions  # noqa: PLC0415 - imports NumPy

        return Probe(available=True, lib_versions=library_versions(), devices=("cpu",))
    except Exception as error:  # a probe reports, whatever an installation is broken by
        return Probe(available=False, reason=f"NumPy cannot be imported: {error}")


@hookimpl
def tenferro_backend_create(config: BackendConfig) -> Backend:
    """Make the backend."""
    from tenferro_numpy.backend import NumpyBackend  # noqa: PLC0415 - imports NumPy

    return NumpyBackend(config)


@hookimpl
def tenferro_lowerings(backend: str) -> Iterable[Lowering]:
    """Give the lowerings of the standard set, for this backend only."""
    if backend != TENFERRO_PLUGIN.name:
        return ()
    from tenferro_numpy.lowerings import lowerings  # noqa: PLC0415 - imports NumPy

    return lowerings()
