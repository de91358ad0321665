"""The records that plugins and core exchange: frozen data, no behaviour beyond validation.

``PluginManifest``, ``BackendInfo``, ``BackendConfig``, ``Probe`` are written by plugin authors;
``PluginRecord``, ``LoweringReport``, ``Gap`` by the host. Read next: ``spec.py``, then ``base.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from tenferro._runtime.frozen import Frozen, made
from tenferro.backend._api import API_VERSION

__all__ = [
    "API_VERSION",
    "BACKENDS",
    "FEATURES",
    "PRIMITIVES",
    "BackendConfig",
    "BackendInfo",
    "ForeignLowering",
    "Gap",
    "GraphPass",
    "LoweringReport",
    "PluginManifest",
    "PluginRecord",
    "Probe",
    "Status",
]

BACKENDS = "tenferro.backends"
PRIMITIVES = "tenferro.primitives"
FEATURES = frozenset(
    {
        *("f64", "complex", "int64", "f16", "bf16", "ints", "special"),
        *("dynamic_shape", "control_flow", "inplace", "sharding", "checks"),
    }
)

Status = Literal[
    "discovered", "blocked", "conflict", "incompatible", "broken", "loaded", "unavailable"
]


class PluginManifest(Frozen):
    """State what a plugin module is; every module defines one as ``TENFERRO_PLUGIN``.

    It is read before anything else of the module, so that a plugin of another generation is
    refused by name. ``name`` equals the entry-point name. Fields of later generations land in
    ``extra``.

    >>> from tenferro.backend import PluginManifest
    >>> PluginManifest(api=(1, 0), name="acme", kind="primitives").summary
    ''
    """

    api: tuple[int, int]
    name: str
    kind: Literal["backend", "primitives"]
    summary: str = ""
    url: str = ""
    requires_libs: tuple[str, ...] = ()
    install_hint: str = ""
    extra: Mapping[str, object] = made(default_factory=dict)


class BackendInfo(Frozen):
    """State what a backend is, without importing its library.

    ``dtypes`` are names (``"float64"``); ``features`` words of ``FEATURES``, or keys of
    special functions; ``operand_types``
    qualified names (``"numpy.ndarray"``), also matched along the base classes, by which the owner
    of an operand is found although nothing of the library is imported here. ``options`` are the
    names that ``compile`` takes, ``passes`` the graph passes that rewrite a program for it, unless
    something else is asked for: ``"all"``, ``"none"`` or names.
    """

    name: str
    summary: str = ""
    dtypes: frozenset[str] = frozenset()
    device_kinds: tuple[str, ...] = ("cpu",)
    features: frozenset[str] = frozenset()
    whole_program: bool = False
    operand_types: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    passes: str | tuple[str, ...] = "all"

    def __post_init__(self) -> None:
        for name, collect in _COLLECTIONS:
            value = getattr(self, name)
            if isinstance(value, str):
                raise TypeError(f"BackendInfo.{name} is a collection of names, got {value!r}")
            object.__setattr__(self, name, collect(value))
        unknown = {name for name in self.features if "::" not in name} - FEATURES
        if unknown:
            raise ValueError(
                f"unknown features {', '.join(sorted(unknown))}; the words are "
                + ", ".join(sorted(FEATURES))
            )


_COLLECTIONS = (
    ("dtypes", frozenset),
    ("features", frozenset),
    ("device_kinds", tuple),
    ("operand_types", tuple),
    ("options", tuple),
)


class Probe(Frozen):
    """State whether a backend can run here; ``reason`` is a sentence for the user if it cannot."""

    available: bool
    reason: str = ""
    lib_versions: Mapping[str, str] = made(default_factory=dict)
    devices: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.available and not self.reason.strip():
            raise ValueError("Probe: a backend that is not available must give a reason")


class BackendConfig(Frozen):
    """Carry every setting of a backend; there is no other channel, so no global is switched."""

    device: str | None = None
    deterministic: bool = False
    allow_host_callback: bool = False
    options: Mapping[str, object] = made(default_factory=dict)

    @property
    def identity(self) -> tuple[object, ...]:
        """Equal for equal settings; unhashable only if an option's value is."""
        options = tuple(sorted(self.options.items(), key=lambda item: item[0]))
        return self.device, self.deterministic, self.allow_host_callback, options


