"""Choice of the backend that runs: the first answer in a fixed order, and its reason.

Explicit argument, ``with use(...)``, the backend that owns operands of a device, ``set_default``,
``TENFERRO_BACKEND``, the only available backend, ``numpy``; otherwise NoBackendError. NumPy arrays
and numbers choose nothing: they move to the backend that was named, by an argument, a context, the
default or the environment. If operands of a device decided, only numbers and arrays
of rank 0 move. A device other than the CPU is never chosen automatically: moving data there is a
decision of the user.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tenferro._runtime import CollectorPaused, NamedTuple
from tenferro.backend._default import host
from tenferro.backend._errors import MixedBackendsError, NoBackendError
from tenferro.primitives._boundary import at_user_line, bounded
from tenferro.primitives._source import caller, source_text

if TYPE_CHECKING:
    from tenferro.backend.base import Backend
    from tenferro.backend.discovery.host import PluginHost

_HOST = "numpy"  # whose operands choose no backend, and may move to one that is named
_VARIABLE = "TENFERRO_BACKEND"
_KEPT_CHOICES = 256
_current: ContextVar[str | Backend | None] = ContextVar("tenferro_backend", default=None)
_inspector: ContextVar[Callable[[Backend], Backend] | None] = ContextVar(
    "tenferro_inspector", default=None
)
_entered: ContextVar[tuple[use, ...]] = ContextVar("tenferro_entered", default=())
_default: str | Backend | None = None
# The environment before decoding, where the interpreter has it so: decoding takes a microsecond.
_variables: Any = getattr(os.environ, "_data", os.environ)
_encoded: Any = _VARIABLE if _variables is os.environ else os.environ.encodekey(_VARIABLE)


class Choice(NamedTuple):
    """A backend, or its name, and why it was chosen; ``cpu``: made for the CPU explicitly."""

    backend: str | Backend
    why: str
    cpu: bool = False

    @property
    def name(self) -> str:
        """The backend's name."""
        return self.backend if isinstance(self.backend, str) else self.backend.name


class use:
    """Evaluate everything inside a ``with`` block on one backend.

    The block applies to the current thread or task. It decides by the place where a value is
    evaluated, not by the place where it is recorded. One object may be entered several times.

    Parameters
    ----------
    backend : str or Backend
        Backend, or its name. The backend itself is made at the first evaluation.

    Raises
    ------
    ArgumentTypeError
        If ``backend`` is neither a name nor a Backend.
    UnknownBackendError
        On entry, if no installed plugin has the name.

    Examples
    --------
    >>> import tenferro as tn
    >>> with tn.use("numpy"):
    ...     print(tn.asarray([1.0, 2.0]) * 2)
    [2. 4.]
    """

    def __init__(self, backend: str | Backend) -> None:
        check_backend(backend, "use", optional=False)
        self._backend = backend

    @bounded("use")
    def __enter__(self) -> None:
        if isinstance(self._backend, str):
            host().check_name(self._backend)
        _set_entered((*_entered.get(), self))

    def __exit__(self, *exception: object) -> None:
        entered = list(_entered.get())
        for i in range(len(entered) - 1, -1, -1):
            if entered[i] is self:
                del entered[i]
                _set_entered(tuple(entered))
                return


def _set_entered(entered: tuple[use, ...]) -> None:
    """Make the last of the contexts that were entered the current one."""
    _entered.set(entered)
    _current.set(entered[-1]._backend if entered else None)


def check_backend(backend: object, function: str, *, optional: bool = True) -> None:
    """Refuse what is neither the name of a backend nor a backend, nor None where it is optional."""
    if isinstance(backend, str) or (optional and backend is None):
        return
    if not isinstance(backend, import_module("tenferro.backend.base").Backend):
        text = f"{function}: a backend is named by a string, or a Backend; got {backend!r:.60}"
        raise at_user_line(TypeError(text))


def set_default(backend: str | Backend | None) -> None:
    """Choose the backend that runs if no argument, context or operand chooses one.

    NumPy arrays and Python numbers choose no backend; they move to the chosen one.

    Parameters
    ----------
    backend : str, Backend or None
        Backend, or its name. None restores the default.

    Raises
    ------
    UnknownBackendError
        If no installed plugin has the name.
    ArgumentTypeError
        If ``backend`` is neither a name nor a Backend.
    """
    global _default
    check_backend(backend, "set_default")
    if isinstance(backend, str):
        host().check_name(backend)
    _default = backend


