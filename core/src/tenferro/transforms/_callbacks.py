"""Look into a program while it runs: ``debug.print`` and ``debug.callback``.

Both work wherever a value is: at once where it is known, inside ``grad`` and ``jvp`` too, and each
time the program runs where it is traced (``jit``), once per example where it is batched
(``vmap``). They have no result and change no derivative.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenferro.array import Array
from tenferro.array._array import evaluable
from tenferro.array._errors import at_user_line
from tenferro.computegraph import UNKNOWN
from tenferro.primitives import debug_callback
from tenferro.transforms import _tree
from tenferro.transforms._effects import perform


class debug:
    """What helps to look into a program.

    >>> import tenferro as tn
    >>> def f(x):
    ...     tn.debug.print("x = {}", x)
    ...     return x * x
    >>> tn.grad(f)(3.0)
    x = 3.0
    np.float64(6.0)
    """

    @staticmethod
    def callback(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> None:
        """Call a function for its effect, with NumPy arrays in the places of arrays.

        Arguments are pytrees. In a jitted function it is called each time the program runs, in
        program order; under ``vmap`` once per example. What it returns is dropped.

        >>> import tenferro as tn
        >>> seen = []
        >>> y = tn.jit(lambda x: tn.debug.callback(seen.append, x) or x + 1)(2.0)
        >>> [float(x) for x in seen]
        [2.0]
        """
        given: object = function
        if not callable(given):
            text = f"debug.callback takes a function, not {type(given).__name__}"
            raise at_user_line(TypeError(text))
        leaves, spec = _tree.flatten((args, kwargs))
        places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, Array)]

        def call(*arrays: Any) -> None:
            filled = list(leaves)
            for i, array in zip(places, arrays, strict=True):
                filled[i] = array if array.ndim else array[()]
            given, named = _tree.unflatten(spec, filled)
            function(*given, **named)

        _call(call, [leaves[i] for i in places])

    @staticmethod
    def print(text: str, /, *args: Any, **kwargs: Any) -> None:
        """Print a text with values filled in, as ``str.format`` does.

        >>> import tenferro as tn
        >>> tn.debug.print("{} and {name}", tn.asarray([1.0, 2.0]), name=3)
        [1. 2.] and 3
        """

        def show(*given: Any, **named: Any) -> None:
            print(text.format(*given, **named))

        debug.callback(show, *args, **kwargs)


def _call(function: Callable[..., None], arrays: Sequence[Array]) -> None:
    """Call it now if all values are known, else when the program runs."""
    if all([x.key.operand is not UNKNOWN or evaluable(x.key) for x in arrays]):
        function(*[x._concrete("debug.callback") for x in arrays])
        return
    perform([debug_callback(function, *arrays).key])
