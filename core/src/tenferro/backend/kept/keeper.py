"""The programs of this process and those of its folder.

Programs are written when the process ends: by then their plans and the source of their loops are
there, and the first call has not waited for the disk.
"""

from __future__ import annotations

import atexit
import os
import warnings
from collections.abc import Callable, Hashable
from contextlib import suppress
from threading import RLock
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import ReferenceType, ref

from tenferro._runtime import renew_in_children
from tenferro.backend import kept
from tenferro.backend._default import host
from tenferro.backend.base import Backend
from tenferro.backend.kept.folder import Folder
from tenferro.backend.kept.forms import NotKept, read, written
from tenferro.backend.kept.names import Nameless, name_of
from tenferro.backend.kept.sources import Sources, files_of, sources_of, were_edited
from tenferro.primitives._boundary import at_user_line
from tenferro.primitives._source import stack_level

if TYPE_CHECKING:
    from tenferro.backend.discovery.host import PluginHost

__all__ = ["Keeper", "keep_programs"]

T = TypeVar("T")
_SECONDS_AT_THE_END = 5.0  # of writing; a program that is left out is made again


class Keeper:
    """Finds programs in a folder, and writes those that this process has made at its end."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.found = self.made = 0
        self._made: dict[str, tuple[ReferenceType[Any], Backend]] = {}
        self._sources: tuple[PluginHost | None, Sources | None] = None, None
        self._lock = RLock()
        renew_in_children(self)
        atexit.register(self.write)

    @classmethod
    def of(cls, path: str, said_by: str) -> Keeper | None:
        """Return the keeper of a folder.

        One that cannot serve is an error if the program named it, and a warning if the environment
        did.
        """
        expanded = os.path.expanduser(path)
        folder = Folder(expanded if expanded.startswith("~") else os.path.abspath(expanded))
        problem = folder.prepare()
        if not problem:
            return cls(folder)
        text = f"{said_by}: programs cannot be kept in {folder.path}: {problem}"
        if said_by != kept.VARIABLE:
            raise at_user_line(ValueError(text))
        warnings.warn(text, RuntimeWarning, stacklevel=stack_level())
        return None

    def renew_after_fork(self) -> None:
        """Make a new lock; the parent writes what it has made."""
        self._lock = RLock()
        self._made = {}

    def get_or_make(self, key: Hashable, backend: Backend, make: Callable[[], T]) -> T:
        """Return the program of a key from the folder, or make it."""
        name = self._name(key, backend)
        if name is None:
            return make()
        content = self.folder.read(name)
        if content is not None:
            with suppress(Exception):  # whatever another version of a library raises
                program: T = read(content, backend)
                self.found += 1
                return program
            self.folder.remove(name)
        program = make()
        self.made += 1
        with suppress(TypeError):  # of a class without weak references
            self._made[name] = ref(program, lambda _: self._made.pop(name, None)), backend
        return program

    def _name(self, key: Hashable, backend: Backend) -> str | None:
        sources = self._known_sources(backend)
        if sources is None:
            return None
        own = backend.name, backend.provider, backend.config.identity, *backend.decides()
        try:
            return name_of((sources.stamp, own, key), sources.packages.__contains__)
        except Nameless:
            return None

    def _known_sources(self, backend: Backend) -> Sources | None:
        plugins = host()
        is_as_installed = plugins.is_as_installed and backend.lowerings.is_as_made
        if not is_as_installed or not plugins.has_made(backend):
            return None
        with self._lock:
            if self._sources[0] is not plugins:
                self._sources = plugins, sources_of(plugins, kept.VARIABLE, kept.LOADED_AT)
            return self._sources[1]

    def _is_known(self, package: str) -> bool:
        sources = self._sources[1]
        return sources is not None and package in sources.packages

    def write(self) -> None:
        """Write the programs that this process has made and still has.

        None is written if source files have changed since the start: modules load late, so a part
        of the programs may come from the new files.
        """
        end = monotonic() + _SECONDS_AT_THE_END
        made, self._made = self._made, {}
        sources = self._sources[1]
        if not made or sources is None or not self.folder.is_there:
            return
        files = files_of(sources.packages)
        if files is None or were_edited(files, kept.LOADED_AT):
            return
        for name, (reference, backend) in made.items():
            program = reference()
            if program is None or self.folder.read(name) is not None:
                continue
            with suppress(NotKept):
                self.folder.write(name, written(program, backend, self._is_known))
            if monotonic() > end:
                break
        self.folder.drop_old()


def keep_programs(folder: str | os.PathLike[str] | None = "") -> None:
    """Keep compiled programs in a folder, so that the next process need not make them again.

    A later run of the same script records its functions and finds derivatives, passes and plans
    finished. Results are the same, to the last bit. Programs are written when the process ends.
    They are made anew after any change of tenferro, of a plugin, of a library or the machine;
    those with callbacks of the user are not kept. ``TENFERRO_PROGRAMS`` names the folder without a
    line of code. The NumPy backend keeps programs; XLA has a cache of its own.

    Parameters
    ----------
    folder : path or None, optional
        Folder that only this user can write to, because whoever can write there can run code. By
        default ``tenferro/programs`` in ``$XDG_CACHE_HOME`` or in ``~/.cache``. At most 256 MiB are
        kept, the most recently used programs. None keeps nothing from now on.

    Raises
    ------
    ValueError
        If the folder cannot be made or written to, or if others can write to it.

    Examples
    --------
    >>> import tempfile
    >>> import tenferro as tn
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tn.keep_programs(folder)
    ...     print(tn.grad(lambda x: x**3)(2.0))
    ...     tn.keep_programs(None)
    12.0
    """
    path = os.fspath(folder) if isinstance(folder, os.PathLike) else folder
    if path is not None and not isinstance(path, str):
        raise at_user_line(TypeError(f"keep_programs takes a path or None, not {folder!r:.60}"))
    kept.use_folder(_default_folder() if path == "" else path, "keep_programs")


def _default_folder() -> str:
    """Return the folder where no other is named; a relative cache folder is none (XDG)."""
    caches = os.environ.get("XDG_CACHE_HOME", "")
    return os.path.join(caches if os.path.isabs(caches) else "~/.cache", "tenferro", "programs")
