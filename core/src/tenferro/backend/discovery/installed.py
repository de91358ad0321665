"""The entry points of installed distributions, read from their metadata folders.

Ordinary environments are folders with ``.dist-info`` folders in them, and reading those takes a
millisecond where importing ``importlib.metadata`` takes fifteen. Whatever is not ordinary (zip
files, eggs, finders of other tools) is left to ``importlib.metadata``. Read next: ``scan.py``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from importlib import import_module
from typing import Any

from tenferro._runtime.records import NamedTuple

Places = Sequence[tuple[str, Sequence[str]]]
_INFO = ".dist-info"
_READ_BYTES = 1 << 16  # of a file at once


class Entry(NamedTuple):
    """One entry point, with what its distribution says of itself."""

    group: str
    name: str
    value: str
    dist: str
    version: str
    requires: tuple[str, ...]

    def load(self) -> Any:
        """Import what it points at."""
        module, _, path = self.value.partition("[")[0].partition(":")
        found: Any = import_module(module.strip())
        for name in path.strip().split(".") if path.strip() else ():
            found = getattr(found, name)
        return found


def entries(groups: Collection[str]) -> list[Entry]:
    """Return every entry point of the groups; the first distribution of a name on the path
    counts.
    """
    places = _places()
    return list(_from_folders(groups, places) if is_ordinary(places) else _from_library(groups))


def version_of(dist: str) -> str:
    """Return the version of an installed distribution; empty if there is none of that name."""
    places = _places()
    if not is_ordinary(places):
        metadata = import_module("importlib.metadata")
        try:
            return str(metadata.version(dist))
        except metadata.PackageNotFoundError:
            return ""
    found = (_headers(folder)[1] for name, folder in _folders(places) if name == dist)
    return next(found, "")


def _places() -> Places:
    """Return the folders of the path with the names in them."""
    return [(place, _listed(place)) for place in sys.path]


def is_ordinary(places: Places) -> bool:
    """Return True if everything that can be found lies in ``.dist-info`` folders."""
    finders = [f for f in sys.meta_path if hasattr(f, "find_distributions")]
    if any(getattr(f, "__name__", "") != "PathFinder" for f in finders):
        return False
    return not any([_is_odd(place, names) for place, names in places])


def _is_odd(place: str, names: Sequence[str]) -> bool:
    """Return True if a place is a file or an egg, or has eggs with entry points."""
    if place.endswith(".egg") or os.path.isfile(place):
        return True
    eggs = [name for name in names if name.endswith((".egg", ".egg-info"))]
    return any(
        name.endswith(".egg") or os.path.isfile(os.path.join(place, name, "entry_points.txt"))
        for name in eggs
    )


def _listed(place: str) -> list[str]:
    try:
        return os.listdir(place or ".")
    except OSError:
        return []


def _folders(places: Places) -> Iterator[tuple[str, str]]:
    """Yield metadata folders with the canonical names of their distributions, the first of each
    name.
    """
    seen = set()
    for place, names in places:
        for name in names:
            if name.endswith(_INFO):
                dist = name.partition("-")[0].lower().replace("_", "-").replace(".", "-")
                if dist not in seen:
                    seen.add(dist)
                    yield dist, f"{place or os.curdir}{os.sep}{name}"


def _from_folders(groups: Collection[str], places: Places) -> Iterator[Entry]:
    for _, folder in _folders(places):
        text = _text(f"{folder}{os.sep}entry_points.txt")
        if any(f"[{group}]" in text for group in groups):
            dist, version, requires = _headers(folder)
            for group, name, value in parse(text):
                if group in groups:
                    yield Entry(group, name, value, dist, version, requires)


def _text(path: str) -> str:
    """Return the text of a file; empty without one. Most environments have a hundred such files."""
    try:
        file = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    except OSError:
        return ""
    try:
        parts = [*iter(partial(os.read, file, _READ_BYTES), b"")]
    except OSError:
        return ""
    finally:
        os.close(file)
    return b"".join(parts).decode(errors="replace")


def parse(text: str) -> Iterator[tuple[str, str, str]]:
    r"""(group, name, value) of each line of an ``entry_points.txt``.

    >>> list(parse("[a.b]\nx = m:f\n# y\n[c]\nz=n"))
    [('a.b', 'x', 'm:f'), ('c', 'z', 'n')]
    """
    group = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("[") and line.endswith("]"):
            group = line[1:-1]
        elif line and not line.startswith("#"):
            name, _, value = line.partition("=")
            yield group, name.strip(), value.strip()


def _headers(folder: str) -> tuple[str, str, tuple[str, ...]]:
    """Name, version and requirements from the head of a ``METADATA`` file."""
    found: dict[str, list[str]] = {"Name": [], "Version": [], "Requires-Dist": []}
    for line in _text(f"{folder}{os.sep}METADATA").splitlines():
        if not line:
            break
        header, _, value = line.partition(":")
        if header in found:
            found[header].append(value.strip())
    return "".join(found["Name"][:1]), "".join(found["Version"][:1]), tuple(found["Requires-Dist"])


def _from_library(groups: Collection[str]) -> Iterator[Entry]:
    metadata = import_module("importlib.metadata")
    for group in groups:
        for entry in metadata.entry_points(group=group):
            dist = entry.dist
            yield Entry(
                group, entry.name, entry.value, dist.name, dist.version, tuple(dist.requires or ())
            )
