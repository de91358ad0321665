"""Shapes and dtypes of a result without computing it: ``eval_shape``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenferro.arrays import Array, as_array
from tenferro.arrays.handle.array import SCALARS
from tenferro.arrays.handle.convert import aval_of_operand, is_operand, weak_kind
from tenferro.arrays.handle.weak import WeakName, value_of
from tenferro.primitives._aval import Aval
from tenferro.tidu import Trace, pinned_leaf
from tenferro.transforms.errors import check_function
from tenferro.transforms.recording import tree as _tree
from tenferro.transforms.recording.arguments import Name, has_dtype, parameter_names

_SCALARS = frozenset(SCALARS)


def eval_shape(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Compute the shapes and dtypes of a result without computing values.

    Parameters
    ----------
    function : callable
        Function to trace.
    *args, **kwargs
        Arguments: pytrees of arrays and numbers, or of an ``Aval`` instead of an array. All other
        objects are passed unchanged.

    Returns
    -------
    pytree of Aval
        One aval per array, in the structure of the function's result.

    Raises
    ------
    ConcretizationError
        If the function asks for a value.

    Examples
    --------
    >>> import tenferro as tn
    >>> x = tn.Aval((1000, 1000), "float32")
    >>> tn.eval_shape(lambda x: {"norm": tn.sum(x @ x, axis=0)}, x)
    {'norm': f32[1000]}
    """
    check_function(function, "eval_shape")
    trace = Trace(sealed="eval_shape")
    names = parameter_names(function, len(args))
    given = [_abstract(arg, name, trace) for arg, name in zip(args, names, strict=True)]
    named = {name: _abstract(arg, name, trace) for name, arg in kwargs.items()}
    try:
        result = function(*given, **named)
    finally:
        trace.open = False
    return _tree.map_leaves(lambda leaf: as_array(leaf).aval, result)


def _abstract(tree: Any, name: str, trace: Trace) -> Any:
    """Return the argument with arrays whose values are unknown."""
    leaves, spec = _tree.flatten(tree)
    pairs = zip(leaves, _labels(tree, name, leaves), strict=True)
    return _tree.unflatten(spec, [_leaf(leaf, label, trace) for leaf, label in pairs])


def _labels(tree: Any, name: str, leaves: Sequence[Any]) -> list[str]:
    return [name] if len(leaves) == 1 and leaves[0] is tree else _tree.paths(tree, name)


def _leaf(leaf: Any, label: str, trace: Trace) -> Any:
    is_weak = weak_kind(leaf) is not None
    if isinstance(leaf, Aval):
        aval = leaf
    elif isinstance(leaf, Array) or type(leaf) in _SCALARS:
        aval = as_array(leaf).aval
    elif is_operand(leaf) and has_dtype(leaf):
        aval = aval_of_operand(leaf)
    else:
        return leaf
    serial = trace.id.serial
    name = WeakName(label, serial, value_of(leaf)) if is_weak else Name(label, serial)
    return Array(pinned_leaf(name, aval, trace))