def select_backend(explicit: str | Backend | None = None, operands: Iterable[Any] = ()) -> Backend:
    """Return the backend to run on, making it if needed.

    Raises MixedBackendsError: if operands would have to move between backends.
    Raises NoBackendError: if there is none to choose.
    """
    given = tuple(operands)
    found = recall(explicit, frozenset(map(type, given)))
    if found is None:
        with CollectorPaused():  # plugins load
            plugins = host()
            kinds = kinds_of(given)
            choice = choose(explicit, [k for k in dict.fromkeys(map(type, given)) if k in kinds])
            made = _made(plugins, choice)
        _remember(plugins, explicit, kinds, made)
        found = _inspected(made)
    return found


def kinds_of(operands: Sequence[Any]) -> frozenset[type]:
    """Return the classes of the operands on which the choice depends.

    Next to operands of a device, NumPy arrays of rank 0 do not count.
    """
    kinds = frozenset(map(type, operands))
    plugins = host()
    if all([plugins.owner_of(kind) in (_HOST, None) for kind in kinds]):
        return kinds
    return frozenset([type(x) for x in operands if not _moves_everywhere(plugins, x)])


def _moves_everywhere(plugins: PluginHost, x: Any) -> bool:
    return getattr(x, "shape", None) == () and plugins.owner_of(type(x)) == _HOST


def backend_of(operand: Any) -> Backend:
    """Return the backend that owns an operand, whatever is chosen for what runs.

    For a value that no backend owns, as a number: the backend that would run.
    """
    plugins = host()
    owner = plugins.owner_of(type(operand))
    return select_backend() if owner is None else plugins.backend(owner)


class inspecting:
    """From now on, run on what the function makes of a backend; until ``undo`` or for ``None``.

    Per thread and per task. Programs that were compiled before are not used.
    """

    def __init__(self, inspector: Callable[[Backend], Backend] | None) -> None:
        self._token = _inspector.set(inspector)

    def undo(self) -> None:
        """Go back to what was before."""
        _inspector.reset(self._token)


#: Gives the inspector of this thread or task, or None; a function in C, for the calls of programs.
inspector = _inspector.get


def is_inspected() -> bool:
    """Return whether programs run equation by equation, so that each must be there."""
    return inspector() is not None


def _inspected(backend: Backend) -> Backend:
    found = inspector()
    return backend if found is None else found(backend)


def recall(explicit: str | Backend | None, types: frozenset[type]) -> Backend | None:
    """Return the earlier choice for operands of these classes, if it would be made again."""
    try:
        found = host().chosen.get((explicit, _current.get(), types))
    except TypeError:  # a backend without a hash
        return None
    if found is None:
        return None
    backend, ambient = found
    if ambient is not None and ambient != _ambient():
        return None
    return _inspected(backend)


def _remember(
    plugins: PluginHost, explicit: str | Backend | None, types: frozenset[type], found: Backend
) -> None:
    """Keep a choice; with the defaults that it depends on, where nothing was named."""
    current = _current.get()
    depends = explicit is None and current is None
    if len(plugins.chosen) >= _KEPT_CHOICES:
        plugins.chosen = {}
    try:
        plugins.chosen[explicit, current, types] = found, _ambient() if depends else None
    except TypeError:
        return


def _ambient() -> tuple[str | Backend | None, Any]:
    """Return the defaults of the process, which decide if no name and no device does."""
    return _default, _variables.get(_encoded)


def choose(
    explicit: str | Backend | None = None,
    types: Sequence[type] = (),
    plugins: PluginHost | None = None,
    available: Callable[[str], bool] | None = None,
) -> Choice:
    """Choose as ``select_backend`` does and give the reason, but make no backend.

    ``available`` says whether a backend can run; by default its probe is asked.
    """
    plugins = plugins or host()
    named = _named(explicit)
    owners = _owners(plugins, types)
    devices = [owner for owner in owners if owner != _HOST]
    if named is not None:
        _refuse_foreign(named.name, owners, devices)
        return named
    if not devices:
        return _standing(plugins) or _automatic(plugins, available or plugins.is_available)
    first = devices[0]
    if _HOST in owners:
        standing = _standing(plugins)
        alone = standing is None or standing.name != first
        _refuse_foreign(first, owners, owners if alone else devices)
    _refuse_foreign(first, owners, devices)
    return Choice(first, f"it owns the operands ({owners[first].__name__})")


