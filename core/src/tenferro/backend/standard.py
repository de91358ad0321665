"""The plugin module of the standard set, ``std``: core's own primitives, by the strangers' door.

It is reached by the entry point of core's distribution, so that ``tenferro.primitives`` need not
know that plugins exist. Read next: ``numpy_like/``, their lowerings.
"""

from __future__ import annotations

from importlib import import_module

from tenferro.backend._api import API_VERSION
from tenferro.backend.records import PluginManifest
from tenferro.backend.spec import hookimpl
from tenferro.tidu import Primitive

TENFERRO_PLUGIN = PluginManifest(
    api=API_VERSION,
    name="std",
    kind="primitives",
    summary="the standard set of tensor primitives",
)


@hookimpl
def tenferro_primitives() -> tuple[type[Primitive], ...]:
    """Return the whole standard set; imported now, because most programs use only a part of it."""
    found: tuple[type[Primitive], ...] = import_module("tenferro.primitives").STANDARD
    return found
