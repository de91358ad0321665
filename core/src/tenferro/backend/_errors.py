"""Errors of the plugin contract and of execution; each carries its facts as fields.

A missing thing names its remedy, a fault names its owner (the distribution and its version). Only
texts and fields live here; who raises what is in ``discovery/``, ``select.py`` and
``lowering/table.py``.
"""

from __future__ import annotations

from typing import Self

from tenferro.computegraph._errors import TenferroError


class PluginWarning(UserWarning):
    """Warn, once per process and plugin, that an installed plugin cannot be used."""


class ShardingIgnoredWarning(UserWarning):
    """Say, once per process, that a program with sharding constraints runs on one device."""


class BackendError(TenferroError, RuntimeError):
    """Report that something could not be executed; the base of this module's errors."""


class NoBackendError(BackendError):
    """Report that nothing can evaluate. Fields: ``installed``, ``hints``."""


class UnknownBackendError(BackendError):
    """Report a name that no plugin claims. Fields: ``backend``, ``hint``, ``nearest``,
    ``installed``.
    """


class DeviceUnavailableError(BackendError):
    """Report a backend without its device or driver. Fields: ``backend``, ``reason``."""


class MixedBackendsError(BackendError):
    """Report operands that may not move to one backend. Fields: ``backends``, ``types``."""


class UnsupportedError(BackendError):
    """Report a feature that a backend lacks. Fields: ``backend``, ``feature``, ``instead``."""


class UnknownOptionError(BackendError, ValueError):
    """Report an option a backend does not take. Fields: ``backend``, ``option``, ``options``."""


class InvalidOptionError(BackendError, ValueError):
    """Report an option whose value a backend cannot use.

    Fields: ``backend``, ``option``, ``value``.
    """

    @classmethod
    def of(cls, backend: str, option: str, value: object, need: str) -> Self:
        """Make the error that says what came and what is needed."""
        text = f"{backend}: the option {option!r} cannot be {value!r:.60}\n"
        text += f"  got        {option}={value!r:.60}\n  need       {need}"
        return cls(text, backend=backend, option=option, value=value)


class MissingLoweringError(BackendError):
    """Report every operation of a program that a backend cannot run. Fields: ``backend``, ``gaps``.

    ``gaps`` is a tuple of ``records.Gap``.
    """


class LoweringConflictError(BackendError):
    """Report lowerings among which nothing decides.

    Two of one distribution have equal priority, or those of several distributions could run and
    none is preferred. Fields: ``primitive``, ``backend``, ``providers``.
    """


class PreferenceError(BackendError, ValueError):
    """Report ``prefer`` of a primitive or distribution that has no lowering there.

    Fields: ``primitive``, ``backend``, ``dist``, ``nearest``.
    """


class LoweringError(BackendError):
    """Report a lowering that broke its contract.

    Also a decomposition that gives other shapes or dtypes than the primitive it stands for.
    Fields: ``primitive``, ``backend``, ``provider``.
    """


class DecompositionCycleError(BackendError):
    """Report decompositions that lead back to themselves. Fields: ``cycle``."""


class PluginError(BackendError):
    """Report an installed plugin that cannot be used. Fields: ``name``, ``group``, ``dist``."""


class BackendConflictError(PluginError):
    """Report distributions that claim one name. Fields: also ``distributions``."""


class PluginIncompatibleError(PluginError):
    """Report a plugin of another generation or version range. Fields: also ``reason``."""


class PluginBrokenError(PluginError):
    """Report a plugin that failed; ``__cause__`` is what it raised. Fields: also ``reason``."""


class PluginBlockedError(PluginError):
    """Report a plugin that the environment or a call excludes. Fields: also ``reason``."""


class NamespaceError(PluginError):
    """Report a primitive outside its plugin's namespace. Fields: also ``key``, ``namespace``."""


class SpansProcessesError(BackendError, ValueError):
    """Report an array that is partly in other processes. Fields: ``backend``, ``aval``."""


class ProcessError(BackendError, RuntimeError):
    """Report processes that do not go on together. Fields: ``backend``, ``processes``."""


class ProgramsDifferError(ProcessError):
    """Report processes that would run different programs. Fields: also ``program``."""


class ValuesDifferError(ProcessError, ValueError):
    """Report an argument that must be equal in all processes. Fields: also ``arguments``, names."""
