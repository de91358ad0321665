"""The folder: one file for each program, whole or not there, and a bound for all of them.

A file begins with the digest of its name and the rest, so that what was cut short, changed or
renamed is made again. Files are written under another name and moved into place, which several
processes may do at the same time. Whoever can write a program can run code as the user: so the
folder belongs to the user alone, and so does each file, whatever becomes of the folders above.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress

from tenferro.backend.kept.names import digest

MAX_BYTES = 256 * 2**20  # of all files; the least recently used go
_OTHERS_CAN_WRITE = 0o022
_ENDING = ".program"
_UNFINISHED = ".unfinished"
_SECONDS_TO_FINISH = 3600  # then the process that began a file has ended


class Folder:
    """Programs by their names."""

    def __init__(self, path: str) -> None:
        self.path = path

    def prepare(self) -> str:
        """Make the folder; return what is wrong with it, or nothing."""
        if self.path.startswith("~"):
            return "the home folder is not known"
        try:
            os.makedirs(self.path, mode=0o700, exist_ok=True)
            found = os.stat(self.path)
        except (OSError, ValueError) as error:  # the latter for a zero byte in the path
            return str(error)
        if not _is_own(found):
            return "it belongs to another user"
        if os.name == "posix" and found.st_mode & _OTHERS_CAN_WRITE:
            return "other users can write to it"
        return "" if os.access(self.path, os.W_OK) else "it cannot be written to"

    def _file(self, name: str) -> str:
        return os.path.join(self.path, f"{name}{_ENDING}")

    def read(self, name: str) -> bytes | None:
        """Return the content of a program's file; None if there is none that is whole."""
        path = self._file(name)
        try:
            file = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        except OSError:
            return None
        try:
            about = os.fstat(file)
            if not _is_own(about) or (os.name == "posix" and about.st_mode & _OTHERS_CAN_WRITE):
                return None
            found = os.read(file, about.st_size)
            os.utime(path)
        except OSError:
            return None
        finally:
            os.close(file)
        head, _, content = found.partition(b"\n")
        return content if head == _seal(name, content) else None

    @property
    def is_there(self) -> bool:
        """True unless the folder was removed."""
        return os.path.isdir(self.path)

    def remove(self, name: str) -> None:
        """Remove a program's file, if there is one."""
        with suppress(OSError):
            os.unlink(self._file(name))

    def write(self, name: str, content: bytes) -> None:
        """Write a program's file; nothing happens where the disk does not take it."""
        with suppress(OSError):
            # imported here: processes that find all programs write none
            from tempfile import mkstemp  # noqa: PLC0415

            descriptor, path = mkstemp(_UNFINISHED, dir=self.path)
            try:
                with os.fdopen(descriptor, "wb") as file:
                    file.write(_seal(name, content) + b"\n" + content)
                os.replace(path, self._file(name))
            except BaseException:
                with suppress(OSError):
                    os.unlink(path)
                raise

    def drop_old(self, most: int = MAX_BYTES) -> None:
        """Remove the least recently used files until the rest is within the bound.

        Files that a process was killed while writing go as well.
        """
        found = []
        old = time.time() - _SECONDS_TO_FINISH
        with suppress(OSError), os.scandir(self.path) as entries:
            for entry in entries:
                with suppress(OSError):
                    stat = entry.stat()
                    if entry.name.endswith(_ENDING):
                        found.append((stat.st_mtime_ns, stat.st_size, entry.path))
                    elif entry.name.endswith(_UNFINISHED) and stat.st_mtime < old:
                        os.unlink(entry.path)
        total = sum([size for _, size, _ in found])
        for _, size, path in sorted(found):
            if total <= most:
                return
            with suppress(OSError):
                os.unlink(path)
            total -= size


def _is_own(found: os.stat_result) -> bool:
    """Return True if a file or folder is this user's, or the system has no owners."""
    return not hasattr(os, "getuid") or found.st_uid == os.getuid()


def _seal(name: str, content: bytes) -> bytes:
    """Return what a file begins with."""
    return digest(name.encode() + b"\n" + content).encode("ascii")
