"""To other libraries and devices, and back: DLPack, and moves that are asked for.

A copy leaves: no other code can write into the value of an Array. Conversions are refused
under a transform, where they would cut a derivative. Read next: ``looking.py``.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from tenferro.arrays.errors import UnknownOperandError, at_user_line
from tenferro.arrays.handle.array import Array, evaluable
from tenferro.arrays.handle.convert import operand_key, snapshot
from tenferro.arrays.handle.traces import is_followed, is_traced, note_conversion
from tenferro.arrays.registry import covers
from tenferro.backend import DeviceUnavailableError, host, select_backend
from tenferro.backend._snapshots import is_numpy
from tenferro.backend.select import backend_of
from tenferro.computegraph import UNKNOWN, new_leaf

_CPU = (1, 0)
_KINDS = {1: "numpy", 2: "cupy"}  # DLPack's device kinds; by which library a capsule is read


def _operand(x: Array) -> Any:
    """Return the operand as an array of the backend to which no other reference exists."""
    asked = "conversion by DLPack"
    if is_followed(x.key):
        x._to_numpy(asked)  # raises
    note_conversion(x.key)
    if x.key.operand is UNKNOWN:
        x._concrete(asked)
    backend = backend_of(x.key.operand)
    operand = backend.asoperand(x.key.operand, x.aval)
    return operand.copy() if is_numpy(operand) else snapshot(operand)


@covers("__dlpack__")
def to_dlpack(x: Array, **keywords: Any) -> Any:
    """Return a DLPack capsule that holds a copy of the value."""
    if keywords.get("copy") is False:
        raise at_user_line(BufferError("an Array cannot be viewed without a copy"))
    operand = _operand(x)
    if not hasattr(operand, "__dlpack__") or not hasattr(operand, "shape") or not x.ndim:
        operand = x.__array__() if not hasattr(operand, "devices") else operand
    try:
        return operand.__dlpack__(**{k: v for k, v in keywords.items() if v is not None})
    except (RuntimeError, ValueError) as error:  # a stream of a device where there is none
        raise at_user_line(BufferError(f"__dlpack__: {error}")) from None


@covers("__dlpack_device__")
def dlpack_device(x: Array) -> tuple[int, int]:
    """Return the kind and the number of the device in DLPack's numbering."""
    operand = _operand(x)
    found = getattr(operand, "__dlpack_device__", None)
    return _CPU if found is None else tuple(map(int, found()))  # type: ignore[return-value]


@covers("from_dlpack")
def from_dlpack(x: Any, /, *, device: str | None = None, copy: bool | None = None) -> Array:
    """Make an array of what another library exports by DLPack; the memory is copied.

    Raises UnknownOperandError: if no library that the program imported reads from that device.
    """
    if isinstance(x, Array):
        return to_device(Array(x.key, x.flow), device) if device else Array(x.key, x.flow)
    if not hasattr(x, "__dlpack__") or not hasattr(x, "__dlpack_device__"):
        error = UnknownOperandError(
            f"from_dlpack: {type(x).__name__} does not support DLPack\n"
            "  need       an array of a library, with `__dlpack__` and `__dlpack_device__`\n"
            "  hint       `tenferro.asarray(x)` takes numbers and sequences",
            value=x,
        )
        raise at_user_line(error)
    if copy is False:
        raise at_user_line(BufferError("from_dlpack: an Array shares no memory with others"))
    kind = int(x.__dlpack_device__()[0])
    library = sys.modules.get(_KINDS.get(kind, ""))
    if library is None:
        raise UnknownOperandError(
            f"from_dlpack: no imported library reads memory of device kind {kind}\n"
            f"  hint       import {_KINDS.get(kind, 'the library that made it')} first",
            value=x,
        )
    found = Array(operand_key(library.from_dlpack(x).copy()))
    return found if device is None else to_device(found, device)


@covers("__device__")
def device_of(x: Array) -> str:
    """Return the name of the device where the value is, or will be computed."""
    operand = x.key.operand
    if operand is UNKNOWN and not is_traced(x.key) and evaluable(x.key):
        operand = x.operand
    backend = select_backend() if operand is UNKNOWN else backend_of(operand)
    return _device_name(backend, operand)


def _device_name(backend: Any, operand: Any) -> str:
    if backend.config.device:
        return str(backend.config.device)
    if "cpu" in backend.info.device_kinds and len(backend.info.device_kinds) == 1:
        return "cpu"
    devices = host().probe(backend.name).devices
    number = getattr(getattr(operand, "device", None), "id", 0)
    return str(devices[number] if number < len(devices) else "cpu")


@covers("__to_device__")
def to_device(x: Array, device: str, stream: Any = None) -> Array:
    """Copy the array to a device, through the installed backend that has the device.

    Raises DeviceUnavailableError: if no installed backend has it.
    """
    here = device_of(x)
    if device == here or (device == "cpu" and here.startswith("cpu:")):
        return Array(x.key, x.flow)
    value = x._to_numpy("a move to another device")
    plugins = host()
    for name in plugins.backends():
        if plugins.is_available(name) and device in plugins.probe(name).devices:
            config = import_module("tenferro.backend.records").BackendConfig(device=device)
            backend = plugins.backend(name, config)
            key = new_leaf("value", x.aval)
            key.operand = backend.asoperand(value, x.aval)
            return Array(key)
    error = DeviceUnavailableError(
        f"no installed backend has the device {device!r}", backend=None, reason=device
    )
    raise at_user_line(error)
