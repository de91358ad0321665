"""Errors of the CuPy backend in addition to those of core. Read next: `_executable.py`."""

from __future__ import annotations

from tenferro.backend import BackendError

__all__ = ["OutOfMemoryError"]


class OutOfMemoryError(BackendError, MemoryError):
    """Report that the device has not enough memory. Fields: ``backend``, ``device``, ``in_use``.

    Values of the program that failed are freed before it is raised, and unused blocks of the memory
    pool go back to the device, so smaller programs run afterwards.
    """
