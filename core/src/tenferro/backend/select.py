"""Which backend runs: the first answer in a fixed order, and the reason for it.

Explicit argument, ``with use(...)``, the backend that owns the operands, ``set_default``,
``TENFERRO_BACKEND``, the only available backend, ``numpy``; otherwise NoBackendError. A device
other than the CPU is never chosen automatically: moving data there is a decision of the user.
Naming a backend is permission to move NumPy operands there; others never move.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar, Token
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tenferro.backend._default import host
from tenferro.backend._errors import MixedBackendsError, NoBackendError
from tenferro.computegraph._records import NamedTuple
from tenferro.primitives._boundary import at_user_line, bounded
from tenferro.primitives._source import caller, source_text

if TYPE_CHECKING:
    from tenferro.backend._host import PluginHost
    from tenferro.backend.base import Backend

_MOVES = "numpy"  # whose operands may move to a backend that is named
_VARIABLE = "TENFERRO_BACKEND"
_KEPT_CHOICES = 256
_current: ContextVar[str | Backend | None] = ContextVar("tenferro_backend", default=None)
_inspector: ContextVar[Callable[[Backend], Backend] | None] = ContextVar(
    "tenferro_inspector", default=None
)
_default: str | Backend | None = None


class Choice(NamedTuple):
    """A backend, or its name, and why it was chosen; ``cpu``: made for the CPU explicitly."""

    backend: str | Backend
    why: str
    cpu: bool = False

    @property
    def name(self) -> str:
        """The backend's name."""
        return self.backend if isinstance(self.backend, str) else self.backend.name


def check_backend(backend: object, function: str) -> None:
    """Refuse what is neither the name of a backend nor a backend."""
    if not isinstance(backend, str) and not hasattr(backend, "compile"):
        text = f"{function}: a backend is named by a string, or a Backend; got {backend!r:.60}"
        raise at_user_line(TypeError(text))


class use:
    """Run what is evaluated inside on a backend: ``with tenferro.use("xla"):``.

    Per thread and per task. A name that no installed plugin claims is an error here; the backend
    itself is made at the first evaluation.
    """

    def __init__(self, backend: str | Backend) -> None:
        check_backend(backend, "use")
        self._backend = backend
        self._tokens: list[Token[str | Backend | None]] = []

    @bounded("use")
    def __enter__(self) -> None:
        if isinstance(self._backend, str):
            host().check_name(self._backend)
        self._tokens.append(_current.set(self._backend))

    def __exit__(self, *exception: object) -> None:
        _current.reset(self._tokens.pop())


def set_default(backend: str | Backend | None) -> None:
    """Choose the backend for values that no backend owns yet; ``None`` takes the choice back.

    Raises UnknownBackendError: if no installed plugin claims the name.
    """
    global _default
    if backend is not None:
        check_backend(backend, "set_default")
    if isinstance(backend, str):
        host().check_name(backend)
    _default = backend


def select_backend(explicit: str | Backend | None = None, operands: Iterable[Any] = ()) -> Backend:
    """The backend to run on, made if need be.

    Raises MixedBackendsError: if operands would have to move between backends.
    Raises NoBackendError: if there is none to choose.
    """
    types = tuple(map(type, operands))
    plugins = host()
    kinds = frozenset(types)
    found = recall(explicit, kinds)
    if found is None:
        choice = choose(explicit, types, plugins)
        made = _made(plugins, choice)
        _remember(plugins, explicit, kinds, made)
        found = _inspected(made)
    return found


class inspecting:
    """From now on, run on what the function makes of a backend; until ``undo`` or for ``None``.

    Per thread and per task. Programs that were compiled before are not used.
    """

    def __init__(self, inspector: Callable[[Backend], Backend] | None) -> None:
        self._token = _inspector.set(inspector)

    def undo(self) -> None:
        """Go back to what was before."""
        _inspector.reset(self._token)


def _inspected(backend: Backend) -> Backend:
    inspector = _inspector.get()
    return backend if inspector is None else inspector(backend)


def recall(explicit: str | Backend | None, types: frozenset[type]) -> Backend | None:
    """The choice for operands of these classes, if it was made before and would be made again."""
    try:
        found = host().chosen.get((explicit, _current.get(), types))
    except TypeError:  # a backend without a hash
        return None
    if found is None:
        return None
    backend, ambient = found
    return _inspected(backend) if ambient is None or ambient == _ambient() else None


def _remember(
    plugins: PluginHost, explicit: str | Backend | None, types: frozenset[type], found: Backend
) -> None:
    """Keep a choice; with what else it depends on, where nothing was named and nobody owns."""
    current = _current.get()
    depends = explicit is None and current is None and not _owners(plugins, types)
    if len(plugins.chosen) >= _KEPT_CHOICES:
        plugins.chosen.clear()
    try:
        plugins.chosen[explicit, current, types] = found, _ambient() if depends else None
    except TypeError:
        return


