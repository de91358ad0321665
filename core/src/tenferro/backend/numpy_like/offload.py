"""Arrays in temporary files that are mapped into memory, for loops that store rows there.

The file has no name once it is open, so that the system removes it with the last array that lies in
it, however the process ends; a process that was forked does not remove it for the other.
Read next: ``control.py``.
"""

from __future__ import annotations

import errno
import os
from math import prod
from mmap import mmap
from tempfile import TemporaryFile, gettempdir
from typing import Any

from tenferro.backend._errors import UnsupportedError
from tenferro.primitives import OffloadError

__all__ = ["array_in_file"]

_CANNOT_RESERVE = (errno.EINVAL, errno.EOPNOTSUPP, errno.ENOSYS)
_BYTES_PER_WRITE = 1 << 20


def array_in_file(xp: Any, directory: str, shape: tuple[int, ...], dtype: Any) -> Any:
    """Return an array in a temporary file of a directory; "" is the one for temporary files.

    Raises OffloadError: if the file cannot be made, or the disc is full.
    Raises UnsupportedError: if the arrays of the namespace do not lie in the host's memory.
    """
    name = getattr(xp, "__name__", "this backend")
    if name != "numpy":
        raise UnsupportedError(
            f"{name}: a loop cannot store its rows outside the device's memory\n"
            '  hint       `checkpoint="sqrt"` or `tn.revolve(slots)` store fewer rows',
            backend=name,
            feature="offload",
            instead='checkpoint="sqrt"',
        )
    size = prod(shape) * dtype.itemsize
    if not size:
        return xp.empty(shape, dtype)
    place = directory or gettempdir()
    try:
        with TemporaryFile(dir=place) as file:
            _reserve(file, size)
            memory = mmap(file.fileno(), size)
    except OSError as error:
        raise OffloadError.of(place, size, str(error.strerror or error)) from error
    return xp.ndarray(shape, dtype, memory)


def _reserve(file: Any, size: int) -> None:
    """Give a file its size on the disc: a write into mapped memory cannot report a full disc.

    Raises OSError: if the disc is full.
    """
    if os.name == "nt":
        file.truncate(size)
        return
    if hasattr(os, "posix_fallocate"):
        try:
            os.posix_fallocate(file.fileno(), 0, size)
            return
        except OSError as error:
            if error.errno not in _CANNOT_RESERVE:
                raise
    zeros = bytes(_BYTES_PER_WRITE)
    for start in range(0, size, _BYTES_PER_WRITE):
        file.write(zeros[: size - start])
    file.flush()
