"""Products of the Hessian with a vector: ``hvp``, forward mode over reverse mode.

A product at plain numbers and arrays, outside of ``jit`` and other transforms, records the function
once, and finds what it recorded in the memo of the function. Elsewhere it is what the user could
write: ``jvp`` of ``grad``. Read next: ``linear_map.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenferro.arrays import Array
from tenferro.arrays.errors import at_user_line
from tenferro.computegraph import ValueKey, is_literal
from tenferro.primitives import Aval, Handle, TensorPrimitive
from tenferro.tidu import pushforward
from tenferro.transforms.derivatives.directions import flow_key, mismatch
from tenferro.transforms.derivatives.grad import (
    grad,
    gradient_keys,
    regroup,
    scalar_output,
    varying,
)
from tenferro.transforms.derivatives.jvp import computed_jvp, tangent_keys
from tenferro.transforms.errors import check_function
from tenferro.transforms.pickled import derived
from tenferro.transforms.recording import tree as _tree
from tenferro.transforms.recording.loans import Loans
from tenferro.transforms.recording.record import record
from tenferro.transforms.recording.run_or_record import run_or_record


def hvp(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """Return a function that computes products of the Hessian with a vector.

    It runs forward mode over reverse mode, so that it costs a small multiple of ``function``.

    Parameters
    ----------
    function : callable
        Function that returns a real scalar.
    **options
        Keyword arguments of ``grad``.

    Returns
    -------
    callable
        Function (x, v, *args) → H v, where H is the Hessian with respect to the first argument.
        ``scipy.optimize.minimize`` takes it as ``hessp``.

    Examples
    --------
    >>> import tenferro as tn
    >>> product = tn.hvp(lambda x: (x * x * x).sum())
    >>> product(2.0, 1.0)
    np.float64(12.0)
    """
    check_function(function, "hvp")
    gradient = grad(function, **options)

    @derived("hvp", function, **options)
    def product(x: Any, v: Any, *args: Any, **kwargs: Any) -> Any:
        if v is None and x is not None:
            raise at_user_line(mismatch("v=None", "a vector with the structure of x"))
        with Loans() as loans:
            if not options and _are_plain((x, v, args, kwargs)):
                return _product(function, x, v, args, kwargs, loans)
            return computed_jvp(lambda x: gradient(x, *args, **kwargs), (x,), (v,), loans, "v")[1]

    return product


def _are_plain(tree: Any) -> bool:
    """Return True if no leaf is an Array or stands for one."""
    return not any([isinstance(leaf, (Array, Aval)) for leaf in _tree.flatten(tree)[0]])


def _product(
    function: Callable[..., Any], x: Any, v: Any, args: Any, kwargs: dict[str, Any], loans: Loans
) -> Any:
    """Record the function once and take both derivatives of its value with respect to ``x``."""
    recording = record(function, (x, *args), kwargs, (0,), loans)
    wrt = varying(recording.wrt, holomorphic=False, allow_int=False)
    value = scalar_output(recording, holomorphic=False)
    seeds = tangent_keys(recording, (x,), (v,), loans, "v")
    given = [seed for seed in seeds if seed is not None and not is_literal(seed)]

    def emit(primal: Sequence[ValueKey]) -> list[ValueKey]:
        recording.trace.open = True  # a rule of the user is recorded: it evaluates nothing
        try:
            slopes = gradient_keys(primal[0], wrt, False, None)
        finally:
            recording.trace.open = False
        along = [None if seed is None else Handle(seed) for seed in seeds]
        found = pushforward(slopes, wrt, along, space=TensorPrimitive.space)
        return [flow_key(key, flow) for key, flow in zip(slopes, found, strict=True)]

    known = tuple([seed and seed.operation for seed in seeds])  # literals, which programs contain
    kind = ("hvp", known, tuple([seed is None for seed in seeds]))
    found = run_or_record(kind, [value], [*wrt, *given], emit, recording.plain)
    return regroup(found, recording.specs)[0]
