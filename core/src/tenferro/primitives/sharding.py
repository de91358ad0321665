"""``sharding_constraint``: places for the parts of a value in a program for several devices.

It changes no number: values, derivatives and shapes are those of the operand. A backend that
compiles for a mesh of devices (``_mesh.py``) splits the value as the spec says; any other ignores
it, and says so once. Derivatives are of the whole array, so no primitive communicates.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenferro.primitives._aval import Aval
from tenferro.primitives._handle import H, Handle
from tenferro.primitives._mesh import OPEN, Mesh, ShardingSpec, check_rank, made_spec
from tenferro.primitives._primitive import Linear, bind

__all__ = ["Mesh", "ShardingConstraint", "ShardingSpec", "sharding_constraint"]


class ShardingConstraint(Linear):
    """y = x, split over the devices as the spec says.   x: [*S]  →  y: [*S]"""

    key = "std::sharding_constraint"
    spec: tuple[Any, ...]

    def __post_init__(self) -> None:
        self._set(spec=made_spec(self.spec, self.name).dimensions)

    def abstract_eval(self, x: Aval) -> Aval:
        check_rank(ShardingSpec(self.spec), x, self.name)
        return x

    def transpose_x(self, ct: Handle, x: Handle) -> Handle:
        return sharding_constraint(ct, self.spec)

    def batch(self, size: int, batched: Sequence[bool], x: Handle) -> Sequence[Handle]:
        inner = self.spec or (None,) * (x.ndim - 1)
        return [sharding_constraint(x, (OPEN, *inner))]


def sharding_constraint(x: H, spec: Sequence[Any]) -> H:
    """Return x, split over the axes of the mesh for which the program is compiled.

    x: [*s]   →   y: [*s]

    Transpose    ct_x = ct, split in the same way
    Convention   None leaves a dimension whole; the spec () leaves all of them whole; "?" leaves a
                 dimension to the compiler, as ``batch`` does with the new one
    Raises       ShardingError: if the spec is of another rank, or uses an axis twice.

    >>> from tenferro.primitives import sharding_constraint, variable
    >>> sharding_constraint(variable("x", (8, 3), "f64"), ("data", None)).aval
    f64[8,3]
    """
    return bind(ShardingConstraint(tuple(spec)), x)
