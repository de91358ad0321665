"""The light module, which tenferro finds by its entry point.

It is imported when plugins are listed, so it imports no array library. Read next: the module of a
primitive.
"""

from __future__ import annotations

from collections.abc import Iterable

from tenferro.backend import Lowering, PluginManifest, hookimpl
from tenferro.primitives import TensorPrimitive
from tenferro_acme.softplus import Softplus

TENFERRO_PLUGIN = PluginManifest(
    api=(1, 0),  # the generation of the interface that this was written for
    name="acme",
    kind="primitives",
    summary="primitives of acme",
)
PRIMITIVES = (Softplus,)


@hookimpl
def tenferro_primitives() -> Iterable[type[TensorPrimitive]]:
    """List the primitives of the namespace."""
    return PRIMITIVES


@hookimpl
def tenferro_lowerings(backend: str) -> Iterable[Lowering]:
    """List lowerings for one backend; where there is none, the decomposition runs."""
    if backend not in ("numpy", "xla"):
        return []
    module = f"tenferro_acme.on_{backend}"  # its functions are called like the primitives
    names = [primitive.key.partition("::")[2] for primitive in PRIMITIVES]
    return [Lowering(f"acme::{name}", f"{module}:{name}") for name in names]
