"""The public names of JAX that this package uses in addition to ``jax.lax``, in one place.

So that a reader sees the whole dependency at once and a new release of JAX is checked against one
file. JAX types its interface partly; here every name has a type. Read next: ``_operands.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, TypeGuard

import jax
from jax import Array, Device
from jax.errors import JaxRuntimeError
from jax.sharding import AxisType, NamedSharding, PartitionSpec

from tenferro_xla._not_public import Tracer, known_process

__all__ = [
    "UNCONSTRAINED",
    "VERSION",
    "Array",
    "AxisType",
    "Device",
    "JaxRuntimeError",
    "NamedSharding",
    "PartitionSpec",
    "Tracer",
    "block_until_ready",
    "constrain",
    "default_device",
    "device_put",
    "devices",
    "disable_jit",
    "enable_x64",
    "has_x64",
    "is_array",
    "jit",
    "live_arrays",
    "local_devices",
    "make_array_from_callback",
    "make_array_from_process_local_data",
    "make_mesh",
    "process_count",
    "process_index",
    "pure_callback",
    "setting",
    "shape_dtype",
]

Context = Callable[..., AbstractContextManager[Any]]

enable_x64: Context = jax.enable_x64
default_device: Context = jax.default_device
disable_jit: Context = jax.disable_jit
jit: Callable[..., Any] = jax.jit
shape_dtype: Callable[..., Any] = jax.ShapeDtypeStruct
device_put: Callable[..., Array] = jax.device_put
block_until_ready: Callable[[Any], Any] = jax.block_until_ready
live_arrays: Callable[[], list[Any]] = jax.live_arrays
local_devices: Callable[..., list[Device]] = jax.local_devices
pure_callback: Callable[..., Any] = jax.pure_callback
devices: Callable[..., list[Device]] = jax.devices
make_mesh: Callable[..., Any] = jax.make_mesh
make_array_from_callback: Callable[..., Array] = jax.make_array_from_callback
make_array_from_process_local_data: Callable[..., Array] = jax.make_array_from_process_local_data
constrain: Callable[[Any, Any], Any] = jax.lax.with_sharding_constraint
VERSION = jax.__version__
_config: Any = jax.config
UNCONSTRAINED: Any = PartitionSpec.UNCONSTRAINED  # of a dimension that XLA splits as it likes


def has_x64() -> bool:
    """Return True if the user's configuration of this thread has 64 bits."""
    found: bool = _config.jax_enable_x64
    return found


def setting(name: str) -> Any:
    """Return a value of the user's configuration, which is read and never written."""
    return getattr(jax.config, name, None)


def is_array(value: object) -> TypeGuard[Array]:
    """Return True if a value is a jax array with elements that jax is not tracing."""
    return isinstance(value, Array) and not isinstance(value, Tracer)


def process_index() -> int:
    """Return the number of this process; of connected ones without starting devices."""
    known = known_process()
    return jax.process_index() if known is None else known[0]


def process_count() -> int:
    """Return how many processes there are; of connected ones without starting devices."""
    known = known_process()
    return jax.process_count() if known is None else known[1]
