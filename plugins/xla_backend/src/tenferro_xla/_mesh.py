"""Meshes of core as meshes of JAX, and what is known of arrays that lie on one.

A mesh takes the first devices of the platform, of all processes. Its axes are of JAX's type Auto:
XLA splits what no spec decides. Read next: ``_sharded.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any

from tenferro.backend import DeviceUnavailableError, UnsupportedError
from tenferro.primitives import Aval, Mesh, ShardingSpec
from tenferro_xla._jax import (
    UNCONSTRAINED,
    Array,
    AxisType,
    NamedSharding,
    PartitionSpec,
    constrain,
    devices,
    make_mesh,
    process_count,
)
from tenferro_xla._watch import wait_for_devices

#: The mesh of the program that is being traced, of JAX and of core; None without.
_in_force: ContextVar[tuple[Any, Mesh] | None] = ContextVar("tenferro_xla_mesh", default=None)


@lru_cache(maxsize=64)
def device_mesh(mesh: Mesh, platform: str) -> Any:
    """Return JAX's mesh of the first devices of a platform.

    Raises DeviceUnavailableError: if there are too few devices.
    Raises UnsupportedError: if a process has no device among them.
    """
    wait_for_devices()
    there = devices(platform)
    if len(there) < mesh.size:
        reason = f"it takes {mesh.size} devices, and JAX sees {len(there)} of {platform}"
        hint = '  hint       for a trial on the CPU, before JAX starts: \'os.environ["XLA_FLAGS"] ='
        hint += f' "--xla_force_host_platform_device_count={mesh.size}"\''
        raise DeviceUnavailableError(
            f"xla: {mesh} cannot be used: {reason}\n{hint}",
            backend="xla",
            device=platform,
            reason=reason,
        )
    chosen = there[: mesh.size]
    idle = process_count() - len({device.process_index for device in chosen})
    if idle:
        raise UnsupportedError(
            f"xla: {mesh} leaves {idle} of {process_count()} processes without a device\n"
            f"  need       a mesh of all {len(there)} devices",
            backend="xla",
            feature="a mesh of some processes",
            instead="",
        )
    auto = (AxisType.Auto,) * len(mesh.axes)
    return make_mesh(mesh.shape, mesh.names, axis_types=auto, devices=chosen)


def sharding_of(jax_mesh: Any, spec: ShardingSpec) -> NamedSharding:
    """Return JAX's sharding of a spec."""
    pairs = zip(spec.dimensions, spec.open, strict=True)
    entries = [UNCONSTRAINED if is_open else entry for entry, is_open in pairs]
    return NamedSharding(jax_mesh, PartitionSpec(*entries))  # type: ignore[no-untyped-call]


def mesh_of(jax_mesh: Any) -> Mesh:
    """Return core's mesh of one of JAX."""
    return Mesh([(str(name), int(count)) for name, count in jax_mesh.shape.items()])


@contextmanager
def in_force(jax_mesh: Any) -> Iterator[None]:
    """Let constraints of the program that is traced meanwhile mean this mesh; None: nothing."""
    token = _in_force.set(None if jax_mesh is None else (jax_mesh, mesh_of(jax_mesh)))
    try:
        yield
    finally:
        _in_force.reset(token)


def mesh_in_force() -> tuple[Any, Mesh] | None:
    """Return the mesh of the program that is being traced, of JAX and of core."""
    return _in_force.get()


def whole(value: Array) -> Array:
    """Return a value that is whole on every device in the program being traced, if for a mesh."""
    found = mesh_in_force()
    if found is None:
        return value
    constrained: Array = constrain(value, sharding_of(found[0], ShardingSpec(())))
    return constrained


def is_spread(array: Array) -> bool:
    """Return True if an array lies on several devices."""
    return len(array.sharding.device_set) > 1


def is_elsewhere(array: Array) -> bool:
    """Return True if a part of an array is in other processes alone."""
    return not (array.is_fully_addressable or array.is_fully_replicated)


def described(aval: Aval, array: Array) -> str:
    """Return how an array is split, for messages."""
    sharding = array.sharding
    if not isinstance(sharding, NamedSharding):
        return str(aval)
    padded = [*sharding.spec, *[None] * (aval.ndim - len(sharding.spec))]
    return f"{aval} split as {ShardingSpec(padded)} over {mesh_of(sharding.mesh)}"
