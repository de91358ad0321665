"""Constraints on where parts of a value lie. Read next: ``_mesh.py``."""

from __future__ import annotations

from jax import Array

from tenferro.backend.extend import note_ignored_sharding
from tenferro.backend.lowering import Lowerings
from tenferro.primitives import Aval, ShardingConstraint, ShardingSpec
from tenferro_xla._jax import constrain
from tenferro_xla._mesh import mesh_in_force, sharding_of

lowerings = Lowerings()


@lowerings.register(ShardingConstraint)
def sharding_constraint(op: ShardingConstraint, x: Array) -> Array:
    """Split the value as the spec says; nothing in a program for one device.

    Raises ShardingError: if the mesh lacks an axis, or a dimension cannot be split equally.
    """
    found = mesh_in_force()
    if found is None:
        note_ignored_sharding()
        return x
    jax_mesh, mesh = found
    spec = ShardingSpec(op.spec)
    spec.check(mesh, Aval(x.shape, x.dtype.name), op.name)
    constrained: Array = constrain(x, sharding_of(jax_mesh, spec))
    return constrained