class GraphPass(Frozen):
    """State a rewrite of graphs that a plugin brings.

    ``name`` begins with the plugin's own name: ``acme::fuse``. ``rewrite`` is a function from a
    ``MaterializedGraph`` to one, or ``"package.module:function"``, which is imported at first use.
    ``primitives`` are keys: the pass looks at graphs and bodies of loops that have one of them; at
    all if there are none. It runs unasked only if all of them are primitives of the plugin's own
    namespace, so that no installation changes what other programs compute; otherwise the option
    ``passes`` must name it.

    >>> from tenferro.backend import GraphPass
    >>> GraphPass(name="acme::fuse", rewrite="acme_passes:fuse", primitives={"acme::voigt"}).unasked
    True
    """

    name: str
    rewrite: str | Callable[..., Any]
    primitives: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        keys: Any = self.primitives
        if isinstance(keys, str):
            raise TypeError(f"GraphPass.primitives is a collection of keys, got {keys!r}")
        object.__setattr__(self, "primitives", frozenset(keys))
        if not (isinstance(self.rewrite, str) or callable(self.rewrite)):
            raise TypeError(f"{self.name}: rewrite is a function or its name, got {self.rewrite!r}")

    @property
    def unasked(self) -> bool:
        """True if the pass runs although no option names it."""
        own = self.name.partition("::")[0]
        return bool(self.primitives) and {k.partition("::")[0] for k in self.primitives} == {own}


class PluginRecord(Frozen):
    """State what is known of one entry point, now; the host replaces it when that changes.

    ``missing_library`` names a library of ``requires_libs`` that is not installed. It is the whole
    reason why the plugin is broken; nothing is wrong with the plugin itself. ``load_seconds`` is
    how long the import of its module and its data hooks took, and ``libraries`` are the top-level
    packages that were imported by that for the first time.
    """

    name: str
    group: str
    dist: str
    version: str
    value: str
    status: Status = "discovered"
    reason: str = ""
    traceback: str = ""
    api: tuple[int, int] | None = None
    install_hint: str = ""
    missing_library: str = ""
    load_seconds: float = 0.0
    libraries: tuple[str, ...] = ()

    @property
    def owner(self) -> str:
        """The distribution and its version, or the module of a late registration."""
        return f"{self.dist} {self.version}".strip() or self.value


class ForeignLowering(Frozen):
    """State that a distribution lowers a primitive for a backend that is not its own.

    ``runs``: it may run; ``why`` is the reason, or the call that would let it run.
    """

    primitive: str
    backend: str
    provider: str
    runs: bool
    why: str


class LoweringReport(Frozen):
    """State how one program was lowered: keys run by lowerings, and keys that were decomposed."""

    backend: str
    native: tuple[str, ...]
    decomposed: tuple[str, ...]
    instructions: int


class Gap(Frozen):
    """State one operation that a backend cannot run, and what would help.

    ``within`` names the primitive whose decomposition needs it; ``written_for`` the versions that
    existing lowerings were written for; ``dtypes_of_lowerings`` what existing ones are limited to;
    ``backends`` the installed backends that have a lowering; ``offered_by`` distributions that own
    neither the primitive nor the backend, whose lowering runs after ``tenferro.prefer``.
    """

    primitive: str
    version: int
    dtypes: tuple[str, ...]
    provider: str
    has_decomposition: bool = False
    registered: bool = True
    note: str = ""
    within: str = ""
    written_for: tuple[int, ...] = ()
    dtypes_of_lowerings: tuple[str, ...] = ()
    backends: tuple[str, ...] = ()
    offered_by: tuple[str, ...] = ()
