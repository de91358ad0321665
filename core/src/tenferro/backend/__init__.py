"""The plugin contract and execution; the only layer that knows pluggy.

``import tenferro`` loads what is imported here and no more; the other public names load with the
module that defines them. Read in this order: ``spec``, ``records``, ``base``, ``algebra``,
``lowering/``, ``discovery/``, ``select``; ``regions/`` is for backends that fuse elementwise steps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tenferro._runtime import later
from tenferro.backend._api import API_VERSION
from tenferro.backend._default import host, prefer, set_host
from tenferro.backend._errors import (
    BackendConflictError,
    BackendError,
    DecompositionCycleError,
    DeviceUnavailableError,
    InvalidOptionError,
    LoweringConflictError,
    LoweringError,
    MissingLoweringError,
    MixedBackendsError,
    NamespaceError,
    NoBackendError,
    PluginBlockedError,
    PluginBrokenError,
    PluginError,
    PluginIncompatibleError,
    PluginWarning,
    PreferenceError,
    ProcessError,
    ProgramsDifferError,
    ShardingIgnoredWarning,
    SpansProcessesError,
    UnknownBackendError,
    UnknownOptionError,
    UnsupportedError,
    ValuesDifferError,
)
from tenferro.backend.select import select_backend, set_default, use

if TYPE_CHECKING:
    from tenferro.backend.algebra import AlgebraBackend, OperandAlgebra, lowerings_of
    from tenferro.backend.base import Backend, Executable
    from tenferro.backend.discovery.host import PluginHost
    from tenferro.backend.exporting import ExportedProgram, Exporter
    from tenferro.backend.interpreter import Interpreter
    from tenferro.backend.lowering import Lowering, Lowerings, LoweringTable
    from tenferro.backend.records import (
        BackendConfig,
        BackendInfo,
        Gap,
        GraphPass,
        LoweringReport,
        PluginManifest,
        PluginRecord,
        Probe,
    )
    from tenferro.backend.sharding import Processes, ShardedArrays
    from tenferro.backend.spec import hookimpl
    from tenferro.backend.timings import Timing, Timings
else:
    # generated: lazy names
    __getattr__, __dir__ = later(
        __name__,
        {
            "algebra": "AlgebraBackend OperandAlgebra lowerings_of",
            "base": "Backend Executable",
            "discovery.host": "PluginHost",
            "exporting": "ExportedProgram Exporter",
            "interpreter": "Interpreter",
            "lowering": "Lowering LoweringTable Lowerings",
            "records": (
                "BackendConfig BackendInfo Gap GraphPass LoweringReport PluginManifest "
                "PluginRecord Probe"
            ),
            "sharding": "Processes ShardedArrays",
            "spec": "hookimpl",
            "timings": "Timing Timings",
        },
    )
    # end generated

# fmt: off
# generated: public names
__all__ = [
    "API_VERSION", "AlgebraBackend", "Backend", "BackendConfig", "BackendConflictError",
    "BackendError", "BackendInfo", "DecompositionCycleError", "DeviceUnavailableError",
    "Executable", "ExportedProgram", "Exporter", "Gap", "GraphPass", "Interpreter",
    "InvalidOptionError", "Lowering", "LoweringConflictError", "LoweringError", "LoweringReport",
    "LoweringTable", "Lowerings", "MissingLoweringError", "MixedBackendsError", "NamespaceError",
    "NoBackendError", "OperandAlgebra", "PluginBlockedError", "PluginBrokenError", "PluginError",
    "PluginHost", "PluginIncompatibleError", "PluginManifest", "PluginRecord", "PluginWarning",
    "PreferenceError", "Probe", "ProcessError", "Processes", "ProgramsDifferError", "ShardedArrays",
    "ShardingIgnoredWarning", "SpansProcessesError", "Timing", "Timings", "UnknownBackendError",
    "UnknownOptionError", "UnsupportedError", "ValuesDifferError", "hookimpl", "host",
    "lowerings_of", "prefer", "select_backend", "set_default", "set_host", "use",
]
# end generated
# fmt: on
