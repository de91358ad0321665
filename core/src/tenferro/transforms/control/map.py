"""``map``: one example after the other, in bounded memory. Read next: ``associative_scan.py``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenferro.arrays import Array, as_array
from tenferro.arrays.functions.structural import concatenate
from tenferro.transforms.batching.vmap import vmap
from tenferro.transforms.control.body import finished, given_arrays
from tenferro.transforms.control.scan import scan_for
from tenferro.transforms.errors import check_function, refused_body
from tenferro.transforms.recording import tree as _tree

__all__ = ["map"]


def map(
    f: Callable[[Any], Any], xs: Any, *, batch_size: int | None = None, progress: bool = False
) -> Any:
    """Return ``f`` of every row of ``xs``, stacked: ``vmap`` in a loop, in the memory of one row.

    Parameters
    ----------
    f : callable
        Function of one row: pytree of arrays to pytree of arrays.
    xs : pytree of arrays
        Arrays of shape [n, ...].
    batch_size : int, optional
        Number of rows that are computed at once, by ``vmap``; the memory is that of so many.
    progress : bool, default False
        Show on standard error how far the loop is, by rich where it is installed. Only at top
        level, on values that are known.

    Returns
    -------
    pytree of arrays
        Results of shape [n, ...].

    Raises
    ------
    BodyError
        If there is no array, rows differ in number, or ``batch_size`` is not positive.

    Examples
    --------
    >>> import numpy as np
    >>> import tenferro as tn
    >>> tn.map(lambda row: row @ row, np.array([[1.0, 2.0], [3.0, 4.0], [0.0, 1.0]]), batch_size=2)
    array([ 5., 25.,  1.])
    """
    check_function(f, "map")
    if not _tree.flatten(xs)[0]:
        raise refused_body("map", "xs holds no array", "no array", "at least one", leaf="xs")
    if batch_size is None:
        return scan_for("map", lambda _, x: ((), f(x)), (), xs, progress=progress)[1]
    if type(batch_size) is not int or batch_size < 1:
        fact = "batch_size is a positive integer"
        raise refused_body("map", fact, repr(batch_size), "1 or more")
    arrays, spec, _, plain = given_arrays(xs, "xs")
    sizes = {x.shape[0] if x.ndim else -1 for x in arrays}
    if len(sizes) != 1 or -1 in sizes:
        return scan_for("map", lambda _, x: ((), f(x)), (), xs)[1]  # which says what is wrong
    (size,) = sizes
    every = vmap(f)
    count = size // batch_size
    parts = []
    if count:
        whole = [x[: count * batch_size].reshape((count, batch_size, *x.shape[1:])) for x in arrays]
        blocks = _tree.unflatten(spec, whole)
        step = lambda _, x: ((), every(x))  # noqa: E731
        found = scan_for("map", step, (), blocks, progress=progress)[1]
        leaves, result_spec = _tree.flatten(found)
        parts.append([y.reshape((count * batch_size, *y.shape[2:])) for y in leaves])
    if size % batch_size or not count:
        rest = every(_tree.unflatten(spec, [x[count * batch_size :] for x in arrays]))
        leaves, result_spec = _tree.flatten(rest)
        parts.append(leaves)
    return _tree.unflatten(result_spec, finished(_joined(parts), arrays, plain, [], "map"))


def _joined(parts: list[list[Any]]) -> list[Array]:
    """Return results of several parts, one behind the other."""
    columns = zip(*parts, strict=True)
    return [as_array(x[0] if len(x) == 1 else concatenate(list(x))) for x in columns]
