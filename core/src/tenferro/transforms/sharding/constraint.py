"""``mesh`` and ``sharding_constraint``: what a program says of the devices that it will run on.

Read next: ``prefixes.py``, then ``placing.py``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tenferro.arrays import Array
from tenferro.arrays.errors import at_user_line
from tenferro.primitives import Mesh
from tenferro.primitives import sharding_constraint as constrained
from tenferro.primitives._errors import ShardingError
from tenferro.primitives._mesh import made_mesh
from tenferro.transforms.recording import tree as _tree
from tenferro.transforms.sharding.prefixes import specs_of

__all__ = ["mesh", "sharding_constraint"]


def mesh(axes: Mapping[str, int]) -> Mesh:
    """Return a mesh: a grid of devices whose axes have names.

    A mesh is a value: it asks for no device until a program is compiled for it, or an array put
    on it. It then takes the first devices of the backend, as many as it needs.

    Parameters
    ----------
    axes : mapping of str to int
        The number of devices along each axis. Put the axis whose devices exchange most data last:
        neighbours along it are neighbours in the machine.

    Returns
    -------
    Mesh
        The mesh. It can be hashed, compared and pickled.

    Raises
    ------
    ShardingError
        If a name is not a word, or a number is less than 1.

    Examples
    --------
    >>> import tenferro as tn
    >>> tn.mesh({"data": 4, "model": 2})
    Mesh(data=4, model=2)
    """
    try:
        return made_mesh(axes)
    except ShardingError as error:
        raise at_user_line(error) from None


def sharding_constraint(x: Any, spec: Any) -> Any:
    """Return x, split over the devices as the spec says. It changes no value.

    Without it, the compiler decides how the values inside a program are split, from the shardings
    of arguments and results. A constraint decides for one value. Its cotangent is split in the same
    way. Under ``vmap`` the compiler decides how the new dimension is split, so that a batch that is
    split stays so. Where a program is compiled for one device, on NumPy and on CuPy a constraint
    does nothing, which one warning says.

    Parameters
    ----------
    x : array or pytree of arrays
        The value. Outside a recorded program, anything but an Array is returned unchanged.
    spec : tuple, or pytree of tuples
        For each dimension None, an axis of the mesh, a tuple of axes, or "?" to let the compiler
        decide; () leaves x whole on every device. A spec may stand for all leaves of a subtree, and
        None for a subtree left alone.

    Returns
    -------
    array or pytree of arrays
        The same values.

    Raises
    ------
    ShardingError
        If the spec has another rank or uses an axis twice; when the program is compiled, if the
        mesh has no such axis or a dimension cannot be split equally.

    Examples
    --------
    >>> import numpy as np
    >>> import tenferro as tn
    >>> def layer(x, w):
    ...     return np.tanh(tn.sharding_constraint(x @ w, ("data", "model")))
    >>> print(tn.trace(layer, np.ones((8, 4)), np.ones((4, 2))))
    graph(x: f64[8,4], w: f64[4,2]) {
      %2 = dot_general[...] %0 %1 : f64[8,2]
      %3 = sharding_constraint[spec=('data', 'model')] %2 : f64[8,2]
      %4 = tanh %3                         : f64[8,2]
      return %4
    }
    """
    leaves, structure = _tree.flatten(x)
    specs = specs_of(spec, x, "sharding_constraint", may_be_open=True)
    pairs = zip(leaves, specs, strict=True)
    found = [
        constrained(leaf, own.dimensions) if own is not None and isinstance(leaf, Array) else leaf
        for leaf, own in pairs
    ]
    return _tree.unflatten(structure, found)
