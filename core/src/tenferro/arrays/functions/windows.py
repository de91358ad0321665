"""Windows that slide over an array. Read next: ``indexing.py``."""

from __future__ import annotations

from operator import index
from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions.indexing import take
from tenferro.arrays.functions.ranges import arange
from tenferro.arrays.functions.structural import moveaxis
from tenferro.arrays.handle.array import Array, another_handle
from tenferro.arrays.handle.convert import asarray
from tenferro.arrays.promotion.broadcast import normalize_axis
from tenferro.arrays.registry import covers


@covers("sliding_window_view", "stride_tricks.sliding_window_view")
def sliding_window_view(x: Any, window_shape: Any, axis: Any = None) -> Array:
    """Return all windows of a shape: the windows' own axes come last.

    x: [*s]   →   [*(s - window + 1), *window];   it is a value, not a view of memory

    >>> import tenferro as tn
    >>> tn.sliding_window_view([1, 2, 3, 4], 2)
    array([[1, 2],
           [2, 3],
           [3, 4]])
    """
    found = another_handle(asarray(x))
    wanted = window_shape if isinstance(window_shape, (tuple, list)) else (window_shape,)
    sizes = [index(size) for size in wanted]
    if axis is None:
        axes = list(range(found.ndim))
    else:
        given = axis if isinstance(axis, (tuple, list)) else (axis,)
        axes = [normalize_axis(a, found.ndim, "sliding_window_view") for a in given]
    if len(sizes) != len(axes):
        raise at_user_line(ValueError("sliding_window_view: need one size for each axis"))
    for size, d in zip(sizes, axes, strict=True):
        count = found.shape[d] - size + 1
        if size < 0 or count < 1:
            fact = f"a window of {size} does not fit into {found.aval} on axis {d}"
            raise at_user_line(ValueError(f"sliding_window_view: {fact}"))
        places = arange(count)[:, None] + arange(size)
        found = moveaxis(take(found, places, axis=d), d + 1, -1)
    return found
