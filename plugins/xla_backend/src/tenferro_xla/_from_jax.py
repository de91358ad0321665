"""``from_jax``: a function of JAX inside programs of tenferro, with its derivatives.

Its derivative is JAX's: a function again, linear in the tangents, whose transposition is JAX's,
too. So one primitive with the function as its parameter has all rules. Read next: ``_jax_call.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax

from tenferro.arrays import as_array
from tenferro.primitives import Aval, bind_all
from tenferro.transforms.recording import tree as pytrees
from tenferro_xla._bridge import Bridged
from tenferro_xla._jax import enable_x64, shape_dtype
from tenferro_xla._jax_call import JaxCall
from tenferro_xla._operands import numpy_dtype


def from_jax(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of JAX as one of tenferro.

    It can be called on arrays and in every transform of tenferro. Programs that call it run on the
    XLA backend. Derivatives are those of JAX, to any order.

    Parameters
    ----------
    function : callable
        Function of pytrees of arrays that JAX can trace. It must depend on its arguments alone.

    Returns
    -------
    callable
        Function of pytrees of arrays and numbers. Its results have the containers that ``function``
        returns. It can be pickled by its name, or with ``function``.

    Raises
    ------
    UnknownOperandError
        At a call, if an argument is neither an array nor a number, such as a string.
    MissingLoweringError
        When a program that calls it runs on another backend.

    Examples
    --------
    >>> import jax, numpy as np
    >>> import tenferro as tn
    >>> from tenferro_xla import from_jax
    >>> softplus = from_jax(jax.nn.softplus)
    >>> with tn.use("xla"):
    ...     print(tn.grad(lambda x: np.sum(softplus(x) * x))(np.zeros(2)))
    [0.69314718 0.69314718]
    """

    def in_tenferro(*args: Any, **kwargs: Any) -> Any:
        leaves, spec = pytrees.flatten((args, kwargs))
        arrays = [as_array(leaf) for leaf in leaves]
        flat: Any = _Flat(function, spec)
        with enable_x64(True):
            specs = [shape_dtype(x.shape, numpy_dtype(x.dtype)) for x in arrays]
            shapes, structure = jax.tree.flatten(jax.eval_shape(flat.whole, *specs))
        avals = tuple([Aval(x.shape, x.dtype.name) for x in shapes])
        found = bind_all(JaxCall(flat, avals), *arrays) if avals else ()
        return jax.tree.unflatten(structure, found)

    return Bridged("from_jax", function, {}, in_tenferro)


class _Flat(NamedTuple):
    """A function of the leaves of its arguments, which returns the leaves of its results."""

    function: Callable[..., Any]
    spec: Any

    def whole(self, *leaves: Any) -> Any:
        """Return the results in their containers."""
        args, kwargs = pytrees.unflatten(self.spec, leaves)
        return self.function(*args, **kwargs)

    def __call__(self, *leaves: Any) -> tuple[Any, ...]:
        return tuple(jax.tree.leaves(self.whole(*leaves)))
