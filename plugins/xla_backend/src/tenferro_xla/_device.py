"""Choice of the device that a backend uses, and the error if there is none.

Named in the configuration: ``"cpu"``, ``"gpu"``, ``"gpu:1"``. Not named: what the user told JAX
(``jax_default_device``, else the first of ``JAX_PLATFORMS``), else the CPU, because moving data to
a GPU is a decision of the user. Operands that a user put on a device are computed there. Read
next: ``_backend.py``.
"""

from __future__ import annotations

from tenferro.backend import DeviceUnavailableError
from tenferro_xla._jax import Device, local_devices, setting
from tenferro_xla._watch import wait_for_devices

_OTHER_NAMES = {"cuda": "gpu", "rocm": "gpu"}


def find_device(name: str | None) -> Device:
    """Return the device of a name such as ``"gpu:1"``; the default one for ``None``.

    Raises DeviceUnavailableError: if JAX has no such device here, saying what it has.
    """
    if name is None:
        return _default()
    platform, _, number = name.partition(":")
    if not platform or (number and not number.isdecimal()):
        raise _unavailable(name, f"{name!r} names no device; write cpu, gpu or gpu:1")
    devices = _devices_of(platform)
    if int(number or 0) >= len(devices):
        raise _unavailable(name, f"JAX sees {len(devices)} {platform} device(s), numbered from 0")
    return devices[int(number or 0)]


def _default() -> Device:
    chosen = setting("jax_default_device")
    if isinstance(chosen, Device):
        return chosen
    stated = str(chosen or setting("jax_platforms") or "cpu")
    return _devices_of(stated.partition(",")[0])[0]


def _devices_of(platform: str) -> list[Device]:
    wait_for_devices()
    try:
        return local_devices(backend=platform)
    except RuntimeError as error:
        reason = str(error).strip().partition("\n")[0]
        raise _unavailable(platform, reason) from error


def _unavailable(name: str, reason: str) -> DeviceUnavailableError:
    return DeviceUnavailableError(
        f"xla: the device {name!r} cannot be used\n"
        f"  because    {reason}\n"
        '  hint       pip install "tenferro-xla[cuda13]" for NVIDIA GPUs; see jax.devices()',
        backend="xla",
        device=name,
        reason=reason,
    )


def device_name(device: Device) -> str:
    """``gpu:0``: the name by which ``find_device`` finds it again."""
    platform = _OTHER_NAMES.get(device.platform, device.platform)
    return f"{platform}:{device.id}"