def _named(explicit: str | Backend | None) -> Choice | None:
    if explicit is not None:
        check_backend(explicit, "backend")
        return Choice(explicit, "named as the argument `backend`")
    current = _current.get()
    return None if current is None else Choice(current, "named by `with tenferro.use(...)`")


def _owners(plugins: PluginHost, types: Iterable[type]) -> dict[str, type]:
    """Return the backends that own arrays of these classes, each with one such class."""
    owners: dict[str, type] = {}
    for cls in types:
        owner = plugins.owner_of(cls)
        if owner is not None and owner not in owners and not _is_number(owner, cls):
            owners[owner] = cls
    return owners


def _is_number(owner: str, cls: type) -> bool:
    """Return whether values of a class are scalars of NumPy, which move as Python's numbers do."""
    names = [(base.__module__, base.__name__) for base in cls.__mro__]
    return owner == _HOST and ("numpy", "generic") in names


def _refuse_foreign(name: str, owners: dict[str, type], voters: Iterable[str]) -> None:
    """Raise MixedBackendsError if operands of other backends would have to move."""
    if all(owner == name for owner in voters):
        return
    kinds = {owner: f"{owners[owner].__module__}.{owners[owner].__qualname__}" for owner in owners}
    got = ", ".join(f"{kind} of {owner}" for owner, kind in kinds.items())
    names = tuple(owners) if name in owners else (name, *owners)
    error = MixedBackendsError(
        f"operands belong to several backends: {' and '.join(names)}\n"
        f"  got        {got}\n"
        "  need       operands of one backend: they are not moved silently\n"
        "  hint       convert them first, or name the backend (`backend=`, `tenferro.use`,\n"
        "             `tenferro.set_default`), which permits to move NumPy arrays there",
        backends=names,
        types=tuple(kinds.values()),
    )
    line = source_text(caller())
    if line is not None:
        error.add_note(f"  from       {line}")
    raise error


def _standing(plugins: PluginHost) -> Choice | None:
    """Return the default of this process, or of its environment."""
    if _default is not None:
        return Choice(_default, "set by `tenferro.set_default`")
    name = os.environ.get(_VARIABLE, "").strip()
    if not name:
        return None
    plugins.check_name(name, _VARIABLE)
    return Choice(name, f"set by {_VARIABLE}")


def _automatic(plugins: PluginHost, available: Callable[[str], bool]) -> Choice:
    """Return NumPy if it is available, else the only available backend that runs on a CPU."""
    names = plugins.backends()
    if _HOST in names and available(_HOST):
        return Choice(_HOST, "nothing was named; numpy is available")
    others = [name for name in names if "cpu" in plugins.info(name).device_kinds]
    usable = [name for name in others if name != _HOST and available(name)]
    if len(usable) != 1:
        raise _no_backend(plugins)
    several = len(plugins.info(usable[0]).device_kinds) > 1
    return Choice(usable[0], "nothing was named; it is the only available one", cpu=several)


def _no_backend(plugins: PluginHost) -> NoBackendError:
    hints = import_module("tenferro.backend.discovery.hints").KNOWN
    text = import_module("tenferro.backend.discovery.refusals").no_backend_text
    records = [r for r in plugins.records() if r.group == "tenferro.backends"]
    return NoBackendError(
        text(records), installed=tuple(r.name for r in records), hints=dict(hints)
    )


def _only_cpus(plugins: PluginHost, name: str) -> bool:
    """Return True if all devices are CPUs: one object then serves every way of choosing."""
    devices = plugins.probe(name).devices
    return bool(devices) and all(device.partition(":")[0] == "cpu" for device in devices)


def _made(plugins: PluginHost, choice: Choice) -> Backend:
    if not isinstance(choice.backend, str):
        return choice.backend
    if not choice.cpu or _only_cpus(plugins, choice.backend):
        return plugins.backend(choice.backend)
    config = import_module("tenferro.backend.records").BackendConfig(device="cpu")
    return plugins.backend(choice.backend, config)
