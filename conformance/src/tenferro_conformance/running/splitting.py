"""The kit on a mesh: every program runs on many devices, with its inputs split over them.

Laws and stored numbers stay what they are, so that a program on many devices is held to those of
one. A mesh of eight devices has three axes of two; the dimensions of an input take, in their order,
as many axes as divide them. Read next: ``session.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenferro.backend import Backend, Executable, UnsupportedError
from tenferro.computegraph import CompiledProgram
from tenferro.primitives import Aval, Mesh, ShardingSpec


def mesh_of(devices: int) -> Mesh:
    """Return a mesh with an axis for each prime factor.

    >>> mesh_of(12)
    Mesh(axis0=2, axis1=2, axis2=3)
    """
    factors, left = [], devices
    while left > 1:
        factors.append(next(p for p in range(2, left + 1) if left % p == 0))
        left //= factors[-1]
    return Mesh([(f"axis{i}", factor) for i, factor in enumerate(factors or [1])])


def spec_of(mesh: Mesh, aval: Aval) -> ShardingSpec:
    """Return how an input is split.

    >>> spec_of(mesh_of(8), Aval((3, 4, 6), "f64"))
    (None, ('axis0', 'axis1'), 'axis2')
    """
    free = list(mesh.axes)
    dimensions = []
    for size in aval.shape:
        left, taken = size, []
        for axis in list(free):
            if size and left % axis[1] == 0:
                taken.append(axis[0])
                free.remove(axis)
                left //= axis[1]
        dimensions.append(tuple(taken))
    return ShardingSpec(dimensions)


def compile_on(mesh: Mesh | None, backend: Backend, program: CompiledProgram) -> Executable:
    """Compile a program, for a mesh if there is one.

    A program that calls back into Python runs on one device: a mesh refuses it.
    """
    avals: Sequence[Aval] = program.input_avals
    if mesh is None:
        return backend.compile(program, avals)
    options: dict[str, Any] = {
        "mesh": mesh,
        "in_shardings": tuple([spec_of(mesh, aval) for aval in avals]),
    }
    try:
        return backend.compile(program, avals, options)
    except UnsupportedError as error:
        if error.fields["feature"] != "callbacks in programs for a mesh":
            raise
        return backend.compile(program, avals)
