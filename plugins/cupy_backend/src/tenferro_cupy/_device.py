"""Detection of CUDA devices: the runtime is asked, and no device is touched.

CuPy imports without a driver and fails at the first allocation, so importing it proves nothing; the
runtime's device count does. Nothing here imports CuPy at import. Read next: `_backend.py`.
"""

from __future__ import annotations

import re
from typing import Any

from tenferro.backend import DeviceUnavailableError
from tenferro.backend.records import Probe

__all__ = ["device_index", "probe"]


def probe() -> Probe:
    """Return whether CuPy can run here; the reason is a sentence for a user."""
    try:
        import cupy  # noqa: PLC0415 - heavy, and it may be missing
    except Exception as error:  # a broken installation raises whatever it likes
        return Probe(available=False, reason=f"CuPy cannot be imported: {_said(error)}")
    try:
        return _devices(cupy)
    except Exception as error:  # no driver, no permission, a version that does not fit
        versions = {"cupy": str(getattr(cupy, "__version__", "unknown"))}
        reason = f"CuPy is installed, but no CUDA device can be used: {_said(error)}"
        return Probe(available=False, reason=reason, lib_versions=versions)


def _devices(cupy: Any) -> Probe:
    runtime = cupy.cuda.runtime
    versions = {"cupy": cupy.__version__, "cuda": str(runtime.runtimeGetVersion())}
    count = runtime.getDeviceCount()
    if count == 0:
        reason = "CuPy is installed, but the CUDA runtime finds no device."
        return Probe(available=False, reason=reason, lib_versions=versions)
    names = tuple(_name(runtime.getDeviceProperties(i)["name"]) for i in range(count))
    return Probe(available=True, lib_versions=versions, devices=names)


def _name(name: bytes | str) -> str:
    return name.decode() if isinstance(name, bytes) else name


def _said(error: Exception) -> str:
    """Return the first line of an error, with its class."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0] if lines else 'no message'}"


def device_index(device: str | None, count: int) -> int:
    """Return the index that a configured device means: `None`, "cuda", "cuda:1" or "1".

    Raises DeviceUnavailableError: if it names no device that is there.
    """
    named = re.fullmatch(r"(?:cuda|gpu)?:?(\d*)", device or "")
    index = int(named.group(1) or 0) if named else -1
    if not 0 <= index < count:
        reason = f"there is no device {device!r}; {count} found, named cuda:0 and so on"
        raise DeviceUnavailableError(f"cupy: {reason}", backend="cupy", reason=reason)
    return index
