"""The facts that decide programs besides their keys: source files, plugins, variables, machine.

A program that other code made may compute something else. So the files of core and of every plugin
are a part of the names: path, size and time of each, as for Python's own compiled files. A process
that has registered or replaced plugins itself keeps nothing.
"""

from __future__ import annotations

import os
import sys
from itertools import chain
from typing import TYPE_CHECKING

from tenferro._runtime.records import NamedTuple
from tenferro.backend.kept.names import digest

if TYPE_CHECKING:
    from tenferro.backend.discovery.host import PluginHost

FORMAT = 1  # of the files; another number, other names
_PREFIX = "TENFERRO_"
_ENDINGS = (".py", ".so", ".pyd")
_PLANS = ("numpy-", "scipy-", "opt_einsum-", "optree-", "cotengra-")
_USED = ("loaded", "unavailable")  # states of plugins that may give primitives or lowerings


class Sources(NamedTuple):
    """The packages whose source is known, and the digest of all facts that decide programs."""

    packages: frozenset[str]
    stamp: str


def sources_of(host: PluginHost, variable: str) -> Sources | None:
    """Return the facts that decide the programs of this process; None where one is not known.

    ``variable`` is the environment variable that decides nothing.
    """
    records = host.records()
    if not host.is_as_installed:
        return None
    used = [record for record in records if record.status in _USED and record.value]
    packages = {"tenferro", *[record.value.partition(":")[0].partition(".")[0] for record in used]}
    plugins = [(r.group, r.name, r.dist, r.version, r.value, r.status, r.reason) for r in records]
    variables = [(k, v) for k, v in os.environ.items() if k.startswith(_PREFIX) and k != variable]
    places = [getattr(sys.modules.get(package), "__path__", ()) for package in sorted(packages)]
    if not all(places):  # a plugin that is a single file, or an object
        return None
    files = [found for place in chain.from_iterable(places) for found in files_below(place)]
    libraries = [name for place in sys.path for name in _versions(place)]
    python = sys.version, sys.platform, sys.flags.optimize, _machine()
    text = repr((FORMAT, python, libraries, plugins, sorted(variables), files))
    return Sources(frozenset(packages), digest(text.encode()))


def files_below(place: str) -> list[tuple[str, str, int, int]]:
    """Return folder, name, size and time of each source file in a folder and below, sorted."""
    found = []
    waiting = [place]
    for folder in waiting:
        with os.scandir(folder) as entries:
            for entry in entries:
                name = entry.name
                if name.endswith(_ENDINGS):
                    stat = entry.stat()
                    found.append((folder, name, stat.st_size, stat.st_mtime_ns))
                elif "." not in name and name != "__pycache__" and entry.is_dir():
                    waiting.append(entry.path)
    return sorted(found)


def _versions(place: str) -> list[str]:
    """Return the metadata folders of libraries in a folder of the path; their names have versions.

    Plans follow what these libraries say, for instance the order of a contraction.
    """
    try:
        names = os.listdir(place or ".")
    except OSError:
        return []
    return sorted(
        [name for name in names if name.endswith(".dist-info") and name.startswith(_PLANS)]
    )


def _machine() -> str:
    """Return the type of the processor."""
    return os.uname().machine if hasattr(os, "uname") else os.environ["PROCESSOR_ARCHITECTURE"]