def _ambient() -> tuple[str | Backend | None, str | None]:
    """The defaults of the process: they decide where nothing is named and nobody owns."""
    return _default, os.environ.get(_VARIABLE)


def choose(
    explicit: str | Backend | None = None,
    types: Sequence[type] = (),
    plugins: PluginHost | None = None,
    available: Callable[[str], bool] | None = None,
) -> Choice:
    """The choice that ``select_backend`` makes, with its reason; makes no backend.

    ``available`` says whether a backend can run; by default its probe is asked.
    """
    plugins = plugins or host()
    named = _named(explicit)
    owners = _owners(plugins, types)
    if named is not None:
        _refuse_foreign(named.name, owners, explicitly=True)
        return named
    if owners:
        first = next(iter(owners))
        _refuse_foreign(first, owners, explicitly=False)
        return Choice(first, f"it owns the operands ({owners[first].__name__})")
    return _standing(plugins) or _automatic(plugins, available or plugins.is_available)


def _named(explicit: str | Backend | None) -> Choice | None:
    if explicit is not None:
        check_backend(explicit, "backend")
        return Choice(explicit, "named as the argument `backend`")
    current = _current.get()
    return None if current is None else Choice(current, "named by `with tenferro.use(...)`")


def _owners(plugins: PluginHost, types: Iterable[type]) -> dict[str, type]:
    """The backends that own operands of these classes, each with one such class."""
    owners: dict[str, type] = {}
    for cls in types:
        owner = plugins.owner_of(cls)
        if owner is not None and owner not in owners:
            owners[owner] = cls
    return owners


def _refuse_foreign(name: str, owners: dict[str, type], *, explicitly: bool) -> None:
    """Raise MixedBackendsError if operands of other backends would have to move."""
    foreign = [o for o in owners if o != name and not (explicitly and o == _MOVES)]
    if not foreign:
        return
    kinds = {owner: f"{owners[owner].__module__}.{owners[owner].__qualname__}" for owner in owners}
    got = ", ".join(f"{kind} of {owner}" for owner, kind in kinds.items())
    names = tuple(dict.fromkeys((name, *owners)))
    error = MixedBackendsError(
        f"operands belong to several backends: {' and '.join(names)}\n"
        f"  got        {got}\n"
        "  need       operands of one backend: they are not moved silently\n"
        "  hint       convert them first, or name the backend (`backend=`, `tenferro.use`), which\n"
        "             permits to move NumPy arrays there",
        backends=names,
        types=tuple(kinds.values()),
    )
    line = source_text(caller())
    if line is not None:
        error.add_note(f"  from       {line}")
    raise error


def _standing(plugins: PluginHost) -> Choice | None:
    """The default of this process, or of its environment."""
    if _default is not None:
        return Choice(_default, "set by `tenferro.set_default`")
    name = os.environ.get(_VARIABLE, "").strip()
    if not name:
        return None
    plugins.check_name(name, _VARIABLE)
    return Choice(name, f"set by {_VARIABLE}")


def _automatic(plugins: PluginHost, available: Callable[[str], bool]) -> Choice:
    """The only available backend, else NumPy; whatever runs on a CPU."""
    names = plugins.backends()
    if _MOVES in names and available(_MOVES):
        return Choice(_MOVES, "nothing was named; numpy is available")
    others = [name for name in names if "cpu" in plugins.info(name).device_kinds]
    usable = [name for name in others if name != _MOVES and available(name)]
    if len(usable) != 1:
        raise _no_backend(plugins)
    several = len(plugins.info(usable[0]).device_kinds) > 1
    return Choice(usable[0], "nothing was named; it is the only available one", cpu=several)


def _no_backend(plugins: PluginHost) -> NoBackendError:
    hints = import_module("tenferro.backend._hints").KNOWN
    text = import_module("tenferro.backend._refusals").no_backend_text
    records = [r for r in plugins.records() if r.group == "tenferro.backends"]
    return NoBackendError(
        text(records), installed=tuple(r.name for r in records), hints=dict(hints)
    )


def _only_cpus(plugins: PluginHost, name: str) -> bool:
    """Whether there is no other device: one object then serves every way of choosing."""
    devices = plugins.probe(name).devices
    return bool(devices) and all(device.partition(":")[0] == "cpu" for device in devices)


def _made(plugins: PluginHost, choice: Choice) -> Backend:
    if not isinstance(choice.backend, str):
        return choice.backend
    if not choice.cpu or _only_cpus(plugins, choice.backend):
        return plugins.backend(choice.backend)
    config = import_module("tenferro.backend.records").BackendConfig(device="cpu")
    return plugins.backend(choice.backend, config)
