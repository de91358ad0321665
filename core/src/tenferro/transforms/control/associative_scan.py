"""``associative_scan``: all partial results of an associative function, in log₂ n levels.

Source: Blelloch, "Prefix sums and their applications", 1990: combine neighbours, scan the half as
many results, and combine those with what stands between.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import index
from typing import Any

from tenferro.arrays import Array, as_array
from tenferro.arrays.functions.structural import concatenate, stack
from tenferro.transforms.control.body import delivered, given_arrays
from tenferro.transforms.errors import check_function, refused_body
from tenferro.transforms.recording import tree as _tree

__all__ = ["associative_scan"]


def associative_scan(
    fn: Callable[[Any, Any], Any], elems: Any, *, reverse: bool = False, axis: int = 0
) -> Any:
    """Return the partial results x₀, fn(x₀, x₁), fn(fn(x₀, x₁), x₂), … of an associative function.

    Parameters
    ----------
    fn : callable
        Associative function of two pytrees like ``elems``. It is called log₂ n times, on many
        elements at once: along ``axis`` it must treat each by itself.
    elems : pytree of arrays
        Arrays that agree in their size along ``axis``.
    reverse : bool, default False
        Combine from the last element on: …, fn(xₙ, xₙ₋₁), xₙ.
    axis : int, default 0
        Axis along which the elements lie.

    Returns
    -------
    pytree of arrays
        The partial results, shaped as ``elems``.

    Raises
    ------
    BodyError
        If sizes differ, there is no such axis, or ``fn`` returns other shapes or dtypes.

    Examples
    --------
    >>> import numpy as np
    >>> import tenferro as tn
    >>> tn.associative_scan(np.maximum, np.array([1.0, 3.0, 2.0, 5.0]))
    array([1., 3., 3., 5.])
    """
    check_function(fn, "associative_scan")
    arrays, spec, paths, plain = given_arrays(elems, "elems")
    rows = [_in_front(x, axis, path) for x, path in zip(arrays, paths, strict=True)]
    sizes = {x.shape[0] for x in rows}
    if len(sizes) > 1:
        got = ", ".join(f"{path} {x.shape[0]}" for path, x in zip(paths, rows, strict=True))
        raise refused_body("associative_scan", "numbers of elements differ", got, "one number")

    def combine(xs: Sequence[Any], ys: Sequence[Any]) -> list[Any]:
        found, found_spec = _tree.flatten(fn(_tree.unflatten(spec, xs), _tree.unflatten(spec, ys)))
        if not _tree.same_structure(found_spec, spec) or [(y.shape, y.dtype) for y in found] != [
            (x.shape, x.dtype) for x in xs
        ]:
            got = ", ".join(str(getattr(y, "aval", type(y).__name__)) for y in found)
            need = ", ".join(str(x.aval) for x in xs)
            raise refused_body(
                "associative_scan", "the function returns something else than elements", got, need
            )
        return found

    if reverse:
        rows = [x[::-1] for x in rows]
    found = _scanned(combine, rows) if rows and rows[0].shape[0] else list(rows)
    if reverse:
        found = [x[::-1] for x in found]
    results = [as_array(_back(x, axis)) for x in found]
    return _tree.unflatten(spec, delivered(results, plain, [], "associative_scan"))


def _scanned(combine: Any, rows: Sequence[Any]) -> list[Any]:
    """Return the partial results; each level works on half as many elements as the one above."""
    levels = []
    while rows[0].shape[0] > 1:
        levels.append(rows)
        whole = rows[0].shape[0] // 2 * 2
        rows = combine([x[0:whole:2] for x in rows], [x[1:whole:2] for x in rows])
    found = list(rows)
    for above in reversed(levels):
        size = above[0].shape[0]
        between = [x[2::2] for x in above]
        some = [x[:len_] for x, len_ in zip(found, [b.shape[0] for b in between], strict=True)]
        even = combine(some, between) if between and between[0].shape[0] else []
        firsts = (
            [concatenate([x[:1], y]) for x, y in zip(above, even, strict=True)]
            if even
            else [x[:1] for x in above]
        )
        found = [_interleaved(e, o, size) for e, o in zip(firsts, found, strict=True)]
    return found


def _interleaved(even: Any, odd: Any, size: int) -> Any:
    """Return even[0], odd[0], even[1], …; there may be one more of the first."""
    pairs = odd.shape[0]
    joined = stack([even[:pairs], odd], axis=1).reshape((2 * pairs, *odd.shape[1:]))
    return joined if size == 2 * pairs else concatenate([joined, even[pairs:]])


def _in_front(x: Array, axis: int, path: str) -> Any:
    if not -x.ndim <= index(axis) < x.ndim:
        need = f"-{x.ndim} <= axis < {x.ndim}" if x.ndim else "rank 1 or more"
        raise refused_body("associative_scan", f"{path} has no axis {axis}", str(x.aval), need)
    order = [axis % x.ndim, *[i for i in range(x.ndim) if i != axis % x.ndim]]
    return x.transpose(order)


def _back(x: Any, axis: int) -> Any:
    order = list(range(1, x.ndim))
    order.insert(axis % x.ndim, 0)
    return x.transpose(order)
