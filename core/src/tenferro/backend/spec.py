"""Hook specifications: signatures, types and docstrings, nothing else.

Hooks return data and never mutate the host, because staged data can be rolled back and side
effects cannot. An implementation takes the arguments of its specification or fewer, and gives none
of them a default. They are called at discovery and activation only, never per operation.
Mark yours with ``hookimpl``. Read next: ``base.py`` for what ``create`` returns.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from tenferro.backend.base import Backend
    from tenferro.backend.exporting import Exporter
    from tenferro.backend.lowering import Lowering
    from tenferro.backend.records import (
        BackendConfig,
        BackendInfo,
        GraphPass,
        LoweringReport,
        Probe,
    )
    from tenferro.backend.sharding import Processes
    from tenferro.tidu import Primitive

PROJECT = "tenferro"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


class Specs:
    """Every hook of API generation 1."""

    @staticmethod
    @hookspec
    def tenferro_backend_info() -> BackendInfo:  # type: ignore[empty-body]
        """Describe the backend. Since API 1.0; mandatory for a backend.

        Static: must not import the library that the backend drives.
        """

    @staticmethod
    @hookspec
    def tenferro_backend_probe() -> Probe:  # type: ignore[empty-body]
        """Say whether the backend can run here. Since API 1.0; mandatory for a backend.

        May import the library; must not raise and must not allocate on a device.
        """

    @staticmethod
    @hookspec
    def tenferro_backend_create(config: BackendConfig) -> Backend:  # type: ignore[empty-body]
        """Make the backend. Since API 1.0; mandatory for a backend.

        config: every setting there is (since 1.0). Must not touch the library's global state.
        """

    @staticmethod
    @hookspec
    def tenferro_backend_processes() -> Processes:  # type: ignore[empty-body]
        """Return what connects several processes. Since API 1.0; for the feature `sharding`.

        Must not touch a device: processes are connected before the backend is made.
        """

    @staticmethod
    @hookspec
    def tenferro_backend_exporter() -> Exporter:  # type: ignore[empty-body]
        """Return what compiles programs into files. Since API 1.0; for `tn.export`."""

    @staticmethod
    @hookspec
    def tenferro_primitives() -> Iterable[type[Primitive]]:  # type: ignore[empty-body]
        """List the primitives of the namespace that the entry point owns. Since API 1.0."""

    @staticmethod
    @hookspec
    def tenferro_lowerings(backend: str) -> Iterable[Lowering]:  # type: ignore[empty-body]
        """List lowerings for one backend, one's own or another's. Since API 1.0.

        backend: the name of the backend that is activated (since 1.0).
        """

    @staticmethod
    @hookspec
    def tenferro_passes() -> Iterable[GraphPass]:  # type: ignore[empty-body]
        """List graph passes, in the order in which they run. Since API 1.0.

        They run before the passes of core; those of several plugins in the order of their names.
        """

    @staticmethod
    @hookspec
    def tenferro_on_lowered(report: LoweringReport) -> None:
        """Observe that a program was lowered; what it raises is logged. Since API 1.0.

        report: what ran natively and what was decomposed (since 1.0).
        """
