"""``stop_gradient`` of pytrees."""

from __future__ import annotations

from typing import Any

from tenferro.arrays import Array
from tenferro.arrays.handle.traces import refuse_leaked_value
from tenferro.arrays.handle.weak import same_number
from tenferro.primitives import stop_gradient as stop_gradient_of_array
from tenferro.transforms.recording import tree as _tree


def stop_gradient(x: Any) -> Any:
    """Return x as a constant, through which no derivative flows.

    Parameters
    ----------
    x : pytree
        Arrays of tenferro become constants. NumPy arrays, numbers and other leaves need no change.

    Returns
    -------
    pytree
        The same values in the structure of ``x``. A NumPy array is returned itself, not a copy:
        writing into the result writes into the argument.

    Examples
    --------
    >>> import tenferro as tn
    >>> tn.grad(lambda x: tn.stop_gradient(x) * x)(2.0)
    np.float64(2.0)
    >>> tn.grad(lambda p: tn.stop_gradient(p)["w"] * p["w"])({"w": 2.0})
    {'w': np.float64(2.0)}
    """
    return _tree.map_leaves(_stopped, x)


def _stopped(leaf: Any) -> Any:
    if not isinstance(leaf, Array):
        return leaf
    refuse_leaked_value(leaf.key)  # the result would belong to no call
    return same_number(stop_gradient_of_array(leaf), leaf)
