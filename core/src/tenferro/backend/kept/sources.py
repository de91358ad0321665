"""The facts that decide programs besides their keys: source files, plugins, variables, machine.

A program that other code made may compute something else. So the files of core and of every plugin
are a part of the names: path, size and times of each. Other libraries count by their versions. A
process that has registered or replaced plugins itself keeps nothing, nor does one whose files were
changed after it had loaded them: its programs are not those of the files.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from itertools import chain
from marshal import dumps
from typing import TYPE_CHECKING

from tenferro._runtime.records import NamedTuple
from tenferro.backend.kept.names import WITHOUT_REFERENCES, digest

if TYPE_CHECKING:
    from tenferro.backend.discovery.host import PluginHost

FORMAT = 1  # of the files of programs; with another number no older file is found
_PREFIX = "TENFERRO_"
_ENDINGS = (".py", ".pyc", ".so", ".pyd")
_METADATA = (".dist-info", ".egg-info")
_CLOCK_STEP = 100_000_000  # ns by which times of files may lag behind the clock
#: folder, name, size and times
File = tuple[str, str, int, int, int]
_USED = ("loaded", "unavailable")  # states of plugins that may give primitives or lowerings


class Sources(NamedTuple):
    """The packages whose source is known, and the digest of all facts that decide programs."""

    packages: frozenset[str]
    stamp: str


def sources_of(host: PluginHost, variable: str, loaded_at: int | None = None) -> Sources | None:
    """Return the facts that decide the programs of this process; None where one is not known.

    ``variable`` is the environment variable that decides nothing; ``loaded_at`` the time in ns at
    which the process read its code.
    """
    records = host.records()
    if not host.is_as_installed:
        return None
    used = [record for record in records if record.status in _USED and record.value]
    packages = {"tenferro", *[record.value.partition(":")[0].partition(".")[0] for record in used]}
    plugins = [(r.group, r.name, r.dist, r.version, r.value, r.status, r.reason) for r in records]
    variables = [(k, v) for k, v in os.environ.items() if k.startswith(_PREFIX) and k != variable]
    files = files_of(packages)
    if files is None or (loaded_at is not None and were_edited(files, loaded_at)):
        return None
    libraries = [name for place in sys.path for name in _versions(place)]
    python = sys.version, sys.platform, sys.flags.optimize, _machine()
    facts = FORMAT, python, libraries, plugins, sorted(variables), files
    return Sources(frozenset(packages), digest(dumps(facts, WITHOUT_REFERENCES)))


def files_of(packages: Iterable[str]) -> list[File] | None:
    """Return the source files of packages; None where one has files that are not known."""
    places = [getattr(sys.modules.get(package), "__path__", ()) for package in sorted(packages)]
    if not all(places):  # a plugin that is a single file, or an object
        return None
    try:
        return [found for place in chain.from_iterable(places) for found in _files_below(place)]
    except OSError:  # a package in an archive, or files that cannot be looked at
        return None


def were_edited(files: list[File], since: int) -> bool:
    """Return True if one of the files may have changed after a time in ns."""
    newest = max([max(time, change) for *_, time, change in files], default=0)
    return newest > since - _CLOCK_STEP


def _files_below(place: str) -> list[File]:
    """Return folder, name, size and times of each source file in a folder and below, sorted.

    The second time is that of the last change of the file itself, which copying does not preserve.

    Raises OSError: if a folder or file cannot be looked at.
    """
    found = []
    waiting = [place]
    linked = {os.path.realpath(place)}
    for folder in waiting:
        with os.scandir(folder) as entries:
            for entry in entries:
                name = entry.name
                if name.endswith(_ENDINGS) and name[0] != ".":  # editors leave links of such names
                    stat = entry.stat()
                    size, time, change = stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns
                    found.append((folder, name, size, time, change))
                elif _is_new_folder(entry, linked):
                    waiting.append(entry.path)
    return sorted(found)


def _is_new_folder(entry: os.DirEntry[str], linked: set[str]) -> bool:
    """Return True for a folder of sources, unless it is a link to a folder among ``linked``."""
    if "." in entry.name or entry.name == "__pycache__" or not entry.is_dir():
        return False
    if not entry.is_symlink():
        return True
    there = os.path.realpath(entry.path)
    is_new = there not in linked
    linked.add(there)
    return is_new


def _versions(place: str) -> list[str]:
    """Return the metadata folders of libraries in a folder of the path; their names have versions.

    Plans follow what libraries say, for instance the order of a contraction, and a plugin may use
    any library.
    """
    try:
        names = os.listdir(place or ".")
    except OSError:
        return []
    return sorted([name for name in names if name.endswith(_METADATA)])


def _machine() -> tuple[str, str | None]:
    """Return the type of the processor, and the version of the library of C functions."""
    if not hasattr(os, "uname"):
        return os.environ.get("PROCESSOR_ARCHITECTURE", ""), None
    name = "CS_GNU_LIBC_VERSION"
    return os.uname().machine, os.confstr(name) if name in os.confstr_names else None
