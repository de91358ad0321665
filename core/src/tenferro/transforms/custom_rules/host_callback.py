"""``host_callback``: a function of NumPy arrays as one equation of a program.

Its results' shapes and dtypes are stated, or found by one call on arrays of ones. The equation has
no derivative of its own: ``custom_jvp`` and ``custom_vjp`` around the call give it one. What runs
it is in ``primitives/callback.py``. Read next: ``custom_rules/vjp.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays import Array, as_array, ones
from tenferro.arrays.errors import at_user_line
from tenferro.primitives import ShapeMismatchError
from tenferro.primitives import host_callback as bind_callback
from tenferro.primitives._aval import Aval
from tenferro.primitives.callback import name_of
from tenferro.transforms.custom_rules.arguments import ArgumentTree, ComparedByContent, take_arrays
from tenferro.transforms.errors import check_function
from tenferro.transforms.recording import tree as _tree

__all__ = ["host_callback"]


def host_callback(
    function: Callable[..., Any], *args: Any, results: Any = None, vectorized: bool = False
) -> Any:
    """Call a function of NumPy arrays on the host, as one equation of the program.

    It works where values are not known yet: under ``jit``, ``vmap`` and derivatives, and in loops
    and branches, on every backend. The function must be pure: its results may depend on its
    arguments alone. Equal calls may become one, calls whose results are not used are dropped, and a
    call may run again. For an effect, use ``debug.callback``.

    Parameters
    ----------
    function : callable
        It receives copies of the arguments. Arrays among them are NumPy arrays, those of rank 0
        NumPy scalars; all else, Python's numbers too, is passed as it is. It returns a pytree of
        arrays and numbers.
    *args
        Arguments: pytrees.
    results : pytree, optional
        An ``Aval``, or anything with a shape and a dtype, for each array of the result. By default,
        they are found by calling the function on arrays of ones when the call is recorded; the
        shapes must then depend on the shapes of the arguments alone.
    vectorized : bool, default False
        The function also takes arrays with further leading axes, the same for all arrays, and gives
        results with these axes. ``vmap`` then calls it once for all examples, else once for each.

    Returns
    -------
    pytree of Array
        What the function returns.

    Raises
    ------
    MissingRuleError
        If it is differentiated outside a function with a rule of its own.
    ShapeMismatchError, DTypeMismatchError
        When it runs: if the structure, shapes or dtypes of the result are not as stated. A number
        may become one of a wider kind, or of another precision.

    Examples
    --------
    >>> import math
    >>> import numpy as np
    >>> import tenferro as tn
    >>> @tn.custom_vjp
    ... def erfc(x):
    ...     return tn.host_callback(np.vectorize(math.erfc), x, results=x, vectorized=True)
    >>> def slope(x):
    ...     return -2 / np.sqrt(np.pi) * np.exp(-x * x)
    >>> erfc.defvjp(lambda x: (erfc(x), x), lambda x, ct: (slope(x) * ct,))
    >>> round(float(tn.jit(tn.grad(erfc))(0.5)), 12)
    -0.878782578935
    """
    check_function(function, "host_callback")
    arrays, tree = take_arrays(args)
    if results is None:
        results = _found(function, arrays, tree)
    avals, spec = _stated(results)
    call: Any = HostFunction(ComparedByContent(function), tree, spec)
    found = bind_callback(call, avals, *arrays, vectorized=vectorized)
    return _tree.unflatten(spec, [Array(y.key) for y in found])


class HostFunction(NamedTuple):
    """A function of pytrees as a function of NumPy arrays, which returns a tuple of results.

    Equal calls are equal, so that they share equations and compiled programs.
    """

    function: ComparedByContent
    arguments: ArgumentTree
    spec: Any

    @property
    def short(self) -> str:
        """The name that graphs and errors print."""
        return name_of(self.function.value)

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        """Return the results in the order of the stated ones."""
        args = self.arguments.fill([x if x.ndim else x[()] for x in arrays])
        found = self.function.value(*args)
        try:
            return tuple(_tree.flatten_up_to(self.spec, found))
        except ValueError:
            raise _other_structure(self.short, found, self.spec) from None


def _found(function: Callable[..., Any], arrays: list[Array], tree: ArgumentTree) -> Any:
    """Return what the function gives for arrays of ones."""
    known = [ones(x.shape, dtype=x.dtype)._concrete("host_callback") for x in arrays]
    examples = [x.copy() for x in known]  # the function may write into them
    try:
        return function(*tree.fill([x if x.ndim else x[()] for x in examples]))
    except Exception as error:
        error.add_note(
            "  called     by tn.host_callback on arrays of ones, to find shapes and dtypes\n"
            "  hint       state them: `results=tn.Aval(shape, dtype)`"
        )
        raise


def _stated(results: Any) -> tuple[list[Aval], Any]:
    """Return the avals of the results, and their structure."""
    leaves, spec = _tree.flatten(results)
    if not leaves:
        hint = "for an effect, use `tn.debug.callback`"
        raise at_user_line(
            ValueError(f"host_callback: the function has no results\n  hint       {hint}")
        )
    return [_aval(leaf) for leaf in leaves], spec


def _aval(leaf: Any) -> Aval:
    """Return the aval that a result, or what stands for it, says."""
    if isinstance(leaf, Aval):
        return leaf
    if not isinstance(leaf, Array) and hasattr(leaf, "shape") and hasattr(leaf, "dtype"):
        return Aval(tuple(leaf.shape), str(leaf.dtype))
    return as_array(leaf).aval


def _other_structure(name: str, found: Any, spec: Any) -> ShapeMismatchError:
    """Make the error for a result with another structure than stated."""
    return ShapeMismatchError.of(
        "host_callback",
        "the function returned another structure than stated",
        got=f"{_tree.describe(_tree.flatten(found)[1])} from {name}",
        need=_tree.describe(spec),
        shapes=(),
    )
