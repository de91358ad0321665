"""Functions of parts of arrays on whole arrays, with NumPy's broadcasting: ``vectorize``.

Read next: ``vmap.py``, which maps over the axes that are left.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import update_wrapper
from math import prod
from typing import Any

from tenferro.arrays import Array
from tenferro.arrays.errors import at_user_line
from tenferro.arrays.evaluation.results import in_kind
from tenferro.arrays.handle.convert import as_array
from tenferro.arrays.promotion.broadcast import broadcast_shapes, stretch
from tenferro.primitives import InvalidParameterError, ShapeMismatchError
from tenferro.primitives._boundary import bounded
from tenferro.transforms.batching.vmap import vmap
from tenferro.transforms.errors import check_function
from tenferro.transforms.recording import tree as _tree
from tenferro.transforms.recording.arguments import own_handle
from tenferro.transforms.recording.owned import Owned

_GROUP = re.compile(r"\(([^()]*)\)")
_SIDE = re.compile(r"\([^()]*\)(,\([^()]*\))*")
_Cores = tuple[tuple[str, ...], ...]


def vectorize(
    pyfunc: Callable[..., Any],
    *,
    excluded: Iterable[int | str] = (),
    signature: str | None = None,
) -> Callable[..., Any]:
    """Return a function that applies ``pyfunc`` to parts of arrays, with NumPy's broadcasting.

    Parameters
    ----------
    pyfunc : callable
        Function of numbers, or of arrays with the axes that ``signature`` names.
    excluded : iterable of int and str, optional
        Positions and names of arguments that every call receives whole.
    signature : str, optional
        Last axes of arguments and results, as in ``"(n),(n)->()"``. Axes of one name have one size.

    Returns
    -------
    callable
        Function of arrays. Each result of ``pyfunc`` gets the common leading axes in front.

    Raises
    ------
    ShapeMismatchError
        If arguments do not broadcast, lack an axis, or differ in one of one name.
    InvalidParameterError
        If the signature cannot be read, or has another number of arguments.

    Examples
    --------
    ``pyfunc`` is recorded once and batched, so it runs in no loop; unlike ``np.vectorize`` it works
    inside of ``grad`` and ``jit``.

    >>> import numpy as np
    >>> import tenferro as tn
    >>> norm = tn.vectorize(np.linalg.norm, signature="(n)->()")
    >>> norm(np.array([[3.0, 4.0], [0.0, 2.0]]))
    array([5., 2.])
    """
    check_function(pyfunc, "vectorize")
    cores = None if signature is None else _parsed(signature)
    whole = frozenset(excluded)

    def call(*args: Any, **kwargs: Any) -> Any:
        mapped = [i for i in range(len(args)) if i not in whole]
        named = [name for name in kwargs if name not in whole]
        if cores is not None and (named or len(cores) != len(mapped)):
            raise at_user_line(_refused(signature, f"{len(mapped) + len(named)} arguments"))
        given = [as_array(args[i]) for i in mapped] + [as_array(kwargs[name]) for name in named]
        axes: _Cores = cores if cores is not None else ((),) * len(given)
        loop = _loop_shape(given, axes)
        count = prod(loop)

        def of_kind(x: Any) -> Any:
            return in_kind(x, args, kwargs)

        def of_one(*parts: Any) -> Any:
            with Owned() as own:
                rest = [x if i in mapped else own(x) for i, x in enumerate(args)]
                for i, part in zip(mapped, parts, strict=False):
                    rest[i] = part
                fixed = {name: own(x) for name, x in kwargs.items() if name not in named}
                parts = parts[len(mapped) :]
                return pyfunc(*rest, **fixed, **dict(zip(named, parts, strict=True)))

        if not loop:
            return _tree.map_leaves(of_kind, of_one(*map(own_handle, given)))
        rows = [_rows(x, loop, len(core)) for x, core in zip(given, axes, strict=True)]
        found = vmap(of_one, axis_size=count)(*rows)
        return _tree.map_leaves(lambda x: of_kind(x.reshape((*loop, *x.shape[1:]))), found)

    return bounded("vectorize")(update_wrapper(call, pyfunc))


def _parsed(signature: str) -> _Cores:
    """Return the names of the arguments' axes. Raises InvalidParameterError."""
    text = signature.replace(" ", "")
    left, arrow, right = text.partition("->")
    if not arrow or not _SIDE.fullmatch(left) or not _SIDE.fullmatch(right):
        raise at_user_line(_refused(signature, "this"))
    return tuple(tuple(name for name in group.split(",") if name) for group in _GROUP.findall(left))


def _refused(signature: Any, got: str) -> InvalidParameterError:
    return InvalidParameterError.of(
        "vectorize", "the signature does not fit", got=f"{got} for {signature!r}",
        need="axes of each argument and result, as in '(m,n),(n)->(m)'", parameter="signature",
        value=signature,
    )  # fmt: skip


def _loop_shape(given: Sequence[Array], axes: _Cores) -> tuple[int, ...]:
    """Return the common leading axes. Raises ShapeMismatchError."""
    sizes: dict[str, int] = {}
    for x, core in zip(given, axes, strict=True):
        own = x.shape[x.ndim - len(core) :] if len(core) <= x.ndim else ()
        fits = len(own) == len(core)
        if not fits or any(sizes.setdefault(a, n) != n for a, n in zip(core, own, strict=True)):
            error = ShapeMismatchError.of(
                "vectorize", "an argument does not have the axes of the signature", got=x.aval,
                need=f"last axes ({','.join(core)}), of one size where they have one name",
                shapes=tuple([y.shape for y in given]),
            )  # fmt: skip
            raise at_user_line(error)
    leading = [x.shape[: x.ndim - len(core)] for x, core in zip(given, axes, strict=True)]
    return broadcast_shapes(*leading, function="vectorize") if leading else ()


def _rows(x: Array, loop: tuple[int, ...], rank: int) -> Array:
    """Return an argument with one leading axis for all parts."""
    core = x.shape[x.ndim - rank :]
    wide = stretch(x, (*loop, *core)) if x.shape != (*loop, *core) else x
    return wide.reshape((prod(loop), *core))
