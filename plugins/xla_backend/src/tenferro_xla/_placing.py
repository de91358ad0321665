"""Arrays put on meshes, and their parts. Read next: ``_mesh.py``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tenferro.backend.base import Backend
from tenferro.backend.sharding import Region, ShardedArrays
from tenferro.primitives import Aval, Mesh, ShardingError, ShardingSpec
from tenferro_xla._compile import own_settings
from tenferro_xla._fork import check_process
from tenferro_xla._jax import (
    Array,
    Device,
    make_array_from_callback,
    make_array_from_process_local_data,
    process_index,
)
from tenferro_xla._mesh import device_mesh, sharding_of
from tenferro_xla._operands import numpy_dtype
from tenferro_xla._parts import check_copies, check_shapes


class XlaShardedArrays(ShardedArrays):
    """Arrays of JAX with a NamedSharding."""

    def __init__(self, backend: Backend, device: Device) -> None:
        self.backend = backend
        self.device = device

    def place(
        self, aval: Aval, mesh: Mesh, spec: ShardingSpec, read: Callable[[Region], Any]
    ) -> Array:
        """Return an array; ``read`` is called for the parts of this process."""
        check_process()
        sharding = sharding_of(device_mesh(mesh, self.device.platform), spec)
        dtype = numpy_dtype(aval.dtype)

        def part(index: Any) -> Any:
            return np.array(read(_region(index, aval.shape)), dtype, order="C")

        with own_settings(self.device):
            array = make_array_from_callback(aval.shape, sharding, part)
        check_copies("shard", array, mesh, spec, is_agreed=False)
        return array

    def from_local(self, rows: Any, mesh: Mesh, spec: ShardingSpec) -> Array:
        """Return an array; this process gives the part of its devices."""
        check_process()
        sharding = sharding_of(device_mesh(mesh, self.device.platform), spec)
        part = np.array(rows, order="C")
        check_shapes(Aval(part.shape, part.dtype.name), mesh, spec)
        try:
            with own_settings(self.device):
                array = make_array_from_process_local_data(sharding, part)
        except ValueError as error:
            raise ShardingError.of(
                "from_local",
                "the parts of the processes do not make an array that can be split like this",
                got=f"a part of shape {part.shape}: {str(error).partition(chr(10))[0]:.120}",
                need=f"equal parts for the devices along {spec} of {mesh}",
                mesh=mesh,
                spec=spec,
                dimension=None,
            ) from error
        check_copies("from_local", array, mesh, spec, is_agreed=True)
        return array

    def parts(self, operand: Any) -> Sequence[tuple[Region, Any]]:
        """Return the regions of this process; of copies on several devices the first counts."""
        check_process()
        if not isinstance(operand, Array):
            array = np.asarray(operand)
            whole = tuple([(0, size) for size in array.shape])
            return [(whole, array)] if process_index() == 0 else []
        return [
            (_region(shard.index, operand.shape), np.asarray(shard.data))
            for shard in operand.addressable_shards
            if shard.replica_id == 0
        ]


def _region(index: Any, shape: Sequence[int]) -> Region:
    return tuple([part.indices(size)[:2] for part, size in zip(index, shape, strict=True)])
