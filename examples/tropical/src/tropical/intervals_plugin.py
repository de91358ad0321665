"""The backend of intervals as core finds it: an algebra with operands of its own.

A light module. Read next: ``algebras.py``.
"""

from __future__ import annotations

from typing import Any

from tenferro.backend import BackendInfo, PluginManifest, Probe, hookimpl

TENFERRO_PLUGIN = PluginManifest(api=(1, 0), name="intervals", kind="backend")


@hookimpl
def tenferro_backend_info() -> BackendInfo:
    """Describe the backend; no pass of core holds for intervals, where x − x is not 0."""
    return BackendInfo(
        name="intervals",
        dtypes=frozenset({"float64"}),
        features=frozenset({"f64"}),
        operand_types=("tropical.algebras.Interval",),
        passes="none",
    )


@hookimpl
def tenferro_backend_probe() -> Probe:
    """Say that it runs everywhere."""
    return Probe(available=True)


@hookimpl
def tenferro_backend_create() -> Any:
    """Make the backend."""
    from tenferro.backend import AlgebraBackend
    from tropical.algebras import Intervals

    return AlgebraBackend(Intervals())


@hookimpl
def tenferro_lowerings(backend: str) -> Any:
    """List the operations of the algebra."""
    if backend != "intervals":
        return []
    from tenferro.backend import lowerings_of
    from tropical.algebras import Intervals

    return lowerings_of(Intervals())
