"""GradBench's ht, made small: the Jacobian of a hand's vertices by the 26 parameters of its pose.

A palm and five fingers of three bones; a finger has four angles. Vertices follow their bones by
weights (linear blend skinning, ADBench's definition). The hand is random and has 48 vertices, where
ADBench's has 544 and 22 bones; autograd would take minutes for those.
Read next: `recurrent.py`.
"""

from __future__ import annotations

from typing import Any

import numpy

from benchmarks.formulations.library import Library

from .small import program

FINGERS, BONES = 5, 16  # the palm, then three bones of each finger


def inputs(vertices: int) -> tuple[Any, ...]:
    """The pose; offsets of bones, vertices at rest relative to each bone, weights, targets."""
    rng = numpy.random.default_rng(0)
    weights = rng.random((vertices, BONES))
    return (
        0.3 * rng.normal(size=6 + 4 * FINGERS),
        rng.normal(size=(BONES, 3)),
        rng.normal(size=(BONES, vertices, 3)),
        weights / weights.sum(axis=1, keepdims=True),
        rng.normal(size=(vertices, 3)),
    )


HT = program("ht", inputs, 48, 3)


def rotation(lib: Library, axis: str, angle: Any) -> Any:
    """Return the rotation about an axis of coordinates."""
    c, s = lib.np.cos(angle), lib.np.sin(angle)
    if axis == "x":
        return lib.own.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])
    if axis == "y":
        return lib.own.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
    return lib.own.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def bones(lib: Library, pose: Any, offsets: Any) -> Any:
    """Return rotations and places of all bones, each by its parent's."""
    x, y, z = (rotation(lib, axis, pose[i]) for i, axis in enumerate("xyz"))
    palm = x @ y @ z
    rotations, places = [palm], [pose[3:6] + offsets[0]]
    for finger in range(FINGERS):
        angles, turn, place = pose[6 + 4 * finger :], palm, places[0]
        for joint in range(3):
            place = place + turn @ offsets[1 + 3 * finger + joint]
            turn = turn @ rotation(lib, "x", angles[joint])
            if joint == 0:
                turn = turn @ rotation(lib, "z", angles[3])
            rotations.append(turn)
            places.append(place)
    return lib.np.stack(rotations), lib.np.stack(places)


@HT.task("Jacobian")
def residuals_and_jacobian(lib: Library) -> Any:
    """Return the distances of vertices from their targets, and their derivatives."""
    np = lib.np

    def objective(pose: Any, offsets: Any, rest: Any, weights: Any, targets: Any) -> Any:
        rotations, places = bones(lib, pose, offsets)
        moved = np.einsum("bij,bvj->bvi", rotations, rest) + places[:, None, :]
        return np.reshape(targets - np.einsum("vb,bvi->vi", weights, moved), (-1,))

    def value_and_jacobian(*given: Any) -> Any:
        return objective(*given), lib.jacobian(objective)(*given)

    return value_and_jacobian
