"""Compiled kernels on disk, so that a second process need not compile.

A file's name is the digest of the source and the architecture; the digest of its content is in
a second file, so what was cut short or changed is compiled again. Files are written under
another name and moved into place, which two processes may do at the same time. Read next:
``modules.py``.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

__all__ = ["CubinCache"]

_VARIABLE = "TENFERRO_CUPY_CACHE"  # a folder; empty: no cache on disk


class CubinCache:
    """A folder of compiled kernels; None as folder switches it off."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder

    @classmethod
    def of_environment(cls) -> CubinCache:
        """Return the cache of this user, in the folder that ``TENFERRO_CUPY_CACHE`` names."""
        named = os.environ.get(_VARIABLE)
        if named == "":
            return cls(None)
        default = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "tenferro" / "cupy"
        return cls(Path(named or default).expanduser())

    def find(
        self, source: str, architecture: str, compiled: Callable[[str, str], bytes]
    ) -> Path | None:
        """Return a file with the compiled source; None if the folder cannot be written to."""
        if self.folder is None:
            return None
        digest = sha256(f"{architecture}\n{source}".encode()).hexdigest()
        path = self.folder / f"{digest[:40]}.cubin"
        if _is_whole(path):
            return path
        image = compiled(source, architecture)
        with suppress(OSError):
            _write(path, image)
            return path
        return None


def _digest_file(path: Path) -> Path:
    return path.with_suffix(".sha256")


def _is_whole(path: Path) -> bool:
    """Return True if the file has the digest in its second file."""
    try:
        return _digest_file(path).read_text() == sha256(path.read_bytes()).hexdigest()
    except OSError:
        return False


def _write(path: Path, image: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    _move_into_place(path, image)
    _move_into_place(_digest_file(path), sha256(image).hexdigest().encode())


def _move_into_place(path: Path, content: bytes) -> None:
    """Write a file under a name of its own, then rename it: readers see all of it or nothing."""
    descriptor, name = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        os.replace(name, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise
