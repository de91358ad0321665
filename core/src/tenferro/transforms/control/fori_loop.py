"""``fori_loop``: a loop over integers. Read next: ``map.py``."""

from __future__ import annotations

from collections.abc import Callable
from operator import index
from typing import Any

from tenferro.arrays import Array, as_array
from tenferro.primitives import constant, lt
from tenferro.primitives._dtype import int64
from tenferro.transforms.control.body import check_carry, given_arrays
from tenferro.transforms.control.scan import scan_for
from tenferro.transforms.control.while_loop import while_loop_for
from tenferro.transforms.errors import check_function, refused_body

__all__ = ["fori_loop"]


def fori_loop(
    lower: Any,
    upper: Any,
    body_fun: Callable[[Any, Any], Any],
    init: Any,
    *,
    progress: bool = False,
) -> Any:
    """Run ``carry = body_fun(i, carry)`` for i = lower … upper − 1; return the last carry.

    With integers of Python or NumPy as bounds this is a ``scan`` and has all derivatives. With
    bounds that are Arrays it is a ``while_loop``, which has those of forward mode.

    Parameters
    ----------
    lower, upper : int, or integer array of rank 0
        First number, and the one behind the last.
    body_fun : callable
        Step: a number and the carry to the next carry. The number is an int64 array of rank 0;
        next to floats and complex numbers it takes their dtype, as a Python integer does.
    init : pytree of arrays
        The first carry.
    progress : bool, default False
        Show on standard error how far the loop is, by rich where it is installed. Only at top
        level, on values that are known.

    Returns
    -------
    pytree of arrays
        The last carry.

    Raises
    ------
    BodyError
        If the body changes the carry, or a bound is not an integer.

    Examples
    --------
    >>> import tenferro as tn
    >>> float(tn.fori_loop(1, 5, lambda i, product: product * i, 1.0))
    24.0
    """
    name = "fori_loop"
    check_function(body_fun, name)
    _, spec, _, _ = given_arrays(init, "init")
    for bound in (lower, upper):
        aval = as_array(bound).aval
        if aval.shape or not aval.dtype.is_integer:
            raise refused_body(name, "a bound is not an integer", str(aval), "i64[]")

    def counted(carry: Any) -> Any:
        i, rest = carry
        found = body_fun(i, rest)
        check_carry(name, found, spec)
        return i + 1, found

    if not isinstance(lower, Array) and not isinstance(upper, Array):
        steps = index(upper) - index(lower)
        first = Array(constant(index(lower), int64, ()).key)

        def step(carry: Any, _: Any) -> tuple[Any, None]:
            return counted(carry), None

        return scan_for(
            name, step, (first, init), None, max(steps, 0),
            progress=progress, rename=_own, counter=0,
        )[0][1]  # fmt: skip

    end = as_array(upper).astype("int64")
    start = as_array(lower).astype("int64")
    going = lambda carry: lt(carry[0], end)  # noqa: E731
    return while_loop_for(
        name, going, counted, (start, init), progress=progress, rename=_own, counter=0
    )[1]


def _own(path: str) -> str:
    """Return the path of a leaf in the pair of the counter and the carry."""
    return path.replace("init[1]", "init", 1)
