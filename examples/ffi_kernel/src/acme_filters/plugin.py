"""The module that tenferro finds by the entry point. It imports neither JAX nor the kernel."""

from __future__ import annotations

from acme_filters.recursion import Recursion
from tenferro.backend import Lowering, PluginManifest, hookimpl

TENFERRO_PLUGIN = PluginManifest(
    api=(1, 0), name="acme_filters", kind="primitives", summary="recursive filters"
)


@hookimpl
def tenferro_primitives():
    """List the primitives of the namespace."""
    return [Recursion]


@hookimpl
def tenferro_lowerings(backend):
    """Offer the kernel to XLA. Other backends, and other dtypes, run the decomposition."""
    if backend != "xla":
        return []
    return [
        Lowering(
            Recursion.key,
            "acme_filters.on_xla:recursion",
            dtypes=frozenset({"float32", "float64"}),
        )
    ]
