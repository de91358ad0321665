"""``offload``: what reverse mode of a loop stores lies in a file instead of in memory.

The loop says so by its field ``offload``; its derivatives hand the field on, and name the results
whose rows they store. Backends make the memory of these rows.
Read next: ``segments.py`` and ``primitives/control/residuals.py``.
"""

from __future__ import annotations

import os
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays.errors import at_user_line

__all__ = ["Offload", "offload"]


class Offload(NamedTuple):
    """The directory of the file; "" is the system's directory for temporary files."""

    directory: str


def offload(directory: str | os.PathLike[str] | None = None) -> Offload:
    """Return what ``scan(…, checkpoint=offload())`` takes: reverse mode stores in a file.

    The loop stores what it stores without, per step what its derivative reads or the carry, and
    computes nothing again. On NumPy the rows lie in a temporary file that is mapped into memory:
    the loop writes them one by one, the reverse sweep reads them one by one, and the system keeps
    in memory as many as there is room for. The file has no name: the system removes it with the
    last value that lies in it, however the program ends. XLA for the CPU keeps the rows in its own
    memory. XLA for other devices, and CuPy, refuse.

    Parameters
    ----------
    directory : path, optional
        Where the file is made, by default in the system's directory for temporary files. That helps
        only on a disc: some systems keep their temporary files in memory.

    Returns
    -------
    Offload
        The value for ``checkpoint``.

    Raises
    ------
    TypeError
        If the directory is not a path.
    OffloadError
        When the loop runs: if the directory does not exist, or its disc is full.

    Examples
    --------
    >>> import numpy as np
    >>> import tenferro as tn
    >>> def decay(x):
    ...     return tn.scan(
    ...         lambda c, _: (0.9 * np.sin(c), None), x, None, 100, checkpoint=tn.offload()
    ...     )[0]
    >>> round(float(tn.grad(decay)(1.0)), 8)
    4.61e-06
    """
    if directory is None:
        return Offload("")
    path: Any = directory
    if isinstance(path, os.PathLike):
        path = os.fspath(path)
    if not isinstance(path, str):
        text = f"offload: the directory is a path, got {type(directory).__name__}"
        raise at_user_line(TypeError(text))
    return Offload(os.path.abspath(path))
